package report

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
)

// Disturbance is a line of the impact: the same text about one block or about many.
type Disturbance struct {
	Blocks []string
	Text   string
	Grave  bool
}

// Label names the block, or counts the blocks: "keystone", "54 services".
func (d Disturbance) Label() string {
	if len(d.Blocks) == 1 {
		return strings.TrimPrefix(d.Blocks[0], "service.")
	}
	kind := addrs.SplitBlock(d.Blocks[0]).Type
	for _, block := range d.Blocks {
		if addrs.SplitBlock(block).Type != kind {
			kind = "block"
		}
	}
	return words.Count(len(d.Blocks), kind)
}

// Sentence is the text, with "each" for several blocks.
func (d Disturbance) Sentence() string {
	if len(d.Blocks) == 1 {
		return d.Text
	}
	return "each: " + d.Text
}

// Disturbances are the lines of the impact, grave ones first. Without full, a line that many
// blocks share but for their names stands for all of them.
func (p *Plan) Disturbances(full bool) []Disturbance {
	var grave, other []Disturbance
	for _, d := range p.joined(full) {
		if d.Grave {
			grave = append(grave, d)
		} else {
			other = append(other, d)
		}
	}
	return append(grave, other...)
}

func (p *Plan) joined(full bool) []Disturbance {
	key := func(i Impact, l string) string {
		return fmt.Sprint(slices.Contains(i.Grave, l), starred(l, p.names.of(i.Block)))
	}
	blocks := map[string][]string{}
	for _, i := range p.Impact {
		for _, l := range i.Lines {
			if k := key(i, l); !slices.Contains(blocks[k], i.Block) {
				blocks[k] = append(blocks[k], i.Block)
			}
		}
	}
	var out []Disturbance
	told := map[string]bool{}
	for _, i := range p.Impact {
		for _, l := range i.Lines {
			k := key(i, l)
			d := Disturbance{Blocks: []string{i.Block}, Text: l, Grave: slices.Contains(i.Grave, l)}
			if len(blocks[k]) > Similar && !full {
				if told[k] {
					continue
				}
				told[k] = true
				d.Blocks, d.Text = blocks[k], starred(l, p.names.of(i.Block))
			}
			out = append(out, d)
		}
	}
	return out
}
