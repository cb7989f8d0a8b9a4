package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/present/report/effects"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// Impact is the impact of a plan on one block, in words.
type Impact struct {
	Block string
	Lines []string
	// Grave are the lines about a service that stops or data that is lost.
	Grave []string
}

// ImpactOf puts the impact of a plan into words. In a block with several workloads, each
// line names its workload.
func ImpactOf(plan *plans.Plan) []Impact {
	workloads := map[string]int{}
	for i := range plan.Actions {
		if a := &plan.Actions[i]; a.RunsPodsContinuously() {
			workloads[a.Address.Block]++
		}
	}
	var out []Impact
	counted := map[string]string{}
	if plan.Renderings != nil {
		counted = countsByBlock(plan)
	}
	for _, i := range plan.Impact {
		said := Impact{Block: i.Block}
		if text := counted[i.Block]; text != "" {
			said.Lines = append(said.Lines, text)
			delete(counted, i.Block)
		}
		for _, e := range i.Effects {
			text := effects.Text(i.Block, e)
			if workloads[i.Block] > 1 && effects.OfWorkload(e.Kind) {
				text = e.Name + ": " + text
			}
			said.Lines = append(said.Lines, text)
			if e.Grave {
				said.Grave = append(said.Grave, text)
			}
		}
		out = append(out, said)
	}
	for _, block := range sortedKeys(counted) {
		out = append(out, Impact{Block: block, Lines: []string{counted[block]}})
	}
	if plan.Renderings != nil {
		slices.SortFunc(out, func(a, b Impact) int { return strings.Compare(a.Block, b.Block) })
	}
	return out
}

// countsByBlock counts the objects of each block that differ: "1 object added, 2 changed".
func countsByBlock(plan *plans.Plan) map[string]string {
	counts := map[string]map[string]int{}
	for i := range plan.Actions {
		a := &plan.Actions[i]
		verb := map[Sign]string{Add: "added", Change: "changed", Remove: "removed", Replace: "replaced"}[signOf(a)]
		switch {
		case a.Prunes():
			verb = ""
		case a.OnlyMoves():
			verb = "moved"
		}
		if verb == "" {
			continue
		}
		if counts[a.Address.Block] == nil {
			counts[a.Address.Block] = map[string]int{}
		}
		counts[a.Address.Block][verb]++
	}
	out := map[string]string{}
	for block, of := range counts {
		var parts []string
		for _, verb := range []string{"added", "changed", "replaced", "removed", "moved"} {
			switch n := of[verb]; {
			case n == 0:
			case len(parts) == 0:
				parts = append(parts, words.Count(n, "object")+" "+verb)
			default:
				parts = append(parts, fmt.Sprintf("%d %s", n, verb))
			}
		}
		out[block] = strings.Join(parts, ", ")
	}
	return out
}

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

// Sentence returns the text, with "each" for several blocks.
func (d Disturbance) Sentence() string {
	if len(d.Blocks) == 1 {
		return d.Text
	}
	return "each: " + d.Text
}

// Disturbances returns the lines of the impact. The lines of a block, or of the same blocks, are
// together, grave ones first. Blocks with a grave line come first. Without full, a line that many
// blocks share but for their names stands for all of them.
func (p *Plan) Disturbances(full bool) []Disturbance {
	all := p.joined(full)
	of := func(d Disturbance) string { return strings.Join(d.Blocks, "\n") }
	first, grave := map[string]int{}, map[string]bool{}
	for i, d := range all {
		if _, known := first[of(d)]; !known {
			first[of(d)] = i
		}
		grave[of(d)] = grave[of(d)] || d.Grave
	}
	slices.SortStableFunc(all, func(a, b Disturbance) int {
		return cmp.Or(
			boolToInt(grave[of(b)])-boolToInt(grave[of(a)]),
			first[of(a)]-first[of(b)],
			boolToInt(b.Grave)-boolToInt(a.Grave),
		)
	})
	return all
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

// Disturbed has the lines of the impact about the same blocks.
type Disturbed struct {
	Label string
	Lines []Disturbance
}

// Disturbed returns the Disturbances, each block or group of blocks once.
func (p *Plan) Disturbed(full bool) []Disturbed {
	var out []Disturbed
	for _, d := range p.Disturbances(full) {
		if n := len(out); n == 0 || !slices.Equal(out[n-1].Lines[0].Blocks, d.Blocks) {
			out = append(out, Disturbed{Label: d.Label()})
		}
		last := &out[len(out)-1]
		last.Lines = append(last.Lines, d)
	}
	return out
}
