package eval

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/internal/diag"
)

// lacksKey reports a key that a definition reads of another service, and that the service
// lacks, such as service.ceph.keyrings["glance"], if the diagnostic is about that. The
// operator, who declares the services, has to solve it.
func lacksKey(e *Env, d *hcl.Diagnostic) bool {
	index, ok := d.Expression.(*hclsyntax.IndexExpr)
	if !ok || e.Owner == nil || !e.InDefinition || d.Summary != "Invalid index" {
		return false
	}
	t, diags := hcl.AbsTraversalForExpr(index.Collection)
	key, problems := index.Key.Value(d.EvalContext)
	if diags.HasErrors() || problems.HasErrors() || t.RootName() != "service" || len(t) != 3 || key.IsMarked() || !key.IsKnown() || key.Type() != cty.String {
		return false
	}
	service, _ := addrs.NameOf(t)
	attribute, ok := t[2].(hcl.TraverseAttr)
	if ok {
		e.Report.Error(e.Owner.Header, fmt.Sprintf("Service %q needs %s[%q]", e.Owner.Label, Written(t), key.AsString()),
			"Its definition refers to it (%s), and service %q does not have it. Add the key there:\n\n  service %q {\n    %s = { %s = ... }\n  }",
			diag.Position(index.SrcRange), service, service, attribute.Name, key.AsString())
	}
	return ok
}
