package schema

import "slices"

// releases are the OpenStack releases that kolla deploys, oldest first. Each has the
// distribution that its images are built on by default.
var releases = []struct{ name, distro string }{
	{"2025.1", "rocky-9"},
	{"2025.2", "rocky-10"},
	{"2026.1", "rocky-10"},
}

// DistroOf is the default distribution of the images of a release. It is empty for a release
// that kolla does not deploy.
func DistroOf(release string) string {
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
		{Name: "pull_secrets", Type: TypeList, Form: FormSubdomain, Doc: "Names of Secrets in the namespace, of type kubernetes.io/dockerconfigjson, that the images are pulled with."},
		{Name: "namespace", Type: TypeString, Default: "openstack", Form: FormNamespace, Doc: "Namespace of the services. A service answers as SERVICE.NAMESPACE."},
		{Name: "region", Type: TypeString, Default: "RegionOne", Form: formPlain, Doc: "Region in Keystone's catalogue."},
		{Name: "config_dir", Type: TypeLiteral, Doc: "Directory with overrides of config files, laid out as kolla-ansible's node_custom_config: global.conf, SERVICE.conf, SERVICE/FILE. Relative to the configuration."},
		{Name: "pod_security", Type: TypeString, OneOf: []string{"restricted", "baseline", "privileged"}, Doc: "Pod Security Standard that the namespace enforces. By default the strictest that the pods of all services and manifests pass. If some need more than `restricted`, two ValidatingAdmissionPolicies (Kubernetes 1.30) hold all other pods of the namespace to `restricted`; with `pod_security` there are none."},
		{Name: "foreign", Type: TypeString, Default: "revert", OneOf: []string{"revert", "report", "ignore"}, Doc: "What becomes of fields that others add to objects of this cloud, such as a container, a rule or a key: revert shows them as drift, and an apply removes them; report shows and counts them, and an apply leaves them there; ignore does not look for them. Labels, annotations and what a controller keeps by the kind of the object are left to others in any case."},
		{Name: "network_policy", Type: TypeBool, Default: true, Doc: "Whether the pods of services take connections only from those that refer to the service, or find its port in the catalogue of a Keystone that they refer to, through an exposure, and from those that `allow` blocks name. Needs a pod network with a policy engine; others ignore it. Pods in the network of their node are not covered: to policy engines they are the node. What pods connect to is not restricted."},
	},
	Blocks: []*BlockType{defaultsType},
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
		{Name: "fqdn", Type: TypeString, Form: FormSubdomain, Doc: "Name that clients use instead of the address."},
		{Name: "mode", Type: TypeString, Default: "nodeport", OneOf: []string{"nodeport", "managed", "loadbalancer", "ingress", "gateway"}, Doc: "How traffic comes in. This version knows nodeport: stable ports on the nodes, behind a load balancer of the operator's own, which `kolla exposure haproxy` configures."},
		{Name: "nodes", Type: TypeRole, Doc: "Role over whose nodes the traffic is spread; by default any node."},
		{Name: "node_ports", Type: TypeString, Default: "30000-32767", Doc: "Range that the cluster gives to node ports (--service-node-port-range), FIRST-LAST."},
		NameAttribute,
	}),
}

// PlaceAttributes are the default role and the default exposure of services.
var PlaceAttributes = []Attribute{
	{Name: "role", Type: TypeRole, Doc: "Nodes of services that have no argument `role` themselves; with `role = null` a service runs on any."},
	{Name: "expose", Type: TypeExposure, Doc: "Exposure of services that have no argument `expose` themselves, and whose definition has a port that is meant to be reached from outside; with `expose = null` a service is not reached."},
}

