package status

import (
	"io"

	"kolla.openstack.org/kolla/internal/base/foreign"
)

// jsonFormat is the version of the JSON. A new minor version only adds keys.
const jsonFormat = "1.1"

type (
	lookJSON struct {
		Format    string        `json:"format_version"`
		Cloud     string        `json:"cloud"`
		Release   string        `json:"release,omitempty"`
		Namespace string        `json:"namespace,omitempty"`
		Server    string        `json:"server"`
		Ready     bool          `json:"ready"`
		Behind    []string      `json:"behind,omitempty"` // see Look.Behind
		Services  []serviceJSON `json:"services"`
	}
	serviceJSON struct {
		Address   string         `json:"address"`
		Ready     bool           `json:"ready"`
		Public    []string       `json:"public_addresses"`
		Workloads []workloadJSON `json:"workloads"`
	}
	workloadJSON struct {
		Address   string   `json:"address"`
		Kind      string   `json:"kind"`
		Namespace string   `json:"namespace"`
		Stage     string   `json:"stage,omitempty"` // of an upgrade
		Name      string   `json:"name"`
		Ready     bool     `json:"ready"`
		Pods      *Pods    `json:"pods,omitempty"`
		Images    []Image  `json:"images"`
		Restarts  int      `json:"restarts"`
		Reason    string   `json:"reason,omitempty"`
		Detail    []string `json:"details,omitempty"`
	}
)

// JSON writes the look as JSON, in one line if the indent is empty.
func (l *Look) JSON(out io.Writer, indent string) error {
	_, unready := l.Workloads()
	doc := lookJSON{Format: jsonFormat, Cloud: l.Cloud, Release: l.Release, Namespace: l.Namespace, Server: l.Server, Ready: unready == 0, Services: []serviceJSON{}}
	for _, w := range l.Behind() {
		doc.Behind = append(doc.Behind, w.Address.Name)
	}
	for _, s := range l.Services {
		service := serviceJSON{Address: s.Address, Ready: s.Ready(), Public: append([]string{}, s.Public...), Workloads: []workloadJSON{}}
		for _, w := range s.Workloads {
			service.Workloads = append(service.Workloads, workloadJSON{
				Address: w.Address.String(), Kind: w.Address.Kind, Namespace: w.Namespace, Stage: w.Stage, Name: w.Address.Name,
				Ready: w.Ready, Pods: w.Pods, Images: append([]Image{}, w.Images...), Restarts: w.Restarts, Reason: w.Reason, Detail: w.Detail,
			})
		}
		doc.Services = append(doc.Services, service)
	}
	return foreign.JSON(out, doc, indent)
}
