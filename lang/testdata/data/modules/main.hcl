cloud "c" {
  release = "2025.1"
}

manifest "made" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "made" }
  }
}

data "present" {
  kind = "ConfigMap"
  name = "present"
}

module "known" {
  source = "./edge"
  name   = data.present.object.metadata.name
}

module "later" {
  for_each   = toset(["west"])
  source     = "./edge"
  name       = "later-${each.key}"
  depends_on = [manifest.made]
}

service "agent" {
  definition = module.known.definition.agent
}

manifest "outputs" {
  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "outputs" }
    data       = { known = module.known.host, later = module.later["west"].host }
  }
}
