package schema

import "kolla.openstack.org/kolla/lang/schema/forms"

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
