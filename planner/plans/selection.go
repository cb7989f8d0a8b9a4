package plans

import (
	"strings"

	"kolla.openstack.org/kolla/internal/words"
)

// Selection restricts a plan to a part of a cloud. Each entry is the address of an object
// (`service.keystone/Deployment/keystone-api`), of all versions of an object
// (`service.keystone/ConfigMap/keystone.conf`), of a block (`service.redis["cache"]`;
// `service.redis` means all its instances), or of a module with all its contents. The zero
// value selects everything.
type Selection struct {
	// Targets are selected together with their dependencies; objects that are to be
	// deleted, together with their dependants.
	Targets []string `json:"targets,omitempty"`
	// Excludes are left out, together with their dependants that stay. Nothing is deleted
	// that an excluded object depends on.
	Excludes []string `json:"excludes,omitempty"`
}

// Restricts reports whether the selection may leave out anything.
func (s Selection) Restricts() bool { return len(s.Targets)+len(s.Excludes) > 0 }

// String returns the options for the selection: "-target=a -exclude=b".
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
