locals {
  c = 1 = 2
}
