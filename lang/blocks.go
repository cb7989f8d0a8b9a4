package lang

// Schema describes the language: the types of blocks that may stand at the top of
// a file, and all that may stand in them.
func Schema() []*BlockType { return fileType.Blocks }

// Dynamic describes the block that may stand in every other one, for blocks of the types
// that stand there.
func Dynamic() *BlockType { return dynamicType }

// fileType is what all files of a configuration make together.
var fileType = &BlockType{Blocks: []*BlockType{
	cloudType, variableType, localsType, roleType, exposureType, dataType, sharedSecretType, serviceType, definitionType, manifestType,
	moduleType, rootOutputType, checkType, movedType, removedType, importType,
}}

// catalogueType is what a file of the catalogue may hold.
var catalogueType = &BlockType{Blocks: []*BlockType{definitionType, localsType}}

// releases are the OpenStack releases that kolla deploys, oldest first, with the
// distribution that the images of each are built on by default.
var releases = []struct{ name, distro string }{
	{"2025.1", "rocky-9"},
	{"2025.2", "rocky-10"},
	{"2026.1", "rocky-10"},
}

// distroOf is the distribution that the images of a release are built on by default; empty
// for a release that kolla does not deploy.
func distroOf(release string) string {
	for _, r := range releases {
		if r.name == release {
			return r.distro
		}
	}
	return ""
}

func releaseNames() []string {
	var names []string
	for _, r := range releases {
		names = append(names, r.name)
	}
	return names
}

var cloudType = &BlockType{
	Name: "cloud", Label: "cloud", LabelForm: formName,
	Doc: "The whole deployment. A configuration has exactly one.",
	Example: `cloud "prod" {
  release      = "2025.1"
  distro       = "debian-bookworm"
  tag          = "2025.1-debian-bookworm-20260801"
  registry     = "registry.example.org/kolla"
  prefix       = "site-"
  pull_secrets = ["registry"]
  namespace    = "openstack"
  region       = "RegionOne"
  config_dir   = "./config"
  pod_security = "baseline"
  foreign      = "revert"

  network_policy = true

  images = {
    "keystone"  = "registry.example.org/patched/keystone:42"
    "mariadb-*" = "registry.example.org/databases/*:42"
  }
}
`,
	ReadAs: "cloud",
	Reads: []Reading{
		{"name", "Label of the block."},
		{"release", "OpenStack release."},
		{"distro", "Distribution of the images, given or by default."},
		{"registry", "Where the images come from."},
		{"namespace", "Namespace of the services."},
		{"region", "Region in Keystone's catalogue."},
		{"services", "Names of the definitions that services are made by, a set: contains(cloud.services, \"heat\"). Who reads it needs none of them, so that nothing is ordered."},
	},
	Attributes: []Attribute{
		{Name: "release", Type: TypeString, Required: true, OneOf: releaseNames(), Doc: "OpenStack release. With distro it makes the tag of the images."},
		{Name: "distro", Type: TypeString, Form: formPlain, Doc: "Distribution that the images are built on, as in their tags. By default what the release is usually built on: rocky-9 for 2025.1, rocky-10 from then on."},
		{Name: "tag", Type: TypeString, Form: formTag, Doc: "Tag of the images; by default RELEASE-DISTRO."},
		{Name: "images", Type: TypeMap, Form: formPlain, Doc: "Full references to use in place of images, by the name of the image or a pattern; `*` in a reference stands for the name. The exact name counts before a pattern, and a longer pattern before a shorter one. `images` of a service comes before both."},
		{Name: "registry", Type: TypeString, Default: "quay.io/openstack.kolla", Form: formPlain, Doc: "Registry and path that the images come from."},
		{Name: "prefix", Type: TypeString, Default: "", Doc: "Put before the name of every image."},
		{Name: "pull_secrets", Type: TypeList, Form: formSubdomain, Doc: "Names of Secrets in the namespace, of type kubernetes.io/dockerconfigjson, that the images are pulled with."},
		{Name: "namespace", Type: TypeString, Default: "openstack", Form: formNamespace, Doc: "Namespace of the services. A service answers as SERVICE.NAMESPACE."},
		{Name: "region", Type: TypeString, Default: "RegionOne", Form: formPlain, Doc: "Region in Keystone's catalogue."},
		{Name: "config_dir", Type: TypeLiteral, Doc: "Directory with overrides of config files, laid out as kolla-ansible's node_custom_config: global.conf, SERVICE.conf, SERVICE/FILE. Relative to the configuration."},
		{Name: "pod_security", Type: TypeString, OneOf: []string{"restricted", "baseline", "privileged"}, Doc: "Pod Security Standard that the namespace enforces. By default the strictest that the pods of all services and manifests pass. If some need more than `restricted`, two ValidatingAdmissionPolicies (Kubernetes 1.30) hold all other pods of the namespace to `restricted`; with `pod_security` there are none."},
		{Name: "foreign", Type: TypeString, Default: "revert", OneOf: []string{"revert", "report", "ignore"}, Doc: "What becomes of fields that others add to objects of this cloud, such as a container, a rule or a key: revert shows them as drift, and an apply removes them; report shows and counts them, and an apply leaves them there; ignore does not look for them. Labels, annotations and what a controller keeps by the kind of the object are left to others in any case."},
		{Name: "network_policy", Type: TypeBool, Default: true, Doc: "Whether the pods of services take connections only from those that refer to the service, or find its port in the catalogue of a Keystone that they refer to, through an exposure, and from those that `allow` blocks name. Needs a pod network with a policy engine; others ignore it. Pods in the network of their node are not covered: to policy engines they are the node. What pods connect to is not restricted."},
	},
	Blocks: []*BlockType{defaultsType},
}

