package schema

import "kolla.openstack.org/kolla/lang/schema/forms"

var metricsType = &BlockType{
	Name: "metrics", Single: true,
	Doc: "Where the pods of the workload serve metrics for Prometheus, in plain HTTP. It has an effect only with a block `metrics` in the cloud.",
	Example: `definition "status" {
  port "metrics" {
    enabled = cloud.metrics
    number  = 9100
  }

  # Its failure, and its next image, do not concern what it measures.
  workload "exporter" {
    enabled = cloud.metrics
    kind    = "Deployment"
    image   = "registry.example.org/exporter:1"
    ports   = ["metrics"]

    metrics {
      port = "metrics"
      path = "/probe"

      # It asks a slow API.
      interval = 60
      timeout  = 45
    }
  }
}
`,
	Attributes: conditional([]Attribute{
		{Name: "port", Type: TypeString, Required: true, Doc: "Name of a TCP port of the workload."},
		{Name: "path", Type: TypeString, Default: "/metrics", Form: forms.URLPath, Doc: "Path of the metrics."},
		{Name: "interval", Type: TypeNumber, Min: 1, Max: 86400, Doc: "Seconds between two samples; by default, those of the Prometheus."},
		{Name: "timeout", Type: TypeNumber, Min: 1, Max: 86400, Doc: "Seconds that a sample may take, at most `interval`, which it needs; by default, those of the Prometheus."},
	}),
}

// cloudMetricsType is a block of the cloud.
var cloudMetricsType = &BlockType{
	Name: "metrics", Single: true,
	Doc: "Turns metrics on: exporters of the catalogue run, and a Prometheus finds them and everything else with a block `metrics`. Without this block there are neither. See [metrics](../metrics.md).",
	Attributes: []Attribute{
		{Name: "mode", Type: TypeString, Required: true, OneOf: []string{"services", "monitors"}, Doc: "How a Prometheus finds the pods. services: by headless Services, SERVICE-WORKLOAD-metrics, in DNS or by their annotations prometheus.io/scrape, prometheus.io/port and prometheus.io/path. monitors: by objects of the kind PodMonitor of the Prometheus Operator, which the cluster must have."},
		{Name: "labels", Type: TypeMap, Form: forms.LabelValue, Doc: "Labels of the PodMonitors, by which a Prometheus selects them, such as { release = \"kube-prometheus-stack\" }."},
	},
	Blocks: []*BlockType{scraperType},
}

// scraperType has the arguments of allowType that say who.
var scraperType = &BlockType{
	Name: "allow", Label: "who", LabelForm: forms.Name,
	Doc:        "Lets clients connect to the ports with metrics. By default these are the pods of the cloud's own service prometheus; the mode monitors needs such a block, unless the cloud has no NetworkPolicies.",
	Attributes: chosen(allowType.Attributes, "namespace", "pods", "cidrs"),
}

var allowType = &BlockType{
	Name: "allow", Label: "who", LabelForm: forms.Name,
	Doc: "Allows more connections to the pods of the service. kolla allows the service itself, and the services and manifests that refer to it, without such a block. At least one of namespace, pods and cidrs selects the clients.",
	Example: `service "rabbitmq" {
  # Pods of Prometheus.
  allow "prometheus" {
    ports     = ["metrics"]
    namespace = "monitoring"
    pods      = { "app.kubernetes.io/name" = "prometheus" }
  }

  # A port that the definition does not declare, from one network.
  allow "operators" {
    ports = ["15672"]
    cidrs = ["192.0.2.0/24"]
  }
}
`,
	Attributes: conditional([]Attribute{
		{Name: "ports", Type: TypeList, Names: "port", Form: forms.PortOrNumber, Doc: `Names of ports of the definition, or numbers in quotes, such as "53/udp" for a UDP port; by default all ports of the definition.`},
		{Name: "namespace", Type: TypeString, Form: forms.Namespace, Doc: "Namespace of the client pods; by default the cloud's. Without `pods`, all pods of the namespace."},
		{Name: "pods", Type: TypeMap, Form: forms.LabelValue, Doc: "Labels of the client pods."},
		{Name: "cidrs", Type: TypeList, Form: forms.CIDR, Doc: "Address ranges of clients, as the pods see them: most clusters replace the address of a client outside by that of a node."},
	}),
}
