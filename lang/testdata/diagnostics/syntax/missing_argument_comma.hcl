locals {
  a = upper("x" "y")
}
