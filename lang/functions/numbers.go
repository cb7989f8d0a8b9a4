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
		computes("abs", stdlib.AbsoluteFunc, "Returns the absolute value of a number.", `abs(-12.4)`, `12.4`),
		computes("ceil", stdlib.CeilFunc, "Rounds a number up to the nearest whole number.", `ceil(5.1)`, `6`),
		computes("floor", stdlib.FloorFunc, "Rounds a number down to the nearest whole number.", `floor(4.9)`, `4`),
		computes("log", stdlib.LogFunc, "Returns the logarithm of a number in the given base.", `log(16, 2)`, `4`),
		computes("max", stdlib.MaxFunc, "Returns the greatest of the given numbers.", `max(12, 54, 3)`, `54`),
		computes("min", stdlib.MinFunc, "Returns the smallest of the given numbers.", `min(12, 54, 3)`, `3`),
		computes("parseint", stdlib.ParseIntFunc, "Parses a string as a whole number in the given base, from 2 to 62.", `parseint("ff", 16)`, `255`),
		computes("pow", stdlib.PowFunc, "Raises a number to the given power.", `pow(3, 2)`, `9`),
		computes("signum", stdlib.SignumFunc, "Returns the sign of a number: -1, 0 or 1.", `signum(-13)`, `-1`),
	}
}

func typeFunctions(files *Files) []entry {
	return []entry{
		carries("can", canFunc, "Returns true if an expression can be evaluated without an error.", `can(tonumber("x"))`, `false`),
		carries("issensitive", issensitiveFunc, "Returns true if a value, or anything inside it, is sensitive.", `issensitive(sensitive("x"))`, `true`),
		{
			name: "nonsensitive", function: nonsensitiveFunc(files), example: `nonsensitive(sensitive("x"))`, result: `"x"`, // it refuses generated secrets itself
			doc: "Returns a value that is no longer sensitive, including everything inside it. For a generated secret, returns its certificate or public key, which kolla reads from the cluster.",
		},
		carries("sensitive", sensitiveFunc, "Marks a value as sensitive: it is never shown and never stored.", `issensitive([sensitive("x")])`, `true`),
		computes("tobool", stdlib.MakeToFunc(cty.Bool), `Converts the string "true" or "false" to a bool.`, `tobool("true")`, `true`),
		carries("tolist", collectionOf(cty.List(cty.DynamicPseudoType)), "Converts a value to a list. All elements get the same type.", `tolist(["a", 1])`, `["a", "1"]`),
		carries("tomap", collectionOf(cty.Map(cty.DynamicPseudoType)), "Converts a value to a map. All values get the same type.", `tomap({ a = "x", b = 1 })`, `{ a = "x", b = "1" }`),
		computes("tonumber", stdlib.MakeToFunc(cty.Number), "Converts a string to a number.", `tonumber("1.5")`, `1.5`),
		carries("toset", collectionOf(cty.Set(cty.DynamicPseudoType)), "Converts a value to a set: duplicates and the order are lost, and all elements get the same type.", `toset(["b", "a", "b"])`, `["a", "b"]`),
		carries("tostring", stdlib.MakeToFunc(cty.String), "Converts a number or bool to a string.", `tostring(1.50)`, `"1.5"`),
		carries("try", tryFunc, "Returns the value of the first expression that can be evaluated without an error.", `try({ a = 1 }.b, "none")`, `"none"`),
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
