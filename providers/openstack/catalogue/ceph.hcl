# A Ceph that is there already: kolla deploys none. Services that keep data in it read from
# here how they reach it and who they are.
#
#   service "ceph" {
#     external = { host = "192.0.2.20" } # a monitor
#     conf     = file("ceph/ceph.conf")
#     keyrings = { glance = file("ceph/ceph.client.glance.keyring") }
#   }
definition "ceph" {
  description = "Storage for images, volumes and servers, which is there already"

  input "conf" {
    type        = string
    default     = null
    description = "Content of ceph.conf; by default it names the host as the monitor."
  }

  input "keyrings" {
    type        = map(string)
    default     = {}
    sensitive   = true
    description = "Contents of keyring files, by the name of the user without \"client.\"."
  }

  input "secret_uuid" {
    type        = string
    default     = null
    description = "Name of the secret with which libvirt logs in; by default it is made of the cloud's name."
  }

  port "monitor" {
    number = 6789
  }

  output "conf" {
    value = input.conf != null ? input.conf : "[global]\nmon_host = ${self.host}\n"
  }

  output "keyrings" {
    value = input.keyrings
  }

  output "secret_uuid" {
    value = input.secret_uuid != null ? input.secret_uuid : uuidv5("dns", "ceph.${cloud.name}")
  }
}
