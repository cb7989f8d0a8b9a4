package schema

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/lang/releases"
	"kolla.openstack.org/kolla/lang/schema/forms"
)

// defaultDistros says which distribution is the default in which release.
func defaultDistros() string {
	var parts []string
	last := ""
	for _, r := range releases.All() {
		if distro := r.Distro(); distro != last {
			parts = append(parts, fmt.Sprintf("%s from %s on", distro, r.Name))
			last = distro
		}
	}
	return strings.Join(parts, ", ")
}

var cloudType = &BlockType{
	Name: "cloud", Label: "cloud", LabelForm: forms.Name,
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

  metrics {
    mode   = "monitors"
    labels = { release = "kube-prometheus-stack" }

    allow "prometheus" {
      namespace = "monitoring"
      pods      = { "app.kubernetes.io/name" = "prometheus" }
    }

    allow "central" {
      cidrs = ["192.0.2.0/24"]
    }
  }

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
		{"logging", "How logs are collected: node, sidecar or none."},
		{"services", "Names of the definitions that services are made by, a set: contains(cloud.services, \"heat\"). Who reads it needs none of them, so that nothing is ordered."},
		{"metrics", "Whether the block metrics is there, a bool."},
		{"scraping", "How a Prometheus finds metrics: services, monitors or none, the mode of the block metrics."},
		{"targets", "The headless Services by which a Prometheus finds the metrics of the services and of HAProxy: a map with an object for each name, with `path`, and with `interval` and `timeout` in seconds; null if the Prometheus decides. It has no workloads that are disabled or have no replicas. Who reads it needs none of the services, so that nothing is ordered. Services that need the reader are evaluated after it: theirs are those of their definitions."},
		{"urls", "URLs at which clients outside reach the ports of the services that speak HTTP, with the path of the readiness probe, as { NAME = { url = string, private_ca = bool } }. NAME is the service, or SERVICE-PORT for all exposed ports but the first. private_ca: clients have to know a CA. Nothing is ordered, and services that need the reader are missing."},
	},
	Attributes: []Attribute{
		{Name: "release", Type: TypeString, Required: true, OneOf: releases.Names(), Doc: "OpenStack release. The tag of the images consists of release and distro."},
		{Name: "distro", Type: TypeString, Form: forms.Plain, Doc: "Distribution that the images are built on, as in their tags. The default depends on the release: " + defaultDistros() + "."},
		{Name: "tag", Type: TypeString, Form: forms.Tag, Doc: "Tag of the images; by default RELEASE-DISTRO."},
		{Name: "images", Type: TypeMap, Form: forms.Plain, Doc: "Full image references that replace images, by the name of the image or a pattern. `*` in a reference stands for the name. An exact name wins over a pattern, a longer pattern over a shorter one, and `images` of a service over both."},
		{Name: "registry", Type: TypeString, Default: KollaRegistry, Form: forms.Plain, Doc: "Registry and path that the images come from."},
		{Name: "prefix", Type: TypeString, Default: "", Doc: "Prefix of the name of every image."},
		{Name: "pull_secrets", Type: TypeList, Form: forms.Subdomain, Doc: "Names of the Secrets in the namespace, of type kubernetes.io/dockerconfigjson, with the credentials of the registry."},
		{Name: "namespace", Type: TypeString, Default: "openstack", Form: forms.Namespace, Doc: "Namespace of the services. The DNS name of a service is SERVICE.NAMESPACE."},
		{Name: "region", Type: TypeString, Default: "RegionOne", Form: forms.Plain, Doc: "Name of the region in Keystone's catalogue."},
		{Name: "config_dir", Type: TypeLiteral, Doc: "Directory with overrides of config files, in the layout of kolla-ansible's node_custom_config: global.conf, SERVICE.conf, SERVICE/FILE. The path is relative to the configuration."},
		{Name: "pod_security", Type: TypeString, OneOf: []string{"restricted", "baseline", "privileged"}, Doc: "Pod Security Standard that the namespace enforces. By default it is the strictest standard that the pods of all services and manifests pass. If some pods need more than `restricted`, two ValidatingAdmissionPolicies (Kubernetes 1.30) hold all other pods of the namespace to `restricted`. If you set `pod_security`, there are no such policies."},
		{Name: "foreign", Type: TypeString, Default: "revert", OneOf: []string{"revert", "report", "ignore"}, Doc: "Policy for fields that others add to objects of this cloud, such as a container, a rule or a key. revert: a plan shows them as drift, and an apply removes them. report: a plan shows and counts them, and an apply leaves them. ignore: kolla does not look for them. In any case kolla leaves labels, annotations and the fields that controllers set to others."},
		{Name: "network_policy", Type: TypeBool, Default: true, Doc: "Whether kolla writes NetworkPolicies. The pods of a service then accept connections only from services that refer to it or find its port in the catalogue of their Keystone, through an exposure, and from the sources in `allow` blocks. This needs a pod network with a policy engine; other networks ignore it. It does not cover pods in the network of their node, because policy engines take them for the node, and it does not restrict outgoing connections."},
	},
	Blocks: []*BlockType{defaultsType, LoggingType, backendType, cloudMetricsType},
}

