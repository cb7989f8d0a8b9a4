locals {
  a = 3 × 4
}
