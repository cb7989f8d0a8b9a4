package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/lang/schema"
)

// languageReference returns the pages of the reference by path: a page for each type of block at
// the top of a file or shared by several blocks, and a page that lists them.
func languageReference() map[string]string {
	r := newReference()
	var list strings.Builder
	list.WriteString("# Blocks\n\nWritten by `make golden` from the schema of the language; [language](../language.md) explains how it\nworks.\n")
	for _, part := range []struct {
		title  string
		blocks []*schema.BlockType
	}{{"At the top of a file", schema.Blocks()}, {"In other blocks", append(r.shared, schema.DynamicType)}} {
		fmt.Fprintf(&list, "\n## %s\n\n| block | |\n| --- | --- |\n", part.title)
		for _, b := range part.blocks {
			first, _, _ := strings.Cut(b.Doc, ". ")
			fmt.Fprintf(&list, "| %s | %s. |\n", r.link(r.heading(b), b), cell(strings.TrimSuffix(first, ".")))
		}
	}
	pages := map[string]string{blocksPages + "README.md": list.String()}
	for _, block := range slices.Concat(schema.Blocks(), r.shared, []*schema.BlockType{schema.DynamicType}) {
		r.section(block)
		pages[blocksPages+r.page(block)] = r.String()
		r.Reset()
	}
	return pages
}

const blocksPages = "../../docs/blocks/"

// reference writes the description of the blocks.
type reference struct {
	strings.Builder
	in   map[*schema.BlockType][]*schema.BlockType // the outer blocks of each type
	path map[*schema.BlockType]string              // the shortest path of each type: "service workload"
	// shared lists the types that are allowed in several blocks. They have their own pages.
	shared []*schema.BlockType
	shown  map[string]*schema.BlockType // by example: the block whose section contains it
}

func newReference() *reference {
	r := &reference{in: map[*schema.BlockType][]*schema.BlockType{}, path: map[*schema.BlockType]string{}, shown: map[string]*schema.BlockType{}}
	for _, b := range schema.Blocks() {
		r.find(b, b.Name)
	}
	r.path[schema.DynamicType] = schema.DynamicType.Name
	return r
}

// find records the outer blocks and the path of a type of block, and of the types in it.
func (r *reference) find(b *schema.BlockType, path string) {
	known := r.path[b]
	if known == "" || strings.Count(path, " ") < strings.Count(known, " ") {
		r.path[b] = path
	}
	if known != "" {
		return
	}
	for _, inner := range b.Blocks {
		r.in[inner] = append(r.in[inner], b)
		if len(r.in[inner]) == 2 {
			r.shared = append(r.shared, inner)
		}
		r.find(inner, path+" "+inner.Name)
	}
}

// isShared reports whether a type is allowed in several blocks.
func (r *reference) isShared(b *schema.BlockType) bool { return len(r.in[b]) > 1 }

// heading returns the heading of the section on a type of block.
func (r *reference) heading(b *schema.BlockType) string {
	if len(r.in[b]) == 1 {
		return r.heading(r.in[b][0]) + " " + b.Name
	}
	same := slices.DeleteFunc(slices.Concat(schema.Blocks(), r.shared), func(other *schema.BlockType) bool { return other.Name != b.Name })
	if len(same) == 1 {
		return b.Name
	}
	return r.path[b]
}

// page returns the name of the file that describes a type of block.
func (r *reference) page(b *schema.BlockType) string {
	for len(r.in[b]) == 1 {
		b = r.in[b][0]
	}
	return anchor(r.heading(b)) + ".md"
}

func (r *reference) link(text string, b *schema.BlockType) string {
	target := r.page(b)
	if len(r.in[b]) == 1 {
		target += "#" + anchor(r.heading(b))
	}
	return fmt.Sprintf("[`%s`](%s)", text, target)
}

// section describes a type of block, and the types that are allowed only in it.
func (r *reference) section(b *schema.BlockType) {
	level := "##"
	if len(r.in[b]) != 1 {
		level = "#"
	} else {
		r.WriteString("\n")
	}
	fmt.Fprintf(r, "%s %s\n", level, r.heading(b))
	r.details(b)
	if b == schema.DynamicType {
		return // the content is that of the generated block
	}
	for _, inner := range b.Blocks {
		if !r.isShared(inner) {
			r.section(inner)
		}
	}
}