// KollaRegistry is the registry in which Kolla publishes its images.
const KollaRegistry = "quay.io/openstack.kolla"

var backendType = &BlockType{
	Name: "backend", Label: "backend", Single: true,
	LabelForm: forms.Form{Expected: "local or kubernetes", Valid: func(s string) bool { return s == "local" || s == "kubernetes" }},
	Doc:       "Where the state is kept. `local`, the default, is the file kolla.state.json beside the configuration. `kubernetes` is the cluster itself, for several people and machines: Secrets hold the state, and a Lease is its lock. kolla uses the same credentials as for the rest of the cluster. After a change of this block, `kolla init -migrate-state` moves the state; see [the state](../state.md).",
	Example: `cloud "prod" {
  release = "2025.1"

  backend "kubernetes" {
    namespace = "kolla-state"
  }
}
`,
	Attributes: []Attribute{
		{Name: "namespace", Type: TypeLiteral, Default: "kolla-state", Form: forms.Namespace, Doc: "Namespace of the Secrets and the Lease. An apply creates it if it does not exist. It should not be the cloud's own namespace: whoever may write Secrets there could change the state, and a destroy would leave the namespace behind."},
	},
}

var exposureType = &BlockType{
	Name: "exposure", Label: "exposure", LabelForm: forms.Name,
	Doc: "A way into the cluster, for services that clients outside use.",
	Example: `exposure "inside" {
  vip        = "192.0.2.20"
  fqdn       = "inside.example.org"
  mode       = "nodeport"
  nodes      = role.compute
  node_ports = "30000-32767"
}

# HAProxy and keepalived on the nodes of a role. One of the nodes has the VIP.
exposure "api" {
  vip   = "192.0.2.30"
  fqdn  = "api.example.org"
  mode  = "managed"
  nodes = role.control

  keepalived {
    interface         = "eth1"
    vrrp_interface    = "eth0"
    virtual_router_id = 61
  }
}

exposure "public" {
  vip         = "192.0.2.10"
  mode        = "loadbalancer"
  class       = "metallb.io/metallb"
  annotations = { "metallb.io/allow-shared-ip" = "public" }
}

# Clients reach Keystone at http://keystone.cloud.example.org.
exposure "web" {
  domain           = "cloud.example.org"
  mode             = "ingress"
  class            = "traefik"
  wait_for_address = false
}

exposure "admin" {
  domain = "admin.example.org"
  mode   = "gateway"
  port   = 8080

  gateway {
    name      = "public"
    namespace = "gateways"
    section   = "http"
  }
}
`,
	ReadAs: "exposure.NAME",
	Reads: []Reading{
		{"name", "Its name."},
		{"vip", "Address that clients connect to; empty where there is none."},
		{"fqdn", "Name that clients use; empty where there is none."},
		{"domain", "Domain of the host names; empty where there is none."},
		{"host", "The domain, or else the name, or else the address."},
		{"mode", "How traffic comes in."},
	},
	Attributes: withRepetition([]Attribute{
		{Name: "vip", Type: TypeString, Form: forms.IP, Doc: "Address that clients connect to. The modes nodeport, managed and loadbalancer need it. In the modes ingress and gateway it is the address that the host names lead to: kolla doctor connects to it, and no other exposure may have its port."},
		{Name: "fqdn", Type: TypeString, Form: forms.Subdomain, Doc: "DNS name that clients use instead of the address. For the modes nodeport, managed and loadbalancer."},
		{Name: "domain", Type: TypeString, Form: forms.Subdomain, Doc: "Domain of the host names of services. The first exposed port of a service has the name SERVICE.DOMAIN, each further one SERVICE-PORT.DOMAIN. For the modes ingress and gateway."},
		{Name: "port", Type: TypeNumber, Min: 1, Max: 65535, Doc: "Port at which the controller listens, which is also in public URLs; by default 80, and 443 with `tls`. For the modes ingress and gateway."},
		{Name: "mode", Type: TypeString, Default: "nodeport", OneOf: []string{"nodeport", "managed", "loadbalancer", "ingress", "gateway"}, Doc: "How traffic comes in. nodeport: fixed ports on the nodes, behind a load balancer of your own, which `kolla exposure haproxy` configures. managed: HAProxy and keepalived of Kolla in the cluster, on the nodes of a role, of which one has the VIP. loadbalancer: Services of type LoadBalancer, which the load balancer of the cluster gives the VIP. ingress: an Ingress for each service, for an Ingress controller of the cluster. gateway: an HTTPRoute for each port, for a Gateway of the cluster."},
		{Name: "nodes", Type: TypeRole, Doc: "Role of the nodes that receive the traffic; by default all nodes. In the mode managed, which needs it, these nodes run HAProxy and keepalived. For the modes nodeport and managed."},
		{Name: "node_ports", Type: TypeString, Default: "30000-32767", Doc: "Range of node ports of the cluster (--service-node-port-range), as FIRST-LAST. For the mode nodeport."},
		{Name: "class", Type: TypeString, Form: forms.LabelKey, Doc: "Class of the load balancer (spec.loadBalancerClass of the Services), such as metallb.io/metallb, or of the Ingress controller (spec.ingressClassName), such as traefik; by default the cluster's default. For the modes loadbalancer and ingress."},
		{Name: "annotations", Type: TypeMap, Doc: "Annotations of the Services of type LoadBalancer, the Ingresses or the HTTPRoutes, which tell the load balancer or the controller more: most load balancers need one that lets several Services share an address. For the modes loadbalancer, ingress and gateway."},
		{Name: "wait_for_address", Type: TypeBool, Default: true, Doc: "Whether an apply waits until each Ingress has an address. Set it to false if the controller gives none. For the mode ingress."},
		NameAttribute,
	}),
	Blocks: []*BlockType{gatewayType, keepalivedType, TLSType},
}

