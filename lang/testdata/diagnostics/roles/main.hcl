cloud "test" {
  release = "2025.1"
}

role "nothing" {
}

role "both" {
  nodes = ["a"]
  match = { a = "b" }
}

role "empty" {
  match  = {}
  labels = {}
}

role "labels" {
  nodes  = ["a", "b", "a", "Not A Node"]
  labels = { "not a key" = "x", "fine" = "not a value" }
}

role "types" {
  nodes  = "a"
  labels = ["x"]
}

role "none" {
  nodes = []
}

role "compute" {
  nodes = ["a"]
}

service "agent" {
  replicas = 2
}

role "union" {
  roles = [role.compute, role.compute, "compute", "x", null]
  match = { a = "b" }
}

role "around" {
  roles = [role.and_around]
}

role "circle" {
  roles = [role.compute, role.back]
}

role "back" {
  roles = [role.circle]
}

role "itself" {
  roles = [role.itself]
}

role "void" {
  roles = []
}

role "one" {
  roles = role.compute
}

role "tainted" {
  nodes  = ["t"]
  taints = ["a:NoSchedule", "a=b:NoSchedule", "a:PreferNoSchedule", "b:NoExecute", "NoSchedule", "c:Never", "not a key:NoSchedule", "a=not a value:NoSchedule"]
}
