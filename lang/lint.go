package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/check"
)

// checkHost warns of an address, or of a foreign name, in place of a reference to a
// service of this cloud: addresses change, names do not.
func (e *evaluator) checkHost(o configs.Option, replaced hcl.Traversal) {
	name, _ := addrs.NameOf(replaced)
	if _, declared := e.scope.member("service", name); replaced.RootName() == "service" && !declared {
		return
	}
	advice := "Write a reference instead, or leave the value out."
	if o.Origin.Layer == configs.LayerDirectory {
		advice = "Leave the value out, or write a reference in the config block of the service."
	}
	meant := e.hostOf(replaced)
	doubt := func(summary, detail string, args ...any) {
		e.reach.graph.warnedHosts[o.Origin.Range] = true
		e.report.Warn(o.Origin.Range, summary, "The definition refers to %s here, %s %s", written(replaced), fmt.Sprintf(detail, args...), advice)
	}
	for _, value := range o.Values {
		if value.Secret() {
			continue
		}
		text := value.Masked()
		if check.HostByAddress.MatchString(text) {
			doubt("Host by address", "by a name that stays, and addresses change.")
			continue
		}
		hosts := check.HostsIn(text)
		if i := slices.IndexFunc(hosts, func(h check.Host) bool { return check.Namesake(h.Name, meant) }); i >= 0 {
			doubt("Host by another name", "and the service answers as %q, not as %q.", meant, hosts[i].Name)
			continue
		}
		if foreign := e.foreign(hosts, meant); foreign != "" {
			advice += " A server that is there already takes the place of the service with external = { host = ... } in its block."
			doubt("Host outside of the cloud", "which is %q, and %q is no service of this cloud.", meant, foreign)
		}
	}
}

// foreign is the first of the hosts, if they have names and none is of this cloud.
func (e *evaluator) foreign(hosts []check.Host, meant string) string {
	first := ""
	for _, h := range hosts {
		cloud := e.reach.graph.config
		switch {
		case meant == "" || h.Name == meant || strings.Contains("."+h.Name+".", "."+cloud.Cloud.Namespace+"."):
			return ""
		case slices.ContainsFunc(cloud.Exposures, func(x configs.Exposure) bool { return x.Host() == h.Name }):
			return ""
		case first == "" && strings.Contains(h.Name, "."):
			first = h.Name
		}
	}
	return first
}

// hostOf is the name of the host that a reference to a service or database leads to;
// empty where it leads to something else.
func (e *evaluator) hostOf(t hcl.Traversal) string {
	name, _ := addrs.NameOf(t)
	v, ok := e.scope.member(t.RootName(), name)
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

// textIn is a text in an object; empty where there is none.
func textIn(v cty.Value, name string) string {
	if v, _ = v.Unmark(); !v.IsKnown() || v.IsNull() || !v.Type().IsObjectType() || !v.Type().HasAttribute(name) {
		return ""
	}
	if v, _ = v.GetAttr(name).Unmark(); v.Type() != cty.String || !v.IsKnown() || v.IsNull() {
		return ""
	}
	return v.AsString()
}
