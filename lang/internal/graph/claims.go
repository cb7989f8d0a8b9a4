package graph

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/internal/diag"
)

// Claims are the names in the cluster that blocks have taken.
type Claims map[string]Claim

// Claim is the block that has taken a name.
type Claim struct {
	Address string
	At      hcl.Range
}

// Take takes a name for a block. It reports a name that another block has taken.
func (c Claims) Take(report *diag.Reporter, typ, name, address string, at hcl.Range) bool {
	key := typ + "." + name
	first, taken := c[key]
	if taken {
		report.Error(at, fmt.Sprintf("Second %s named %q", typ, name), "%s would have the name that %s has (%s). Give one of them another with its argument name.", address, first.Address, diag.Position(first.At))
		return false
	}
	c[key] = Claim{address, at}
	return true
}
