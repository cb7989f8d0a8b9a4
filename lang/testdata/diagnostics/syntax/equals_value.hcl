locals {
  g = = 3
}
