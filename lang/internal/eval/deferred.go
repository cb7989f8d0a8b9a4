package eval

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
)

// referred returns the marks of all values that an expression with an unknown result refers to.
// Functions such as try, and loops over unknown values, lose the marks. A value must be
// sensitive from the beginning, not only once it is known.
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
	for _, t := range values.Distinct(refs) {
		if v, diags := t.TraverseAbs(ctx); !diags.HasErrors() {
			add(v)
		}
	}
	for _, v := range elementsAround(expr) {
		add(v)
	}
	return marks
}

// ReportDeferred reports a value that is known only after the apply, but is needed before.
func ReportDeferred(e *Env, v cty.Value, at hcl.Range, what string) {
	waits := mark.Deferrals(v)
	if len(waits) == 0 {
		return
	}
	e.Decisions.note()
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
	case offline && e.Decisions.Silent:
	case offline:
		e.Report.Alert(at, "Known only with a cluster", "%s depends on %s, which is read from the cluster, and there is none here: what follows from it was not checked.", words.Capital(what), words.Sorted(by))
	case e.Decisions.Restricted:
		e.Report.Alert(at, "Not known yet", "%s depends on %s, which is known only after the apply. This plan is restricted, and leaves out what depends on it.", words.Capital(what), words.Sorted(by))
	default:
		e.Report.Error(at, "Known only after the apply", "%s has to be known before the apply, and depends on %s, which can only be read after it. Apply first what that needs, and then the rest:\n\n  kolla apply%s",
			words.Capital(what), words.Sorted(by), targets(slices.Compact(after)))
	}
}

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

// decidable reports an argument that depends on values known only after the apply, but is
// needed before. It returns false for all unknown values.
func decidable(e *Env, b *source.Block, name string) bool {
	v := e.Value(b.Attributes[name].Expr)
	if v.IsWhollyKnown() {
		return true
	}
	ReportDeferred(e, v, b.AttributeRange(name), fmt.Sprintf("%q", name))
	return false
}

// Decisions records the decisions that could not be made.
type Decisions struct {
	// Restricted: the plan is for a part of the cloud. It leaves out the blocks that cannot be
	// decided.
	Restricted bool
	Silent     bool // see Options.Ignorant
	// Current is the node under evaluation.
	Current string
	Open    map[string]bool // nodes
	// Unexplained has the places of values that are unknown without a reason.
	Unexplained []hcl.Range
}

// NewDecisions returns an empty record.
func NewDecisions() *Decisions { return &Decisions{Open: map[string]bool{}} }

func (d *Decisions) note() { d.Open[d.Current] = true }