// details describes the arguments and the label of a block.
func (r *reference) details(b *schema.BlockType) {
	header := b.Name
	if b.Label != "" {
		header += fmt.Sprintf(" %q", strings.ToUpper(b.Label))
	}
	fmt.Fprintf(r, "\n`%s { ... }`\n\n%s", header, b.Doc)
	if b.LabelForm.Expected != "" {
		fmt.Fprintf(r, " The label is %s.", b.LabelForm.Expected)
	}
	if r.isShared(b) {
		var links []string
		for _, outer := range r.in[b] {
			links = append(links, r.link(r.heading(outer), outer))
		}
		fmt.Fprintf(r, " Allowed in: %s.", strings.Join(links, ", "))
	}
	r.WriteString("\n")
	r.example(b)
	if len(b.Attributes) > 0 {
		r.WriteString("\n| argument | type | default | |\n| --- | --- | --- | --- |\n")
	}
	for _, a := range b.Attributes {
		fmt.Fprintf(r, "| `%s` | %s | %s | %s |\n", a.Name, typeOf(a), defaultOf(a), cell(a.Doc))
	}
	if b != schema.DynamicType {
		r.inner(b)
	}
	r.readings(b)
}

// example writes an example, or a link to the block that already shows the same example.
func (r *reference) example(b *schema.BlockType) {
	switch at := r.shown[b.Example]; {
	case b.Example == "":
	case at != nil:
		fmt.Fprintf(r, "\nThe example of %s shows it.\n", r.link(r.heading(at), at))
	default:
		fmt.Fprintf(r, "\n```hcl\n%s```\n", b.Example)
		r.shown[b.Example] = b
	}
}

// inner lists the blocks that are allowed in a block.
func (r *reference) inner(b *schema.BlockType) {
	var links []string
	for _, inner := range b.Blocks {
		links = append(links, r.link(inner.Name, inner))
	}
	if len(links) > 0 {
		fmt.Fprintf(r, "\nBlocks in it: %s.\n", strings.Join(links, ", "))
	}
}

// readings lists the attributes of a block that expressions can read.
func (r *reference) readings(b *schema.BlockType) {
	if len(b.Reads) == 0 {
		return
	}
	fmt.Fprintf(r, "\n| read as | |\n| --- | --- |\n")
	for _, reading := range b.Reads {
		fmt.Fprintf(r, "| `%s.%s` | %s |\n", b.ReadAs, reading.Name, cell(reading.Doc))
	}
}

// cell escapes a text for a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

// typeNames maps types of arguments to the operator's terms, where these differ.
var typeNames = map[schema.AttributeType]string{
	schema.TypeNumber:     "whole number",
	schema.TypeAny:        "any value",
	schema.TypeObject:     "part of an object",
	schema.TypeText:       "secret string",
	schema.TypeTexts:      "map of secret strings",
	schema.TypeSettings:   "config values",
	schema.TypeReferences: "references",
	schema.TypeAddress:    "address",
	schema.TypeLiteral:    "plain string",
}

func typeOf(a schema.Attribute) string {
	name := string(a.Type)
	if other := typeNames[a.Type]; other != "" {
		name = other
	}
	if a.Value != "" {
		name = a.Value
	}
	switch {
	case len(a.OneOf) > 0:
		return name + ": `" + strings.Join(a.OneOf, "`, `") + "`"
	case a.Max > 0:
		return fmt.Sprintf("%s, %d to %d", name, a.Min, a.Max)
	}
	return name
}

func defaultOf(a schema.Attribute) string {
	switch {
	case a.Required:
		return "required"
	case a.Default == nil, a.Default == "":
		return ""
	}
	return fmt.Sprintf("`%v`", a.Default)
}

// anchor returns the anchor of a heading.
func anchor(heading string) string {
	kept := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(heading), "")
	return strings.ReplaceAll(kept, " ", "-")
}

// TestLinks checks that links within the documents lead to existing files and headings.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]*)(#[^)]*)?\)`)
	for _, name := range documents(t) {
		for _, l := range link.FindAllStringSubmatch(readText(t, name), -1) {
			target := name
			if l[1] != "" {
				target = besides(name, l[1])
			}
			if l[2] == "" || !strings.HasSuffix(target, ".md") {
				if !exists(target) {
					t.Errorf("%s: %s leads nowhere", name, l[0])
				}
				continue
			}
			if !hasHeading(readText(t, target), l[2][1:]) {
				t.Errorf("%s: %s leads to no heading", name, l[0])
			}
		}
	}
}

// TestHeadings checks that no document on the language has two headings with the same anchor.
func TestHeadings(t *testing.T) {
	pages := languageReference()
	pages["language.md"] = readText(t, "../../docs/language.md")
	for name, text := range pages {
		seen := map[string]bool{}
		for _, h := range regexp.MustCompile(`(?m)^##+ (.*)$`).FindAllStringSubmatch(text, -1) {
			if seen[anchor(h[1])] {
				t.Errorf("%s has two headings %q", name, h[1])
			}
			seen[anchor(h[1])] = true
		}
	}
}

func hasHeading(text, wanted string) bool {
	for _, h := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		if anchor(h[1]) == wanted {
			return true
		}
	}
	return false
}
