locals {
  a = "%{ if true }x"
  b = "%(foo)s %{HOST}"
}
