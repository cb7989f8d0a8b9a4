package takeover

import (
	_ "embed"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/run/takeover/ansible"
)

//go:embed mapping.yaml
var mappingSource []byte

// mapping is mapping.yaml, which explains its lists.
type mapping struct {
	Defaults  map[string]string `json:"defaults"`
	Services  []serviceRow      `json:"services"`
	Carried   []carriedRow      `json:"carried"`
	Files     []fileRow         `json:"files"`
	Left      []leftRow         `json:"left"`
	Passwords []leftRow         `json:"passwords"`
}

type serviceRow struct {
	Name     string            `json:"name"`
	Enabled  string            `json:"enabled"`
	External bool              `json:"external"`
	Groups   []string          `json:"groups"`
	Counts   []int             `json:"counts"`
	Secrets  map[string]string `json:"secrets"`
}

type carriedRow struct {
	Variable string   `json:"variable"`
	To       string   `json:"to"`
	As       string   `json:"as"`
	Format   string   `json:"format"`
	Only     []string `json:"only"`
	Always   bool     `json:"always"` // also kolla-ansible's default
}

type fileRow struct {
	File    string   `json:"file"`
	To      []string `json:"to"`
	Service string   `json:"service"`
	Copy    bool     `json:"copy"`
	Why     string   `json:"why"`
	Do      string   `json:"do"`
}

type leftRow struct {
	Variables []string `json:"variables"`
	None      bool     `json:"none"`
	Why       string   `json:"why"`
	Do        string   `json:"do"`
}

var rules = sync.OnceValue(func() *mapping {
	var m mapping
	if err := yaml.UnmarshalStrict(mappingSource, &m); err != nil {
		panic("mapping.yaml: " + err.Error())
	}
	return &m
})

// defaults returns the defaults of kolla-ansible. They have no place.
func (m *mapping) defaults() ansible.Variables {
	out := ansible.Variables{}
	for name, text := range m.Defaults {
		out[name] = ansible.Set(name, text, hcl.Range{})
	}
	return out
}

// leftOf returns the first row that matches a name.
func leftOf(rows []leftRow, name string) (leftRow, bool) {
	for _, row := range rows {
		if slices.ContainsFunc(row.Variables, func(pattern string) bool { return matches(pattern, name) }) {
			return row, true
		}
	}
	return leftRow{}, false
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// fileOf returns the row of a file of node_custom_config.
func (m *mapping) fileOf(name string) (fileRow, bool) {
	for _, row := range m.Files {
		if matches(row.File, name) {
			return row, true
		}
	}
	return fileRow{}, false
}

// where names the target for a report.
func (r carriedRow) where() string {
	part := strings.Split(r.To, "/")
	switch part[0] {
	case "cloud":
		return "cloud: " + part[1]
	case "service":
		return part[1] + ": " + part[2]
	case "defaults":
		return fmt.Sprintf("cloud: defaults, config %q: [%s] %s", part[1], part[2], part[3])
	}
	return fmt.Sprintf("%s: config %q: [%s] %s", part[1], part[2], part[3], part[4])
}

// expression returns the value in HCL; problem says why there is none. An empty text has neither.
func (r carriedRow) expression(v ansible.Value) (expr, problem string) {
	text := strings.TrimSpace(v.Text)
	switch {
	case text == "":
		return "", ""
	case len(r.Only) > 0 && !slices.Contains(r.Only, text):
		return "", fmt.Sprintf("kolla has %s here.", strings.Join(r.Only, ", "))
	case r.Format != "":
		text = fmt.Sprintf(r.Format, text)
	}
	switch r.As {
	case "bool":
		return strconv.FormatBool(v.Bool()), ""
	case "number":
		n, err := strconv.Atoi(text)
		if err != nil {
			return "", "It is not a whole number."
		}
		return strconv.Itoa(n), ""
	case "list":
		return list(split(text)), ""
	}
	return quote(text), ""
}

// split returns the parts of a list with commas.
func split(text string) []string {
	var out []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			out = append(out, part)
		}
	}
	return out
}

// isAddress reports whether a text is an IP address.
func isAddress(text string) bool {
	_, err := netip.ParseAddr(text)
	return err == nil
}
