package jsonview

import (
	"encoding/json"
	"fmt"
	"io"

	ctyjson "github.com/zclconf/go-cty/cty/json"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/lang/configs"
)

// outputValue is an output in the format of `terraform output -json`.
type outputValue struct {
	Sensitive bool            `json:"sensitive"`
	Type      json.RawMessage `json:"type"`
	Value     json.RawMessage `json:"value"` // null: it is sensitive, or not known
}

// OutputValues writes the outputs of a configuration, by name.
func OutputValues(w io.Writer, outputs []configs.Output) error {
	out := map[string]outputValue{}
	for _, o := range outputs {
		typ, err := ctyjson.MarshalType(o.Value.Type())
		if err != nil {
			return fmt.Errorf("write the type of output %q: %w", o.Name, err)
		}
		shown := outputValue{Sensitive: o.Sensitive, Type: typ, Value: json.RawMessage("null")}
		if !o.Sensitive && o.Value.IsWhollyKnown() {
			if shown.Value, err = valueOf(o); err != nil {
				return err
			}
		}
		out[o.Name] = shown
	}
	return foreign.JSON(w, out, "  ")
}

// OutputValue writes the value of an output, which is known and not sensitive.
func OutputValue(w io.Writer, o configs.Output) error {
	value, err := valueOf(o)
	if err != nil {
		return err
	}
	return foreign.JSON(w, value, "")
}

func valueOf(o configs.Output) (json.RawMessage, error) {
	known, _ := o.Value.UnmarkDeep() // marks of secrets are only in sensitive outputs
	value, err := ctyjson.Marshal(known, known.Type())
	if err != nil {
		return nil, fmt.Errorf("write output %q: %w", o.Name, err)
	}
	return value, nil
}
