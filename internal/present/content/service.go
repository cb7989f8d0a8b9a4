package content

import (
	"fmt"
	"strings"

	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// service lists the ports of a Service, and how clients outside of the cluster can reach it.
func service(object *providers.Object, width int) []Line {
	spec := field(object.Manifest.Object, "spec")
	kind, _ := spec["type"].(string)
	var out []Line
	for _, port := range elements(spec["ports"]) {
		out = append(out, facts(listens(port, kind))...)
	}
	switch kind {
	case "LoadBalancer":
		out = append(out, facts("load balancer "+plans.Unknown)...)
	case "ExternalName":
		out = append(out, weak(fmt.Sprintf("another name of %v", spec["externalName"]))...)
	}
	if addresses := texts(spec["externalIPs"]); len(addresses) > 0 {
		out = append(out, weak("takes all traffic of the cluster to externalIPs "+strings.Join(addresses, ", "))...)
	}
	for _, key := range []string{"loadBalancerIP", "loadBalancerClass", "loadBalancerSourceRanges"} {
		if v, ok := spec[key]; ok {
			out = append(out, facts(outline(map[string]any{key: v}, width)...)...)
		}
	}
	return out
}

// listens describes one port of a Service.
func listens(port map[string]any, kind string) string {
	n, _ := number(port["port"])
	entry := fmt.Sprintf("port %d", n)
	if name, _ := port["name"].(string); name != "" {
		entry = fmt.Sprintf("port %s %d", name, n)
	}
	if protocol, _ := port["protocol"].(string); protocol != "" && protocol != "TCP" {
		entry += "/" + protocol
	}
	if nodePort, ok := number(port["nodePort"]); ok {
		entry += fmt.Sprintf(", on every node %d", nodePort)
	} else if kind == "NodePort" {
		entry += ", on every node " + plans.Unknown
	}
	return entry
}
