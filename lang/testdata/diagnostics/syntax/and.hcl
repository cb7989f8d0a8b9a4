locals {
  a = true & false
  b = 1 = 2
}
