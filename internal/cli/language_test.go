package cli

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/lang/schema"
)

// languageGuide is what stands before the blocks in the reference of the language. The
// line CONTENTS stands for the table of contents, and SECTION NAME for the description of
// a block.
//
//go:embed testdata/language.md
var languageGuide string

// languageReference is the guide, and a section for each type of block.
func languageReference() string {
	r := newReference()
	for _, block := range slices.Concat(schema.Blocks(), r.shared) {
		r.section(block)
	}
	blocks := r.String()
	r.Reset()
	r.details(schema.DynamicType)
	text := strings.Replace(languageGuide, "SECTION dynamic\n", strings.TrimLeft(r.String(), "\n"), 1) + blocks
	return strings.Replace(text, "CONTENTS\n", tableOfContents(text), 1)
}

// reference is the description of the blocks.
type reference struct {
	strings.Builder
	in   map[*schema.BlockType][]*schema.BlockType // what each stands in
	path map[*schema.BlockType]string              // where each stands, not deep: "service workload"
	// shared are those that stand in several others. They are described at the end.
	shared []*schema.BlockType
	shown  map[string]string // where each example is
}

func newReference() *reference {
	r := &reference{in: map[*schema.BlockType][]*schema.BlockType{}, path: map[*schema.BlockType]string{}, shown: map[string]string{}}
	for _, b := range schema.Blocks() {
		r.find(b, b.Name)
	}
	return r
}

// find notes where a type of block stands, and those in it.
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

// isShared reports whether a type of block stands in several others.
func (r *reference) isShared(b *schema.BlockType) bool { return len(r.in[b]) > 1 }

// heading is that of the section on a type of block.
func (r *reference) heading(b *schema.BlockType) string {
	same := slices.DeleteFunc(slices.Concat(schema.Blocks(), r.shared), func(other *schema.BlockType) bool { return other.Name != b.Name })
	if r.isShared(b) && len(same) == 1 {
		return b.Name
	}
	return r.path[b]
}

func (r *reference) link(text string, b *schema.BlockType) string {
	return fmt.Sprintf("[`%s`](#%s)", text, anchor(r.heading(b)))
}

// section describes a type of block, and those that stand in it alone.
func (r *reference) section(b *schema.BlockType) {
	level := "###"
	if strings.Contains(r.heading(b), " ") && !r.isShared(b) {
		level = "####"
	}
	fmt.Fprintf(r, "\n%s %s\n", level, r.heading(b))
	r.details(b)
	for _, inner := range b.Blocks {
		if !r.isShared(inner) {
			r.section(inner)
		}
	}
}

// details are what a section says of its block.
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

// example shows how the block is written, once where several have the same.
func (r *reference) example(b *schema.BlockType) {
	switch at := r.shown[b.Example]; {
	case b.Example == "":
	case at != "":
		fmt.Fprintf(r, "\nThe example of [`%s`](#%s) shows it.\n", at, anchor(at))
	default:
		fmt.Fprintf(r, "\n```hcl\n%s```\n", b.Example)
		r.shown[b.Example] = r.heading(b)
	}
}

// inner says which blocks stand in a block.
func (r *reference) inner(b *schema.BlockType) {
	var links []string
	for _, inner := range b.Blocks {
		links = append(links, r.link(inner.Name, inner))
	}
	if len(links) > 0 {
		fmt.Fprintf(r, "\nBlocks in it: %s.\n", strings.Join(links, ", "))
	}
}

// readings say what expressions read of a block.
func (r *reference) readings(b *schema.BlockType) {
	if len(b.Reads) == 0 {
		return
	}
	fmt.Fprintf(r, "\n| read as | |\n| --- | --- |\n")
	for _, reading := range b.Reads {
		fmt.Fprintf(r, "| `%s.%s` | %s |\n", b.ReadAs, reading.Name, cell(reading.Doc))
	}
}

// cell is a text in a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

// typeNames are types of arguments in an operator's words, where they have others.
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

var headings = regexp.MustCompile(`(?m)^(##|###) (.*)$`)

// tableOfContents lists the headings of a document.
func tableOfContents(text string) string {
	var b strings.Builder
	for _, h := range headings.FindAllStringSubmatch(text, -1) {
		fmt.Fprintf(&b, "%s- [%s](#%s)\n", strings.Repeat("  ", len(h[1])-2), h[2], anchor(h[2]))
	}
	return b.String()
}

// anchor is how links name a heading.
func anchor(heading string) string {
	kept := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(heading), "")
	return strings.ReplaceAll(kept, " ", "-")
}

// TestLinks checks that links within the documents lead to something that is there.
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

// TestHeadings checks that every heading of the reference can be linked to.
func TestHeadings(t *testing.T) {
	seen := map[string]bool{}
	for _, h := range regexp.MustCompile(`(?m)^##+ (.*)$`).FindAllStringSubmatch(languageReference(), -1) {
		if seen[anchor(h[1])] {
			t.Errorf("there are two headings %q", h[1])
		}
		seen[anchor(h[1])] = true
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
