cloud "test" {
  release = "2025.1"
}

definition "d" {
  locals {
    address = pod.ip
  }

  secret "key" {}

  config "d.conf" {
    path   = "/etc/d.conf"
    values = { DEFAULT = { my_ip = node.ip, host = "x-${pod.name}" } }
  }

  job "j" {
    image   = "d"
    command = ["d", node.name]
    env     = { HOST = pod.host, NAME = pod.name }
  }

  workload "w" {
    kind   = "Deployment"
    image  = "d"
    config = ["d.conf"]

    env = {
      ADDRESS  = local.address
      INDEX    = pod.index
      WRONG    = node.adress
      UPPER    = upper(node.name)
      FIRST    = node.name == "a" ? "yes" : "no"
      LENGTH   = length(node.name)
      NUMBER   = pod.ip + 1
      SECRET   = "${secret.key.value}@${node.ip}"
      WHOLE    = node
      FINE     = "tcp:${node.ip}:80"
      JSON     = jsonencode({ ip = node.ip })
    }
  }

  output "ip" {
    value = pod.ip
  }
}

service "d" {
  workload "w" {
    env     = { OTHER = pod.name, INDEX2 = pod.index }
    command = [pod.ip]
  }
}
