package content

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/providers"
)

// role lists the rights of a role, one rule a line.
func role(object *providers.Object, width int) []Line {
	content := object.Manifest.Object
	var out []Line
	if later, ok := content["rules"].(string); ok {
		out = facts("rules: " + later)
	}
	for _, rule := range elements(content["rules"]) {
		out = append(out, Line{Text: Rule(rule), Weak: unbounded(rule)})
	}
	if aggregation := field(content, "aggregationRule"); aggregation != nil {
		out = append(out, weak(outline(map[string]any{"aggregationRule": aggregation}, width)...)...)
	}
	return out
}

// IsRule reports whether a structure is a rule of a role and has no other fields.
func IsRule(v map[string]any) bool {
	for key := range v {
		if !slices.Contains([]string{"apiGroups", "resources", "resourceNames", "nonResourceURLs", "verbs"}, key) {
			return false
		}
	}
	return v["verbs"] != nil
}

// Rule formats a rule of a role on one line: `secrets, pods: get, list`. Resources outside of
// the core group are followed by their groups: `deployments (apps): get`.
func Rule(rule map[string]any) string {
	what := strings.Join(texts(rule["resources"]), ", ")
	groups := texts(rule["apiGroups"])
	if !slices.Equal(groups, []string{""}) && len(groups) > 0 {
		for i, group := range groups {
			switch group {
			case "":
				groups[i] = "core"
			case "*":
				groups[i] = "all groups"
			}
		}
		what += " (" + strings.Join(groups, ", ") + ")"
	}
	if names := texts(rule["resourceNames"]); len(names) > 0 {
		what += " named " + strings.Join(names, ", ")
	}
	if urls := texts(rule["nonResourceURLs"]); len(urls) > 0 {
		if what != "" {
			what += ", "
		}
		what += strings.Join(urls, ", ")
	}
	return what + ": " + strings.Join(texts(rule["verbs"]), ", ")
}

// unbounded reports whether a rule gives unlimited rights: all of something, or the right to
// get more rights.
func unbounded(rule map[string]any) bool {
	for _, key := range []string{"apiGroups", "resources", "verbs", "nonResourceURLs"} {
		if slices.Contains(texts(rule[key]), "*") {
			return true
		}
	}
	return slices.ContainsFunc(texts(rule["verbs"]), func(verb string) bool {
		return slices.Contains([]string{"escalate", "bind", "impersonate"}, verb)
	})
}

// everybody are the groups of all users, with and without a login.
var everybody = []string{"system:authenticated", "system:unauthenticated", "system:anonymous", "system:serviceaccounts"}

// binding lists the subjects of a binding, and the role whose rights they get.
func binding(object *providers.Object, _ int) []Line {
	content := object.Manifest.Object
	ref := field(content, "roleRef")
	out := []Line{{Text: fmt.Sprintf("gives the rights of %v %v", ref["kind"], ref["name"]), Weak: ref["name"] == "cluster-admin"}}
	if later, ok := content["subjects"].(string); ok {
		out = append(out, facts("to "+later)...)
	}
	for _, subject := range elements(content["subjects"]) {
		name := fmt.Sprint(subject["name"])
		who := fmt.Sprintf("to %v %s", subject["kind"], name)
		if namespace, ok := subject["namespace"].(string); ok {
			who += " in namespace " + namespace
		}
		out = append(out, Line{Text: who, Weak: slices.Contains(everybody, name)})
	}
	return out
}
