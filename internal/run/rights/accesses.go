package rights

import (
	"slices"

	"kolla.openstack.org/kolla/providers"
)

// Accesses returns the requests that the rules of roles allow, each once.
func Accesses(roles []Role) []providers.Access {
	var out []providers.Access
	seen := map[providers.Access]bool{}
	add := func(a providers.Access) {
		if !seen[a] {
			seen[a] = true
			out = append(out, a)
		}
	}
	for _, role := range roles {
		for _, rule := range role.Rules {
			names := rule.Names
			if len(names) == 0 {
				names = []string{""}
			}
			for _, verb := range rule.Verbs {
				for _, url := range rule.URLs {
					add(providers.Access{Verb: verb, URL: url})
				}
				for _, group := range rule.Groups {
					for _, resource := range rule.Resources {
						for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
							add(providers.Access{Verb: verb, Group: group, Resource: resource, Namespace: role.Namespace, Name: name})
						}
					}
				}
			}
		}
	}
	return out
}
