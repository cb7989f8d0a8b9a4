package usage

import (
	"io"

	"kolla.openstack.org/kolla/internal/base/foreign"
)

// jsonFormat is the version of the JSON. A new minor version only adds keys.
const jsonFormat = "1.0"

type (
	lookJSON struct {
		Format    string         `json:"format_version"`
		Cloud     string         `json:"cloud"`
		Server    string         `json:"server"`
		Workloads []workloadJSON `json:"workloads"`
	}
	workloadJSON struct {
		Address   string `json:"address"`
		Kind      string `json:"kind"`
		Namespace string `json:"namespace"`
		Name      string `json:"name"`
		sumJSON
		Pods []podJSON `json:"pods"`
	}
	podJSON struct {
		Name     string `json:"name"`
		Node     string `json:"node,omitempty"`
		Measured bool   `json:"measured"`
		sumJSON
		Near []Near `json:"near_memory_limit"`
	}
	sumJSON struct {
		CPU      Amount `json:"cpu_millicores"`
		Memory   Amount `json:"memory_bytes"`
		Restarts int    `json:"restarts"`
	}
)

// JSON writes the look as JSON, in one line if the indent is empty.
func (l *Look) JSON(out io.Writer, indent string) error {
	doc := lookJSON{Format: jsonFormat, Cloud: l.Cloud, Server: l.Server, Workloads: []workloadJSON{}}
	for _, w := range l.Workloads {
		row := workloadJSON{Address: w.Address.String(), Kind: w.Address.Kind, Namespace: w.Namespace, Name: w.Address.Name, sumJSON: sumJSON(w.Sum()), Pods: []podJSON{}}
		for _, p := range w.Pods {
			row.Pods = append(row.Pods, podJSON{Name: p.Name, Node: p.Node, Measured: p.Measured, sumJSON: sumJSON(p.Sum), Near: append([]Near{}, p.Near...)})
		}
		doc.Workloads = append(doc.Workloads, row)
	}
	return foreign.JSON(out, doc, indent)
}
