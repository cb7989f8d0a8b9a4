package yaml_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang/yaml"
)

// TestDocuments compares the texts of the documents. Each line must be in its document.
func TestDocuments(t *testing.T) {
	for source, want := range map[string][]string{
		"":                                     nil,
		"# nothing\n---\n\n---\n":              nil,
		"\ufeff# nothing\n":                    nil,
		"\n---\n\ufeff# nothing\n":             nil,
		"a: 1":                                 {"a: 1"},
		"a: 1\n---\n# b\nb: 2\n":               {"a: 1\n", "# b\nb: 2\n"},
		"a: 1\n---\t# b\nb: 2\n":               {"a: 1\n", "b: 2\n"},
		"a: 1\n---#b\nb: 2\n":                  {"a: 1\n", "b: 2\n"},
		"# b\u2028b: 2\n":                      {"# b\u2028b: 2\n"},
		"%YAML 1.1\n---\na: 1\n":               {"%YAML 1.1\n---\na: 1\n"},
		"a: 1\n...\n# b\n%YAML 1.1\n---\nb: 2": {"a: 1\n...\n", "# b\n%YAML 1.1\n---\nb: 2"},
		"--- {a: 1}\n---\t{b: 2}":              {"--- {a: 1}\n", "---\t{b: 2}"},
		"a: |\n  ---\n  b\n----: 1\n":          {"a: |\n  ---\n  b\n----: 1\n"},
		"a: 1\r\n--- \r\nb: 2\r\n":             {"a: 1\r\n", "b: 2\r\n"},
		"{\"a\":1} {\"b\":2}\n{\"c\":3}\n":     {`{"a":1}`, `{"b":2}`, `{"c":3}`},
	} {
		documents, wrong := yaml.Documents([]byte(source))
		for _, err := range wrong {
			t.Errorf("%q: %s", source, err)
		}
		var got []string
		for _, doc := range documents {
			got = append(got, string(doc.Text))
			if line := source[doc.Line.Start.Byte:doc.Line.End.Byte]; !strings.Contains(string(doc.Text), line) || doc.Line.Start.Line != 1+strings.Count(source[:doc.Line.Start.Byte], "\n") {
				t.Errorf("%q: the content is at %s", source, doc.Line)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", source, diff)
		}
	}
}

// TestLost checks that kolla reports each text that kubectl ignores, at the line where it begins.
func TestLost(t *testing.T) {
	for source, want := range map[string]string{
		"a: 1\n...\nb: 2\n":                       "b: 2",
		"a: 1\n...\n---\nb: 2\n... # c\n\nc: 3\n": "c: 3",
		"a: 1\r---\rb: 2\r":                       "---",
		"a: 1\n# x\u0085---\u0085b: 2":            "---",
		"a: 1\u2028---\u2028b: 2\n":               "---",
		"a: \"x\u2029y\"\u2029---\u2029b: 2\n":    "---",
		"a: 1\n...\n\ufeff---\nb: 2\n":            "\ufeff---",
		"---\n{\"a\":1}\n{\"b\":2}\n":             `{"b":2}`,
		"\ufeff{\"a\":1}\n{\"b\":2}\n":            `{"b":2}`,
		"{\"a\":1}\n---\n{\"b\":2}\n{\"c\":3}\n":  `{"c":3}`,
		"{a: 1}\n{b: 2}\n":                        "{b: 2}",
		"{\"a\":1}\n{b: 2}\n":                     "{b: 2}",
		"{a: 1} {b: 2}":                           "{a: 1} {b: 2}",
		"\xff\xfea\x00:\x00 \x001\x00\n\x00":      "\xff\xfea\x00:\x00 \x001\x00",
		"\xfe\xff\x00a\x00:\x00 \x001":            "\xfe\xff\x00a\x00:\x00 \x001",
		"\ufeff\ufeffa: 1":                        "\ufeff\ufeffa: 1",
		"a: 1\n---\nb: 2\n--- # x\rc: 3\n":        "c: 3",
		"a: 1\n---\nb: \xe9t\xe9\n":               "b: \xe9t\xe9",
	} {
		_, wrong := yaml.Documents([]byte(source))
		if len(wrong) != 1 {
			t.Errorf("%q: the errors are %v, want one", source, wrong)
			continue
		}
		at := wrong[0].Range
		if got := source[at.Start.Byte:at.End.Byte]; got != want {
			t.Errorf("%q: the error is at %q, want %q", source, got, want)
		}
	}
}

// TestDecode compares the errors of documents, and where they are. No error quotes a value.
func TestDecode(t *testing.T) {
	for source, want := range map[string]struct{ line, message string }{
		"a: 1\nb: [":                         {"b: [", "did not find expected node content"},
		"a: 1\n]\nb: 1":                      {"]", "a key is expected here, as deep as the keys before it in its map: check the indentation"},
		"a: 1\na: 2":                         {"a: 2", `key "a" is already set in this map`},
		"a: {yes: 1,\n \"true\": 2}":         {` "true": 2}`, `key "true" is already set in this map`},
		"a:\n  1: x\n  \"1\": y":             {`  "1": y`, `key "1" is already set in this map`},
		"{\"a\":1,\n\"a\":2}":                {`"a":2}`, `key "a" is already set in this map`},
		`{"a":"\/","a":2}`:                   {`{"a":"\/","a":2}`, `duplicate field "a"`},
		"# x\n[a]":                           {"[a]", "an object is needed, with apiVersion, kind and metadata"},
		"%YAML 1.2\n---\na: 1":               {"%YAML 1.2", "only YAML 1.1 is read: remove the line %YAML"},
		"b: 1\n---\nx: 1\na: *x":             {"a: *x", "unknown anchor 'x' referenced"},
		"a: !!int hunter2":                   {"a: !!int hunter2", "cannot decode !!str as a !!int"},
		"a: {~: hunter2}":                    {"a: {~: hunter2}", "a key of a map must be text, a number or a boolean"},
		"a: {[hunter2]: 1}":                  {"a: {[hunter2]: 1}", "a key of a map must be text, a number or a boolean"},
		"a: x\u2028b: [\u2028c: ]\u2028d: }": {"d: }", "did not find expected node content"},
	} {
		documents, wrong := yaml.Documents([]byte(source))
		if len(wrong) > 0 {
			t.Errorf("%q: %s", source, wrong[0])
			continue
		}
		_, err := documents[len(documents)-1].Decode()
		if err == nil {
			t.Errorf("%q: no error", source)
			continue
		}
		if line := source[err.Range.Start.Byte:err.Range.End.Byte]; line != want.line || err.Message != want.message {
			t.Errorf("%q: at %q, %q; want %q, %q", source, line, err.Message, want.line, want.message)
		}
	}
}

// TestMistakes checks that mistakes in YAML are reported at the line where they are, with the remedy.
func TestMistakes(t *testing.T) {
	for source, want := range map[string]struct{ line, message string }{
		"a:\n\tb: 1":                     {"\tb: 1", "indented with a tab"},
		"a:\n\t- b":                      {"\t- b", "indented with a tab"},
		"a:\n  b: 1\n\tc: 1":             {"\tc: 1", "indented with a tab"},
		"a: |\n\tb":                      {"\tb", "indented with a tab"},
		"a: 1\n---\nb:\n\tc: 1":          {"\tc: 1", "indented with a tab"},
		"a: \"x\nb: 1\nc: 1":             {`a: "x`, "quote"},
		"z: 1\na: 'x\nb: 1\nc: 1":        {"a: 'x", "quote"},
		"z: 1\na: {b: 1\nc: 1":           {"c: 1", "begins in line 2"},
		"a: [b\nc: 1\nd: 1":              {"c: 1", "begins in line 1"},
		"z: 1\n---\na: [b\nc: 1\nd: 1":   {"c: 1", "begins in line 3"},
		"a: 1\nb\nc: 1":                  {"b", "KEY: VALUE"},
		"a:\n  b:1\n  c: 1":              {"  b:1", "needs a space"},
		"a: b: c":                        {"a: b: c", "needs quotes"},
		"a: @b":                          {"a: @b", "begins with @ needs quotes"},
		"a: `b`":                         {"a: `b`", "begins with ` needs quotes"},
		"z: 1\na: {{ .b }}":              {"a: {{ .b }}", "template"},
		"z: 1\n{{- if .b }}\na: 1":       {"{{- if .b }}", "template"},
		"z: 1\na:\n  b: 1\n c: 1":        {" c: 1", "check the indentation"},
		"z: 1\na:\n  ? [b]\n  : 1":       {"  ? [b]", "a key of a map"},
		"z: 1\na: *b\nc: \"*b\"\nd: 2*b": {"a: *b", "unknown anchor"},
	} {
		documents, wrong := yaml.Documents([]byte(source))
		if len(wrong) > 0 {
			t.Errorf("%q: %s", source, wrong[0])
			continue
		}
		_, err := documents[len(documents)-1].Decode()
		if err == nil {
			t.Errorf("%q: no error", source)
			continue
		}
		if line := source[err.Range.Start.Byte:err.Range.End.Byte]; line != want.line || !strings.Contains(err.Message, want.message) {
			t.Errorf("%q: at %q, %q; want %q, %q", source, line, err.Message, want.line, want.message)
		}
	}
}

// TestMergedKeys checks that a merged map can be overridden, as kubectl permits.
func TestMergedKeys(t *testing.T) {
	documents, _ := yaml.Documents([]byte("x: &x {a: 1, b: 1}\nz:\n  <<: *x\n  a: 2\n"))
	got, err := documents[0].Decode()
	if err != nil {
		t.Fatal(err)
	}
	one := map[string]any{"a": int64(1), "b": int64(1)}
	if diff := cmp.Diff(map[string]any{"x": one, "z": map[string]any{"a": int64(2), "b": int64(1)}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
