locals {
  role / 3
}
