package blocks

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// reserved are names that servers use themselves. A job that creates one of them would take it
// away from its owner.
var reserved = map[string]struct {
	names []string
	whose string
}{
	"database":      {[]string{"healthcheck", "information_schema", "mariabackup", "monitor", "mysql", "performance_schema", "root", "sys"}, "MariaDB has a database, or a user, of that name itself"},
	"database user": {[]string{"healthcheck", "mariabackup", "monitor", "mysql", "root"}, "the server has a user of that name itself"},
	"queue":         {[]string{"admin", "guest", "openstack"}, "the server has a user of that name itself"},
	"user":          {[]string{"admin"}, "the cloud's administrator has it"},
}

// CheckReserved reports a name that only the server may have.
func CheckReserved(report *diag.Reporter, kind, name string, b *source.Block, at hcl.Range) {
	if r := reserved[kind]; slices.Contains(r.names, name) {
		report.Error(at, "Reserved name", "%s cannot have %q for a name: %s. Choose another one.", b.Described(), name, r.whose)
	}
}
