package diag

import (
	"fmt"
	"path"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/base/words"
)

// Need is a block that the definition of a service refers to and the configuration lacks.
type Need struct {
	Kind, Name string    // of the block: "service", "mariadb"
	Service    string    // label of the service
	At         hcl.Range // header of the service
	RefersAt   string    // position of the reference
	// Missing says how the block is missing, and the next step, as the end of a sentence.
	Missing string
}

// need is a missing block with all services that need it.
type need struct {
	reported *hcl.Diagnostic
	services []string
	refersAt []string
}

// Needed reports a missing block. Several services of one directory that need it are one error, at
// the first of them.
func (r *Reporter) Needed(by Need) {
	key := fmt.Sprintf("%s\n%s\n%s\n%s", by.Kind, by.Name, path.Dir(by.At.Filename), by.Missing)
	n := r.all.needs[key]
	if n == nil {
		n = &need{reported: &hcl.Diagnostic{Severity: hcl.DiagError}}
		r.all.needs[key] = n
	}
	if !slices.Contains(n.services, by.Service) {
		n.services = append(n.services, by.Service)
		slices.Sort(n.services)
	}
	if !slices.Contains(n.refersAt, by.RefersAt) {
		n.refersAt = append(n.refersAt, by.RefersAt)
	}
	at, first := n.reported, n.reported.Subject == nil
	if first || Compare(by.At, *at.Subject) < 0 {
		at.Subject = &by.At
	}
	quoted := make([]string, len(n.services))
	for i, name := range n.services {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	at.Summary = fmt.Sprintf("%s %s %s %s %q", words.Plural(len(quoted), "Service", "Services"), listed(quoted, 5), words.Plural(len(quoted), "needs", "need"), by.Kind, by.Name)
	at.Detail = fmt.Sprintf("%s to it (%s), and %s", words.Plural(len(quoted), "Its definition refers", "Their definitions refer"), listed(n.refersAt, 3), by.Missing)
	if first {
		r.Add(at)
	}
}

// listed returns a list of at most limit names, with the number of the others.
func listed(names []string, limit int) string {
	if len(names) <= limit {
		return words.All(names)
	}
	return words.Few(names, limit)
}
