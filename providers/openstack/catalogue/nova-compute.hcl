# Hypervisors with libvirt: one service for each group of nodes that are alike. Servers are
# processes of their node. They go on running while a pod is away, as libvirtd starts them
# outside of it; nothing controls them then. Only `kolla rollout` replaces pods.
definition "nova-compute" {
  from        = "exported"
  description = "Hypervisors with libvirt, one on each node of a role"
  stage       = "nodes"
  project     = "nova"

  input "virt_type" {
    type        = string
    default     = "kvm"
    nullable    = false
    description = "kvm, or qemu: without help of the processor, slowly."

    validation {
      condition     = contains(["kvm", "qemu"], input.virt_type)
      error_message = "It is \"kvm\" or \"qemu\"."
    }
  }

  input "cpu" {
    type        = object({ mode = string, models = optional(list(string), []) })
    default     = null
    description = "Processor that servers see: mode host-model (default with kvm), host-passthrough, none (default with qemu) or custom, with models."
  }

  input "ceph" {
    type        = bool
    default     = null
    description = "Whether servers get volumes from service.ceph, as its user cinder; by default where it is declared."
  }

  input "nfs" {
    type        = bool
    default     = false
    nullable    = false
    description = "Whether servers get volumes of type nfs. nova-compute mounts their shares for libvirtd, and is privileged for that."
  }

  input "images_pool" {
    type        = string
    default     = null
    description = "Pool of service.ceph for the disks of servers; by default these are files on the node."
  }

  input "reserved_memory" {
    type        = number
    default     = 2048
    description = "Memory of a node that servers do not get, in MB: that of its system and of all pods on it."
  }

  input "migration_network" {
    type        = string
    default     = null
    description = "Network that servers move through, encrypted; by default that of the node's address. TCP ports 16514 and 49152-49215 have to be open in it."
  }

  input "cell" {
    type = object({
      name           = string
      transport_url  = string
      queue_settings = any
      queue_port     = number
      cell_database  = string
      ports          = any
      # Of the cell, so that its hypervisors accept each other only.
      migration_secret = string
    })
    default     = null
    description = "Service of the definition nova-cell that the hypervisors belong to; by default the first cell."
  }

  port "metrics" {
    number = 9177
  }

  locals {
    cell   = merge(service.nova, { name = "cell1" }, input.cell)
    auth   = merge(user.nova_compute.auth, { valid_interfaces = "internal" })
    cpu    = input.cpu != null ? input.cpu : { mode = input.virt_type == "kvm" ? "host-model" : "none", models = [] }
    rbd    = input.ceph != null ? input.ceph : contains(cloud.services, "ceph") || input.images_pool != null
    helper = { helper_command = "privsep-helper --config-file /etc/nova/nova.conf --config-dir /etc/nova/nova.conf.d" }
  }

  user "nova_compute" {
    name  = self.name
    roles = ["admin", "service"]
  }

  config "nova-compute.conf" {
    path        = "/etc/nova/nova.conf"
    secret_path = "/etc/nova/nova.conf.d/secrets.conf"
    pins        = local.nova_pins
    values = {
      DEFAULT = {
        debug                            = false
        use_stderr                       = true
        transport_url                    = local.cell.transport_url
        state_path                       = "/var/lib/nova"
        compute_driver                   = "libvirt.LibvirtDriver"
        reserved_host_memory_mb          = input.reserved_memory
        allow_resize_to_same_host        = true
        manager_shutdown_timeout         = local.nova_shutdown_timeout
        resume_guests_state_on_host_boot = true # servers that ran go on when their node is back
      }
      service_user = merge(user.nova_compute.auth, { send_service_user_token = true })
      placement    = local.auth
      neutron      = local.auth
      glance       = { valid_interfaces = "internal", region_name = cloud.region }
      cinder       = merge(user.nova_compute.auth, { catalog_info = "block-storage::internalURL", os_region_name = cloud.region })
      barbican = {
        auth_endpoint          = "${service.keystone.url}/v3"
        barbican_endpoint_type = "internal"
        barbican_region_name   = cloud.region
      }
      upgrade_levels        = { compute = "auto" }
      oslo_concurrency      = { lock_path = "/var/lib/nova/tmp" }
      oslo_messaging_rabbit = local.cell.queue_settings
      filter_scheduler      = local.cell.name == "cell1" ? {} : { track_instance_changes = false } # no scheduler in other cells
      # libvirt compares processors better than Nova when a server moves.
      workarounds = merge({ skip_cpu_compare_on_dest = true }, local.cell.name == "cell1" ? {} : { disable_group_policy_check_upcall = true })
      os_vif_ovs  = { ovsdb_connection = try(service.openvswitch.connection, "unix:/run/openvswitch/db.sock") }
      libvirt = {
        virt_type                      = input.virt_type
        cpu_mode                       = local.cpu.mode
        cpu_models                     = local.cpu.models
        connection_uri                 = "qemu:///system"
        live_migration_scheme          = "tls"
        live_migration_with_native_tls = true
        num_pcie_ports                 = 16 # so many devices can be attached
        disk_cachemodes                = input.images_pool != null ? "network=writeback" : null
        hw_disk_discard                = input.images_pool != null ? "unmap" : null
        images_type                    = input.images_pool != null ? "rbd" : null
        images_rbd_pool                = input.images_pool
        images_rbd_ceph_conf           = input.images_pool != null ? "/etc/ceph/ceph.conf" : null
        rbd_user                       = local.rbd ? "cinder" : null
        rbd_secret_uuid                = local.rbd ? try(service.ceph.secret_uuid, null) : null
      }
      vnc = { novncproxy_base_url = "${local.cell.ports.vnc.public_url}/vnc_lite.html" }
      # There is no sudo, and none is needed: the pod is root.
      nova_sys_admin          = local.helper
      vif_plug_ovs_privileged = local.helper
      privsep_osbrick         = local.helper
    }
  }

  config "libvirtd.conf" {
    format = "properties"
    path   = "/etc/libvirt/libvirtd.conf"
    values = merge(yamldecode(file("${path.module}/nova/libvirt.yaml")).libvirtd, cloud.logging != "sidecar" ? {} : {
      log_outputs = "\"3:stderr 3:file:/var/log/kolla/libvirt.out.log\""
    })
  }

  config "qemu.conf" {
    format = "properties"
    path   = "/etc/kolla/qemu.conf" # libvirt.sh adds to it
    values = yamldecode(file("${path.module}/nova/libvirt.yaml")).qemu
  }

  config "ceph.conf" {
    enabled = local.rbd
    format  = "raw"
    path    = "/etc/ceph/ceph.conf"
    content = service.ceph.conf
  }

  config "ceph.client.cinder.keyring" {
    enabled   = local.rbd
    format    = "raw"
    sensitive = true
    path      = "/etc/ceph/ceph.client.cinder.keyring"
    content   = lookup(service.ceph.keyrings, "cinder", null)
  }

  config "migration.key" {
    format    = "raw"
    sensitive = true
    path      = "/run/secrets/migration.key"
    content   = local.cell.migration_secret
  }

  config "ssh_config" {
    format  = "raw"
    path    = "/etc/ssh/ssh_config"
    content = file("${path.module}/nova/ssh_config")
  }

  config "sshd_config" {
    format  = "raw"
    path    = "/etc/ssh/sshd_config"
    content = file("${path.module}/nova/sshd_config")
  }

  config "nova-db.conf" {
    from = "nova-compute.conf"
    only = ["service_user"]
    values = {
      DEFAULT      = { use_stderr = true, transport_url = local.cell.transport_url }
      api_database = merge(local.database, { connection = service.nova.api_database })
      database     = merge(local.database, { connection = local.cell.cell_database })
    }
  }

  # Registers new hypervisors, and deletes those whose nodes left the role.
  job "discover" {
    when     = "after"
    nodes    = self.role
    image    = "nova-conductor"
    user     = 42436
    command  = ["sh", "-ec", file("${path.module}/nova/discover.sh"), "sh", file("${path.module}/nova/retire.py")]
    config   = ["nova-db.conf"]
    writable = ["/var/lib/nova"]
    timeout  = 900
    attempts = 2 # it waits itself for what takes time
    env      = { SERVICE = self.name, CELL = local.cell.name }
  }

  workload "compute" {
    kind         = "DaemonSet"
    update       = "on-delete"
    priority     = "system-node-critical"
    loss         = "nobody can start, stop or move servers of the node"
    host_network = true
    host_pid     = true
    reason       = "It plugs servers into the node's bridges and disks, and libvirtd looks after processes that are not of its pod."
    image        = "nova-compute"
    user         = 0
    command      = ["sh", "-ec", "a=$(cat /run/libvirt/pki/address); OS_LIBVIRT__LIVE_MIGRATION_INBOUND_ADDR=$a exec nova-compute"]
    # From 2026.1 on it makes the network devices of servers, whose settings in /proc/sys are read-only for others.
    privileged   = input.nfs || cloud.release >= 2026.1
    capabilities = input.nfs || cloud.release >= 2026.1 ? [] : ["CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "KILL", "NET_ADMIN", "SYS_ADMIN"]
    config       = ["nova-compute.conf", "ceph.conf", "ceph.client.cinder.keyring", "ssh_config"]
    grace_period = local.nova_grace_period
    env = {
      OS_DEFAULT__HOST                   = node.name
      OS_DEFAULT__MY_IP                  = node.ip
      OS_VNC__SERVER_PROXYCLIENT_ADDRESS = node.ip
      OS_VNC__SERVER_LISTEN              = node.ip
    }

    volume "nova" { host = "/var/lib/nova" }
    volume "shares" {
      enabled     = input.nfs
      host        = "/var/lib/nova/mnt"
      propagation = "both"
    }
    volume "libvirt" { host = "/var/lib/libvirt" }
    volume "libvirt-run" { host = "/run/libvirt" }
    volume "openvswitch" { host = "/run/openvswitch" }
    volume "dev" { host = "/dev" } # devices and terminals of servers

    # Names of the node. With host = "/etc/iscsi" they are those of its own iscsid.
    volume "iscsi" {
      host = "/var/lib/nova/iscsi"
      path = "/etc/iscsi"
    }
    volume "nvme" {
      host = "/var/lib/nova/nvme"
      path = "/etc/nvme"
    }

    init "names" {
      command = ["sh", "-ec", file("${path.module}/nova/names.sh"), "sh", ""]
    }

    carries {
      what      = "running servers"
      container = "libvirt"
      command   = ["sh", "-ec", file("${path.module}/nova/servers.sh")]
    }

    leave {
      what      = "servers, their mounts and control groups, and virtlogd"
      container = "libvirt"
      command   = ["sh", "-ec", file("${path.module}/nova/leave.sh"), "sh", ""]
      timeout   = 600
    }

    init "certificates" {
      command = ["python3", "-c", file("${path.module}/nova/certificates.py"), "/run/secrets/migration.key", "/run/libvirt/pki"]
      config  = ["migration.key"]
      env     = { NODE_IP = node.ip, NETWORK = input.migration_network == null ? "" : input.migration_network }
    }

    sidecar "libvirt" {
      logs          = "files"
      image         = "nova-libvirt"
      reason        = "libvirtd starts servers with devices of the node, and outside of the pod, so that they outlive it."
      command       = ["sh", "-ec", file("${path.module}/nova/libvirt.sh"), "sh", ""]
      privileged    = true
      writable_root = true
      config        = ["libvirtd.conf", "qemu.conf", "ceph.conf", "ceph.client.cinder.keyring"]
      env           = { NODE = node.name, CEPH_SECRET = local.rbd ? try(service.ceph.secret_uuid, "") : "" }

      volume "cgroup" { host = "/sys/fs/cgroup" }
      volume "modules" {
        enabled   = input.virt_type == "kvm"
        host      = "/lib/modules" # libvirtd looks there for the driver of a device
        create    = false
        read_only = true
      }
      volume "log" { host = "/var/log/libvirt" }
      volume "domains" {
        host = "/var/lib/libvirt/etc"
        path = "/etc/libvirt/qemu"
      }
      volume "secrets" {
        path   = "/etc/libvirt/secrets"
        memory = "1Mi"
      }

      startup {
        exec    = ["virsh", "version", "--daemon"]
        period  = 2
        timeout = 20
        retries = 90
      }
    }

    # Nova copies disks through it when a server is resized or moved while it is off.
    sidecar "ssh" {
      image        = "nova-ssh"
      reason       = "Hypervisors write the disks of servers that move to this node."
      command      = ["sh", "-ec", "chmod 0755 /run/sshd; exec /usr/sbin/sshd -D -e -o \"ListenAddress=$NODE_IP\""]
      capabilities = ["AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "SETGID", "SETUID", "SYS_CHROOT"]
      config       = ["sshd_config"]
      writable     = ["/run/sshd"]
      env          = { NODE_IP = node.ip }

      resources {
        requests = { cpu = "10m", memory = "16Mi" }
        limits   = { memory = "512Mi" }
      }
    }

    resources {
      requests = { cpu = "200m", memory = "512Mi" }
      limits   = { memory = "2Gi" }
    }

    startup { retries = 360 }
    ready {
      exec    = concat(local.connected, ["nova-compute", tostring(local.cell.queue_port)])
      period  = 30
      timeout = 20
    }
  }

  # Beside the pods with libvirtd, which nothing replaces in passing.
  workload "exporter" {
    kind    = "DaemonSet"
    image   = "prometheus-libvirt-exporter"
    user    = 0
    command = ["/opt/libvirt-exporter", "--web.listen-address=:${port.metrics}"]
    reason  = "It reads what servers use, from the libvirtd of the node, through its socket."

    volume "libvirt-run" {
      host      = "/run/libvirt"
      read_only = true
    }
  }
}
