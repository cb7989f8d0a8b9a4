package rights

import (
	"fmt"
	"strings"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Preface returns the comment before the roles: their purpose, and the first steps.
func Preface(in Input, roles []Role) string {
	out := &strings.Builder{}
	does := "plan, apply, roll out and destroy"
	if in.ReadOnly {
		does = "plan"
	}
	comment(out, "", fmt.Sprintf("What kolla needs to %s the cloud %q, and nothing else.", does, in.Cloud))
	comment(out, "", "The version of the server and its list of kinds are open to every user who is logged in, by Kubernetes' own ClusterRole system:discovery.")
	known := map[string]bool{}
	for _, o := range in.Known {
		known[o.Address] = true
	}
	var create, adopt []string
	for _, role := range roles {
		if role.Namespace != "" {
			create = append(create, "  kubectl create namespace "+words.Quote(role.Namespace))
		}
	}
	for i := range in.Objects {
		o := &in.Objects[i]
		if o.Ref().GVK.GroupKind() == kinds.Namespace && !known[o.Address.String()] {
			adopt = append(adopt, "  "+words.Option("-adopt", o.Address.String()))
		}
	}
	out.WriteString("#\n")
	comment(out, "", "A Role lives in a namespace, which has to be there first:")
	for _, line := range create {
		foreign.Fprintf(out, "# %s\n", line)
	}
	if len(adopt) > 0 {
		comment(out, "", "A namespace that kolla did not make is taken over by the first apply. Plan and apply with:")
		for _, line := range adopt {
			foreign.Fprintf(out, "# %s\n", line)
		}
	}
	if !in.ReadOnly {
		out.WriteString("#\n")
		comment(out, "", "A destroy leaves a namespace that holds these Roles, or kinds that they do not let kolla list. Delete it with kubectl.")
	}
	return out.String()
}
