package schema

import "kolla.openstack.org/kolla/lang/schema/forms"

// ServiceType describes the block `service`.
var ServiceType = &BlockType{
	Name: "service", Label: "service", LabelForm: forms.Name,
	Doc: "One use of a definition in this cloud, with overrides. It may have every block of a definition. kolla merges a block with the one of the definition that has the same type and label, argument by argument and at any depth; see [Overrides](../language.md#overrides). It adds a block with another label.",
	Example: `service "keystone" {
  role       = role.control
  replicas   = 3
  expose     = exposure.public
  images     = { keystone = "registry.example.org/kolla/keystone:patched" }
  depends_on = [service.rabbitmq]

  # What the definition says of service.memcached means this one.
  with = { memcached = service.cache["users"] }

  # Of all its objects.
  labels      = { "example.org/cost-centre" = "4711" }
  annotations = { "example.org/owner" = "identity" }

  config "keystone.conf" {
    values = {
      token = { expiration = 7200 }

      # As if the definition did not say it.
      cache = { backend = null }

      # The elements of a list are joined by commas: methods = password,token
      auth = { methods = ["password", "token"] }

      # The key is there twice.
      cors = { allowed_origin = [["https://a.example.org"], ["https://b.example.org"]] }
    }
  }

  # A file that the definition does not have, and where it is mounted: config adds to the
  # definition's list.
  config "motd" {
    format  = "raw"
    path    = "/etc/motd"
    content = "Region ${cloud.region}\n"
  }

  workload "api" {
    role     = role.compute
    replicas = 5

    # Of its pods.
    labels      = { "example.org/tier" = "front" }
    annotations = { "prometheus.io/scrape" = "true" }

    env    = { OS_DEBUG = "1" }
    config = ["motd"]

    resources {
      requests = { memory = "512Mi" }
    }

    ready {
      period = 30
    }
  }

  port "public" {
    node_port = 30501
  }

  secret "admin" {
    value = var.password
  }

  secret "db-keystone" {
    from_secret = { name = "databases", key = "keystone" }
  }
}

service "mariadb" {
  workload "server" {
    update        = "on-delete"
    rollout_first = true

    claim "data" {
      size          = "100Gi"
      storage_class = "local-nvme"
    }
  }
}

# A file that is no ini or properties file is replaced as a whole.
service "rabbitmq" {
  config "enabled_plugins" {
    content = "[rabbitmq_management,rabbitmq_prometheus]."
  }
}

# The definition of the catalogue once more, under other names.
service "cache" {
  for_each   = { users = 2, tokens = 1 }
  definition = "memcached"
  name       = "memcached-${each.key}"
  replicas   = each.value
}

# Pods of every namespace may reach it.
service "etcd" {
  definition     = "memcached"
  network_policy = false
}

# A database server that is there already: nothing is deployed. A definition says which
# service it needs: the catalogue's need service.mariadb, and a server for them has that
# name, and no argument "definition".
service "galera" {
  definition = "mariadb"

  external = {
    host = "db.example.org"
    port = 3307
  }

  # Without it, the databases have to be there as well.
  secret "root" {
    from_env = "GALERA_ROOT_PASSWORD"
  }
}
`,
	ReadAs: "service.NAME",
	Reads: []Reading{
		{"name", "Its name in the cluster."},
		{"namespace", "Its namespace."},
		{"host", "Its DNS name inside the cluster, NAME.NAMESPACE."},
		{"role", "Name of its role; empty where it has none."},
		{"replicas", "Pods of its first workload; 0 where there is none or the nodes decide."},
		{"external", "Whether it is there already, and not deployed."},
		{"port", "Number of its main port."},
		{"address", "host:port."},
		{"url", "http://host:port."},
		{"public_url", "The same from outside, at the exposure; inside where the service has none."},
		{"ports", "Each of its ports by name: ports.NAME.number, host, address and url, and public_host and public_url from outside. A port of another workload than the main port's has a host of its own."},
		{"members", "Names of the pods of each StatefulSet, a list by the name of the workload: members.WORKLOAD."},
	},
	Attributes: withRepetition([]Attribute{
		{Name: "definition", Type: TypeLiteral, Doc: "Name of the definition; by default the service's own name."},
		{Name: "role", Type: TypeRole, Doc: "Nodes that the service runs on; by default the role of the cloud's defaults, or else any node."},
		{Name: "replicas", Type: TypeNumber, Max: forms.MaxReplicas, Doc: "Number of pods of each workload, unless the block or the kind of the workload says otherwise."},
		{Name: "expose", Type: TypeExposure, Doc: "Exposure that makes the ports for clients outside reachable; by default the one of the cloud's defaults."},
		{Name: "images", Type: TypeMap, Form: forms.Plain, Doc: "Full image references that replace images, by the name of the image in the definition."},
		{Name: "external", Type: TypeAny, Value: "{ host = string, port = number, ... }", Doc: "Address of a service that exists already. kolla deploys nothing, and references to the service lead there. It may have `url`, `public_url` and the outputs of the definition that are different there; without a definition, everything that others read."},
		objectMarks[0], objectMarks[1],
		WithAttribute,
		{Name: "depends_on", Type: TypeReferences, Doc: "Blocks that must be ready before the service starts, in addition to those that references show."},
		{Name: "network_policy", Type: TypeBool, Doc: "Whether the pods accept connections only from services that refer to this one or find it in Keystone's catalogue, and from the sources in `allow` blocks; by default as the cloud says."},
		NameAttribute,
	}),
	Blocks: append(overridable(), LifecycleType),
}