var variableType = &BlockType{
	Name: "variable", Label: "variable", LabelForm: formIdentifier,
	Doc: "A value that is given from outside: -var, -var-file, kolla.vars.hcl, *.auto.vars.hcl, KOLLA_VAR_name. Read as var.NAME.",
	Example: `variable "workers" {
  type        = object({ processes = number, threads = optional(number, 2) })
  default     = { processes = 4 }
  description = "How many requests a pod answers at a time."
  nullable    = false

  validation {
    condition     = var.workers.processes * var.workers.threads <= 64
    error_message = "The database does not take more connections."
  }
}

variable "smtp_password" {
  type      = string
  default   = null
  sensitive = true
}
`,
	ReadAs: "var.NAME",
	Attributes: []Attribute{
		{Name: "type", Type: TypeConstraint, Doc: "Type constraint, such as string, number, list(string), object({ a = string, b = optional(number, 1) }). Without one, any value."},
		{Name: "default", Type: TypeAny, Doc: "Value when none is given. Without it a value must be given."},
		{Name: "description", Type: TypeLiteral, Doc: "What the variable is for."},
		{Name: "sensitive", Type: TypeBool, Default: false, Doc: "The value is never shown and never stored."},
		{Name: "nullable", Type: TypeBool, Default: true, Doc: "Whether null is a value. If not, null means the default."},
	},
	Blocks: []*BlockType{{
		Name: "validation",
		Doc:  "A condition that the value must meet.",
		Attributes: []Attribute{
			{Name: "condition", Type: TypeBool, Required: true, Doc: "True when the value is good. It may refer to anything that does not depend on the variable."},
			{Name: "error_message", Type: TypeText, Required: true, Doc: "What is wrong otherwise, as a whole sentence."},
		},
	}},
}

var localsType = &BlockType{
	Name: "locals", AnyAttribute: true,
	Doc: "Names for expressions: every argument NAME is read as local.NAME. They may refer to each other in any order.",
	Example: `locals {
  control_nodes = [for n in range(1, 4) : "ctl-${n}"]
  replicas      = length(local.control_nodes)
}
`,
	ReadAs: "local.NAME",
}

var exposureType = &BlockType{
	Name: "exposure", Label: "exposure", LabelForm: formName,
	Doc: "How chosen services are reached from outside of the cluster.",
	Example: `exposure "inside" {
  vip        = "192.0.2.20"
  fqdn       = "inside.example.org"
  mode       = "nodeport"
  nodes      = role.compute
  node_ports = "30000-32767"
}
`,
	ReadAs: "exposure.NAME",
	Reads: []Reading{
		{"name", "Its name."},
		{"vip", "Address that clients connect to."},
		{"fqdn", "Name that clients use; empty where there is none."},
		{"host", "The name, or else the address."},
		{"mode", "How traffic comes in."},
	},
	Attributes: withRepetition([]Attribute{
		{Name: "vip", Type: TypeString, Required: true, Form: formIP, Doc: "Address that clients connect to."},
		{Name: "fqdn", Type: TypeString, Form: formSubdomain, Doc: "Name that clients use instead of the address."},
		{Name: "mode", Type: TypeString, Default: "nodeport", OneOf: []string{"nodeport", "managed", "loadbalancer", "ingress", "gateway"}, Doc: "How traffic comes in. This version knows nodeport: stable ports on the nodes, behind a load balancer of the operator's own, which `kolla exposure haproxy` configures."},
		{Name: "nodes", Type: TypeRole, Doc: "Role over whose nodes the traffic is spread; by default any node."},
		{Name: "node_ports", Type: TypeString, Default: "30000-32767", Doc: "Range that the cluster gives to node ports (--service-node-port-range), FIRST-LAST."},
		nameAttribute,
	}),
}

var serviceType = &BlockType{
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
		withAttribute,
		{Name: "depends_on", Type: TypeReferences, Doc: "What must be ready before the service starts, where no reference shows it."},
		{Name: "network_policy", Type: TypeBool, Doc: "Whether its pods take connections only from those that refer to it, or find it in Keystone's catalogue, and from those that `allow` blocks name; by default as the cloud says."},
		nameAttribute,
	}),
	Blocks: append(overridable(), lifecycleType),
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
	Blocks: []*BlockType{lifecycleType},
}
