package budget

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// Limits of all expressions of a configuration. A cloud of 2,000 services stays below a tenth
// of each.
const (
	maxSteps = 10_000_000
	maxTime  = 10 * time.Second // of the processor, for work that the steps underrate
)

// maxTotal is the size of all values that expressions make.
var maxTotal = Size{Text: 128 << 20, Parts: 3_000_000}

// failureSteps is the number of steps that count for a diagnostic.
const failureSteps = 100

// Budget is the work and the memory that is left for the expressions of a configuration. It is
// not safe for concurrent use.
type Budget struct {
	steps   int
	total   Size
	spent   time.Duration // in long evaluations
	looked  time.Duration // time at the last look at the clock
	checked int           // steps at that time
	err     error
	at      hcl.Range // the expression at which the budget was exceeded
	placed  bool
}

// New returns a full budget.
func New() *Budget { return &Budget{} }

// Renew fills the budget again.
func (b *Budget) Renew() { *b = Budget{} }

// Start begins the evaluation of an expression.
func (b *Budget) Start() { b.looked, b.checked = 0, b.steps }

// Spend takes steps from the budget. It returns an error if none are left. The error stays:
// nothing can be evaluated any more.
func (b *Budget) Spend(steps int) error {
	b.steps += max(steps, 0)
	if b.err == nil && (b.steps > maxSteps || b.late()) {
		b.err = errors.New("the expressions of the configuration need too much work, as nested loops over long lists do. Go over fewer elements here, or compute a part once, in a local value")
	}
	return b.err
}

// late reports whether the time is over. It looks at the clock every thousands of steps, so short
// evaluations take no time.
func (b *Budget) late() bool {
	if b.steps < b.checked+4096 {
		return false
	}
	b.checked = b.steps
	now := processorTime()
	if b.looked > 0 {
		b.spent += now - b.looked
	}
	b.looked = now
	return b.spent > maxTime
}

// Pass spends the steps for a value that an expression refers to. failures is the number of
// diagnostics of the expression.
func (b *Budget) Pass(v cty.Value, failures int) error {
	steps := 1 + failures*failureSteps
	if v, _ = v.Unmark(); v.IsKnown() && !v.IsNull() && v.CanIterateElements() {
		steps += v.LengthInt()
	}
	return b.Spend(steps)
}

// Read spends the steps to read all of a value.
func (b *Budget) Read(v cty.Value) error {
	size, err := SizeOfRead(v)
	return cmp.Or(b.Spend(1+size.Steps()), err)
}

// Unify spends the steps for a branch of a condition, and checks whether the library can make the
// branches the same type.
func (b *Budget) Unify(v cty.Value) error {
	return cmp.Or(b.Spend(types(v.Type())), Uniform(v))
}

// Take spends the steps and the memory for a value that an expression makes, and checks its size.
func (b *Budget) Take(v cty.Value, failures int) error {
	size, err := SizeOf(v)
	if exhausted := b.Spend(1 + size.Steps() + failures*failureSteps); exhausted != nil {
		return exhausted
	}
	if err == nil {
		b.total.Text += size.Text
		b.total.Parts += size.Parts
		if b.total.Text > maxTotal.Text || b.total.Parts > maxTotal.Parts {
			b.err = fmt.Errorf("the values of the configuration are too large: they can have %d MiB of text and %d elements in all", maxTotal.Text>>20, maxTotal.Parts)
			return b.err
		}
	}
	return err
}

// Err returns an error if the budget is exceeded.
func (b *Budget) Err() error { return b.err }

// Place records the place of an expression at which the budget was exceeded. The first one, which
// is the innermost, counts.
func (b *Budget) Place(at hcl.Range) {
	if !b.placed {
		b.at, b.placed = at, true
	}
}

// Failure returns an error if the budget is exceeded, and its place. fallback is the place if
// none is recorded.
func (b *Budget) Failure(fallback hcl.Range) (hcl.Range, error) {
	if b.err != nil {
		b.Place(fallback)
	}
	return b.at, b.err
}

// name is the variable of evaluation contexts that holds the budget. A configuration cannot refer
// to it, because it has spaces.
const name = "budget of the evaluation"

var capsule = cty.Capsule(name, reflect.TypeFor[Budget]())

// Into puts the budget into an evaluation context, for the expressions that it evaluates.
func (b *Budget) Into(ctx *hcl.EvalContext) {
	if ctx.Variables == nil {
		ctx.Variables = map[string]cty.Value{}
	}
	ctx.Variables[name] = cty.CapsuleVal(capsule, b)
}

// Of returns the budget of an evaluation context, or nil.
func Of(ctx *hcl.EvalContext) *Budget {
	for ; ctx != nil; ctx = ctx.Parent() {
		if v, ok := ctx.Variables[name]; ok {
			return v.EncapsulatedValue().(*Budget)
		}
	}
	return nil
}
