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

// Bounds of the files of the catalogue, in lines, and of a line in them.
const (
	maxFile = 260
	maxLine = 160
	maxText = 5
)

// longer are files with a bound of their own: a definition is one block, and Nova's has five
// workloads, which dynamic blocks would hide from the reference.
var longer = map[string]int{"nova.hcl": 276}

// TestCatalogueLimits checks that each file of the catalogue can be read at a sitting, that
// scripts in it are files of their own, and that no text stands in two places. A text is
// what locals can share: the lines of an expression, or of a comment. Blocks such as probes
// cannot be shared, and may be alike.
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
		if limit := max(maxFile, longer[path]); len(lines) > limit {
			t.Errorf("%s has %d lines, and may have %d", path, len(lines), limit)
		}
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
