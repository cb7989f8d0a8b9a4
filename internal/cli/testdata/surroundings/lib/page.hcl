variable "title" {
  type = string
}

definition "page" {
  port "http" {
    number = 8080
    expose = true
  }

  workload "web" {
    kind    = "Deployment"
    image   = "registry.example.org/page:1"
    command = ["serve", "--title", var.title, "--identity", service.keystone.url]
    ports   = ["http"]
  }
}
