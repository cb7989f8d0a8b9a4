locals {
  a = join[",", ["a"]]
  b = join(",", ["a"]))
}
