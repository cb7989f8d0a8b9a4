package functions

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"kolla.openstack.org/kolla/lang/internal/budget"
)

func numberFunctions() []entry {
	return []entry{
		computes("abs", stdlib.AbsoluteFunc, "The number without its sign.", `abs(-12.4)`, `12.4`),
		computes("ceil", stdlib.CeilFunc, "The nearest whole number that is not less.", `ceil(5.1)`, `6`),
		computes("floor", stdlib.FloorFunc, "The nearest whole number that is not greater.", `floor(4.9)`, `4`),
		computes("log", stdlib.LogFunc, "The logarithm of a number to a base.", `log(16, 2)`, `4`),
		computes("max", stdlib.MaxFunc, "The greatest of the numbers.", `max(12, 54, 3)`, `54`),
		computes("min", stdlib.MinFunc, "The least of the numbers.", `min(12, 54, 3)`, `3`),
		computes("parseint", stdlib.ParseIntFunc, "The whole number that a text writes in a base from 2 to 62.", `parseint("ff", 16)`, `255`),
		computes("pow", stdlib.PowFunc, "A number raised to a power.", `pow(3, 2)`, `9`),
		computes("signum", stdlib.SignumFunc, "-1, 0 or 1: the sign of a number.", `signum(-13)`, `-1`),
	}
}

func typeFunctions(files *Files) []entry {
	return []entry{
		carries("can", canFunc, "Whether an expression can be evaluated without an error.", `can(tonumber("x"))`, `false`),
		carries("issensitive", issensitiveFunc, "Whether a value, or anything in it, is sensitive.", `issensitive(sensitive("x"))`, `true`),
		refuses("nonsensitive", nonsensitiveFunc(files), "The value, which may be shown from here on, with all that is in it. Of a secret that is its certificate or public key, which is then read from the cluster.", `nonsensitive(sensitive("x"))`, `"x"`),
		carries("sensitive", sensitiveFunc, "The value, which is never shown and never stored.", `issensitive([sensitive("x")])`, `true`),
		computes("tobool", stdlib.MakeToFunc(cty.Bool), `The bool that a text "true" or "false" means.`, `tobool("true")`, `true`),
		carries("tolist", collectionOf(cty.List(cty.DynamicPseudoType)), "The elements as a list, all of one type.", `tolist(["a", 1])`, `["a", "1"]`),
		carries("tomap", collectionOf(cty.Map(cty.DynamicPseudoType)), "The entries as a map, with values all of one type.", `tomap({ a = "x", b = 1 })`, `{ a = "x", b = "1" }`),
		computes("tonumber", stdlib.MakeToFunc(cty.Number), "The number that a text writes.", `tonumber("1.5")`, `1.5`),
		carries("toset", collectionOf(cty.Set(cty.DynamicPseudoType)), "The elements as a set: each once, in no order.", `toset(["b", "a", "b"])`, `["a", "b"]`),
		carries("tostring", stdlib.MakeToFunc(cty.String), "A number or bool as text.", `tostring(1.50)`, `"1.5"`),
		carries("try", tryFunc, "The first of the expressions that can be evaluated without an error.", `try({ a = 1 }.b, "none")`, `"none"`),
	}
}

// collectionOf returns a function that converts a value to a list, set or map.
func collectionOf(want cty.Type) function.Function {
	convert := func(v cty.Value) (cty.Value, error) {
		out, err := budget.Convert(v, want)
		if err != nil && budget.Uniform(v) == nil {
			err = fmt.Errorf("cannot convert %s to %s", v.Type().FriendlyName(), want.FriendlyNameForConstraint())
		}
		if err != nil {
			return cty.DynamicVal, function.NewArgError(0, err)
		}
		return out, nil
	}
	return function.New(&function.Spec{
		Params: stdlib.MakeToFunc(want).Params(),
		Type: func(args []cty.Value) (cty.Type, error) {
			v, err := convert(args[0])
			return v.Type(), err
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return convert(args[0]) },
	})
}
