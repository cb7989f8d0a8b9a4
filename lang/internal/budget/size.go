// Package budget bounds the evaluation of expressions: the size of each value, and the work and
// the memory of a whole configuration. A few lines can need more of both than any machine has,
// for example if each line doubles a value, or if loops are nested. Limits hold before a value is
// made: the caller checks a [Size] that it knows from the operands.
package budget

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/zclconf/go-cty/cty"
)

// Limits of one value.
const (
	MaxText     = 16 << 20 // bytes of text
	MaxParts    = 100_000  // elements, at any depth
	maxSet      = 20_000   // elements of one set, which are sorted each time that they are read
	maxDepth    = 500      // nested lists and maps
	maxExponent = 1 << 13  // binary, of a number
	maxDigits   = 10_000   // at the start of a text. To convert digits to a number takes quadratic time
)

// Size is the size of a value, or of a part of it.
type Size struct {
	Text  int // bytes
	Parts int // elements
	Sorts int // comparisons of the elements of sets
}

// textStep is the number of bytes of a text that count as one step.
const textStep = 16

// Steps returns the steps to read a value of the size.
func (s Size) Steps() int { return s.Parts + s.Text/textStep + 4*s.Sorts }

// StepsOf returns the steps to read a text of so many bytes.
func StepsOf(bytes int) int { return bytes / textStep }

// maxValue is the size of a value that an expression makes.
var maxValue = Size{Text: MaxText, Parts: MaxParts}

// maxRead is the size of a value that a function reads. Data of the cluster can be larger than
// what an expression makes.
var maxRead = Size{Text: 64 << 20, Parts: 1_000_000}

// Check returns an error if an expression must not make a value of the size.
func (s Size) Check() error { return s.within(maxValue) }

// CheckRead returns an error if a function must not read values of the size.
func (s Size) CheckRead() error { return s.within(maxRead) }

func (s Size) within(limit Size) error {
	switch {
	case s.Text > limit.Text:
		return fmt.Errorf("a value can have at most %d MiB of text", limit.Text>>20)
	case s.Parts > limit.Parts:
		return fmt.Errorf("a value can have at most %d elements", limit.Parts)
	}
	return nil
}

var (
	errDepth  = fmt.Errorf("lists and maps can be nested at most %d deep", maxDepth)
	errSet    = fmt.Errorf("a set can have at most %d elements", maxSet)
	errDigits = fmt.Errorf("a string can begin with at most %d digits", maxDigits)
)

// SizeOf returns the size of a value that an expression makes, or an error if the value is too
// large. It then stops at the limit: equal parts of a value may share memory, so that a small
// value can have more elements than can be counted.
func SizeOf(v cty.Value) (Size, error) {
	var s Size
	err := s.add(v, maxValue, 0)
	return s, err
}

// SizeOfRead is SizeOf for a value that a function reads.
func SizeOfRead(v cty.Value) (Size, error) {
	var s Size
	err := s.add(v, maxRead, 0)
	return s, err
}

func (s *Size) add(v cty.Value, limit Size, depth int) error {
	v, _ = v.Unmark()
	s.Parts++
	switch t := v.Type(); {
	case !v.IsKnown() || v.IsNull():
	case t == cty.String:
		text := v.AsString()
		s.Text += len(text)
		if err := CheckDigits(text); err != nil {
			return err
		}
	case t == cty.Number:
		n := v.AsBigFloat()
		if n.IsInf() {
			return errors.New("a number is infinite, as it is when something is divided by zero")
		}
		exponent := n.MantExp(nil)
		if exponent > maxExponent || exponent < -maxExponent {
			return errors.New("a number is out of range")
		}
		s.Text += max(exponent, -exponent) / 3 // the digits, if it becomes a text
	case depth >= maxDepth:
		return errDepth
	case v.CanIterateElements():
		if t.IsSetType() {
			n := v.LengthInt()
			if n > maxSet {
				return errSet
			}
			s.Sorts += n * bits.Len(uint(n))
		}
		for it := v.ElementIterator(); it.Next(); {
			key, element := it.Element()
			if t.IsMapType() || t.IsObjectType() {
				s.Text += len(key.AsString())
			}
			if err := s.add(element, limit, depth+1); err != nil {
				return err
			}
		}
	}
	return s.within(limit)
}

// CheckDigits returns an error for a text that begins with more digits than can be converted to a
// number.
func CheckDigits(text string) error {
	if len(text) <= maxDigits {
		return nil
	}
	for i := range maxDigits + 1 {
		if c := text[i]; (c < '0' || c > '9') && (i > 0 || c != '-' && c != '+') {
			return nil
		}
	}
	return errDigits
}
