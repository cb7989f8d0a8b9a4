package pods

import (
	"slices"
	"strings"

	corev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"kolla.openstack.org/kolla/lang/configs"
)

// fieldPaths maps the values that only a pod knows to their paths in the downward API.
var fieldPaths = map[string]string{
	"node.name": "spec.nodeName",
	"node.ip":   "status.hostIP",
	"pod.name":  "metadata.name",
	"pod.ip":    "status.podIP",
	"pod.index": "metadata.labels['apps.kubernetes.io/pod-index']",
}

func fromField(field string) *corev1.EnvVarSourceApplyConfiguration {
	return corev1.EnvVarSource().WithFieldRef(corev1.ObjectFieldSelector().WithFieldPath(fieldPaths[field]))
}

// withFields adds an environment variable for each value that only the pod knows. It returns a
// text in which Kubernetes replaces references to these variables by their values.
func (c *container) withFields(text configs.Text) string {
	var b strings.Builder
	for _, part := range text {
		if part.Field == "" {
			b.WriteString(escaped(configs.Text{part}.Masked()))
			continue
		}
		b.WriteString("$(" + c.fieldVariable(part.Field) + ")")
	}
	return b.String()
}

// escaped doubles each $$ in a command, an argument or an environment variable, because
// Kubernetes reads $$ as $. A reference $(NAME) stays.
func escaped(text string) string {
	return strings.ReplaceAll(text, "$$", "$$$$")
}

func escapedAll(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = escaped(text)
	}
	return out
}

// fieldVariable returns the name of the variable for a field. If the variable is missing, it
// adds the variable at the start of the environment.
func (c *container) fieldVariable(field string) string {
	name := "KOLLA_" + strings.ToUpper(strings.ReplaceAll(field, ".", "_"))
	for slices.ContainsFunc(c.decl.Env, func(e configs.Env) bool { return e.Name == name }) {
		name += "_"
	}
	if !slices.ContainsFunc(c.env, func(e *corev1.EnvVarApplyConfiguration) bool { return *e.Name == name }) {
		c.env = slices.Insert(c.env, 0, corev1.EnvVar().WithName(name).WithValueFrom(fromField(field)))
	}
	return name
}
