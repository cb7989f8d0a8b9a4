package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// KnownAfterApply stands for a value in the content of a manifest that is known only
// after the apply.
const KnownAfterApply = "(known after apply)"

// deferredMark is on unknown values that are known after the apply. Other unknown
// values come from mistakes that were reported.
type deferredMark struct {
	by string // what has to be read: "data.registry"
	// after are the blocks that have to be applied before, joined by spaces.
	after string
	// offline: there is no cluster to read from, so that nobody can tell.
	offline bool
}

// deferralsOf are the deferred marks of a value and of all in it, in order.
func deferralsOf(v cty.Value) []deferredMark {
	if v == cty.NilVal {
		return nil
	}
	_, marks := v.UnmarkDeep()
	var out []deferredMark
	for mark := range marks {
		if d, ok := mark.(deferredMark); ok {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b deferredMark) int { return strings.Compare(a.by, b.by) })
	return out
}

// deferred reports whether anything in a value is known only after the apply.
func deferred(v cty.Value) bool { return len(deferralsOf(v)) > 0 }

// deferredBy names the data that a value waits for.
func deferredBy(v cty.Value) []string {
	var out []string
	for _, d := range deferralsOf(v) {
		out = append(out, d.by)
	}
	return slices.Compact(out)
}

// referred are the marks of all that an expression refers to, where its result is
// unknown: functions such as try, and loops over something unknown, give no marks. What
// is sensitive must be so from the first, not only once it is known.
func referred(expr hcl.Expression, refs []hcl.Traversal, ctx *hcl.EvalContext) cty.ValueMarks {
	marks := cty.ValueMarks{}
	add := func(v cty.Value) {
		for _, d := range deferralsOf(v) {
			marks[d] = struct{}{}
		}
		if isSensitive(v) {
			marks[sensitiveMark{}] = struct{}{}
		}
	}
	for _, t := range refs {
		if v, diags := t.TraverseAbs(ctx); !diags.HasErrors() {
			add(v)
		}
	}
	for _, v := range elementsAround(expr) {
		add(v)
	}
	return marks
}

// markDeferred marks what is unknown in a value without marks: by what is said at its
// place, or by otherwise where nothing is. What is known needs no such mark.
func markDeferred(bare cty.Value, places []cty.PathValueMarks, otherwise cty.ValueMarks) (cty.Value, error) {
	return cty.Transform(bare, func(at cty.Path, v cty.Value) (cty.Value, error) {
		if v.IsKnown() {
			return v, nil
		}
		marks := cty.ValueMarks{}
		for _, p := range places {
			if at.HasPrefix(p.Path) || p.Path.HasPrefix(at) {
				for mark := range p.Marks {
					marks[mark] = struct{}{}
				}
			}
		}
		if len(marks) == 0 {
			marks = otherwise
		}
		return v.WithMarks(marks), nil
	})
}

// undecided reports a value that is known only after the apply where it has to be
// known before.
func (e *evaluator) undecided(v cty.Value, at hcl.Range, what string) {
	waits := deferralsOf(v)
	if len(waits) == 0 {
		return
	}
	var by, after []string
	offline := true
	for _, d := range waits {
		by = append(by, d.by)
		after = append(after, strings.Fields(d.after)...)
		offline = offline && d.offline
	}
	by = slices.Compact(by)
	slices.Sort(after)
	e.decisions.note()
	switch {
	case offline && e.decisions.silent:
	case offline:
		e.warn(at, "Known only with a cluster", "%s depends on %s, which is read from the cluster, and there is none here: what follows from it was not checked.", sentenced(what), listed(by))
	case e.decisions.restricted:
		e.warn(at, "Not known yet", "%s depends on %s, which is known only after the apply. This plan is restricted, and leaves out what depends on it.", sentenced(what), listed(by))
	default:
		e.error(at, "Known only after the apply", "%s has to be known before the apply, and depends on %s, which can only be read after it. Apply first what that needs, and then the rest:\n\n  kolla apply%s",
			sentenced(what), listed(by), targets(slices.Compact(after)))
	}
}

// sentenced is a quoted name or a word as the start of a sentence.
func sentenced(what string) string { return strings.ToUpper(what[:1]) + what[1:] }

func targets(blocks []string) string {
	var b strings.Builder
	for _, block := range blocks {
		if strings.Contains(block, `"`) {
			block = "'" + block + "'"
		}
		b.WriteString(" -target=" + block)
	}
	return b.String()
}

// decidable reports an argument that depends on what is known after the apply, where
// it has to be known before. It is false for all that is not known.
func (e *evaluator) decidable(b *block, name string) bool {
	v := e.value(b.attributes[name].Expr)
	if v.IsWhollyKnown() {
		return true
	}
	e.undecided(v, b.attributeRange(name), fmt.Sprintf("%q", name))
	return false
}

// decisions keeps book of what could not be decided.
type decisions struct {
	// restricted: the plan is of a part of the cloud, so that what cannot be decided is
	// left out of it.
	restricted bool
	silent     bool // see Options.Ignorant
	// current is the node that is evaluated.
	current string
	open    map[string]bool // nodes
}

func (d *decisions) note() { d.open[d.current] = true }

// undecidedBlocks are the blocks, without keys, of which not all is decided: those of
// the nodes that were noted, and those that refer to them. Of a module that is not
// decided it is everything in it: "module.edge.*".
func (g *graph) undecidedBlocks(ordered []*node) []string {
	open := g.decisions.open
	if len(open) == 0 {
		return nil
	}
	var out []string
	for _, n := range ordered {
		open[n.id] = open[n.id] || slices.ContainsFunc(n.needs, func(e edge) bool { return open[e.to] })
		if !open[n.id] {
			continue
		}
		switch n.root {
		case "service", "manifest", "secret", "role", "call":
			out = append(out, n.id)
		}
	}
	return out
}
