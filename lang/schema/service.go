package schema

// ServiceType describes the block `service`.
var ServiceType = &BlockType{
	Name: "service", Label: "service", LabelForm: formName,
	Doc: "One use of a definition in this cloud, with overrides: every block of a definition may stand here too. One with the type and the label of one of the definition's is merged with it, argument by argument and at any depth; see [Overrides](#overrides). One with another label is added.",
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
    update = "on-delete"

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
		{Name: "role", Type: TypeRole, Doc: "Nodes that it runs on; by default those of the cloud's defaults, or else any."},
		{Name: "replicas", Type: TypeNumber, Max: maxReplicas, Doc: "How many pods each of its workloads has, where neither the workload's block nor its kind says otherwise."},
		{Name: "expose", Type: TypeExposure, Doc: "Makes the ports that are meant for it reachable from outside; by default as the cloud's defaults say."},
		{Name: "images", Type: TypeMap, Form: formPlain, Doc: "Full references to use in place of images, by the name of the image in the definition."},
		{Name: "external", Type: TypeAny, Value: "{ host = string, port = number, ... }", Doc: "Where the service is, if it is there already: nothing is deployed, and references to it mean that one. Further keys are `url`, `public_url` and the outputs of its definition, where those are others there; with no definition, whatever others shall read."},
		objectMarks[0], objectMarks[1],
		WithAttribute,
		{Name: "depends_on", Type: TypeReferences, Doc: "What must be ready before the service starts, where no reference shows it."},
		{Name: "network_policy", Type: TypeBool, Doc: "Whether its pods take connections only from those that refer to it, or find it in Keystone's catalogue, and from those that `allow` blocks name; by default as the cloud says."},
		NameAttribute,
	}),
	Blocks: append(overridable(), LifecycleType),
}

var manifestType = &BlockType{
	Name: "manifest", Label: "manifest", LabelForm: formName,
	Doc: "Kubernetes objects as they are. One of object and files gives them. Each is written after the objects that it names, such as its service account, and else in the order of kinds that Helm has.",
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
		{Name: "files", Type: TypeList, Form: formPlain, Doc: "Patterns for YAML files, relative to the configuration's directory. A file may hold several documents."},
		{Name: "reason", Type: TypeString, Doc: "What the pods of its objects have powers for, if they need more than the Pod Security level that the namespace would have without them: for those who review them. Without it a plan warns."},
		{Name: "depends_on", Type: TypeReferences, Doc: "What must be ready before the objects are made."},
	}),
	Blocks: []*BlockType{LifecycleType},
}

// objectMarks are for a service.
var objectMarks = []Attribute{
	{Name: "labels", Type: TypeMap, Form: formLabelValue, Doc: "Labels of all its objects, besides kolla's own and over those of the cloud's defaults; null takes one of these away. Pods have those of their workload or job."},
	{Name: "annotations", Type: TypeMap, Doc: "Annotations of all its objects, likewise."},
}

// WithAttribute replaces services that a definition refers to.
var WithAttribute = Attribute{
	Name: "with", Type: TypeAny, Value: "map of services",
	Doc: "Services that take the place of those that the definition names, by these names: `{ rabbitmq = service.rabbitmq-cell2 }`. References, databases, queues and users of the definition then mean them.",
}
