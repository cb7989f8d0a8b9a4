locals {
  f = 1 2
}
