output "out" {
  value = "hello"
}
