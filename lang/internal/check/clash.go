package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/internal/diag"
)

// clash is a database, queue, user or endpoint that two services would have under one name on
// one server. Each service would set its own password or URL.
type clash struct {
	other           *Service
	at              hcl.Range
	summary, detail string
	label           string // of the block
	what, remedy    string // a few words; the block that gives another name
}

// Clashes reports the clashes of services, once for two services.
func Clashes(whole *Whole) {
	taken := map[[4]string]clash{}
	for i := range whole.Services {
		service := &whole.Services[i]
		var found []clash
		clashing := func(c clash, key ...string) bool {
			var k [4]string
			copy(k[:], key)
			first, twice := taken[k]
			switch {
			case k[1] == "" || k[3] == "" || k[1] == service.Config.Name: // not known, or wrong
				return false
			case !twice:
				c.other = service
				taken[k] = c
				return false
			}
			c.other, c.detail = first.other, fmt.Sprintf(c.detail, first.other.Config.Name, diag.Position(first.at), first.label)
			found = append(found, c)
			return true
		}
		databaseClashes(service, clashing)
		providedClashes(service, clashing)
		reportClashes(whole, service, found)
	}
}

// databaseClashes finds databases.
func databaseClashes(service *Service, clashing func(c clash, key ...string) bool) {
	for i, d := range service.Config.Databases {
		b := service.Definition.All("database")[i]
		for _, k := range [][2]string{{"name", d.Name}, {"user", d.User}} {
			remedy := fmt.Sprintf("database %q { %s = \"...\" }", b.Label, k[0])
			if clashing(clash{
				at: diag.FirstRange(d.Range, service.Block.Header), summary: "One database for two",
				detail: fmt.Sprintf("Database %q of service %q and database %%[3]q of service %%[1]q (%%[2]s) would have the same %s on service %q: %q. Give one of them another, in the service: %s.",
					b.Label, service.Config.Name, k[0], d.Server, k[1], remedy),
				label: b.Label, what: fmt.Sprintf("database %q on service %q", b.Label, d.Server), remedy: remedy,
			}, "database "+k[0], d.Server, "", k[1]) {
				break
			}
		}
	}
}

// providedClashes finds queues, users and endpoints.
func providedClashes(service *Service, clashing func(c clash, key ...string) bool) {
	add := func(kind, server, domain, name, advice, remedy string) {
		clashing(clash{
			at: service.Block.Header, summary: "Two services with one " + kind,
			detail: fmt.Sprintf("%s%s %q of service %q is on service %q already, for service %%[1]q (%%[2]s). %s", strings.ToUpper(kind[:1]), kind[1:], name, service.Config.Name, server, advice),
			what:   fmt.Sprintf("%s %q on service %q", kind, name, server), remedy: remedy,
		}, kind, server, domain, name)
	}
	for _, p := range service.Config.Provided {
		if p.Label != "" {
			remedy := fmt.Sprintf("%s %q { name = \"...\" }", p.Type, p.Label)
			add(p.Type, p.Server, p.Domain, p.Name, "Give one of them another name: "+remedy, remedy)
		}
	}
	for _, e := range service.Config.Endpoints {
		if service.Definition.One("endpoint", e.Type) != nil && !slices.Contains(service.OwnEndpoints, e.Type) {
			add("endpoint", e.Server, "", e.Type, "Clients find a service by that type, and would find either of them.", fmt.Sprintf("endpoint %q { enabled = false }", e.Type))
		}
	}
}

// reportClashes reports the clashes of a service. Clashes with the same other service become
// one error.
func reportClashes(whole *Whole, service *Service, found []clash) {
	with := map[*Service][]clash{}
	for _, c := range found {
		with[c.other] = append(with[c.other], c)
	}
	for _, c := range found {
		all := with[c.other]
		with[c.other] = nil
		switch len(all) {
		case 0:
		case 1:
			whole.Report.Error(c.at, c.summary, "%s", c.detail)
		default:
			var what, remedies []string
			for _, c := range all {
				what, remedies = append(what, c.what), append(remedies, "  "+c.remedy)
			}
			whole.Report.Error(service.Block.Header, "Two services with the same names", "Service %q would have what service %q (%s) has already: %s. Give one of them other names:\n\n%s",
				service.Config.Name, c.other.Config.Name, diag.Position(c.other.Block.Header), words.Sorted(what), strings.Join(remedies, "\n"))
		}
	}
}
