package draft_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/draft"
	"kolla.openstack.org/kolla/lang/syntax"
)

// What is written is what is read again, in canonical form.
func TestGenerateManifest(t *testing.T) {
	objects := map[string]map[string]any{
		"all": {
			"apiVersion": "v1", "kind": "Thing",
			"metadata": map[string]any{"name": "a", "labels": map[string]any{"a/b": "${x} %{y}", "true": "1"}},
			"list":     []any{int64(1), 1.5, true, nil, "x"},
			"objects":  []any{map[string]any{"a": int64(1)}, map[string]any{}, []any{}},
			"empty":    map[string]any{}, "none": []any{}, "big": int64(1) << 60, "null": nil,
			"text": "one\n  ${two}\n\\three\n%{four}\n", "end": "one\ntwo\n  EOT\n", "open": "one\ntwo\nthree",
			"returns": "one\r\ntwo\r\n", "quotes": `a "b" \c`, "tabs": "a\n\tb\n", "odd": "\x00\u00e4\n",
		},
		"strange": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "b"}, "data": map[string]any{"a b": "1", `"`: "2", "${c}": "3"}},
	}
	for name, object := range objects {
		t.Run(name, func(t *testing.T) {
			source := draft.Manifest(name, object).Source
			if diff := cmp.Diff(string(syntax.Format(source)), string(source)); diff != "" {
				t.Errorf("formatting changes it (-want +got):\n%s", diff)
			}
			config := loadText(t, string(source))
			without := map[string]any{}
			for key, value := range object {
				without[key] = value
			}
			if diff := cmp.Diff(without, config.Manifests[0].Objects[0].Content); diff != "" {
				t.Errorf("read again (-want +got):\n%s\n%s", diff, source)
			}
		})
	}
}

// No value of a Secret is written, whatever it is.
func TestGenerateSecret(t *testing.T) {
	object := map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "a"},
		"data": map[string]any{"pass-word": "aHVudGVyMg==", "pass.word": "aHVudGVyMg==", "bytes": "//4="},
	}
	got := draft.Manifest("a", object)
	if diff := cmp.Diff([]string{"a_bytes", "a_pass_word", "a_pass_word_2"}, got.Variables); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	for _, value := range []string{"aHVudGVyMg", "hunter2", "//4="} {
		if strings.Contains(string(got.Source), value) {
			t.Errorf("%s is in\n%s", value, got.Source)
		}
	}
	config := loadText(t, string(got.Source), "a_bytes=//4=", "a_pass_word=hunter2", "a_pass_word_2=hunter3")
	want := map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "a"},
		"data":       map[string]any{"bytes": "//4="},
		"stringData": map[string]any{"pass-word": "hunter2", "pass.word": "hunter3"},
	}
	if diff := cmp.Diff(want, config.Manifests[0].Objects[0].Content); diff != "" {
		t.Errorf("with the values (-want +got):\n%s", diff)
	}
}

// loadText loads a configuration of one cloud and the text.
func loadText(t *testing.T, text string, vars ...string) *configs.Config {
	t.Helper()
	dir := t.TempDir()
	source := "cloud \"prod\" {\n  release = \"2025.1\"\n}\n" + text
	if err := os.WriteFile(filepath.Join(dir, "main.hcl"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	var assigned []lang.Var
	for _, v := range vars {
		assigned = append(assigned, lang.Var{Assignment: v})
	}
	config, diags := lang.Load(dir, lang.Options{Vars: assigned})
	if diags.HasErrors() {
		t.Fatalf("%s\n%s", diags, text)
	}
	return config
}
