locals {
  a = [for x in ["a"] x]
  b = {for x in ["a"] : x}
  c = [for x of ["a"] : x]
}
