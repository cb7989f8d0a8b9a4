locals {
  a = "C:\dir"
  b = "\d+"
}
