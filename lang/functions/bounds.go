package functions

import (
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"
)

// Limits of a value. A few lines can ask for more memory than any machine has, such as a
// value that is doubled in each line: it is an error as soon as it is over a limit.
const (
	maxText     = 16 << 20 // bytes of text in one value
	maxParts    = 100_000  // elements of one value, at any depth
	maxDepth    = 500      // lists and maps in one another
	maxExponent = 1 << 13  // binary, of a number
)

// weight is how much there is in values.
type weight struct {
	text  int
	parts int
}

// check reports what is beyond all bounds.
func (w weight) check() error {
	switch {
	case w.text > maxText:
		return fmt.Errorf("a value can have at most %d MiB of text", maxText>>20)
	case w.parts > maxParts:
		return fmt.Errorf("a value can have at most %d elements", maxParts)
	}
	return nil
}

var errDepth = fmt.Errorf("lists and maps can be nested at most %d deep", maxDepth)

// Weigh reports a value that is too large to go on with.
func Weigh(v cty.Value) error {
	var w weight
	return w.add(v, 0)
}

// add weighs a value, but not further than it may go: what stands in several places
// of a value is kept once, so that a small one can hold more than can be counted.
func (w *weight) add(v cty.Value, depth int) error {
	v, _ = v.Unmark()
	w.parts++
	switch t := v.Type(); {
	case !v.IsKnown() || v.IsNull():
	case t == cty.String:
		w.text += len(v.AsString())
	case t == cty.Number:
		n := v.AsBigFloat()
		if n.IsInf() {
			return errors.New("a number is infinite, as it is when something is divided by zero")
		}
		if exponent := n.MantExp(nil); exponent > maxExponent || exponent < -maxExponent {
			return errors.New("a number is out of range")
		}
	case depth >= maxDepth:
		return errDepth
	case v.CanIterateElements():
		for it := v.ElementIterator(); it.Next(); {
			key, element := it.Element()
			if t.IsMapType() || t.IsObjectType() {
				w.text += len(key.AsString())
			}
			if err := w.add(element, depth+1); err != nil {
				return err
			}
		}
	}
	return w.check()
}
