manifest "note" {
  object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "note" } }
}

moved {
  from = manifest.past
  to   = manifest.not
}
