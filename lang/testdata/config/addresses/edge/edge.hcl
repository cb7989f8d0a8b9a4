variable "name" {}

manifest "note" {
  object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = var.name } }
  lifecycle {
    prevent_destroy      = var.name == "west"
    replace_triggered_by = [manifest.base, "manifest.base/ConfigMap/base"]
  }
}

manifest "base" {
  object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "base-${var.name}" } }
}

moved {
  from = manifest.past
  to   = manifest.note
}

removed {
  from = manifest.older
}
