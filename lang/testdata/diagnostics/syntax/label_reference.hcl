service "x" service.y {
}
