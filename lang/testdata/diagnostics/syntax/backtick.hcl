locals {
  a = `x`
}
