locals {
  d = 1 e = 2
}
