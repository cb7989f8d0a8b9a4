// Package draft writes the blocks of a configuration that declare an existing object.
package draft

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/syntax"
)

// Blocks is the text of blocks that kolla wrote.
type Blocks struct {
	Source []byte
	// Variables are the declared variables. They replace the values of Secrets.
	Variables []string
}

// Manifest writes a manifest block with one object, in canonical form. It replaces each value
// of a Secret by a sensitive variable, and declares the variable.
func Manifest(name string, object map[string]any) Blocks {
	file := hclwrite.NewEmptyFile()
	g := generator{object: object}
	g.takeValues(name)
	manifest := file.Body().AppendNewBlock("manifest", []string{name}).Body()
	manifest.SetAttributeRaw("object", g.tokens(g.object, nil))
	for i, variable := range g.names {
		file.Body().AppendNewline()
		b := file.Body().AppendNewBlock("variable", []string{variable}).Body()
		b.SetAttributeValue("description", cty.StringVal(g.docs[i]))
		b.SetAttributeTraversal("type", hcl.Traversal{hcl.TraverseRoot{Name: "string"}})
		b.SetAttributeValue("sensitive", cty.True)
	}
	return Blocks{Source: syntax.Format(file.Bytes()), Variables: g.names}
}

type generator struct {
	object map[string]any
	docs   []string          // of variables
	names  []string          // of variables
	given  map[string]string // the variable for a key of a Secret
}

// takeValues replaces each value of a Secret by a variable.
func (g *generator) takeValues(name string) {
	data, _ := g.object["data"].(map[string]any)
	if g.object["kind"] != "Secret" || len(data) == 0 {
		return
	}
	g.given = map[string]string{}
	text, binary := map[string]any{}, map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(data)) {
		variable := g.variable(name + "_" + key)
		g.given[key] = variable
		what := fmt.Sprintf("Value of %q in the Secret of manifest.%s", key, name)
		encoded, _ := data[key].(string)
		if raw, err := base64.StdEncoding.DecodeString(encoded); err == nil && utf8.Valid(raw) {
			text[key] = nil
		} else {
			binary[key], what = nil, what+", in base64"
		}
		g.docs = append(g.docs, what+".")
	}
	g.object = cloneWithout(g.object, "data")
	for field, values := range map[string]map[string]any{"stringData": text, "data": binary} {
		if len(values) > 0 {
			g.object[field] = values
		}
	}
}

func cloneWithout(object map[string]any, field string) map[string]any {
	out := map[string]any{}
	for key, value := range object {
		if key != field {
			out[key] = value
		}
	}
	return out
}

var notInNames = regexp.MustCompile(`[^A-Za-z0-9_]+`)

// variable returns an unused name for a variable.
func (g *generator) variable(from string) string {
	base := notInNames.ReplaceAllString(from, "_")
	name := base
	for n := 2; slices.Contains(g.names, name); n++ {
		name = fmt.Sprintf("%s_%d", base, n)
	}
	g.names = append(g.names, name)
	return name
}

// firstFields are the fields that people write first in an object.
var firstFields = []string{"apiVersion", "kind", "metadata", "name", "namespace"}

// tokens writes the value at a path of the object.
func (g *generator) tokens(value any, path []string) hclwrite.Tokens {
	switch v := value.(type) {
	case map[string]any:
		var fields []hclwrite.ObjectAttrTokens
		for _, key := range slices.SortedFunc(maps.Keys(v), func(a, b string) int {
			return cmp.Or(cmp.Compare(rankOf(a), rankOf(b)), cmp.Compare(a, b))
		}) {
			name := hclwrite.TokensForValue(cty.StringVal(key))
			if hclsyntax.ValidIdentifier(key) {
				name = hclwrite.TokensForIdentifier(key)
			}
			fields = append(fields, hclwrite.ObjectAttrTokens{Name: name, Value: g.field(v[key], append(slices.Clip(path), key))})
		}
		return hclwrite.TokensForObject(fields)
	case []any:
		var elements []hclwrite.Tokens
		objects := false
		for _, element := range v {
			_, isObject := element.(map[string]any)
			objects = objects || isObject
			elements = append(elements, g.tokens(element, append(slices.Clip(path), "")))
		}
		if objects {
			return onLines(elements)
		}
		return hclwrite.TokensForTuple(elements)
	case string:
		return hclwrite.TokensForValue(cty.StringVal(v))
	case bool:
		return hclwrite.TokensForValue(cty.BoolVal(v))
	case int64:
		return hclwrite.TokensForValue(cty.NumberIntVal(v))
	case float64:
		return hclwrite.TokensForValue(cty.NumberFloatVal(v))
	}
	return hclwrite.TokensForValue(cty.NullVal(cty.DynamicPseudoType))
}

// onLines writes a list with each element on lines of its own.
func onLines(elements []hclwrite.Tokens) hclwrite.Tokens {
	newline := &hclwrite.Token{Type: hclsyntax.TokenNewline, Bytes: []byte("\n")}
	out := hclwrite.Tokens{{Type: hclsyntax.TokenOBrack, Bytes: []byte("[")}, newline}
	for _, element := range elements {
		out = append(append(out, element...), &hclwrite.Token{Type: hclsyntax.TokenComma, Bytes: []byte(",")}, newline)
	}
	return append(out, &hclwrite.Token{Type: hclsyntax.TokenCBrack, Bytes: []byte("]")})
}

func rankOf(field string) int {
	if i := slices.Index(firstFields, field); i >= 0 {
		return i
	}
	return len(firstFields)
}

// field writes the value of a field. A value of a Secret is a reference to its variable. A
// text with several lines is a heredoc.
func (g *generator) field(value any, path []string) hclwrite.Tokens {
	if len(path) == 2 && (path[0] == "data" || path[0] == "stringData") && g.given[path[1]] != "" {
		return hclwrite.TokensForTraversal(hcl.Traversal{hcl.TraverseRoot{Name: "var"}, hcl.TraverseAttr{Name: g.given[path[1]]}})
	}
	if text, ok := value.(string); ok && fitsHeredoc(text) {
		escaped := strings.NewReplacer("${", "$${", "%{", "%%{").Replace(text)
		return hclwrite.Tokens{
			{Type: hclsyntax.TokenOHeredoc, Bytes: []byte("<<" + heredocEnd + "\n")},
			{Type: hclsyntax.TokenStringLit, Bytes: []byte(escaped)},
			{Type: hclsyntax.TokenCHeredoc, Bytes: []byte(heredocEnd)},
		}
	}
	return g.tokens(value, path)
}

// heredocEnd closes a text of several lines.
const heredocEnd = "EOT"

// fitsHeredoc reports whether a text has several lines and can be written as a heredoc.
func fitsHeredoc(text string) bool {
	if strings.Count(text, "\n") < 2 || !strings.HasSuffix(text, "\n") {
		return false
	}
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) == heredocEnd {
			return false
		}
	}
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r == unicode.ReplacementChar || r != '\n' && r != '\t' && unicode.IsControl(r)
	})
}
