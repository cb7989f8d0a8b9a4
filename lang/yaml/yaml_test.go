package yaml_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang/yaml"
)

func TestDocuments(t *testing.T) {
	for source, want := range map[string][]string{
		"":                             nil,
		"# nothing\n---\n\n---\n":      nil,
		"a: 1":                         {"a: 1"},
		"a: 1\n---\n# b\nb: 2\n":       {"a: 1\n", "---\n# b\nb: 2\n"},
		"%YAML 1.1\n---\na: 1\n":       {"---\na: 1\n"},
		"--- {a: 1}\n--- {b: 2}":       {"--- {a: 1}\n", "--- {b: 2}"},
		"a: |\n  ---\n  b\n----: 1\n":  {"a: |\n  ---\n  b\n----: 1\n"},
		"a: 1\r\n--- \r\nb: 2\r\n":     {"a: 1\r\n", "--- \r\nb: 2\r\n"},
		"---\n# only a comment\n---\n": nil,
	} {
		var got []string
		for _, doc := range yaml.Documents([]byte(source)) {
			got = append(got, source[doc.From.Byte:doc.To])
			if doc.Content.Byte < doc.From.Byte || doc.Content.Byte >= doc.To || doc.Content.Line != 1+strings.Count(source[:doc.Content.Byte], "\n") {
				t.Errorf("%q: the content is at %+v", source, doc.Content)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", source, diff)
		}
	}
}

func TestExplain(t *testing.T) {
	for source, want := range map[string]struct {
		line    int
		message string
	}{
		"a: 1\nb: [": {2, "did not find expected node content"},
		"a: 1\na: 2": {2, `key "a" already set in map`},
		"[a]":        {0, "an object is needed, with apiVersion, kind and metadata"},
	} {
		_, err := yaml.Decode([]byte(source))
		if err == nil {
			t.Errorf("%q: no error", source)
			continue
		}
		if line, message := yaml.Explain(err); line != want.line || message.Error() != want.message {
			t.Errorf("%q: line %d, %q; want %d, %q", source, line, message, want.line, want.message)
		}
	}
}
