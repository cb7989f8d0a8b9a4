package openstack

import (
	"slices"
	"strings"

	corev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"kolla.openstack.org/kolla/lang/configs"
)

// fieldPaths are the paths, in the downward API, of values that only a pod knows.
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

// withFields adds a variable for each value that only the pod knows, and returns a text in
// which Kubernetes puts the values of these variables.
func (t *podTemplate) withFields(text configs.Text) string {
	var b strings.Builder
	for _, part := range text {
		if part.Field == "" {
			b.WriteString(escaped(configs.Text{part}.Masked()))
			continue
		}
		b.WriteString("$(" + t.fieldVariable(part.Field) + ")")
	}
	return b.String()
}

// escaped escapes the dollar signs in a command, an argument or a variable of the
// environment: Kubernetes reads $$ as $. $(NAME) stays the variable NAME.
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

// fieldVariable is the name of a variable for a field, which stands before all others.
func (t *podTemplate) fieldVariable(field string) string {
	name := "KOLLA_" + strings.ToUpper(strings.ReplaceAll(field, ".", "_"))
	for slices.ContainsFunc(t.pod.Env, func(e configs.Env) bool { return e.Name == name }) {
		name += "_"
	}
	if !slices.ContainsFunc(t.env, func(e *corev1.EnvVarApplyConfiguration) bool { return *e.Name == name }) {
		t.env = slices.Insert(t.env, 0, corev1.EnvVar().WithName(name).WithValueFrom(fromField(field)))
	}
	return name
}
