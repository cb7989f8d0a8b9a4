package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/syntax"
	"kolla.openstack.org/kolla/providers/openstack"
)

// guideConfig writes the configurations in docs/configuration.md to a directory, as one
// configuration.
func guideConfig(t *testing.T, guide []byte) (dir string, config []byte) {
	t.Helper()
	blocks := regexp.MustCompile("(?ms)^```hcl\n(.*?)^```$").FindAllSubmatch(guide, -1)
	if len(blocks) < 2 {
		t.Fatalf("found %d configurations", len(blocks))
	}
	for _, block := range blocks {
		config = append(config, block[1]...)
	}
	dir = t.TempDir()
	manifest := "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: extra }\n"
	if err := os.MkdirAll(filepath.Join(dir, "manifests"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "manifests", "extra.yaml"), []byte(manifest), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), config, 0o644); err != nil {
		t.Fatal(err)
	}
	return dir, config
}

func readGuide(t *testing.T) []byte {
	t.Helper()
	guide, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	return guide
}

// TestGuide checks that the configurations in docs/configuration.md are valid, and in
// canonical form.
func TestGuide(t *testing.T) {
	dir, config := guideConfig(t, readGuide(t))
	loaded, diags := lang.Load(dir, lang.Options{Catalogue: openstack.Catalogue()})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	if _, diags := openstack.Render(loaded, openstack.Offline()); len(diags) > 0 {
		t.Fatal(diags)
	}
	if got := syntax.Format(config); string(got) != string(config) {
		t.Errorf("not in canonical form, want:\n%s", got)
	}
}

// TestGuideOutput checks that docs/configuration.md shows the output of kolla for its
// configuration, as far as no cluster is needed. A line of dots stands for omitted lines.
func TestGuideOutput(t *testing.T) {
	guide := readGuide(t)
	shown := regexp.MustCompile("(?ms)^```\n\\$ (kolla config [^\n]*)\n(.*?)^```$").FindAllSubmatch(guide, -1)
	if len(shown) == 0 {
		t.Fatal("no output is shown")
	}
	dir, _ := guideConfig(t, guide)
	t.Chdir(dir)
	for _, match := range shown {
		var stdout, stderr bytes.Buffer
		if code := Run(context.Background(), strings.Fields(string(match[1])), strings.NewReader(""), &stdout, &stderr); code != 0 {
			t.Errorf("%s exits with %d:\n%s", match[1], code, &stderr)
		}
		rest := stdout.String()
		for _, piece := range strings.Split(string(match[2]), "...\n") {
			_, after, found := strings.Cut(rest, piece)
			if !found {
				t.Errorf("%s does not print:\n%s\nbut, from there on:\n%s", match[1], piece, rest)
				break
			}
			rest = after
		}
	}
}
