package plans

import (
	"strings"

	"kolla.openstack.org/kolla/internal/words"
)

// Selection restricts a plan to a part of a cloud. Each entry is the address of an
// object (`service.keystone/Deployment/keystone-api`), of all versions of one
// (`service.keystone/ConfigMap/keystone.conf`), of a block (`service.redis["cache"]`;
// `service.redis` is all of its instances), or of a module, which is all that is in it.
// The zero value selects everything.
type Selection struct {
	// Targets are selected with all that they depend on; of those that are to be
	// deleted: with all that depends on them.
	Targets []string `json:"targets,omitempty"`
	// Excludes are left out, with all that depends on them and stays; and nothing is
	// deleted that they depend on.
	Excludes []string `json:"excludes,omitempty"`
}

// Restricts reports whether anything may be left out.
func (s Selection) Restricts() bool { return len(s.Targets)+len(s.Excludes) > 0 }

// String gives the options that make the selection: "-target=a -exclude=b".
func (s Selection) String() string {
	var options []string
	for _, t := range s.Targets {
		options = append(options, words.Option("-target", t))
	}
	for _, e := range s.Excludes {
		options = append(options, words.Option("-exclude", e))
	}
	return strings.Join(options, " ")
}
