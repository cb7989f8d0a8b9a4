locals {
  a = True
  b = None
  c = true and false
  d = not true
  e = yes
}
