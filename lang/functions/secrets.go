package functions

import (
	"errors"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"kolla.openstack.org/kolla/lang/internal/budget"
	"kolla.openstack.org/kolla/lang/mark"
)

// noSecrets returns an error for arguments that are made from generated secrets.
func noSecrets(args []cty.Value) error {
	for i, arg := range args {
		if mark.IsGenerated(arg) {
			return function.NewArgError(i, mark.ErrComputed)
		}
	}
	return nil
}

// guarded returns f with a check of its arguments. The functions of libraries drop marks if
// they do not know a result yet, and some of them panic with certain arguments. The guarded
// function keeps the marks, and returns an error instead of a panic. It converts the arguments
// itself, after the check.
func guarded(f function.Function, check func(args []cty.Value) error) function.Function {
	params := f.Params()
	wanted := slices.Clone(params)
	for i := range params {
		params[i] = opened(params[i])
	}
	spec := &function.Spec{Params: params}
	if rest := f.VarParam(); rest != nil {
		open := opened(*rest)
		spec.VarParam, wanted = &open, append(wanted, *rest)
	}
	spec.Type = func(args []cty.Value) (cty.Type, error) {
		if err := check(args); err != nil {
			return cty.NilType, err
		}
		args, err := converted(args, wanted)
		if err != nil {
			return cty.NilType, err
		}
		t, err := f.ReturnTypeForValues(args)
		return t, withoutPanic(err)
	}
	spec.Impl = func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		args, err := converted(args, wanted)
		if err != nil {
			return cty.DynamicVal, err
		}
		v, err := f.Call(args)
		if err != nil {
			return cty.DynamicVal, withoutPanic(err)
		}
		if !v.IsWhollyKnown() && slices.ContainsFunc(args, undecided) {
			v = v.WithMarks(lasting(args...))
		}
		return v, nil
	}
	return function.New(spec)
}

// opened returns the parameter with permission for all values.
func opened(p function.Parameter) function.Parameter {
	if !p.Type.IsCapsuleType() { // an expression that the function evaluates itself
		p.Type = cty.DynamicPseudoType
	}
	return passed(p)
}

// converted converts arguments to the types of the parameters. The last one is for all further
// arguments. It gives a null without a type one: the library takes it for a value of an unknown type.
func converted(args []cty.Value, wanted []function.Parameter) ([]cty.Value, error) {
	out := slices.Clone(args)
	for i, arg := range args {
		p := wanted[min(i, len(wanted)-1)]
		switch bare, marks := arg.Unmark(); {
		case p.Type.IsCapsuleType():
		case arg.Type() == cty.DynamicPseudoType:
			if bare.IsNull() && !p.AllowDynamicType {
				t := p.Type
				if t == cty.DynamicPseudoType {
					t = cty.String
				}
				out[i] = cty.NullVal(t).WithMarks(marks)
			}
		case p.Type != cty.DynamicPseudoType:
			var err error
			if out[i], err = budget.Convert(arg, p.Type); err != nil {
				return nil, function.NewArgError(i, err)
			}
		}
	}
	return out, nil
}

// withoutPanic returns a readable error for a panic in a function, and any other error
// unchanged.
func withoutPanic(err error) error {
	var panicked function.PanicError
	if errors.As(err, &panicked) {
		return errors.New("the function has no result for these arguments")
	}
	return err
}

// undecided reports whether the libraries return an unknown result for an argument without
// calling the function.
func undecided(arg cty.Value) bool { return !arg.IsKnown() || arg.Type() == cty.DynamicPseudoType }

// lasting returns the marks that stay on a result that is not known yet. It omits marks of
// generated secrets, because only strings that contain tokens have them.
func lasting(args ...cty.Value) cty.ValueMarks {
	out := cty.ValueMarks{}
	for _, arg := range args {
		_, marks := arg.UnmarkDeep()
		for m := range marks {
			if _, ok := m.(mark.Generated); !ok {
				out[m] = struct{}{}
			}
		}
	}
	return out
}