var defaultsType = &BlockType{
	Name: "defaults", Single: true,
	Doc: "Overrides for every service, also in modules. They come over the definitions and under the services' own blocks, and are evaluated for each service: self is the service.",
	Example: `cloud "prod" {
  release = "2025.1"

  defaults {
    role          = role.control
    expose        = exposure.public
    storage_class = "local-nvme"
    labels        = { "example.org/cost-center" = "4711" }
    annotations   = { "example.org/owner" = self.name == "keystone" ? "identity" : "platform" }

    workload {
      env           = { TZ = "UTC" }
      grace_period  = 60
      tolerations   = [{ key = "dedicated", value = "cloud", effect = "NoSchedule" }]
      service_links = false

      resources {
        limits = { memory = "4Gi" }
      }
    }
  }
}
`,
	Attributes: append(slices.Clone(PlaceAttributes), []Attribute{
		{Name: "storage_class", Type: TypeString, Form: FormSubdomain, Doc: "Of all volumes; by default what the definition says, or else the cluster's."},
		{Name: "labels", Type: TypeMap, Form: formLabelValue, Doc: "On every object of every service."},
		{Name: "annotations", Type: TypeMap, Doc: "On every object of every service."},
	}...),
	Blocks: []*BlockType{defaultConfigType, defaultWorkloadType, PatchType},
}

var defaultConfigType = &BlockType{
	Name: "config", Label: "file name or pattern", LabelForm: FormGlob,
	Doc: "Values for all config files, of any service, whose name matches. Values in sections go to ini files, values without to properties files.",
	Example: `cloud "prod" {
  release = "2025.1"

  defaults {
    config "*.conf" {
      values = {
        DEFAULT = { debug = false, log_color = self.name == "keystone" }
      }
    }
  }
}
`,
	Attributes: []Attribute{
		{Name: "values", Type: TypeSettings, Required: true, Doc: "Merged over the definitions' values and under the services'."},
	},
}

// defaultWorkloadType has the arguments that make sense for every workload.
var defaultWorkloadType = &BlockType{
	Name: "workload", Single: true,
	Doc:        "What all workloads have.",
	Attributes: append(chosen(podAttributes, "env", "service_links"), gracePeriodAttribute, tolerationsAttribute),
	Blocks:     []*BlockType{resourcesType},
}

// chosen are the arguments with the given names.
func chosen(from []Attribute, names ...string) []Attribute {
	return slices.DeleteFunc(slices.Clone(from), func(a Attribute) bool { return !slices.Contains(names, a.Name) })
}

var roleType = &BlockType{
	Name: "role", Label: "role", LabelForm: formName,
	Doc: "A set of nodes, and the labels that kolla puts on them. One of nodes, match and roles says which.",
	Example: `role "network" {
  nodes = ["net-1", "net-2"]
}

# One role for each rack: role.rack["a"] is named rack-a.
role "rack" {
  for_each = toset(["a", "b"])

  match  = { "topology.kubernetes.io/zone" = each.key }
  labels = { "example.org/rack" = each.key }
}

# Only what runs on this role runs there.
role "storage" {
  nodes  = ["sto-1", "sto-2"]
  taints = ["example.org/storage:NoSchedule"]
}

# All nodes that carry traffic of servers.
role "dataplane" {
  roles = [role.network, role.compute]
}
`,
	ReadAs: "role.NAME",
	Reads: []Reading{
		{"name", "Its name."},
		{"nodes", "Names of the nodes; those that are matched by labels are not among them."},
		{"labels", "Labels that kolla puts on the nodes."},
	},
	Attributes: withRepetition([]Attribute{
		{Name: "nodes", Type: TypeList, Form: FormSubdomain, Doc: "Names of the nodes."},
		{Name: "match", Type: TypeMap, Form: formLabelValue, Doc: "Labels that the nodes have already."},
		{Name: "roles", Type: TypeRoles, Doc: "Other roles: the nodes of any of them."},
		{Name: "taints", Type: TypeList, Form: formTaint, Doc: "Taints to put on the nodes, KEY:EFFECT or KEY=VALUE:EFFECT, with the effect NoSchedule or PreferNoSchedule. Pods of the role tolerate them, and those of roles that it is a part of. What is taken away here is taken off the nodes; other taints stay as they are."},
		{Name: "labels", Type: TypeMap, Form: formLabelValue, Doc: `Labels to put on the nodes; workloads select by them. By default { "kolla.openstack.org/role-NAME" = "true" }.`},
		NameAttribute,
	}),
}
