package source

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"kolla.openstack.org/kolla/lang/internal/diag"
)

// Locals returns the local values of a document or definition.
func Locals(r *diag.Reporter, in *Block) []*hclsyntax.Attribute {
	var out []*hclsyntax.Attribute
	first := map[string]hcl.Range{}
	for _, b := range in.All("locals") {
		for _, attr := range b.Ordered() {
			if at, twice := first[attr.Name]; twice {
				r.Error(attr.NameRange, fmt.Sprintf("Second local value named %q", attr.Name), "The first is at %s. Rename one of them.", diag.Position(at))
				continue
			}
			first[attr.Name] = attr.NameRange
			out = append(out, attr)
		}
	}
	return out
}

// lineBreak is a line break between two elements, which one line separates by a comma.
var lineBreak = regexp.MustCompile(`([^\s{\[(,])[ \t]*\n\s*([^\s}\])])`)

// Text returns the source of a range, in one line.
func Text(files map[string]*hcl.File, at hcl.Range) string {
	text := string(at.SliceBytes(files[at.Filename].Bytes))
	return strings.Join(strings.Fields(lineBreak.ReplaceAllString(text, "$1, $2")), " ")
}
