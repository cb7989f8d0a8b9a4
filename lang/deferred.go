package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
)

// referred are the marks of all that an expression refers to, where its result is
// unknown: functions such as try, and loops over something unknown, give no marks. What
// is sensitive must be so from the first, not only once it is known.
func referred(expr hcl.Expression, refs []hcl.Traversal, ctx *hcl.EvalContext) cty.ValueMarks {
	marks := cty.ValueMarks{}
	add := func(v cty.Value) {
		for _, d := range mark.Deferrals(v) {
			marks[d] = struct{}{}
		}
		if mark.IsSensitive(v) {
			marks[mark.Sensitive{}] = struct{}{}
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

// undecided reports a value that is known only after the apply where it has to be
// known before.
func (e *evaluator) undecided(v cty.Value, at hcl.Range, what string) {
	waits := mark.Deferrals(v)
	if len(waits) == 0 {
		return
	}
	e.decisions.note()
	waits = slices.DeleteFunc(waits, func(d mark.Deferred) bool { return d.Unset })
	if len(waits) == 0 {
		return // nobody wants to hear of that
	}
	var by, after []string
	offline := true
	for _, d := range waits {
		by = append(by, d.By)
		after = append(after, strings.Fields(d.After)...)
		offline = offline && d.Offline
	}
	by = slices.Compact(by)
	slices.Sort(after)
	switch {
	case offline && e.decisions.silent:
	case offline:
		e.report.Alert(at, "Known only with a cluster", "%s depends on %s, which is read from the cluster, and there is none here: what follows from it was not checked.", sentenced(what), words.Sorted(by))
	case e.decisions.restricted:
		e.report.Alert(at, "Not known yet", "%s depends on %s, which is known only after the apply. This plan is restricted, and leaves out what depends on it.", sentenced(what), words.Sorted(by))
	default:
		e.report.Error(at, "Known only after the apply", "%s has to be known before the apply, and depends on %s, which can only be read after it. Apply first what that needs, and then the rest:\n\n  kolla apply%s",
			sentenced(what), words.Sorted(by), targets(slices.Compact(after)))
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
func (e *evaluator) decidable(b *source.Block, name string) bool {
	v := e.value(b.Attributes[name].Expr)
	if v.IsWhollyKnown() {
		return true
	}
	e.undecided(v, b.AttributeRange(name), fmt.Sprintf("%q", name))
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
	// unexplained are the places of values that are unknown without a reason.
	unexplained []hcl.Range
}

func newDecisions() *decisions { return &decisions{open: map[string]bool{}} }

func (d *decisions) note() { d.open[d.current] = true }

// undecidedBlocks are the blocks, without keys, of which not all is decided: those of
// the nodes that were noted, and those that refer to them. Of a module that is not
// decided it is everything in it: "module.edge.*".
func (g *graph) undecidedBlocks(ordered []*node) []string {
	open := g.decisions.open
	if len(open) == 0 {
		return nil
	}
	for again := true; again; {
		again = false
		for _, n := range ordered {
			if open[n.id] || !slices.ContainsFunc(n.needs, func(e edge) bool { return open[e.to] }) {
				continue
			}
			open[n.id] = true
		}
		for _, n := range ordered { // a secret is undecided with its arguments
			if n.root == argumentsRoot && open[n.id] && !open[n.argumentsOf] {
				open[n.argumentsOf], again = true, true
			}
		}
	}
	var out []string
	for _, n := range ordered {
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
