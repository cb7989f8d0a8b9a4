package rights

import (
	"encoding/json"
	"strings"

	"kolla.openstack.org/kolla/internal/base/foreign"
)

// Subject is a subject of roles in the RBAC API.
type Subject struct {
	Kind, Name, Namespace string
}

// YAML returns the roles as YAML. If there are subjects, it adds the bindings.
func YAML(roles []Role, subjects []Subject) string {
	var out strings.Builder
	for _, role := range roles {
		writeRole(&out, role)
	}
	if len(subjects) > 0 {
		for _, role := range roles {
			writeBinding(&out, role, subjects)
		}
	}
	return out.String()
}

func writeRole(out *strings.Builder, role Role) {
	head(out, "Role", role)
	out.WriteString("rules:\n")
	for _, rule := range role.Rules {
		comment(out, "  ", rule.Why)
		lead := "  - "
		for _, field := range []struct {
			name   string
			values []string
		}{
			{"apiGroups", rule.Groups},
			{"resources", rule.Resources},
			{"resourceNames", rule.Names},
			{"nonResourceURLs", rule.URLs},
			{"verbs", rule.Verbs},
		} {
			if len(field.values) > 0 {
				foreign.Fprintf(out, "%s%s: %s\n", lead, field.name, flow(field.values))
				lead = "    "
			}
		}
	}
}

func writeBinding(out *strings.Builder, role Role, subjects []Subject) {
	head(out, "RoleBinding", role)
	kind := "Role"
	if role.Namespace == "" {
		kind = "ClusterRole"
	}
	foreign.Fprintf(out, "roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: %s\n  name: %s\nsubjects:\n", kind, scalar(role.Name))
	for _, s := range subjects {
		foreign.Fprintf(out, "  - kind: %s\n    name: %s\n", s.Kind, scalar(s.Name))
		if s.Namespace != "" {
			foreign.Fprintf(out, "    namespace: %s\n", scalar(s.Namespace))
		} else {
			out.WriteString("    apiGroup: rbac.authorization.k8s.io\n")
		}
	}
}

// head writes the beginning of a role or binding.
func head(out *strings.Builder, kind string, role Role) {
	if role.Namespace == "" {
		kind = "Cluster" + kind
	}
	foreign.Fprintf(out, "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: %s\nmetadata:\n  name: %s\n", kind, scalar(role.Name))
	if role.Namespace != "" {
		foreign.Fprintf(out, "  namespace: %s\n", scalar(role.Namespace))
	}
}

// comment writes sentences as YAML comments, at most 90 columns wide.
func comment(out *strings.Builder, indent, text string) {
	line := indent + "#"
	for _, word := range strings.Fields(foreign.Text(text)) {
		if len(line)+1+len(word) > 90 {
			out.WriteString(line + "\n")
			line = indent + "#"
		}
		line += " " + word
	}
	if line != indent+"#" {
		out.WriteString(line + "\n")
	}
}

// flow formats a list in YAML on one line.
func flow(values []string) string {
	quoted := make([]string, 0, len(values))
	for _, value := range values {
		quoted = append(quoted, scalar(value))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// scalar formats a string in JSON, which is valid YAML.
func scalar(value string) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // a string always encodes
	}
	return string(text)
}
