package functions

import (
	"errors"
	"fmt"

	"github.com/zclconf/go-cty/cty"
)

// Limits of a value. A few lines can need more memory than any machine has, for example if each
// line doubles a value. A value over a limit is an error at once.
const (
	maxText     = 16 << 20 // bytes of text in one value
	maxParts    = 100_000  // elements of one value, at any depth
	maxDepth    = 500      // nested lists and maps
	maxExponent = 1 << 13  // binary, of a number
)

// weight is the size of values.
type weight struct {
	text  int
	parts int
}

// check returns an error if the weight exceeds a limit.
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

// Weigh returns an error if a value is too large.
func Weigh(v cty.Value) error {
	var w weight
	return w.add(v, 0)
}

// add adds the weight of a value and stops at the limits. Equal parts of a value may share
// memory, so that a small value can have more elements than can be counted.
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
