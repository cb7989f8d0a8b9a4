package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/schema"
	"kolla.openstack.org/kolla/lang/syntax"
	"kolla.openstack.org/kolla/providers/openstack"
	oslo "kolla.openstack.org/kolla/providers/openstack/options"
)

// fenced matches the blocks of code in a document, with their language.
var fenced = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

// TestSnippets checks that the configurations in the documents are valid and in canonical form. A
// configuration with a cloud and services is complete. All others are loaded together with
// testdata/surroundings.
func TestSnippets(t *testing.T) {
	found := 0
	for _, name := range documents(t) {
		switch filepath.Base(name) {
		case "configuration.md":
			continue // TestGuide checks its configurations as a whole
		case "first-cloud.md":
			continue // TestFirstCloud checks its configurations as a whole
		case "hypervisors.md":
			continue // TestAccelerated of providers/openstack checks its configurations as a whole
		case "tutorial.md":
			continue // TestTutorial of cmd/kolla checks its configurations in order
		}
		text := readText(t, name)
		for _, match := range fenced.FindAllStringSubmatchIndex(text, -1) {
			kind, snippet := text[match[2]:match[3]], text[match[4]:match[5]]
			if kind != "hcl" && kind != "json" {
				continue
			}
			found++
			line := 1 + strings.Count(text[:match[0]], "\n")
			t.Run(fmt.Sprintf("%s:%d", filepath.Base(name), line), func(t *testing.T) { checkSnippet(t, kind, snippet) })
		}
	}
	if found < 20 {
		t.Errorf("found %d configurations", found)
	}
}

// TestFirstCloud makes the changes of docs/first-cloud.md to its example, which is valid then, without a warning.
func TestFirstCloud(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../examples/compute-kit")); err != nil {
		t.Fatal(err)
	}
	options := lang.Options{Catalogue: openstack.Catalogue()}
	for _, match := range fenced.FindAllStringSubmatch(readText(t, "../../docs/first-cloud.md"), -1) {
		if match[1] != "hcl" {
			continue
		}
		if got := string(syntax.Format([]byte(match[2]))); got != match[2] {
			t.Errorf("not in canonical form, want:\n%s", got)
		}
		file, diags := hclwrite.ParseConfig([]byte(match[2]), "first-cloud.md", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		name := filepath.Join(dir, "changed.hcl")
		if len(file.Body().Attributes()) > 0 {
			name = filepath.Join(dir, "prod.vars.hcl")
			options.Vars = []lang.Var{{File: name}}
		} else {
			replaceIn(t, filepath.Join(dir, "cloud.hcl"), blocksOf(file))
		}
		write(t, name, match[2])
	}
	config := loadSnippet(t, dir, options)
	if at := slices.IndexFunc(config.Services, func(s configs.Service) bool { return s.Name == "mariadb" }); at < 0 || config.Services[at].Workloads[0].Replicas != 3 {
		t.Error("the changes of the page are not in the configuration")
	}
}

// documents returns the files that operators read.
func documents(t *testing.T) []string {
	t.Helper()
	names := []string{"../../README.md"}
	for _, pattern := range []string{"../../docs/*.md", "../../docs/blocks/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	return names
}

// besides resolves a path relative to another file.
func besides(name, relative string) string { return filepath.Join(filepath.Dir(name), relative) }

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// checkSnippet loads a snippet and renders its objects.
func checkSnippet(t *testing.T, kind, snippet string) *configs.Config {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/surroundings")); err != nil {
		t.Fatal(err)
	}
	options := lang.Options{Catalogue: openstack.Catalogue()}
	if kind == "json" {
		write(t, filepath.Join(dir, "snippet.hcl.json"), snippet)
		replaceIn(t, filepath.Join(dir, "main.hcl"), jsonBlocks(t, snippet))
		return loadSnippet(t, dir, options)
	}
	if got := string(syntax.Format([]byte(snippet))); got != snippet {
		t.Errorf("not in canonical form, want:\n%s", got)
	}
	file, diags := hclwrite.ParseConfig([]byte(snippet), "snippet.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if len(file.Body().Attributes()) > 0 { // values for variables
		name := filepath.Join(dir, "snippet.vars.hcl")
		options.Vars = []lang.Var{{File: name}}
		write(t, name, snippet)
		return loadSnippet(t, dir, options)
	}
	write(t, filepath.Join(dir, "snippet.hcl"), snippet+unused(file))
	declared := blocksOf(file)
	if hasType(declared, "cloud") && hasType(declared, "service") {
		if err := os.Remove(filepath.Join(dir, "main.hcl")); err != nil {
			t.Fatal(err)
		}
	} else {
		replaceIn(t, filepath.Join(dir, "main.hcl"), declared)
	}
	return loadSnippet(t, dir, options)
}

func loadSnippet(t *testing.T, dir string, options lang.Options) *configs.Config {
	t.Helper()
	config, diags := lang.Load(dir, options)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	if _, diags := openstack.Render(config, openstack.Offline()); len(diags) > 0 {
		t.Fatal(diags)
	}
	if diags := oslo.Check(config); len(diags) > 0 {
		t.Fatal(diags)
	}
	return config
}

// blocksOf returns the blocks of a file as TYPE.LABEL.
func blocksOf(file *hclwrite.File) []string {
	var out []string
	for _, b := range file.Body().Blocks() {
		out = append(out, strings.Join(append([]string{b.Type()}, b.Labels()...), "."))
	}
	return out
}

// jsonBlocks returns the blocks of a JSON file as TYPE.LABEL.
func jsonBlocks(t *testing.T, snippet string) []string {
	t.Helper()
	var out []string
	var blocks map[string]any
	if err := json.Unmarshal([]byte(snippet), &blocks); err != nil {
		t.Fatal(err)
	}
	for typ, content := range blocks {
		labels, _ := content.(map[string]any) // a comment has no label
		for label := range labels {
			out = append(out, typ+"."+label)
		}
	}
	return out
}

func hasType(blocks []string, typ string) bool {
	return slices.ContainsFunc(blocks, func(b string) bool { return strings.HasPrefix(b, typ+".") })
}

// unused returns a service for each definition that the file declares and does not use. Without a
// service, a definition is not evaluated. No service can use an abstract definition.
func unused(file *hclwrite.File) string {
	declared := blocksOf(file)
	var out strings.Builder
	for _, b := range file.Body().Blocks() {
		abstract := b.Body().GetAttribute(schema.AbstractAttribute.Name) != nil
		if b.Type() == "definition" && !abstract && !slices.Contains(declared, "service."+b.Labels()[0]) {
			fmt.Fprintf(&out, "\nservice %q {}\n", b.Labels()[0])
		}
	}
	return out.String()
}

// replaceIn removes the declared blocks from a file.
func replaceIn(t *testing.T, name string, declared []string) {
	t.Helper()
	file, diags := hclwrite.ParseConfig([]byte(readText(t, name)), name, hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for _, b := range file.Body().Blocks() {
		key := strings.Join(append([]string{b.Type()}, b.Labels()...), ".")
		if slices.Contains(declared, key) || b.Type() == "cloud" && hasType(declared, "cloud") {
			file.Body().RemoveBlock(b)
		}
	}
	write(t, name, string(file.Bytes()))
}

func write(tb testing.TB, name, text string) {
	tb.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		tb.Fatal(err)
	}
}
