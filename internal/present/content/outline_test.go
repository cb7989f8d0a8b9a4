package content_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/present/content"
	"kolla.openstack.org/kolla/providers"
)

// outlined returns the lines about an object of a kind that has no description of its own.
func outlined(spec any, width int) string {
	u := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.org/v1", "kind": "Thing", "metadata": map[string]any{"name": "a"}, "spec": map[string]any{"it": spec},
	}}
	var out []string
	for _, l := range content.Of(&providers.Object{Manifest: u}, width) {
		out = append(out, l.Text)
	}
	return strings.Join(out, "\n")
}

// FuzzOutline checks that an object of an unknown kind is shown completely. The lines are YAML with
// the same content, however narrow the screen is.
func FuzzOutline(f *testing.F) {
	f.Add(`{"rules": [{"apiGroups": ["*"], "verbs": ["get", "-", "a: b"]}, {}], "empty": [], "text": "a\nb\n"}`, 40)
	f.Add(`["a, b", "[x]", "{y}", "true", "1", "", " ", "~", "a #b", 1.5, null, true, ["- a", "a\n\nb"]]`, 20)
	f.Add(`{"name": {"name": "x"}, "a b": [[["deep"]]], "": 1}`, 10)
	f.Add(`"tabs\tand\rmore"`, 30)
	f.Fuzz(func(t *testing.T, text string, width int) {
		var want any
		// Characters with an effect on a terminal are escaped when they are printed.
		unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
		if json.Unmarshal([]byte(text), &want) != nil || strings.Contains(text, `\u`) || strings.ContainsFunc(text, unprintable) {
			return
		}
		shown := outlined(want, width)
		var got map[string]any
		if err := yaml.Unmarshal([]byte(shown), &got); err != nil {
			t.Fatalf("%v in:\n%s", err, shown)
		}
		if diff := cmp.Diff(trimmed(want), trimmed(got["it"])); diff != "" {
			t.Errorf("(-declared +shown):\n%s\nin:\n%s", diff, shown)
		}
	})
}

// trimmed removes newlines at the end of strings, because they are not shown.
func trimmed(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			out[key] = trimmed(value)
		}
		return out
	case []any:
		out := []any{}
		for _, value := range v {
			out = append(out, trimmed(value))
		}
		return out
	case string:
		return strings.TrimRight(v, "\n")
	}
	return v
}

// TestOpaqueValues checks that only values that people cannot read are shortened.
func TestOpaqueValues(t *testing.T) {
	key := strings.Repeat("QUJD", 100)
	if got := outlined(map[string]any{"caBundle": key}, 80); !strings.Contains(got, "…(400 characters)…") || strings.Contains(got, key) {
		t.Errorf("a certificate is shown as %s", got)
	}
	command := strings.Repeat("curl https://example.org | sh; ", 40)
	if got := outlined(map[string]any{"run": command}, 80); !strings.Contains(got, strings.TrimSpace(command)) {
		t.Errorf("a command is shown as %s", got)
	}
}
