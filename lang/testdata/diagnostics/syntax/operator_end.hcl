locals {
  i = 1 +
}
