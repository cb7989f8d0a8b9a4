// Package output compares the outputs of a configuration with those of the last apply.
package output

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	ctyjson "github.com/zclconf/go-cty/cty/json"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/state"
)

// Change is what a plan does to one output.
type Change struct {
	Name string `json:"name"`
	// Before is the output in the state, and After the output after the apply. Nil means that
	// there is none.
	Before *state.Output `json:"before,omitempty"`
	After  *state.Output `json:"after,omitempty"`
	// Unknown: a part of After is known only after the apply. After has no value and no type.
	Unknown bool `json:"unknown,omitempty"`
}

// Action is what happens to an output, with Terraform's names. The zero value is invalid.
type Action string

// The actions.
const (
	NoOp   Action = "no-op"
	Create Action = "create"
	Update Action = "update"
	Delete Action = "delete"
)

// Action returns what happens to the output. kolla cannot see whether the value of a sensitive
// output changes, because no state contains it.
func (c Change) Action() Action {
	switch {
	case c.Before == nil:
		return Create
	case c.After == nil:
		return Delete
	case c.Unknown && !c.After.Sensitive, !c.After.Equal(*c.Before):
		return Update
	}
	return NoOp
}

// Changes reports whether any output changes.
func Changes(changes []Change) bool {
	return slices.ContainsFunc(changes, func(c Change) bool { return c.Action() != NoOp })
}

// Compare returns the change of each recorded or declared output, sorted by name.
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

// Recorded returns the outputs that an apply writes to the state. An output that is still
// unknown keeps its recorded value.
func Recorded(changes []Change) []state.Output {
	var out []state.Output
	for _, c := range changes {
		switch {
		case c.After != nil && (!c.Unknown || c.After.Sensitive):
			out = append(out, *c.After)
		case c.After != nil && c.Before != nil:
			out = append(out, *c.Before)
		}
	}
	return out
}

// encode converts an output for the state. An output with an unknown part has no value.
func encode(o configs.Output) (encoded *state.Output, unknown bool, err error) {
	encoded = &state.Output{Name: o.Name, Sensitive: o.Sensitive}
	value, _ := o.Value.UnmarkDeep() // only sensitive outputs contain secrets
	unknown = !value.IsWhollyKnown()
	if unknown || o.Sensitive {
		return encoded, unknown, nil
	}
	if encoded.Value, err = ctyjson.Marshal(value, value.Type()); err != nil {
		return nil, false, err
	}
	encoded.Type, err = ctyjson.MarshalType(value.Type())
	return encoded, false, err
}
