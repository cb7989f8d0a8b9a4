package mark

import (
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// Deferred is on unknown values that are known after the apply. Other unknown
// values come from mistakes that were reported.
type Deferred struct {
	By string // what has to be read: "data.registry"
	// After are the blocks that have to be applied before, joined by spaces.
	After string
	// Offline: there is no cluster to read from, so that nobody can tell.
	Offline bool
	// Unset: it is a variable that was given no value, which is right where a
	// configuration is only checked.
	Unset bool
}

// Deferrals are the deferred marks of a value and of all in it, in order.
func Deferrals(v cty.Value) []Deferred {
	if v == cty.NilVal || v.Type().IsPrimitiveType() && !v.IsMarked() {
		return nil
	}
	_, marks := v.UnmarkDeep()
	var out []Deferred
	for mark := range marks {
		if d, ok := mark.(Deferred); ok {
			out = append(out, d)
		}
	}
	slices.SortFunc(out, func(a, b Deferred) int { return strings.Compare(a.By, b.By) })
	return out
}

// IsDeferred reports whether anything in a value is known only after the apply.
func IsDeferred(v cty.Value) bool { return len(Deferrals(v)) > 0 }

// WantsCluster reports whether a value is unknown only because there is no cluster to
// read it from.
func WantsCluster(v cty.Value) bool {
	return slices.ContainsFunc(Deferrals(v), func(d Deferred) bool { return d.Offline })
}

// DeferredBy names the data that a value waits for.
func DeferredBy(v cty.Value) []string {
	var out []string
	for _, d := range Deferrals(v) {
		out = append(out, d.By)
	}
	return slices.Compact(out)
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
