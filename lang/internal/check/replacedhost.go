package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
)

// ReplacedHost warns of a config value that replaces a reference to a service of this cloud by
// an address or by another name. Warned collects the places of such values.
func ReplacedHost(cloud *configs.Config, warned map[hcl.Range]bool, e *eval.Env, o configs.Option, replaced hcl.Traversal) {
	name, _ := addrs.NameOf(replaced)
	if _, declared := e.Scope.Member("service", name); replaced.RootName() == "service" && !declared {
		return
	}
	advice := "Write a reference instead, or leave the value out."
	if o.Origin.Layer == configs.LayerDirectory {
		advice = "Leave the value out, or write a reference in the config block of the service."
	}
	meant := hostOf(e, replaced)
	doubt := func(summary, detail string, args ...any) {
		warned[o.Origin.Range] = true
		e.Report.Warn(o.Origin.Range, summary, "The definition refers to %s here, %s %s", eval.Written(replaced), fmt.Sprintf(detail, args...), advice)
	}
	for _, value := range o.Values {
		if value.Secret() {
			continue
		}
		text := value.Masked()
		if hostByAddress.MatchString(text) {
			doubt("Host by address", "by a name that stays, and addresses change.")
			continue
		}
		hosts := hostsIn(text)
		if i := slices.IndexFunc(hosts, func(h nameInText) bool { return namesake(h.Name, meant) }); i >= 0 {
			doubt("Host by another name", "and the service answers as %q, not as %q.", meant, hosts[i].Name)
			continue
		}
		if foreign := foreignHost(cloud, hosts, meant); foreign != "" {
			advice += " A server that is there already takes the place of the service with external = { host = ... } in its block."
			doubt("Host outside of the cloud", "which is %q, and %q is no service of this cloud.", meant, foreign)
		}
	}
}

// foreignHost returns the first host with a DNS name, if no host belongs to this cloud.
func foreignHost(cloud *configs.Config, hosts []nameInText, meant string) string {
	first := ""
	for _, h := range hosts {
		switch {
		case meant == "" || h.Name == meant || strings.Contains("."+h.Name+".", "."+cloud.Cloud.Namespace+"."):
			return ""
		case slices.ContainsFunc(cloud.Exposures, func(x configs.Exposure) bool { return x.Knows(h.Name) }):
			return ""
		case first == "" && strings.Contains(h.Name, "."):
			first = h.Name
		}
	}
	return first
}

// hostOf returns the host name of the service or database that a reference names. It is empty for
// all other references.
func hostOf(e *eval.Env, t hcl.Traversal) string {
	name, _ := addrs.NameOf(t)
	v, ok := e.Scope.Member(t.RootName(), name)
	if !ok {
		return ""
	}
	hostname := textIn(v, "host")
	if len(t) > 2 {
		step, ok := t[2].(hcl.TraverseAttr)
		if !ok {
			return ""
		}
		// The pods of a service have names of their own, in its namespace.
		text, namespace := textIn(v, step.Name), "."+textIn(v, "namespace")
		if !strings.Contains(text, hostname) && (namespace == "." || !strings.Contains(text, namespace)) {
			return ""
		}
	}
	return hostname
}

// textIn returns a string attribute of an object. It is empty if there is no such attribute.
func textIn(v cty.Value, name string) string {
	if v, _ = v.Unmark(); !v.IsKnown() || v.IsNull() || !v.Type().IsObjectType() || !v.Type().HasAttribute(name) {
		return ""
	}
	if v, _ = v.GetAttr(name).Unmark(); v.Type() != cty.String || !v.IsKnown() || v.IsNull() {
		return ""
	}
	return v.AsString()
}
