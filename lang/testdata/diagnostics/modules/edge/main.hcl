cloud "another" {
  release = "2025.1"
}

variable "region" {
  type        = string
  description = "Where it is."
}

import {
  to = "manifest.a/ConfigMap/a"
  id = "x/a"
}
