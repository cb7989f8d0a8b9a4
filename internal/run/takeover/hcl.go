package takeover

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/syntax"
)

// block is a block of a configuration, or, without a head, a whole file.
type block struct {
	head       string // type and label
	attributes []attribute
	blocks     []*block
}

type attribute struct{ name, expr, comment string }

// find returns the inner block with a type and label, or nil.
func (b *block) find(head string) *block {
	i := slices.IndexFunc(b.blocks, func(inner *block) bool { return inner.head == head })
	if i < 0 {
		return nil
	}
	return b.blocks[i]
}

// block returns the inner block with a type and label, and adds it if there is none.
func (b *block) block(head string) *block {
	if inner := b.find(head); inner != nil {
		return inner
	}
	inner := &block{head: head}
	b.blocks = append(b.blocks, inner)
	return inner
}

// has reports whether an argument is set.
func (b *block) has(name string) bool {
	return slices.ContainsFunc(b.attributes, func(a attribute) bool { return a.name == name })
}

// set sets an argument.
func (b *block) set(name, expr, comment string) {
	i := slices.IndexFunc(b.attributes, func(a attribute) bool { return a.name == name })
	if i < 0 {
		b.attributes = append(b.attributes, attribute{name, expr, comment})
	} else {
		b.attributes[i] = attribute{name, expr, comment}
	}
}

// source returns the canonical text of a file.
func (b *block) source(header string) []byte {
	var out strings.Builder
	out.WriteString(header + "\n")
	for _, inner := range b.blocks {
		out.WriteString("\n")
		inner.write(&out)
	}
	return syntax.Format([]byte(out.String()))
}

func (b *block) write(out *strings.Builder) {
	if len(b.attributes)+len(b.blocks) == 0 {
		fmt.Fprintf(out, "%s {}\n", b.head)
		return
	}
	fmt.Fprintf(out, "%s {\n", b.head)
	for _, a := range b.attributes {
		if strings.Contains(a.expr, "\n") && a.comment != "" {
			fmt.Fprintf(out, "# %s\n%s = %s\n", a.comment, a.name, a.expr)
			continue
		}
		fmt.Fprintf(out, "%s = %s%s\n", a.name, a.expr, comment(a.comment))
	}
	for i, inner := range b.blocks {
		if i > 0 || len(b.attributes) > 0 {
			out.WriteString("\n")
		}
		inner.write(out)
	}
	out.WriteString("}\n")
}

func comment(text string) string {
	if text == "" {
		return ""
	}
	return " # " + strings.Join(strings.Fields(text), " ")
}

// quote returns a text as an expression.
func quote(text string) string { return string(hclwrite.TokensForValue(cty.StringVal(text)).Bytes()) }

// list returns texts as an expression.
func list(texts []string) string {
	return "[" + strings.Join(quoteEach(texts), ", ") + "]"
}

// key returns a text as the key of an object.
func key(text string) string {
	if hclsyntax.ValidIdentifier(text) {
		return text
	}
	return quote(text)
}

// field is a key of an object with its expression.
type field struct{ name, expr string }

// object returns an object in one line.
func object(fields ...field) string {
	if len(fields) == 0 {
		return "{}"
	}
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = key(f.name) + " = " + f.expr
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

// lines returns an object with a line for each key.
func lines(fields []field) string {
	var out strings.Builder
	out.WriteString("{\n")
	for _, f := range fields {
		fmt.Fprintf(&out, "%s = %s\n", key(f.name), f.expr)
	}
	return out.String() + "}"
}

// settings are options of config files, by service and file. The empty service is all services.
type settings map[[2]string]map[string]map[string]attribute

// set sets an option. A later value wins.
func (s settings) set(service, file, section, option, expr, comment string) {
	k := [2]string{service, file}
	if s[k] == nil {
		s[k] = map[string]map[string]attribute{}
	}
	if s[k][section] == nil {
		s[k][section] = map[string]attribute{}
	}
	s[k][section][option] = attribute{option, expr, comment}
}

// files returns the services and files, sorted.
func (s settings) files() [][2]string {
	return slices.SortedFunc(maps.Keys(s), func(a, b [2]string) int {
		return strings.Compare(a[0]+"\x00"+a[1], b[0]+"\x00"+b[1])
	})
}

// values returns the sections of a file as an expression.
func (s settings) values(file [2]string) string {
	var out strings.Builder
	out.WriteString("{\n")
	for _, section := range slices.Sorted(maps.Keys(s[file])) {
		fmt.Fprintf(&out, "%s = {\n", key(section))
		options := s[file][section]
		for _, name := range slices.Sorted(maps.Keys(options)) {
			fmt.Fprintf(&out, "%s = %s%s\n", key(name), options[name].expr, comment(options[name].comment))
		}
		out.WriteString("}\n")
	}
	return out.String() + "}"
}

var plainNumber = regexp.MustCompile(`^(0|-?[1-9][0-9]{0,14})$`)

// literal returns the value of an option: numbers and bools without quotes.
func literal(text string) string {
	if plainNumber.MatchString(text) || text == "true" || text == "false" {
		return text
	}
	return quote(text)
}
