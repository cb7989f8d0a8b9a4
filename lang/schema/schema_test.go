package schema_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/lang/schema"
)

// TestSchema checks that the reference of the language can be made from it.
func TestSchema(t *testing.T) {
	var check func(path string, b *schema.BlockType)
	check = func(path string, b *schema.BlockType) {
		path += "." + b.Name
		if !sentence(b.Doc) {
			t.Errorf("%s: the documentation %q is not a sentence", path, b.Doc)
		}
		names := map[string]bool{}
		for _, a := range b.Attributes {
			where := path + "." + a.Name
			switch {
			case names[a.Name]:
				t.Errorf("%s is there twice", where)
			case !sentence(a.Doc):
				t.Errorf("%s: the documentation %q is not a sentence", where, a.Doc)
			case a.Type == "":
				t.Errorf("%s has no type", where)
			case a.Required && a.Default != nil:
				t.Errorf("%s is required and has a default", where)
			case a.OneOf != nil && a.Default != nil && !slices.Contains(a.OneOf, fmt.Sprint(a.Default)):
				t.Errorf("%s: the default is not one of the values", where)
			}
			names[a.Name] = true
		}
		for _, child := range b.Blocks {
			if names[child.Name] {
				t.Errorf("%s.%s is an argument and a block", path, child.Name)
			}
			names[child.Name] = true
			check(path, child)
		}
	}
	for _, b := range schema.Blocks() {
		check("", b)
	}
}

// sentence reports whether a text starts and ends like one.
func sentence(text string) bool {
	return text != "" && strings.HasSuffix(text, ".")
}
