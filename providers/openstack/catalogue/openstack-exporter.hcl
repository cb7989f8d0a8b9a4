# Asks the APIs of OpenStack for services, agents and capacity. Its user is an administrator, as
# Nova and Neutron show their agents to nobody else.
definition "openstack-exporter" {
  description = "Metrics of what OpenStack's APIs say"

  input "limits" {
    type        = bool
    default     = false
    nullable    = false
    description = "Whether it also asks Nova and Cinder for the limits of each project and their use: a request for each at each sample."
  }

  port "metrics" {
    number = 9198
  }

  user "openstack_exporter" {
    roles = ["admin"]
  }

  config "clouds.yml" {
    format = "raw"
    path   = "/etc/openstack/clouds.yml"
    content = yamlencode({
      clouds = {
        default = {
          region_name          = cloud.region
          identity_api_version = "3"
          identity_interface   = "internal"
          auth = {
            auth_url            = "${service.keystone.url}/v3"
            username            = user.openstack_exporter.name
            password            = user.openstack_exporter.password
            project_name        = user.openstack_exporter.project
            user_domain_name    = "Default"
            project_domain_name = "Default"
          }
        }
      }
    })
  }

  workload "server" {
    kind         = "Deployment"
    logs         = "console"
    max_replicas = 1
    image        = "prometheus-openstack-exporter"
    user         = 42472
    command = concat(
      [
        "/opt/openstack-exporter/openstack-exporter",
        "--os-client-config=/etc/openstack/clouds.yml",
        "--endpoint-type=internal",
        "--disable-cinder-agent-uuid", # else agents of Cinder have another one at each scrape
      ],
      input.limits ? [] : ["--disable-slow-metrics"],
      ["--web.listen-address=:${port.metrics}", "default"],
    )
    ports  = ["metrics"]
    config = ["clouds.yml"]

    # It asks every API at each sample.
    metrics {
      port     = "metrics"
      interval = 60
      timeout  = 45
    }

    resources {
      requests = { cpu = "20m", memory = "64Mi" }
      limits   = { memory = "512Mi" }
    }

    ready {
      tcp = "metrics"
    }
  }
}
