locals {
  1a = 2
}
