package lang

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/internal/diag"
)

// Two services with one definition would have databases, queues, users and endpoints under
// the same names: each would set its own password or URL.

// clash is something that two services would have under one name on one server.
type clash struct {
	other           *instance
	at              hcl.Range
	summary, detail string
	label           string // of the block
	what, remedy    string // in few words; the block that gives another name, if there is one
}

// checkClashes reports them, once for two services.
func (g *graph) checkClashes() {
	taken := map[[4]string]clash{}
	for _, in := range g.inOrder() {
		var found []clash
		clashing := func(c clash, key ...string) bool {
			var k [4]string
			copy(k[:], key)
			first, twice := taken[k]
			switch {
			case k[1] == "" || k[3] == "" || k[1] == in.out.Name: // it is not known, or wrong
				return false
			case !twice:
				c.other = in
				taken[k] = c
				return false
			}
			c.other, c.detail = first.other, fmt.Sprintf(c.detail, first.other.out.Name, diag.Position(first.at), first.label)
			found = append(found, c)
			return true
		}
		in.databaseClashes(clashing)
		in.providedClashes(clashing)
		g.reportClashes(in, found)
	}
}

// databaseClashes looks for databases.
func (in *instance) databaseClashes(clashing func(c clash, key ...string) bool) {
	for i, d := range in.out.Databases {
		b := in.definition.All("database")[i]
		for _, k := range [][2]string{{"name", d.Name}, {"user", d.User}} {
			remedy := fmt.Sprintf("database %q { %s = \"...\" }", b.Label, k[0])
			if clashing(clash{
				at: diag.FirstRange(d.Range, in.block.Header), summary: "One database for two",
				detail: fmt.Sprintf("Database %q of service %q and database %%[3]q of service %%[1]q (%%[2]s) would have the same %s on service %q: %q. Give one of them another, in the service: %s.",
					b.Label, in.out.Name, k[0], d.Server, k[1], remedy),
				label: b.Label, what: fmt.Sprintf("database %q on service %q", b.Label, d.Server), remedy: remedy,
			}, "database "+k[0], d.Server, "", k[1]) {
				break
			}
		}
	}
}

// providedClashes looks for queues, users and endpoints.
func (in *instance) providedClashes(clashing func(c clash, key ...string) bool) {
	add := func(kind, server, domain, name, advice, remedy string) {
		clashing(clash{
			at: in.block.Header, summary: "Two services with one " + kind,
			detail: fmt.Sprintf("%s%s %q of service %q is on service %q already, for service %%[1]q (%%[2]s). %s", strings.ToUpper(kind[:1]), kind[1:], name, in.out.Name, server, advice),
			what:   fmt.Sprintf("%s %q on service %q", kind, name, server), remedy: remedy,
		}, kind, server, domain, name)
	}
	for _, p := range in.out.Provided {
		if p.Label != "" {
			remedy := fmt.Sprintf("%s %q { name = \"...\" }", p.Type, p.Label)
			add(p.Type, p.Server, p.Domain, p.Name, "Give one of them another name: "+remedy, remedy)
		}
	}
	for _, e := range in.out.Endpoints {
		if b := in.definition.One("endpoint", e.Type); b != nil && !in.ownEndpoint(b) {
			add("endpoint", e.Server, "", e.Type, "Clients find a service by that type, and would find either of them.", fmt.Sprintf("endpoint %q { enabled = false }", e.Type))
		}
	}
}

// reportClashes reports what a service clashes in, all with one other service together.
func (g *graph) reportClashes(in *instance, found []clash) {
	with := map[*instance][]clash{}
	for _, c := range found {
		with[c.other] = append(with[c.other], c)
	}
	for _, c := range found {
		all := with[c.other]
		with[c.other] = nil
		switch len(all) {
		case 0:
		case 1:
			g.report.Error(c.at, c.summary, "%s", c.detail)
		default:
			var what, remedies []string
			for _, c := range all {
				what, remedies = append(what, c.what), append(remedies, "  "+c.remedy)
			}
			g.report.Error(in.block.Header, "Two services with the same names", "Service %q would have what service %q (%s) has already: %s. Give one of them other names:\n\n%s",
				in.out.Name, c.other.out.Name, diag.Position(c.other.block.Header), words.Sorted(what), strings.Join(remedies, "\n"))
		}
	}
}
