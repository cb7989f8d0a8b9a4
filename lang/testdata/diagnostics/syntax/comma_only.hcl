locals {
  j = [,]
}
