policy "inner" {
  condition     = true
  error_message = "x"
}
