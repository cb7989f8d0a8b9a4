locals {
  a = { x }
  b = {"x"}
}
