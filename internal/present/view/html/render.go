// Package html renders a report as one page for a browser. The page is self-contained: its
// policy permits its own style and its own script, and no request. It works without the
// script, which adds filters. All facts and sentences come from internal/present/report.
package html

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"
	"unicode"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/lang/addrs"
)

// Begins is the beginning of each page.
const Begins = "<!DOCTYPE html>\n<!-- A report of kolla. -->\n"

// Options choose how much of a plan is shown.
type Options struct {
	Full bool // every declared field of new objects, and whole values
}

var (
	//go:embed page.html
	source string
	//go:embed style.css
	style string
	//go:embed script.js
	script string
)

// pages has the templates "page" and "drift". The policy is a part of them, because html/template
// changes values in a content attribute.
var pages = sync.OnceValue(func() *template.Template {
	policy := fmt.Sprintf("default-src 'none'; style-src %s; script-src %s; img-src data:; base-uri 'none'; form-action 'none'", hashed(style), hashed(script))
	set := template.Must(template.New("page").Funcs(template.FuncMap{
		"count": words.Count, "headline": report.Headline, "rest": rest, "sign": signOf,
	}).Parse(strings.Replace(source, "POLICY", policy, 1)))
	template.Must(set.New("drift").Parse(driftSource))
	return set
})

// hashed returns a source of a policy: it permits this content.
func hashed(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Render writes a report as a page. html/template escapes every text.
func Render(w io.Writer, doc *report.Plan, o Options) error {
	return write(w, "page", modelOf(doc, o))
}

// write writes one of the pages. Hidden characters are escaped.
func write(w io.Writer, page string, model any) error {
	var b bytes.Buffer
	if err := pages().ExecuteTemplate(&b, page, model); err != nil {
		return fmt.Errorf("render the page: %w", err)
	}
	out := bytes.NewBufferString(Begins)
	for line := range strings.Lines(b.String()) {
		line = foreign.Text(strings.TrimSuffix(line, "\n"))
		if body := strings.TrimLeftFunc(line, unicode.IsSpace); strings.HasPrefix(body, "::") {
			// The log of a job on GitHub would take it for a command.
			line = line[:len(line)-len(body)] + "&#58;&#58;" + body[2:]
		}
		out.WriteString(line)
		out.WriteByte('\n')
	}
	_, err := out.WriteTo(w)
	return err
}

// model is the data of the template.
type model struct {
	*report.Plan
	Style    template.CSS
	Script   template.JS
	Dangers  []string
	Impacts  []report.Disturbed
	Pictures []picture
	Sections []section // changes by others
	Blocks   []block
	Todos    []string // the groups of the actions, each once
	anchors  map[addrs.Object]string
}

// section lists fields that others changed.
type section struct {
	Title   string
	Objects []object
}

type object struct {
	*report.Object
	Parts []part
}

// block has the actions of a block.
type block struct {
	ID, Name string
	Tally    string
	Within   string // the place in the configuration; may be empty
	Impact   report.Impact
	Needs    []need
	Actions  []action
}

// need is a block that another block needs.
type need struct {
	Block, Anchor string // Anchor is empty if the block has no actions
}

type action struct {
	*report.Action
	ID     string
	Open   bool
	Danger bool
	Weak   bool // a fact weakens security
	Facts  []fact
	Parts  []part
}

// fact is a line about a new object.
type fact struct {
	Text string
	Weak bool
}

// openActions is the number of actions up to which they are not folded.
const openActions = 5

func modelOf(doc *report.Plan, o Options) *model {
	m := &model{
		Plan: doc, Style: template.CSS(style), Script: template.JS(script),
		Dangers: doc.Dangers(o.Full), Impacts: doc.Disturbed(o.Full), anchors: map[addrs.Object]string{},
	}
	for _, outside := range []*report.Outside{doc.Drift, doc.Replaced, doc.Yielded} {
		if outside != nil {
			m.Sections = append(m.Sections, sectionOf(*outside, o))
		}
	}
	for _, outside := range doc.Foreign {
		m.Sections = append(m.Sections, sectionOf(outside, o))
	}
	blocks := map[string]string{} // anchors
	known := map[string]bool{}
	n := 0
	for i, actions := range doc.ByBlock() {
		b := block{ID: fmt.Sprintf("b%d", i), Name: actions[0].Object.Address.Block, Tally: report.Tally(actions)}
		for _, a := range actions {
			next := actionOf(a, o)
			next.ID, next.Open = fmt.Sprintf("a%d", n), len(doc.Actions) <= openActions
			m.anchors[a.Object.Address] = next.ID
			b.Actions = append(b.Actions, next)
			b.Within = cmp.Or(b.Within, a.Within)
			n++
			if !known[a.Todo] {
				known[a.Todo] = true
				m.Todos = append(m.Todos, a.Todo)
			}
		}
		blocks[b.Name] = b.ID
		m.Blocks = append(m.Blocks, b)
	}
	m.describe(blocks)
	if len(doc.Services) > 0 {
		m.Pictures = []picture{draw("wide", doc.Services, blocks, 6), draw("narrow", doc.Services, blocks, 2)}
	}
	return m
}

// Brand names the kind of the page. A comparison without a cluster must not look like a plan.
func (m *model) Brand() string {
	if m.Rendered {
		return "kolla diff"
	}
	return "kolla"
}

// describe adds the impact and the dependencies to the blocks.
func (m *model) describe(anchors map[string]string) {
	impact := map[string]report.Impact{}
	for _, i := range m.Impact {
		impact[i.Block] = i
	}
	needs := map[string][]need{}
	for _, s := range m.Services {
		for _, on := range s.Needs {
			needs[s.Block] = append(needs[s.Block], need{on, anchors[on]})
		}
	}
	for i := range m.Blocks {
		b := &m.Blocks[i]
		b.Impact, b.Needs = impact[b.Name], needs[b.Name]
	}
}

func sectionOf(outside report.Outside, o Options) section {
	out := section{Title: strings.TrimSuffix(outside.Title, ":")}
	for _, changed := range outside.Objects {
		out.Objects = append(out.Objects, object{changed, parts(changed, o)})
	}
	return out
}

func actionOf(a *report.Action, o Options) action {
	out := action{Action: a, Danger: a.Risk <= report.Takes}
	if a.Create && !o.Full {
		for _, line := range a.Facts(factWidth) {
			out.Facts = append(out.Facts, fact{line.Text, line.Weak})
			out.Weak = out.Weak || line.Weak
		}
	}
	if out.Facts == nil {
		out.Parts = parts(a.Object, o)
	}
	out.Danger = out.Danger || out.Weak
	return out
}

// Said returns the remarks about an action. Facts about a job say that it runs once.
func (a action) Said() []string {
	var out []string
	for _, sentence := range a.Comments {
		if sentence != report.Once || a.Facts == nil {
			out = append(out, sentence)
		}
	}
	if a.Place != "" {
		out = append(out, a.Place)
	}
	return out
}

// link is an address with the anchor of the action on the object; empty if there is none.
type link struct {
	Address addrs.Object
	Anchor  string
}

// Link links an address.
func (m *model) Link(a addrs.Object) link { return link{a, m.anchors[a]} }

// message is an error or a warning. It links its objects.
type message struct {
	report.Message
	Where []placed
}

type placed struct {
	report.Place
	Link link
}

// Messages returns messages with links.
func (m *model) Messages(all []report.Message) []message {
	var out []message
	for _, said := range all {
		next := message{Message: said}
		for _, at := range said.Places {
			next.Where = append(next.Where, placed{at, m.Link(at.Address)})
		}
		out = append(out, next)
	}
	return out
}

// list has objects with a text about each.
type list struct {
	Title, Class string
	Rows         []linked
	Advice       string
	Commands     []string
}

type linked struct {
	Link link
	Text string
}

// Table returns a table as a list.
func (m *model) Table(t report.Table, class string) list {
	out := list{Title: strings.TrimSuffix(t.Title, ":"), Class: class, Advice: t.Advice, Commands: t.Commands}
	for _, row := range t.Rows {
		out.Rows = append(out.Rows, linked{m.Link(row.Address), row.Text})
	}
	return out
}

// Note returns a sentence about objects as a list.
func (m *model) Note(n report.Note, class string) list {
	out := list{Title: strings.TrimSuffix(n.Text, ":"), Class: class, Advice: n.Advice}
	for _, a := range n.Addresses {
		out.Rows = append(out.Rows, linked{m.Link(a), ""})
	}
	return out
}

// Grave reports whether a line of the impact is grave.
func (b block) Grave(line string) bool { return slices.Contains(b.Impact.Grave, line) }

// rest returns the address of an object without its block.
func rest(a addrs.Object) string { return strings.TrimPrefix(a.String(), a.Block+"/") }

// mark is a sign as text, and its class in the style.
type mark struct{ Text, Class string }

func signOf(s report.Sign) mark {
	switch s {
	case report.Add:
		return mark{"+", "add"}
	case report.Change:
		return mark{"~", "change"}
	case report.Remove:
		return mark{"−", "remove"}
	case report.Replace:
		return mark{"−/+", "remove"}
	}
	return mark{"·", "none"}
}
