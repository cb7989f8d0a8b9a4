package functions

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"kolla.openstack.org/kolla/lang/escape"
	"kolla.openstack.org/kolla/lang/mark"
)

// nonsensitiveFunc keeps the marks of values that are known only after the apply.
func nonsensitiveFunc(files *Files) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{anyParam("value")},
		Type: func(args []cty.Value) (cty.Type, error) {
			if mark.IsGenerated(args[0]) {
				return cty.DynamicPseudoType, nil // texts may turn out to be unknown
			}
			return args[0].Type(), nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			value := args[0]
			if mark.IsGenerated(value) {
				published, err := publish(value, files.Published)
				if err != nil {
					return cty.DynamicVal, function.NewArgError(0, err)
				}
				value = published
			}
			v, marks := value.UnmarkDeepWithPaths()
			for _, m := range marks {
				delete(m.Marks, mark.Sensitive{})
			}
			return v.MarkWithPaths(marks), nil
		},
	})
}

// publish replaces the tokens of secrets by the secrets' public parts.
func publish(value cty.Value, read func(mark.Generated) (cty.Value, error)) (cty.Value, error) {
	bare, marks := value.UnmarkDeepWithPaths()
	marks = slices.DeleteFunc(marks, func(m cty.PathValueMarks) bool {
		for each := range m.Marks {
			if _, ok := each.(mark.Generated); ok {
				delete(m.Marks, each)
			}
		}
		return len(m.Marks) == 0
	})
	out, err := cty.Transform(bare, func(_ cty.Path, v cty.Value) (cty.Value, error) {
		if v.IsNull() || !v.IsKnown() || v.Type() != cty.String || !mark.HasToken(v.AsString()) {
			return v, nil
		}
		return publishText(v.AsString(), read)
	})
	if err != nil {
		return out, err
	}
	return out.MarkWithPaths(marks), nil
}

func publishText(text string, read func(mark.Generated) (cty.Value, error)) (cty.Value, error) {
	if read == nil {
		return cty.DynamicVal, mark.ErrComputed
	}
	var b strings.Builder
	var failed error
	later := cty.ValueMarks{}
	err := mark.Split(text, func(s string) { b.WriteString(s) }, func(ref mark.Generated) {
		v, err := read(ref)
		switch {
		case err != nil:
			failed = cmp.Or(failed, err)
		case v.IsKnown():
			text, err := escape.Into(escape.Place(ref.Within), v.AsString())
			failed = cmp.Or(failed, err)
			b.WriteString(text)
		default:
			_, marks := v.Unmark()
			maps.Copy(later, marks)
		}
	})
	switch {
	case err != nil || failed != nil:
		return cty.DynamicVal, cmp.Or(err, failed)
	case len(later) > 0:
		return cty.UnknownVal(cty.String).WithMarks(later), nil
	}
	return cty.StringVal(b.String()), nil
}
