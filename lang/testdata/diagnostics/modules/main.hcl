cloud "c" {
  release = "2025.1"
}

module "edge" {
  source  = "./edge"
  region  = 3
  reigon  = "x"
  replica = var.nothing
}

module "elsewhere" {
  source = "example.org/modules/edge"
}

module "missing" {
  source = "./nowhere"
}

module "empty" {
  source = "./empty"
}

module "computed" {
  source = local.where
}

module "loop" {
  source = "./loop"
}

locals {
  where = "./edge"
}
