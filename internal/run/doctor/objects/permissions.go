package objects

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
	"kolla.openstack.org/kolla/internal/run/rights"
	"kolla.openstack.org/kolla/providers"
)

// maxLines limits the lines of a list in a finding.
const maxLines = 12

// Denied reports the rights that the user lacks, by namespace. A user who lacks only rights of an
// apply may be meant to read, so these are warnings.
func Denied(f *cluster.Facts) ([]cluster.Finding, error) {
	if f.Unasked != nil {
		return nil, f.Unasked
	}
	severity, affected := cluster.Error, "kolla plan, apply and destroy stop"
	if reads(f) {
		severity, affected = cluster.Warning, "All rights to read the cloud are there, but kolla plan makes no dry runs. kolla apply, rollout, destroy, backup and restore stop"
	}
	lines := byNamespace(f.Denied)
	var out []cluster.Finding
	for _, namespace := range slices.Sorted(maps.Keys(lines)) {
		subject := "Whole cluster"
		if namespace != "" {
			subject = "Namespace " + namespace
		}
		missing := lines[namespace]
		out = append(out, cluster.Finding{
			Severity: severity, Subject: subject,
			Problem: "the user lacks " + words.Plural(len(missing), "a right", "rights"),
			Reason:  fmt.Sprintf("%s where they need %s:\n%s", affected, words.Plural(len(missing), "it", "one of these"), strings.Join(words.First(missing, maxLines, "right"), "\n")),
			Next:    "Let an administrator of the cluster grant the rights that kolla rbac prints, with -user, -group or -serviceaccount for this user. A user who only reads needs the roles of kolla rbac -read-only; leave this check out with -skip=permissions then.",
		})
	}
	return out, nil
}

// reads reports whether the user has all rights to read the cloud.
func reads(f *cluster.Facts) bool {
	reading := rights.Accesses(f.Reading)
	return len(reading) > 0 && !slices.ContainsFunc(f.Denied, func(a providers.Access) bool { return slices.Contains(reading, a) })
}

// byNamespace returns a line for each object of some requests, with all of its verbs: "get, list pods".
func byNamespace(denied []providers.Access) map[string][]string {
	var verbs cluster.Grouped[providers.Access] // by the access without its verb
	for _, a := range denied {
		verb := a.Verb
		a.Verb = ""
		verbs.Add(a, verb)
	}
	lines := map[string][]string{}
	for _, a := range verbs.Keys {
		lines[a.Namespace] = append(lines[a.Namespace], strings.Join(verbs.Of[a], ", ")+" "+a.Object())
	}
	return lines
}
