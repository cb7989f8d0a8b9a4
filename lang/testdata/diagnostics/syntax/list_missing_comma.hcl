locals {
  a = ["x" "y"]
  b = [
    "x"
    "y"
  ]
}
