locals {
  a = ["x"]]
  b = 3
}
