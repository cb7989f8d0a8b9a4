service "keystone" {
  replica = 3
}