var keepalivedType = &BlockType{
	Name: "keepalived", Single: true,
	Doc: "How keepalived gives the VIP to one of the nodes, in an exposure of the mode managed. The nodes talk to each other by their addresses in the cluster (VRRP version 3, IP protocol 112), which firewalls have to pass. All nodes have the same priority, and a node that comes back does not take the VIP from another one.",
	Attributes: []Attribute{
		{Name: "interface", Type: TypeString, Required: true, Form: forms.Interface, Doc: "Network interface that gets the VIP. All nodes have an interface of this name in the network of the VIP."},
		{Name: "vrrp_interface", Type: TypeString, Form: forms.Interface, Doc: "Network interface with the addresses by which the nodes know each other (InternalIP in `kubectl get nodes -o wide`); by default `interface`. A node without a link on one of the two gives up the VIP."},
		{Name: "virtual_router_id", Type: TypeNumber, Default: 51, Min: 1, Max: 255, Doc: "Number of the group in VRRP. Each exposure of the mode managed has another one, and so has other software that uses VRRP between the same nodes."},
	},
}

var gatewayType = &BlockType{
	Name: "gateway", Single: true,
	Doc: "The Gateway (gateway.networking.k8s.io) that serves an exposure of the mode gateway. It exists already, or a `manifest` block makes it. Its listener has to admit routes from the namespace of the cloud.",
	Attributes: []Attribute{
		{Name: "name", Type: TypeString, Required: true, Form: forms.Subdomain, Doc: "Name of the Gateway."},
		{Name: "namespace", Type: TypeString, Form: forms.Namespace, Doc: "Namespace of the Gateway; by default the cloud's."},
		{Name: "section", Type: TypeString, Form: forms.Subdomain, Doc: "Name of the listener that takes the routes; by default all listeners that admit them. An exposure with `tls` needs it: the listener with TLS."},
		{Name: "http_section", Type: TypeString, Form: forms.Subdomain, Doc: "Name of a listener for plain HTTP, whose clients are redirected to the https:// URLs. By default there is no redirect. For exposures with `tls`."},
	},
}

