package mark

import (
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// Deferred marks unknown values that become known after the apply. Unknown values without the
// mark come from mistakes that were already reported.
type Deferred struct {
	By string // the address to read: "data.registry"
	// After lists the blocks that must be applied before, joined by spaces.
	After string
	// Offline means that there is no cluster to read from, so that the value stays unknown.
	Offline bool
	// Unset means that the value belongs to a variable without a value. This is correct if a
	// configuration is only checked.
	Unset bool
}

// Deferrals returns the Deferred marks of a value and of its parts, sorted by By.
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

// IsDeferred reports whether any part of a value is known only after the apply.
func IsDeferred(v cty.Value) bool { return len(Deferrals(v)) > 0 }

// WantsCluster reports whether a value is unknown because there is no cluster to read it from.
func WantsCluster(v cty.Value) bool {
	return slices.ContainsFunc(Deferrals(v), func(d Deferred) bool { return d.Offline })
}

// DeferredBy returns the addresses of the data that a value waits for.
func DeferredBy(v cty.Value) []string {
	var out []string
	for _, d := range Deferrals(v) {
		out = append(out, d.By)
	}
	return slices.Compact(out)
}

// markDeferred marks the unknown parts of a value without marks: with the marks of their
// places, or with otherwise if a place has none. Known parts get no such mark.
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
