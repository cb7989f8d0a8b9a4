package approval

import (
	"fmt"
	"maps"
	"strings"

	"kolla.openstack.org/kolla/planner/plans"
)

// pick replaces a value that the server chooses for each request.
const pick = "picked by the server"

// withoutPicks returns the new value of a change without the ports and addresses that the server
// chooses for a Service. It does not choose declared ones.
func withoutPicks(a *plans.Action, c plans.Change) any {
	path, ok := strings.CutPrefix(c.Path, "spec.")
	if !ok || c.Before != nil || a.Object == nil || a.Object.Manifest == nil || a.Ref.GVK.Kind != "Service" || a.Ref.GVK.Group != "" {
		return c.After
	}
	spec, _ := a.Object.Manifest.Object["spec"].(map[string]any)
	field, rest, _ := strings.Cut(path, "[")
	switch field {
	case "clusterIP", "clusterIPs", "healthCheckNodePort":
		if spec[field] == nil {
			return pick
		}
	case "ports":
		if port, ok := strings.CutSuffix(rest, "].nodePort"); ok {
			if !setsNodePort(spec, port) {
				return pick
			}
			return c.After
		}
		return withoutNodePorts(spec, c.After)
	}
	return c.After
}

// withoutNodePorts returns a port, or a list of ports, without the node ports that the server chooses.
func withoutNodePorts(spec map[string]any, ports any) any {
	switch ports := ports.(type) {
	case []any:
		out := make([]any, len(ports))
		for i := range ports {
			out[i] = withoutNodePorts(spec, ports[i])
		}
		return out
	case map[string]any:
		if !setsNodePort(spec, portName(ports)) {
			ports = maps.Clone(ports)
			delete(ports, "nodePort")
		}
		return ports
	}
	return ports
}

// setsNodePort reports whether a Service declares the node port of a port, such as "443/TCP".
func setsNodePort(spec map[string]any, name string) bool {
	ports, _ := spec["ports"].([]any)
	for _, port := range ports {
		if port, ok := port.(map[string]any); ok && (portName(port) == name || fmt.Sprint(port["port"]) == name) {
			return port["nodePort"] != nil
		}
	}
	return false
}

// portName returns the name of a port in a path: "443/TCP".
func portName(port map[string]any) string {
	protocol := port["protocol"]
	if protocol == nil {
		protocol = "TCP"
	}
	return fmt.Sprintf("%v/%v", port["port"], protocol)
}
