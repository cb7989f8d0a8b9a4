package state

import (
	"bytes"
	"encoding/json"
	"reflect"
)

// Output is an output of the configuration at the end of the last apply.
type Output struct {
	Name      string `json:"name"`
	Sensitive bool   `json:"sensitive,omitempty"`
	// Type is the type of the value in cty's JSON form; Value is the value as JSON. Both
	// are empty for a sensitive output.
	Type  json.RawMessage `json:"type,omitempty"`
	Value json.RawMessage `json:"value,omitempty"`
}

// Equal reports whether two outputs are the same. Values of sensitive outputs are not
// stored, so they are not compared.
func (o Output) Equal(other Output) bool {
	return o.Name == other.Name && o.Sensitive == other.Sensitive && sameJSON(o.Type, other.Type) && sameJSON(o.Value, other.Value)
}

// sameJSON reports whether a and b encode the same JSON value.
func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var values [2]any
	for i, raw := range [][]byte{a, b} {
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		if decoder.Decode(&values[i]) != nil {
			return false
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}

// CheckResult is the result of a check block of the configuration in the last apply.
type CheckResult struct {
	Address  string   `json:"address"`
	Status   string   `json:"status"`             // "pass", "fail", "unknown"
	Problems []string `json:"problems,omitempty"` // messages of the assertions that fail
}

// conclusion has the outputs and check results at the end of an apply.
type conclusion struct {
	Outputs []Output      `json:"outputs"`
	Checks  []CheckResult `json:"checks"`
}

// Conclude records the outputs and check results of a complete apply. They replace all
// earlier ones.
func (s *Session) Conclude(outputs []Output, checks []CheckResult) error {
	return s.note(nil, false, entry{Conclude: &conclusion{outputs, checks}})
}

func (l *ledger) conclude(c *conclusion) (changed bool) {
	same := len(l.head.Outputs) == len(c.Outputs) && len(l.head.Checks) == len(c.Checks)
	for i := 0; same && i < len(c.Outputs); i++ {
		same = c.Outputs[i].Equal(l.head.Outputs[i])
	}
	for i := 0; same && i < len(c.Checks); i++ {
		same = reflect.DeepEqual(c.Checks[i], l.head.Checks[i])
	}
	if !same {
		l.head.Outputs, l.head.Checks = c.Outputs, c.Checks
	}
	return !same
}
