package schema

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

var (
	formCIDR = Form{
		"a range of addresses, such as 192.0.2.0/24, 192.0.2.10/32 or 0.0.0.0/0",
		func(s string) bool {
			p, err := netip.ParsePrefix(s)
			return err == nil && p.Masked() == p
		},
	}
	portNumber   = regexp.MustCompile(`^[1-9][0-9]{0,4}$`)
	formPortSeen = Form{
		"the name of a port, or the number of one in quotes, such as \"53\" or \"53/udp\"",
		func(s string) bool {
			s = strings.TrimSuffix(s, "/udp")
			n, err := strconv.Atoi(s)
			return formPort.Valid(s) || err == nil && portNumber.MatchString(s) && n <= 65535
		},
	}
)

var allowType = &BlockType{
	Name: "allow", Label: "who", LabelForm: formName,
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
		{Name: "ports", Type: TypeList, Names: "port", Form: formPortSeen, Doc: `Names of ports of the definition, or numbers in quotes, such as "53/udp" for a UDP port; by default all ports of the definition.`},
		{Name: "namespace", Type: TypeString, Form: FormNamespace, Doc: "Namespace of the client pods; by default the cloud's. Without `pods`, all pods of the namespace."},
		{Name: "pods", Type: TypeMap, Form: formLabelValue, Doc: "Labels of the client pods."},
		{Name: "cidrs", Type: TypeList, Form: formCIDR, Doc: "Address ranges of clients, as the pods see them: most clusters replace the address of a client outside by that of a node."},
	}),
}
