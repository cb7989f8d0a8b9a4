package view

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/report"
	"kolla.openstack.org/kolla/internal/view/screen"
	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
)

// disturbed is one line of the impact: what happens to one block, or the same to
// many of them.
type disturbed struct {
	blocks []string
	text   string
	grave  bool
}

// impact says what is disturbed, service by service: what is interrupted for good or
// lost comes first, and what is the same in many services is said once.
func (v *planView) impact() []screen.Line {
	rows := v.disturbances()
	if len(rows) == 0 {
		return nil
	}
	names := 0
	for _, row := range rows {
		names = max(names, screen.Columns(row.label()))
	}
	out := []screen.Line{screen.Text("Impact:")}
	said := ""
	for _, row := range rows {
		head, look := screen.Line{}.Pad(2+names+3), screen.Plain
		if label := row.label(); label != said {
			head = screen.Styled(screen.Bold, label).Indent(2).Pad(2 + names + 3)
			said = label
		}
		if row.grave {
			look = screen.Danger
		}
		for n, part := range screen.Wrap(row.sentence(), max(v.width-names-7, 30)) {
			if n > 0 {
				part = "  " + part
			}
			out = append(out, head.Then(screen.Styled(look, part)))
			head = screen.Line{}.Pad(2 + names + 3)
		}
	}
	return out
}

// disturbances are the lines of the impact in the order in which they are shown.
func (v *planView) disturbances() []disturbed {
	var grave, other []disturbed
	for _, row := range v.sameImpact() {
		if row.grave {
			grave = append(grave, row)
		} else {
			other = append(other, row)
		}
	}
	return append(grave, other...)
}

// sameImpact joins what is the same in more than a few services, where these may
// have different names.
func (v *planView) sameImpact() []disturbed {
	said := report.ImpactOf(v.plan)
	key := func(i report.Impact, l string) string {
		return fmt.Sprint(slices.Contains(i.Grave, l), report.Starred(l, v.nameOf(i.Block)))
	}
	blocks := map[string][]string{}
	for _, i := range said {
		for _, l := range i.Lines {
			if k := key(i, l); !slices.Contains(blocks[k], i.Block) {
				blocks[k] = append(blocks[k], i.Block)
			}
		}
	}
	var out []disturbed
	told := map[string]bool{}
	for _, i := range said {
		for _, l := range i.Lines {
			k := key(i, l)
			row := disturbed{blocks: []string{i.Block}, text: l, grave: slices.Contains(i.Grave, l)}
			if len(blocks[k]) > similar && !v.options.Full {
				if told[k] {
					continue
				}
				told[k] = true
				row.blocks, row.text = blocks[k], report.Starred(l, v.nameOf(i.Block))
			}
			out = append(out, row)
		}
	}
	return out
}

// label is what a line of the impact is about: "keystone", "54 services".
func (d disturbed) label() string {
	if len(d.blocks) == 1 {
		return strings.TrimPrefix(d.blocks[0], "service.")
	}
	kind := addrs.SplitBlock(d.blocks[0]).Type
	for _, block := range d.blocks {
		if addrs.SplitBlock(block).Type != kind {
			kind = "block"
		}
	}
	return words.Count(len(d.blocks), kind)
}

// sentence is what happens, to each where there are several.
func (d disturbed) sentence() string {
	if len(d.blocks) == 1 {
		return d.text
	}
	return "each: " + d.text
}