// PlaceAttributes are the default role and the default exposure of services.
var PlaceAttributes = []Attribute{
	{Name: "role", Type: TypeRole, Doc: "Nodes for services without an argument `role` of their own. A service with `role = null` runs on any node."},
	{Name: "expose", Type: TypeExposure, Doc: "Exposure for services without an argument `expose` of their own, if their definition has a port for clients outside. A service with `expose = null` is not exposed."},
}

var defaultsType = &BlockType{
	Name: "defaults", Single: true,
	Doc: "Overrides for every service, in modules too. They override the definitions, and the blocks of a service override them. kolla evaluates them for each service; self is the service.",
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
		{Name: "storage_class", Type: TypeString, Form: forms.Subdomain, Doc: "Storage class of all volumes. By default the definition decides, or else the cluster."},
		{Name: "labels", Type: TypeMap, Form: forms.LabelValue, Doc: "Labels of every object of every service."},
		{Name: "annotations", Type: TypeMap, Doc: "Annotations of every object of every service."},
	}...),
	Blocks: []*BlockType{defaultConfigType, defaultWorkloadType, PatchType},
}

var defaultConfigType = &BlockType{
	Name: "config", Label: "file name or pattern", LabelForm: forms.Glob,
	Doc: "Values for the config files of all services whose names match the label. Values in sections apply to ini files, values without sections to properties files.",
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
		{Name: "values", Type: TypeSettings, Required: true, Doc: "Values that override those of the definitions. The values of a service override them."},
	},
}

// defaultWorkloadType has the arguments that make sense for every workload.
var defaultWorkloadType = &BlockType{
	Name: "workload", Single: true,
	Doc:        "Settings of all workloads.",
	Attributes: append(chosen(podAttributes, "env", "service_links"), gracePeriodAttribute, tolerationsAttribute),
	Blocks:     []*BlockType{resourcesType},
}

// chosen returns the arguments with the given names.
func chosen(from []Attribute, names ...string) []Attribute {
	return slices.DeleteFunc(slices.Clone(from), func(a Attribute) bool { return !slices.Contains(names, a.Name) })
}

var roleType = &BlockType{
	Name: "role", Label: "role", LabelForm: forms.Name,
	Doc: "A set of nodes, and the labels that kolla puts on them. Exactly one of nodes, match and roles selects the nodes.",
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
		{Name: "nodes", Type: TypeList, Form: forms.Subdomain, Doc: "Names of the nodes."},
		{Name: "match", Type: TypeMap, Form: forms.LabelValue, Doc: "Labels that select the nodes."},
		{Name: "roles", Type: TypeRoles, Doc: "Other roles. The role has all of their nodes."},
		{Name: "taints", Type: TypeList, Form: forms.Taint, Doc: "Taints that kolla puts on the nodes, as KEY:EFFECT or KEY=VALUE:EFFECT, with the effect NoSchedule or PreferNoSchedule. The pods of the role tolerate them, and so do the pods of a role that has this one in `roles`. If you remove a taint here, kolla removes it from the nodes; it leaves other taints alone."},
		{Name: "labels", Type: TypeMap, Form: forms.LabelValue, Doc: `Labels that kolla puts on the nodes. Workloads select nodes by them. By default { "kolla.openstack.org.node-restriction.kubernetes.io/role-NAME" = "true" }, which a kubelet may not set on its node. An apply removes them from nodes without the role, unless they are in a domain of Kubernetes.`},
		NameAttribute,
	}),
}
