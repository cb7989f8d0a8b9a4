cloud "c" {
  release = "2025.1"
}

role "control" {
  nodes = ["ctl-1"]
}

resource "kubernetes_namespace" "x" {
}

provider "openstack" {
}

locals {
  a = 1
  b = locals.a
  c = vars.x
  d = variable.x
  e = variables
  f = count.index
  g = self.name
  h = each.key
  i = data.kubernetes_config_map.x.data
  j = kubernetes_service.x.id
  k = terraform.workspace
  l = var.x.y
  m = local.list.name
  n = "a" + "b"
  list = ["a"]
}

variable "x" {
  type    = "string"
  default = "q"
}

variable "y" {
  type = list(strng)
}

service "memcached" {
  role  = "control"
  name  = "m-${each.key}"
  count = 2

  provisioner "local-exec" {
  }

  lifecycle {
    ignore_changes        = [a]
    create_before_destroy = true
  }
}

service "mariadb" {
  for_each = toset(["a"])
  role     = role.control
  name     = "m-${count.index}"
}

service "agent" {
  role = role.control
  name = "var.x"
}

output "x" {
  values = 1
}
