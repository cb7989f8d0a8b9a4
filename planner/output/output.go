// Package output compares the outputs of a configuration with those of the last apply.
package output

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/state"
)

// Change is what a plan does to one output.
type Change struct {
	Name string `json:"name"`
	// Before is the output as it was last recorded, After as it will be; nil: there is
	// none. Parts of After's value that are not known yet are null, and
	// then it has no type.
	Before *state.Output `json:"before,omitempty"`
	After  *state.Output `json:"after,omitempty"`
	// Unknown is true in the places of After that are known only after the apply, in
	// Terraform's shape; nil: all is known.
	Unknown any `json:"unknown,omitempty"`
}

// Action is what happens to an output, in Terraform's words. The zero value is invalid.
type Action string

// The actions.
const (
	NoOp   Action = "no-op"
	Create Action = "create"
	Update Action = "update"
	Delete Action = "delete"
)

// Action says what happens to the output. Whether the value of a sensitive one changes
// is not known: no state has it.
func (c Change) Action() Action {
	switch {
	case c.Before == nil:
		return Create
	case c.After == nil:
		return Delete
	case c.Unknown != nil && !c.After.Sensitive, !c.After.Equal(*c.Before):
		return Update
	}
	return NoOp
}

// Changes reports whether any output changes.
func Changes(changes []Change) bool {
	return slices.ContainsFunc(changes, func(c Change) bool { return c.Action() != NoOp })
}

// Compare says what becomes of each output, by name: of those that are recorded, and of
// those that are declared.
func Compare(recorded []state.Output, declared []configs.Output) ([]Change, error) {
	changes := map[string]Change{}
	for i := range recorded {
		changes[recorded[i].Name] = Change{Name: recorded[i].Name, Before: &recorded[i]}
	}
	for _, o := range declared {
		c := changes[o.Name]
		c.Name = o.Name
		var err error
		if c.After, c.Unknown, err = encode(o); err != nil {
			return nil, fmt.Errorf("write output %q: %w", o.Name, err)
		}
		changes[o.Name] = c
	}
	out := slices.Collect(maps.Values(changes))
	slices.SortFunc(out, func(a, b Change) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// Recorded are the outputs as an apply is to leave them. Those that are still not known
// stay as they were.
func Recorded(changes []Change) []state.Output {
	var out []state.Output
	for _, c := range changes {
		switch {
		case c.After != nil && (c.Unknown == nil || c.After.Sensitive):
			out = append(out, *c.After)
		case c.After != nil && c.Before != nil:
			out = append(out, *c.Before)
		}
	}
	return out
}

// encode writes an output as a state has it.
func encode(o configs.Output) (encoded *state.Output, unknown any, err error) {
	encoded = &state.Output{Name: o.Name, Sensitive: o.Sensitive}
	value, _ := o.Value.UnmarkDeep() // secrets are in no output that is not sensitive
	unknown = unknownIn(value)
	if o.Sensitive {
		return encoded, unknown, nil
	}
	known, err := cty.Transform(value, func(_ cty.Path, v cty.Value) (cty.Value, error) {
		if !v.IsKnown() {
			return cty.NullVal(cty.String), nil // in JSON no more than null
		}
		return v, nil
	})
	if err != nil {
		return nil, nil, err
	}
	if encoded.Value, err = ctyjson.Marshal(known, known.Type()); err != nil {
		return nil, nil, err
	}
	if unknown == nil { // else its type may not be known either
		encoded.Type, err = ctyjson.MarshalType(known.Type())
	}
	return encoded, unknown, err
}

// unknownIn is true where nothing is known of a value, and a tree where a part is not;
// nil: all is known.
func unknownIn(v cty.Value) any {
	switch {
	case !v.IsKnown():
		return true
	case v.IsNull() || v.IsWhollyKnown():
		return nil
	case v.Type().IsSetType(): // its elements have no place
		return true
	case v.Type().IsObjectType() || v.Type().IsMapType():
		places := map[string]any{}
		for key, element := range v.AsValueMap() {
			if below := unknownIn(element); below != nil {
				places[key] = below
			}
		}
		return places
	}
	var places []any
	for _, element := range v.AsValueSlice() {
		if below := unknownIn(element); below != nil {
			places = append(places, below)
		} else {
			places = append(places, false)
		}
	}
	return places
}
