package lang

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/internal/source"
)

// reserved are names that servers have for themselves. A job that makes something of such a
// name would take it away from its owner, and from all who need it.
var reserved = map[string]struct {
	names []string
	whose string
}{
	"database":      {[]string{"healthcheck", "information_schema", "mariabackup", "monitor", "mysql", "performance_schema", "root", "sys"}, "MariaDB has a database, or a user, of that name itself"},
	"database user": {[]string{"healthcheck", "mariabackup", "monitor", "mysql", "root"}, "the server has a user of that name itself"},
	"queue":         {[]string{"admin", "guest", "openstack"}, "the server has a user of that name itself"},
	"user":          {[]string{"admin"}, "the cloud's administrator has it"},
}

// refuseReserved reports a name that only the server may have.
func (in *instance) refuseReserved(kind, name string, b *source.Block, at hcl.Range) {
	if r := reserved[kind]; slices.Contains(r.names, name) {
		in.report.Error(at, "Reserved name", "%s cannot have %q for a name: %s. Choose another one.", b.Described(), name, r.whose)
	}
}
