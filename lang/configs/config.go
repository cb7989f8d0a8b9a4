package configs

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/addrs"
)

// Config is a whole configuration, evaluated: every expression is a value, every
// service has its definition merged with its overrides. What cannot be known
// before apply (generated secrets) is a reference inside a Text.
//
// Slices are in a fixed order (declaration order by file name and position), so
// that everything made from a Config is deterministic. The Range of what only the
// catalogue declares is empty; an Origin says where in the catalogue.
type Config struct {
	Cloud     Cloud
	Roles     []Role
	Exposures []Exposure
	Secrets   []SharedSecret // beside the services
	Services  []Service
	Manifests []Manifest
	Moves     []addrs.Move
	Removals  []addrs.Removal
	Imports   []addrs.Import
	// Undeclared are the imports to blocks that nothing declares; see Options.
	Undeclared []addrs.Import
	// Refused are the variables whose values, which Options.Prompt gave, do not meet their
	// conditions, with the reason. That is among the diagnostics, too.
	Refused map[string]string
	// Unset are the variables that have no value, in order; see Options.
	Unset   []string
	Outputs []Output // of the root
	Checks  []Check  // of all modules
	Data    []Data
	// Undecided are blocks of which something depends on what is known only after the
	// apply, and has to be known before. A plan that Options.Restricted is made for
	// leaves them out; of any other that is an error. They are without keys, and
	// "module.edge.*" stands for all in that module.
	Undecided []string

	// Digest identifies the configuration: a hash over all files and over the
	// values of all variables (sensitive ones only by name).
	Digest string
	// Variables are the values, with their types, of the variables of the root that are
	// not sensitive, and of which nothing secret is made.
	Variables map[string]json.RawMessage
	// Files holds the sources that diagnostics quote, by file name.
	Files map[string]*hcl.File
}

// DeferredData are the addresses of the data that are known only after the apply.
func (c *Config) DeferredData() []string {
	var out []string
	for _, d := range c.Data {
		if d.Deferred {
			out = append(out, d.Block)
		}
	}
	slices.Sort(out)
	return out
}

// Cloud is the one cloud block.
type Cloud struct {
	Name     string
	Release  string // OpenStack release, "2025.1"
	Distro   string // distribution part of image tags, "rocky-9"
	Registry string // "quay.io/openstack.kolla"
	Prefix   string // put before every image name; usually empty
	Tag      string // of the images; empty: RELEASE-DISTRO
	// Images are full references by names of images, or by patterns of path.Match; "*" in
	// a reference stands for the name.
	Images      map[string]string
	PullSecrets []string // names of existing Secrets of type dockerconfigjson
	Namespace   string
	Region      string
	Foreign     string // what becomes of fields that others add: "revert", "report", "ignore"
	PodSecurity string // "restricted", "baseline", "privileged"; empty: what the services need
	// NetworkPolicy: only those who have a reason to may connect to the pods of services,
	// where the service does not say otherwise.
	NetworkPolicy bool
	Range         hcl.Range
}

// Exposure is how chosen services become reachable from outside.
type Exposure struct {
	Block string // address
	Name  string // unique in the configuration
	VIP   string // IP address
	FQDN  string // empty: clients use the VIP
	Mode  string // "nodeport"
	Role  string // name of the role over whose nodes traffic is spread; empty: any node
	// NodePorts is the range that the cluster gives to node ports, inclusive.
	NodePorts [2]int
	Range     hcl.Range
}

// Host is the name, else the address, that outside clients use.
func (e Exposure) Host() string {
	if e.FQDN != "" {
		return e.FQDN
	}
	return e.VIP
}

// CatalogueDir is put before the names of the catalogue's files in ranges, so
// that they cannot be taken for files of the user.
const CatalogueDir = "<catalogue>"

// InCatalogue reports whether a range is in the catalogue.
func InCatalogue(r hcl.Range) bool { return strings.HasPrefix(r.Filename, CatalogueDir) }
