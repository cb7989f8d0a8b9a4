package functions

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// What a value may come to. A few lines are enough to ask for more than any machine
// has; here that is an error like any other.
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

// withinBounds are functions that refuse what would make a result beyond all bounds:
// those whose results can be much larger than their arguments.
func withinBounds(functions map[string]function.Function) {
	for name, estimate := range estimates {
		if f, ok := functions[name]; ok {
			functions[name] = estimated(f, estimate)
		}
	}
}

// estimates are the functions whose results can be much larger than their arguments,
// with what the result cannot exceed. Arguments that are not known, or that the
// function refuses, count nothing.
var estimates = map[string]func(args []cty.Value) (weight, error){
	"flatten":      weightOf,
	"format":       formatWeight,
	"formatlist":   formatWeight,
	"join":         joinWeight,
	"jsonencode":   weightOf,
	"replace":      replaceWeight,
	"setproduct":   productWeight,
	"split":        splitWeight,
	"tomap":        weightOf,
	"toset":        weightOf,
	"yamlencode":   weightOf,
	"base64encode": weightOf,
	"urlencode":    weightOf,
}

// estimated is a function with a check before it is called.
func estimated(f function.Function, estimate func(args []cty.Value) (weight, error)) function.Function {
	spec := &function.Spec{
		Description: f.Description(),
		Params:      f.Params(),
		VarParam:    f.VarParam(),
		Impl:        func(args []cty.Value, _ cty.Type) (cty.Value, error) { return f.Call(args) },
	}
	spec.Type = func(args []cty.Value) (cty.Type, error) {
		w, err := estimate(args)
		if err == nil {
			err = w.check()
		}
		if err != nil {
			return cty.NilType, fmt.Errorf("the result would be too large: %w", err)
		}
		return f.ReturnTypeForValues(args)
	}
	return function.New(spec)
}

func weightOf(args []cty.Value) (weight, error) {
	var w weight
	for _, arg := range args {
		if err := w.add(arg, 0); err != nil {
			return w, err
		}
	}
	return w, nil
}

// knownText is the text of an argument, if it is one that is known.
func knownText(v cty.Value) string {
	v, _ = v.Unmark()
	if v.Type() != cty.String || !v.IsKnown() || v.IsNull() {
		return ""
	}
	return v.AsString()
}

// knownLength is the number of elements of an argument, if that is known.
func knownLength(v cty.Value) int {
	v, _ = v.Unmark()
	if !v.IsKnown() || v.IsNull() || !v.CanIterateElements() {
		return 0
	}
	return v.LengthInt()
}

func formatWeight(args []cty.Value) (weight, error) {
	w, err := weightOf(args)
	if err != nil || len(args) == 0 {
		return w, err
	}
	longest := 1
	for _, arg := range args[1:] {
		longest = max(longest, knownLength(arg))
	}
	format := knownText(args[0])
	// Each verb prints one argument, of formatlist one of its elements.
	return weight{text: len(format)*longest + strings.Count(format, "%")*w.text}, nil
}

func joinWeight(args []cty.Value) (weight, error) {
	w, err := weightOf(args)
	if len(args) > 0 {
		w.text += w.parts * len(knownText(args[0]))
	}
	return w, err
}

func productWeight(args []cty.Value) (weight, error) {
	w := weight{parts: len(args)}
	for _, arg := range args {
		if w.parts *= knownLength(arg); w.parts > maxParts || w.parts == 0 {
			break
		}
	}
	return w, nil
}

func replaceWeight(args []cty.Value) (weight, error) {
	if len(args) < 3 {
		return weight{}, nil
	}
	s, pattern, by := knownText(args[0]), knownText(args[1]), knownText(args[2])
	if len(pattern) < 2 || !strings.HasPrefix(pattern, "/") || !strings.HasSuffix(pattern, "/") {
		return weight{text: len(s) + strings.Count(s, pattern)*len(by)}, nil
	}
	found, err := regexp.Compile(pattern[1 : len(pattern)-1])
	if err != nil {
		return weight{}, nil //nolint:nilerr // the function says what is wrong
	}
	// What was matched can come back as often as the replacement says.
	matches := len(found.FindAllStringIndex(s, -1))
	return weight{text: len(s) + matches*len(by) + strings.Count(by, "$")*len(s)}, nil
}

func splitWeight(args []cty.Value) (weight, error) {
	if len(args) < 2 {
		return weight{}, nil
	}
	return weight{parts: strings.Count(knownText(args[1]), knownText(args[0]))}, nil
}
