package openstack_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"kolla.openstack.org/kolla/providers/openstack"
)

// Bounds of the catalogue: characters of a line, lines of a text, settings of a map on one line, and
// statements that two places have in common.
const (
	maxLine     = 160
	maxText     = 5
	maxSettings = 2
	maxAlike    = 9
)

// TestCatalogueLimits checks that scripts in the catalogue are files of their own, that no text stands
// in two places, and that longer maps have one setting a line. A text is what locals can share: the
// lines of an expression, or of a comment.
func TestCatalogueLimits(t *testing.T) {
	seen := map[string]string{}
	err := fs.WalkDir(openstack.Catalogue(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".hcl") {
			return err
		}
		source, err := fs.ReadFile(openstack.Catalogue(), path)
		if err != nil {
			return err
		}
		lines := strings.Split(strings.TrimSuffix(string(source), "\n"), "\n")
		for i, line := range lines {
			if len([]rune(line)) > maxLine {
				t.Errorf("%s:%d has more than %d characters", path, i+1, maxLine)
			}
		}
		for _, text := range texts(t, path, source) {
			var run []string
			for i := text.first; i <= text.last; i++ {
				if line := strings.TrimSpace(lines[i-1]); line != "" {
					run = append(run, line)
				}
				if len(run) <= maxText {
					continue
				}
				key, here := strings.Join(run[len(run)-maxText-1:], "\n"), fmt.Sprintf("%s:%d", path, i-maxText)
				if other := seen[key]; other != "" && other != here {
					t.Errorf("%s and %s have the same text; locals can share it:\n%s", other, here, key)
				}
				seen[key] = here
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// span is the first and the last line of a text.
type span struct{ first, last int }

// texts are the expressions and the comments of a file. It reports scripts in it.
func texts(t *testing.T, path string, source []byte) []span {
	t.Helper()
	file, diags := hclsyntax.ParseConfig(source, path, hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var out []span
	_ = hclsyntax.VisitAll(file.Body.(*hclsyntax.Body), func(n hclsyntax.Node) hcl.Diagnostics {
		switch n := n.(type) {
		case *hclsyntax.Attribute:
			out = append(out, span{n.SrcRange.Start.Line, n.SrcRange.End.Line})
		case *hclsyntax.ObjectConsExpr:
			for i := 1; i < len(n.Items) && len(n.Items) > maxSettings; i++ {
				if line := n.Items[i].KeyExpr.Range().Start.Line; line == n.Items[i-1].ValueExpr.Range().End.Line {
					t.Errorf("%s:%d: a map with more than %d settings has one a line", path, line, maxSettings)
				}
			}
		case *hclsyntax.TemplateExpr:
			text := n.SrcRange.SliceBytes(source)
			if bytes.HasPrefix(text, []byte("<<")) && bytes.Count(bytes.TrimSpace(text), []byte("\n"))-1 > maxText {
				t.Errorf("%s:%d: a text of more than %d lines belongs into a file", path, n.SrcRange.Start.Line, maxText)
			}
		}
		return nil
	})
	comment := 0
	for i, line := range append(strings.Split(string(source), "\n"), "") {
		switch is := strings.HasPrefix(strings.TrimSpace(line), "#"); {
		case is && comment == 0:
			comment = i + 1
		case !is && comment > 0:
			out = append(out, span{comment, i})
			comment = 0
		}
	}
	return slices.DeleteFunc(out, func(s span) bool { return s.last-s.first < maxText })
}

// TestCatalogueIsNotRepeated checks that definitions start from others where they are alike: no run of
// statements stands in two definitions, apart from the name of the service.
func TestCatalogueIsNotRepeated(t *testing.T) {
	files, err := fs.Glob(openstack.Catalogue(), "*.hcl")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, path := range files {
		source, err := fs.ReadFile(openstack.Catalogue(), path)
		if err != nil {
			t.Fatal(err)
		}
		var run []string
		for i, line := range strings.Split(string(source), "\n") {
			line = strings.ReplaceAll(strings.Join(strings.Fields(line), " "), strings.TrimSuffix(path, ".hcl"), "NAME")
			if line == "" || line[0] == '#' || line == "}" {
				continue
			}
			if run = append(run, line); len(run) <= maxAlike {
				continue
			}
			run = run[1:]
			key, here := strings.Join(run, "\n"), fmt.Sprintf("%s:%d", path, i+1)
			if other := seen[key]; other != "" {
				t.Errorf("%s and %s end the same statements; a definition can start from another one:\n%s", other, here, key)
			}
			seen[key] = here
		}
	}
}