// passed returns the parameter with permission for all values. The wrapped function checks the
// values and keeps their marks.
func passed(p function.Parameter) function.Parameter {
	p.AllowMarked, p.AllowNull, p.AllowUnknown, p.AllowDynamicType = true, true, true, true
	return p
}

// anyParam returns a parameter for a value of any type.
func anyParam(name string) function.Parameter {
	return passed(function.Parameter{Name: name, Type: cty.DynamicPseudoType})
}

// deciding returns the function that returns its argument. It returns an error if the argument is
// made from a generated secret. See syntax.Deciding. To compare a list or map takes as many steps
// as it has elements.
func deciding(b *budget.Budget) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{anyParam("value")},
		Type: func(args []cty.Value) (cty.Type, error) {
			if !args[0].Type().IsPrimitiveType() {
				_ = b.Read(args[0]) // the expression around stops if the budget is exceeded
			}
			if args[0].ContainsMarked() && mark.IsGenerated(args[0]) {
				return cty.NilType, mark.ErrComputed
			}
			return args[0].Type(), nil
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return args[0], nil },
	})
}

func sameType(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil }

var sensitiveFunc = function.New(&function.Spec{
	Params: []function.Parameter{anyParam("value")},
	Type:   sameType,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		return args[0].Mark(mark.Sensitive{}), nil
	},
})

// issensitiveFunc also looks at the parts of a value, like nonsensitive.
var issensitiveFunc = function.New(&function.Spec{
	Params: []function.Parameter{anyParam("value")},
	Type:   function.StaticReturnType(cty.Bool),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		switch {
		case secretive(args[0]):
			return cty.True, nil
		case !args[0].IsWhollyKnown():
			return cty.UnknownVal(cty.Bool).WithMarks(lasting(args[0])), nil
		}
		return cty.False, nil
	},
})

// secretive reports whether any part of a value must not be shown.
func secretive(v cty.Value) bool {
	_, marks := v.UnmarkDeep()
	for m := range marks {
		if _, later := m.(mark.Deferred); !later {
			return true
		}
	}
	return false
}

// tryFunc and canFunc are HCL's, with one difference: a forbidden use of a generated secret
// always fails. They cannot continue after it, because the result with the secret's value is
// not known.
var (
	tryFunc = function.New(&function.Spec{
		VarParam: &function.Parameter{Name: "expressions", Type: customdecode.ExpressionClosureType},
		Type:     function.StaticReturnType(cty.DynamicPseudoType),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			for _, arg := range args {
				v, diags := customdecode.ExpressionClosureFromVal(arg).Value()
				switch {
				case computed(diags):
					return cty.DynamicVal, mark.ErrComputed
				case diags.HasErrors():
					continue
				case !v.IsWhollyKnown():
					return cty.DynamicVal.WithMarks(lasting(v)), nil
				}
				return v, nil
			}
			return tryfunc.TryFunc.Call(args) // for its summary of all the errors
		},
	})
	canFunc = function.New(&function.Spec{
		Params: []function.Parameter{{Name: "expression", Type: customdecode.ExpressionClosureType}},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			v, diags := customdecode.ExpressionClosureFromVal(args[0]).Value()
			switch {
			case computed(diags):
				return cty.UnknownVal(cty.Bool), mark.ErrComputed
			case diags.HasErrors():
				return cty.False, nil
			case !v.IsWhollyKnown():
				return cty.UnknownVal(cty.Bool).WithMarks(lasting(v)), nil
			}
			return cty.True, nil
		},
	})
)

// computed reports whether something was computed from a generated secret, in a function or in
// a called template.
func computed(diags hcl.Diagnostics) bool {
	return slices.ContainsFunc(diags, func(d *hcl.Diagnostic) bool { return strings.Contains(d.Detail, mark.ErrComputed.Error()) })
}
