package cli

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/lang"
)

// languageGuide is what stands before the blocks in the reference of the language. The
// line CONTENTS stands for the table of contents, and SECTION NAME for the description of
// a block.
//
//go:embed testdata/language.md
var languageGuide string

// languageReference is the guide, and a section for each type of block.
func languageReference() string {
	r := &reference{at: map[*lang.BlockType]string{}}
	for _, block := range lang.Schema() {
		r.section("", block)
	}
	blocks := r.String()
	r.Reset()
	r.details("dynamic", lang.Dynamic())
	text := strings.Replace(languageGuide, "SECTION dynamic\n", strings.TrimLeft(r.String(), "\n"), 1) + blocks
	return strings.Replace(text, "CONTENTS\n", contents(text), 1)
}

// reference is the description of the blocks.
type reference struct {
	strings.Builder
	at map[*lang.BlockType]string // where those are described that were already
}

// section describes a type of block, and those that stand in it. What stands in several
// is described once.
func (r *reference) section(path string, b *lang.BlockType) {
	name := strings.TrimSpace(path + " " + b.Name)
	r.at[b] = name
	level := "###"
	if path != "" {
		level = "####"
	}
	fmt.Fprintf(r, "\n%s %s\n", level, name)
	var known []*lang.BlockType
	for _, inner := range b.Blocks {
		if r.at[inner] == "" {
			r.at[inner] = name + " " + inner.Name
			known = append(known, inner)
		}
	}
	r.details(name, b)
	for _, inner := range known {
		r.section(name, inner)
	}
}

// details are what a section says of its block.
func (r *reference) details(name string, b *lang.BlockType) {
	header := b.Name
	if b.Label != "" {
		header += fmt.Sprintf(" %q", strings.ToUpper(b.Label))
	}
	fmt.Fprintf(r, "\n`%s { ... }`\n\n%s", header, b.Doc)
	if b.LabelForm.Expected != "" {
		fmt.Fprintf(r, " The label is %s.", b.LabelForm.Expected)
	}
	r.WriteString("\n")
	if b.Example != "" {
		fmt.Fprintf(r, "\n```hcl\n%s```\n", b.Example)
	}
	if len(b.Attributes) > 0 {
		r.WriteString("\n| argument | type | default | |\n| --- | --- | --- | --- |\n")
	}
	for _, a := range b.Attributes {
		fmt.Fprintf(r, "| `%s` | %s | %s | %s |\n", a.Name, typeOf(a), defaultOf(a), cell(a.Doc))
	}
	r.inner(name, b)
	r.readings(b)
}

// inner says which blocks stand in a block.
func (r *reference) inner(name string, b *lang.BlockType) {
	if len(b.Blocks) == 0 || b == lang.Dynamic() {
		return
	}
	var links []string
	for _, inner := range b.Blocks {
		links = append(links, fmt.Sprintf("[`%s`](#%s)", inner.Name, anchor(r.at[inner])))
	}
	fmt.Fprintf(r, "\nBlocks in it: %s.\n", strings.Join(links, ", "))
}

// readings say what expressions read of a block.
func (r *reference) readings(b *lang.BlockType) {
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
var typeNames = map[lang.AttributeType]string{
	lang.TypeNumber:     "whole number",
	lang.TypeAny:        "any value",
	lang.TypeText:       "secret string",
	lang.TypeTexts:      "map of secret strings",
	lang.TypeSettings:   "config values",
	lang.TypeReferences: "references",
	lang.TypeAddress:    "address",
	lang.TypeLiteral:    "plain string",
}

func typeOf(a lang.Attribute) string {
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

func defaultOf(a lang.Attribute) string {
	switch {
	case a.Required:
		return "required"
	case a.Default == nil, a.Default == "":
		return ""
	}
	return fmt.Sprintf("`%v`", a.Default)
}

var headings = regexp.MustCompile(`(?m)^(##|###) (.*)$`)

// contents lists the headings of a document.
func contents(text string) string {
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

// TestLinks holds that links within the documents lead to something that is there.
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

func hasHeading(text, wanted string) bool {
	for _, h := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		if anchor(h[1]) == wanted {
			return true
		}
	}
	return false
}
