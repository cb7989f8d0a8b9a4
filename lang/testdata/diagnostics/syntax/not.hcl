locals {
  k = not true
}
