package doctor

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/run/rights"
	"kolla.openstack.org/kolla/providers"
)

// maxLines limits the lines of a list in a finding.
const maxLines = 12

// findDenied reports the rights that the user lacks, by namespace. A user who lacks only rights of an
// apply may be meant to read, so these are warnings.
func findDenied(f *Facts) ([]Finding, error) {
	if f.Unasked != nil {
		return nil, f.Unasked
	}
	severity, effect := Warning, "kolla apply, rollout, destroy, backup and restore stop where they need %s, and kolla plan makes no dry runs. All rights to read the cloud are there:\n%s"
	reading := rights.Accesses(f.Reading)
	if len(reading) == 0 || slices.ContainsFunc(f.Denied, func(a providers.Access) bool { return slices.Contains(reading, a) }) {
		severity, effect = Error, "kolla plan, kolla apply and kolla destroy stop where they need %s:\n%s"
	}
	byPlace := map[string][]string{} // lines by namespace
	var places []string
	verbs := map[providers.Access][]string{} // by the access without its verb
	var order []providers.Access
	for _, a := range f.Denied {
		verb := a.Verb
		a.Verb = ""
		if verbs[a] == nil {
			order = append(order, a)
		}
		verbs[a] = append(verbs[a], verb)
	}
	for _, a := range order {
		if byPlace[a.Namespace] == nil {
			places = append(places, a.Namespace)
		}
		byPlace[a.Namespace] = append(byPlace[a.Namespace], strings.Join(verbs[a], ", ")+" "+object(a))
	}
	slices.Sort(places)
	var out []Finding
	for _, place := range places {
		subject := "Whole cluster"
		if place != "" {
			subject = "Namespace " + place
		}
		lines := byPlace[place]
		out = append(out, Finding{
			Severity: severity, Subject: subject,
			Problem: "the user lacks " + words.Plural(len(lines), "a right", "rights"),
			Reason:  fmt.Sprintf(effect, words.Plural(len(lines), "it", "one of these"), strings.Join(words.First(lines, maxLines, "right"), "\n")),
			Next:    "Let an administrator of the cluster grant the rights that kolla rbac prints, with -user, -group or -serviceaccount for this user. A user who only reads needs the roles of kolla rbac -read-only; leave this check out with -skip=permissions then.",
		})
	}
	return out, nil
}

// object names the objects of an access as kubectl does: "deployments.apps", "nodes/ctl-1".
func object(a providers.Access) string {
	if a.URL != "" {
		return a.URL
	}
	text, sub, has := strings.Cut(a.Resource, "/")
	if a.Group != "" {
		text += "." + a.Group
	}
	if has {
		text += "/" + sub
	}
	if a.Name != "" {
		text += " " + a.Name
	}
	return text
}
