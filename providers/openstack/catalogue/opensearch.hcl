# OpenSearch, one node or a cluster of three, for the logs of the cloud. It has no users: NetworkPolicies
# say which pods may connect.
definition "opensearch" {
  description = "Store and search of logs"
  stage       = "data"

  input "heap" {
    type        = string
    default     = "1g"
    nullable    = false
    description = "Size of the heap of each node. The memory limit is twice as much."

    validation {
      condition     = can(regex("^[1-9][0-9]*[mg]$", input.heap))
      error_message = "It is a whole number with a unit, m or g: 4g."
    }
  }

  input "retention_days" {
    type        = number
    default     = 30
    nullable    = false
    description = "Days after which indices of logs are deleted."
  }

  input "indices" {
    type        = list(string)
    default     = null
    description = "Patterns of the indices that are deleted; by default those of the cloud, NAME-*. A target with an `index` of its own needs its pattern here."
  }

  port "http" {
    number = 9200
  }

  port "transport" {
    number = 9300
  }

  locals {
    uid     = 42490
    indices = input.indices != null ? input.indices : ["${cloud.name}-*"]
    members = length(self.members.server)
    heap    = tonumber(regex("^[0-9]+", input.heap))
    unit    = endswith(input.heap, "g") ? "Gi" : "Mi"
  }

  config "opensearch.yml" {
    path = "/etc/opensearch/opensearch.yml"
    values = {
      "plugins.security.disabled"    = true
      "cluster.name"                 = cloud.name
      "node.name"                    = "$${KOLLA_POD}"
      "network.host"                 = "0.0.0.0"
      "network.publish_host"         = "$${KOLLA_POD_IP}"
      "http.port"                    = port.http
      "transport.port"               = port.transport
      "path.data"                    = "/var/lib/opensearch/data"
      "path.logs"                    = "/var/log/opensearch"
      "indices.fielddata.cache.size" = "40%"
      "action.auto_create_index"     = true
      # Without maps of files OpenSearch runs on nodes whose vm.max_map_count is below 262144, as by default.
      "node.store.allow_mmap"            = false
      "discovery.seed_hosts"             = self.members.server
      "gateway.expected_data_nodes"      = local.members
      "gateway.recover_after_data_nodes" = ceil(local.members * 2 / 3)
    }
  }

  workload "server" {
    data_version {
      program = "OpenSearch"
      version = image.release >= 2025.2 ? "3" : "2"
      from    = ["2"]
    }

    kind         = "StatefulSet"
    logs         = "console"
    image        = "opensearch"
    user         = local.uid
    max_replicas = 3
    spread       = local.members > 1 ? "required" : "preferred"
    scale_down   = "Exclude the last member first, and wait until it has no shards: cluster.routing.allocation.exclude._name."
    command      = ["sh", "-c", local.many_files, "sh", "sh", "-ec", file("${path.module}/opensearch/start.sh"), "sh", "/usr/share/opensearch/bin/opensearch"]
    ports        = ["http", "transport"]
    config       = ["opensearch.yml"]
    writable     = ["/var/log/opensearch", "/usr/share/opensearch/logs"]
    grace_period = 120
    env = {
      KOLLA_POD            = pod.name
      KOLLA_POD_IP         = pod.ip
      MEMBERS              = join(" ", self.members.server)
      PORT                 = tostring(port.http)
      OPENSEARCH_PATH_CONF = "/tmp/opensearch"
      OPENSEARCH_JAVA_OPTS = "-Xms${input.heap} -Xmx${input.heap} -Dlog4j2.formatMsgNoLookups=true"
    }

    claim "data" {
      path = "/var/lib/opensearch"
      size = "50Gi"
    }

    resources {
      requests = { cpu = "200m", memory = "${ceil(1.5 * local.heap * (local.unit == "Gi" ? 1024 : 1))}Mi" }
      limits   = { memory = "${2 * local.heap}${local.unit}" }
    }

    startup {
      tcp     = "http"
      retries = 60
    }

    ready {
      http    = "/_cluster/health?local=true"
      port    = "http"
      timeout = 10
    }

    lifecycle {
      precondition {
        condition     = contains([1, 3], local.members)
        error_message = "OpenSearch runs on one node or on three: with two, neither can decide when the other is gone."
      }
    }
  }

  # OpenSearch deletes old indices itself, by a policy that this job writes.
  job "retention" {
    when    = "after"
    image   = "opensearch"
    user    = local.uid
    command = ["python3", "-c", file("${path.module}/opensearch/retention.py")]
    env = {
      URL     = "http://${self.host}:${port.http}"
      DAYS    = tostring(input.retention_days)
      INDICES = join(",", local.indices)
      COPIES  = local.members > 1 ? "1" : "0"
    }
  }

  # In the mode sidecar, each pod of the cloud sends its logs.
  allow "collectors" {
    enabled   = cloud.logging == "sidecar"
    ports     = ["http"]
    namespace = cloud.namespace
  }
}
