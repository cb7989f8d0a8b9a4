variable "where" {
  type    = string
  default = "ops"
}

cloud "test" {
  release = "2025.1"

  backend "kubernetes" {
    namespace = var.where
  }

  backend "s3" {
  }
}
