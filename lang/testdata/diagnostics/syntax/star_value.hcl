locals {
  h = * 3
}
