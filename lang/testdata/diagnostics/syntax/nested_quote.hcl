locals {
  a = "he said "hello" to me"
}
