package discovery

import (
	"io"
	"time"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/lang/addrs"
)

// jsonFormat is the version of the JSON. A new minor version only adds keys.
const jsonFormat = "1.0"

type (
	directoryJSON struct {
		Format      string      `json:"format_version"`
		Cloud       string      `json:"cloud"`
		Namespace   string      `json:"namespace"`
		Server      string      `json:"server"`
		Complete    bool        `json:"complete"` // the cluster has all Services
		Services    []blockJSON `json:"services"`
		Environment []Variable  `json:"environment"`
		Checks      []checkJSON `json:"checks,omitempty"`
		Inside      []checkJSON `json:"checks_from_pod,omitempty"`
		NoPod       string      `json:"no_pod,omitempty"`
		Keystone    []entryJSON `json:"keystone,omitempty"`
		NoKeystone  string      `json:"no_keystone,omitempty"`
	}
	blockJSON struct {
		Address  string         `json:"address"`
		Name     string         `json:"name,omitempty"`
		External bool           `json:"external"`
		Services []serviceJSON  `json:"kubernetes_services"`
		Alone    []workloadJSON `json:"workloads_without_service"`
		URLs     []URL          `json:"urls"`
	}
	serviceJSON struct {
		Address   string         `json:"address"`
		Namespace string         `json:"namespace"`
		Name      string         `json:"name"`
		Found     bool           `json:"in_cluster"`
		DNS       dnsJSON        `json:"dns"`
		Workloads []workloadJSON `json:"workloads"`
		*liveJSON                // nil: it is not in the cluster
	}
	dnsJSON struct {
		Short      string `json:"short"`
		Namespaced string `json:"namespaced"`
		Full       string `json:"full"`
	}
	workloadJSON struct {
		Address string `json:"address"`
		Kind    string `json:"kind"`
		Name    string `json:"name"`
	}
	liveJSON struct {
		Type       string     `json:"type"`
		ClusterIPs []string   `json:"cluster_ips"`
		Headless   bool       `json:"headless"`
		Alias      string     `json:"alias_of,omitempty"`
		External   []string   `json:"external_addresses"`
		Ports      []Port     `json:"ports"`
		Ready      int        `json:"ready_endpoints"`
		Endpoints  []Endpoint `json:"endpoints"`
	}
	checkJSON struct {
		Address   string  `json:"address"`
		URL       string  `json:"url"`
		Skipped   bool    `json:"skipped,omitempty"`
		Connected float64 `json:"connected_ms,omitempty"`
		Answered  float64 `json:"answered_ms,omitempty"`
		Status    int     `json:"http_status,omitempty"`
		Problem   string  `json:"problem,omitempty"`
	}
	entryJSON struct {
		Address   string `json:"address,omitempty"`
		Type      string `json:"type"`
		Name      string `json:"name"`
		Interface string `json:"interface"`
		Region    string `json:"region"`
		URL       string `json:"url,omitempty"`
		Declared  string `json:"declared_url,omitempty"`
		Enabled   bool   `json:"enabled"`
		Problem   string `json:"problem,omitempty"`
	}
)

// JSON writes the directory as JSON, with the environment variables.
func (d *Directory) JSON(out io.Writer, environment []Variable) error {
	_, missing := d.Services()
	doc := directoryJSON{
		Format: jsonFormat, Cloud: d.Name, Namespace: d.Namespace, Server: d.Server, Complete: missing == 0,
		Services: []blockJSON{}, Environment: append([]Variable{}, environment...),
	}
	for _, b := range d.Blocks {
		block := blockJSON{Address: b.Address, Name: b.Name, External: b.External, Services: []serviceJSON{}, Alone: workloadsJSON(b.Alone), URLs: append([]URL{}, b.URLs...)}
		for _, s := range b.Services {
			block.Services = append(block.Services, serviceJSON{
				Address: s.Address.String(), Namespace: s.Namespace, Name: s.Address.Name, Found: s.Live != nil,
				DNS: dnsJSON{s.Short(), s.Namespaced(), s.Full()}, Workloads: workloadsJSON(s.Workloads), liveJSON: s.Live.json(),
			})
		}
		doc.Services = append(doc.Services, block)
	}
	doc.Checks, doc.Inside, doc.NoPod = checksJSON(d.Checks), checksJSON(d.Inside), d.NoPod
	doc.NoKeystone = d.NoKeystone
	for _, e := range d.Keystone {
		doc.Keystone = append(doc.Keystone, entryJSON{e.Address, e.Type, e.Name, e.Interface, e.Region, e.URL, e.Declared, !e.Missing && !e.Disabled, e.Problem()})
	}
	return foreign.JSON(out, doc, "  ")
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func workloadsJSON(workloads []addrs.Object) []workloadJSON {
	out := make([]workloadJSON, 0, len(workloads))
	for _, w := range workloads {
		out = append(out, workloadJSON{w.String(), w.Kind, w.Name})
	}
	return out
}

// json returns the part of a Service that only the cluster knows; nil for nil.
func (l *Live) json() *liveJSON {
	if l == nil {
		return nil
	}
	ready, _ := l.Ready()
	return &liveJSON{
		Type: l.Type, ClusterIPs: append([]string{}, l.ClusterIPs...), Headless: l.Headless, Alias: l.Alias, External: append([]string{}, l.External...),
		Ports: append([]Port{}, l.Ports...), Ready: ready, Endpoints: append([]Endpoint{}, l.Endpoints...),
	}
}

func checksJSON(checks []Check) (out []checkJSON) {
	for _, c := range checks {
		out = append(out, checkJSON{c.Address, c.URL, c.Skipped, milliseconds(c.Connected), milliseconds(c.Answered), c.Status, c.Problem})
	}
	return out
}
