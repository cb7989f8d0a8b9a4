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

// Limits for the catalogue: characters in a line, lines in a heredoc or in common with another
// place, settings of a map on one line, and statements in common with another definition.
const (
	maxLine     = 160
	maxText     = 5
	maxSettings = 2
	maxAlike    = 9
)

// TestCatalogueLimits checks that scripts have their own files, that two places share no long run
// of lines of an expression or a comment, which a local could contain once, and that longer maps
// have one setting per line.
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

// span is the first and the last line of an expression or a comment.
type span struct{ first, last int }

// texts returns the positions of longer expressions and comments in a file. It reports long
// heredocs, and maps with several settings on a line.
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

// TestCatalogueIsNotRepeated checks that definitions share statements instead of repeating them. No
// long run of statements may occur in two definitions that differ only in the name of the service.
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
