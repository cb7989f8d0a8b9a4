{
  "password": "hunter2"
}
