package lang_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/dev/golden"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/values"
)

// TestConfig compares evaluated configurations, one in each directory, with
// want.json there.
func TestConfig(t *testing.T) {
	const root = "testdata/config"
	catalogue := func(name string) fs.FS {
		if name == "sample" {
			return builtinCatalogue()
		}
		return smallCatalogue()
	}
	for _, name := range cases(t, root) {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(root, name)
			options := lang.Options{Catalogue: catalogue(name), Vars: assigned(lines(t, filepath.Join(dir, "vars.txt"))...)}
			config, diags := lang.Load(dir, options)
			if len(diags) > 0 {
				t.Fatalf("diagnostics:\n%s", render(diags, dir))
			}
			got := dump(t, config)
			golden.Compare(t, filepath.Join(dir, "want.json"), got)
			if bytes.ContainsAny(got, "\uefe0\uefe1") {
				t.Error("a token left the language")
			}
			again, _ := lang.Load(dir, options)
			if diff := cmp.Diff(string(got), string(dump(t, again))); diff != "" {
				t.Errorf("loaded twice, the configuration differs:\n%s", diff)
			}
			if config.Digest != again.Digest {
				t.Error("loaded twice, the digest differs")
			}
		})
	}
}

// TestJSONSyntax compares a configuration in HCL's JSON syntax with the same one in
// the native syntax.
func TestJSONSyntax(t *testing.T) {
	const dir = "testdata/json"
	load := func(name string) *configs.Config {
		config, diags := lang.Load(filepath.Join(dir, name), lang.Options{Catalogue: smallCatalogue()})
		if len(diags) > 0 {
			t.Fatalf("%s:\n%s", name, render(diags, dir))
		}
		return config
	}
	if diff := cmp.Diff(string(dump(t, load("native"))), string(dump(t, load("json")))); diff != "" {
		t.Errorf("native (-) and JSON (+) differ:\n%s", diff)
	}
}

// dump writes a Config without ranges and other details that would make golden
// files hard to read. Texts are written in one line, secrets as <references>.
func dump(t *testing.T, config *configs.Config) []byte {
	t.Helper()
	shown := *config
	shown.Files, shown.Digest = nil, ""
	shown.Services = nil
	outputs := map[string]any{}
	for _, s := range config.Services {
		for name, value := range s.Outputs {
			outputs[s.Name+"."+name] = output(t, value)
		}
		s.Outputs, s.Reasons = nil, nil
		shown.Services = append(shown.Services, s)
	}
	for _, o := range config.Outputs {
		outputs["output."+o.Name] = o.Value.GoString()
	}
	shown.Outputs = nil
	source, err := json.Marshal(shown)
	if err != nil {
		t.Fatal(err)
	}
	var tree map[string]any
	if err := json.Unmarshal(source, &tree); err != nil {
		t.Fatal(err)
	}
	readable, _ := simplify(tree).(map[string]any)
	readable["Outputs"] = outputs
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(readable); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func output(t *testing.T, value cty.Value) any {
	t.Helper()
	if !value.Type().IsPrimitiveType() {
		return value.GoString()
	}
	text, err := values.TextOf(value)
	if err != nil {
		t.Fatal(err)
	}
	return show(text)
}

// show writes a text in one line.
func show(text configs.Text) string {
	var b strings.Builder
	for _, p := range text {
		switch {
		case p.Deferred != nil:
			fmt.Fprintf(&b, "<later by %s, sensitive %v>", strings.Join(p.Deferred, " "), p.Sensitive)
		case p.Secret != nil:
			fmt.Fprintf(&b, "<%s/%s/%s>", p.Secret.Service, p.Secret.Secret, p.Secret.Key)
		case p.Sensitive:
			fmt.Fprintf(&b, "<sensitive %s>", p.Literal)
		default:
			b.WriteString(p.Literal)
		}
	}
	return b.String()
}

// simplify removes source ranges, places and empty values. It writes each text in one line.
func simplify(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, field := range v {
			if field = simplify(field); !strings.HasSuffix(key, "Range") && key != "DefinedAt" && key != "Places" && !empty(field) {
				out[key] = field
			}
		}
		if layer, ok := out["Layer"]; ok {
			return layer
		}
		return out
	case []any:
		if text, ok := asText(v); ok {
			return show(text)
		}
		out := []any{}
		for _, element := range v {
			out = append(out, simplify(element))
		}
		return out
	}
	return value
}

func empty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case float64:
		return v == 0
	case bool:
		return !v
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

func asText(list []any) (configs.Text, bool) {
	source, err := json.Marshal(list)
	if err != nil {
		return nil, false
	}
	decoder := json.NewDecoder(bytes.NewReader(source))
	decoder.DisallowUnknownFields()
	var text configs.Text
	return text, len(list) > 0 && decoder.Decode(&text) == nil
}