var manifestType = &BlockType{
	Name: "manifest", Label: "manifest", LabelForm: forms.Name,
	Doc: "Kubernetes objects, written as they are. Either object or files gives them. kolla writes each object after the objects that it names, such as its service account, and otherwise in Helm's order of kinds. An object without a namespace gets that of the cloud. A namespace of a cluster-scoped object is ignored, as kubectl does.",
	Example: `manifest "limits" {
  files  = ["manifests/*.yaml"]
  reason = "The agents of the storage mount disks of their nodes."
}

manifest "motd" {
  count      = 2
  enabled    = fileexists("motd.txt")
  depends_on = [service.keystone]

  object = {
    apiVersion = "v1"
    kind       = "ConfigMap"
    metadata   = { name = "motd-${count.index}" }
    data       = { text = file("motd.txt"), identity = service.keystone.public_url }
  }
}
`,
	Attributes: withRepetition([]Attribute{
		{Name: "object", Type: TypeAny, Doc: "The object, with apiVersion, kind and metadata."},
		{Name: "files", Type: TypeList, Form: forms.Plain, Doc: "Patterns of YAML or JSON files, relative to the configuration's directory. A file may hold several documents, which kolla reads as kubectl does. Text that kubectl would ignore is an error, and so is a number or boolean in the place of text, such as a label 1.10 or yes without quotes."},
		{Name: "reason", Type: TypeString, Doc: "Why the pods need more powers than the Pod Security level of the namespace would otherwise allow, for reviewers. Without a reason, a plan warns."},
		{Name: "depends_on", Type: TypeReferences, Doc: "Blocks that must be ready before kolla makes the objects."},
	}),
	Blocks: []*BlockType{LifecycleType},
}

// objectMarks are for a service.
var objectMarks = []Attribute{
	{Name: "labels", Type: TypeMap, Form: forms.LabelValue, Doc: "Labels of all objects of the service, in addition to kolla's. They override those of the cloud's defaults; null removes a label. Pods have the labels of their workload or job."},
	{Name: "annotations", Type: TypeMap, Doc: "Annotations of all objects of the service, with the same rules."},
}

// WithAttribute replaces services that a definition refers to.
var WithAttribute = Attribute{
	Name: "with", Type: TypeAny, Value: "map of services",
	Doc: "Services that replace those that the definition names: `{ rabbitmq = service.rabbitmq-cell2 }`. The references, databases, queues and users of the definition then use them.",
}
