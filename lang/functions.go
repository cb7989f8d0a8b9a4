package lang

import (
	"errors"
	"strings"

	"github.com/hashicorp/go-cty-funcs/cidr"
	"github.com/hashicorp/go-cty-funcs/collection"
	"github.com/hashicorp/go-cty-funcs/crypto"
	"github.com/hashicorp/go-cty-funcs/encoding"
	"github.com/hashicorp/go-cty-funcs/filesystem"
	"github.com/hashicorp/go-cty-funcs/uuid"
	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	ctyyaml "github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// carrying are the functions through which strings pass unchanged: a generated
// secret can go through them.
func carrying() map[string]function.Function {
	return map[string]function.Function{
		"chomp":        stdlib.ChompFunc,
		"chunklist":    stdlib.ChunklistFunc,
		"coalesce":     collection.CoalesceFunc,
		"coalescelist": stdlib.CoalesceListFunc,
		"compact":      stdlib.CompactFunc,
		"concat":       stdlib.ConcatFunc,
		"distinct":     stdlib.DistinctFunc,
		"element":      stdlib.ElementFunc,
		"flatten":      stdlib.FlattenFunc,
		"format":       stdlib.FormatFunc,
		"formatlist":   stdlib.FormatListFunc,
		"indent":       stdlib.IndentFunc,
		"join":         stdlib.JoinFunc,
		"jsonencode":   stdlib.JSONEncodeFunc,
		"keys":         stdlib.KeysFunc,
		"lookup":       lookupFunc,
		"merge":        stdlib.MergeFunc,
		"reverse":      stdlib.ReverseListFunc,
		"sensitive":    sensitiveFunc,
		"setproduct":   stdlib.SetProductFunc,
		"setunion":     stdlib.SetUnionFunc,
		"slice":        stdlib.SliceFunc,
		"tolist":       stdlib.MakeToFunc(cty.List(cty.DynamicPseudoType)),
		"tomap":        stdlib.MakeToFunc(cty.Map(cty.DynamicPseudoType)),
		"toset":        stdlib.MakeToFunc(cty.Set(cty.DynamicPseudoType)),
		"tostring":     stdlib.MakeToFunc(cty.String),
		"values":       stdlib.ValuesFunc,
		"yamlencode":   ctyyaml.YAMLEncodeFunc,
		"zipmap":       stdlib.ZipmapFunc,

		// These evaluate their arguments themselves.
		"can": tryfunc.CanFunc,
		"try": tryfunc.TryFunc,
	}
}

// computing are the functions whose results depend on the values of strings: they
// refuse generated secrets, whose values are not known.
func computing() map[string]function.Function {
	return map[string]function.Function{
		"abs":             stdlib.AbsoluteFunc,
		"abspath":         filesystem.AbsPathFunc,
		"base64decode":    encoding.Base64DecodeFunc,
		"base64encode":    encoding.Base64EncodeFunc,
		"basename":        filesystem.BasenameFunc,
		"ceil":            stdlib.CeilFunc,
		"cidrhost":        cidr.HostFunc,
		"cidrnetmask":     cidr.NetmaskFunc,
		"cidrsubnet":      cidr.SubnetFunc,
		"cidrsubnets":     cidr.SubnetsFunc,
		"contains":        stdlib.ContainsFunc,
		"csvdecode":       stdlib.CSVDecodeFunc,
		"dirname":         filesystem.DirnameFunc,
		"floor":           stdlib.FloorFunc,
		"formatdate":      stdlib.FormatDateFunc,
		"index":           indexFunc,
		"jsondecode":      stdlib.JSONDecodeFunc,
		"length":          lengthFunc,
		"lower":           stdlib.LowerFunc,
		"max":             stdlib.MaxFunc,
		"md5":             crypto.Md5Func,
		"min":             stdlib.MinFunc,
		"nonsensitive":    nonsensitiveFunc,
		"parseint":        stdlib.ParseIntFunc,
		"pathexpand":      filesystem.PathExpandFunc,
		"pow":             stdlib.PowFunc,
		"range":           stdlib.RangeFunc,
		"regex":           stdlib.RegexFunc,
		"regexall":        stdlib.RegexAllFunc,
		"replace":         replaceFunc,
		"setintersection": stdlib.SetIntersectionFunc,
		"setsubtract":     stdlib.SetSubtractFunc,
		"sha1":            crypto.Sha1Func,
		"sha256":          crypto.Sha256Func,
		"sha512":          crypto.Sha512Func,
		"signum":          stdlib.SignumFunc,
		"sort":            stdlib.SortFunc,
		"split":           stdlib.SplitFunc,
		"strrev":          stdlib.ReverseFunc,
		"substr":          stdlib.SubstrFunc,
		"timeadd":         stdlib.TimeAddFunc,
		"title":           stdlib.TitleFunc,
		"tobool":          stdlib.MakeToFunc(cty.Bool),
		"tonumber":        stdlib.MakeToFunc(cty.Number),
		"trim":            stdlib.TrimFunc,
		"trimprefix":      stdlib.TrimPrefixFunc,
		"trimspace":       stdlib.TrimSpaceFunc,
		"trimsuffix":      stdlib.TrimSuffixFunc,
		"upper":           stdlib.UpperFunc,
		"urlencode":       encoding.URLEncodeFunc,
		"uuidv5":          uuid.V5Func,
		"yamldecode":      ctyyaml.YAMLDecodeFunc,
	}
}

// functions are all functions of the language, under Terraform's names. All of
// them give the same result for the same arguments and files.
func functions(files *fileReader) map[string]function.Function {
	all := carrying()
	for name, f := range computing() {
		all[name] = refusing(f)
	}
	for name, f := range files.functions() {
		all[name] = refusing(f)
	}
	inTemplates := make(map[string]function.Function, len(all))
	for name, f := range all {
		inTemplates[name] = f
	}
	all["templatefile"] = files.templateFunc(inTemplates)
	return all
}

// refusing is the function, with an error for arguments that were made from
// generated secrets.
func refusing(f function.Function) function.Function {
	params := f.Params()
	for i := range params {
		params[i].AllowMarked = true
	}
	spec := &function.Spec{
		Description: f.Description(),
		Params:      params,
		Type: func(args []cty.Value) (cty.Type, error) {
			for i, arg := range args {
				if generated(arg) {
					return cty.NilType, function.NewArgError(i, errComputed)
				}
			}
			return f.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return f.Call(args) },
	}
	if rest := f.VarParam(); rest != nil {
		marked := *rest
		marked.AllowMarked = true
		spec.VarParam = &marked
	}
	return function.New(spec)
}

// anyParam takes a value of any type.
func anyParam(name string) function.Parameter {
	return function.Parameter{Name: name, Type: cty.DynamicPseudoType, AllowMarked: true, AllowNull: true, AllowUnknown: true, AllowDynamicType: true}
}

func sameType(args []cty.Value) (cty.Type, error) { return args[0].Type(), nil }

var sensitiveFunc = function.New(&function.Spec{
	Description: "Marks a value, so that it is never shown and never stored.",
	Params:      []function.Parameter{anyParam("value")},
	Type:        sameType,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		return args[0].Mark(sensitiveMark{}), nil
	},
})

var nonsensitiveFunc = function.New(&function.Spec{
	Description: "Takes the mark of a sensitive value away.",
	Params:      []function.Parameter{anyParam("value")},
	Type:        sameType,
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		v, _ := args[0].UnmarkDeep()
		return v, nil
	},
})

var lengthFunc = function.New(&function.Spec{
	Description: "Number of elements of a list, set or map, or of characters of a string.",
	Params:      []function.Parameter{{Name: "value", Type: cty.DynamicPseudoType}},
	Type:        function.StaticReturnType(cty.Number),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		if args[0].Type() == cty.String {
			return stdlib.Strlen(args[0])
		}
		if isMap(args[0]) && args[0].Type().IsObjectType() {
			return cty.NumberIntVal(int64(len(args[0].Type().AttributeTypes()))), nil
		}
		return stdlib.Length(args[0])
	},
})

var indexFunc = function.New(&function.Spec{
	Description: "Position of a value in a list, counted from 0.",
	Params: []function.Parameter{
		{Name: "list", Type: cty.DynamicPseudoType},
		{Name: "value", Type: cty.DynamicPseudoType},
	},
	Type: function.StaticReturnType(cty.Number),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		if !isList(args[0]) {
			return cty.NilVal, function.NewArgErrorf(0, "a list is needed")
		}
		for i, v := range elements(args[0]) {
			if same := v.Equals(args[1]); same.IsKnown() && same.True() {
				return cty.NumberIntVal(int64(i)), nil
			}
		}
		return cty.NilVal, errors.New("the list does not have the value")
	},
})

var lookupFunc = function.New(&function.Spec{
	Description: "Value of a key in a map, or a default.",
	Params: []function.Parameter{
		{Name: "map", Type: cty.DynamicPseudoType, AllowMarked: true},
		{Name: "key", Type: cty.String, AllowMarked: true},
	},
	VarParam: &function.Parameter{Name: "default", Type: cty.DynamicPseudoType, AllowMarked: true, AllowNull: true, AllowUnknown: true, AllowDynamicType: true},
	Type: func(args []cty.Value) (cty.Type, error) {
		v, err := lookup(args)
		return v.Type(), err
	},
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return lookup(args) },
})

func lookup(args []cty.Value) (cty.Value, error) {
	if len(args) > 3 {
		return cty.DynamicVal, errors.New("at most three arguments: the map, the key and a default")
	}
	if !isMap(args[0]) {
		return cty.DynamicVal, function.NewArgErrorf(0, "a map is needed")
	}
	key, marks := args[1].Unmark()
	if !key.IsKnown() || !args[0].IsKnown() {
		return cty.DynamicVal, nil
	}
	for _, m := range members(args[0]) {
		if m.key == key.AsString() {
			return m.value.WithMarks(marks), nil
		}
	}
	if len(args) < 3 {
		return cty.DynamicVal, errors.New("the map does not have the key, and there is no default")
	}
	return args[2].WithMarks(marks), nil
}

var replaceFunc = function.New(&function.Spec{
	Description: "Replaces a substring, or what a regular expression between slashes matches.",
	Params: []function.Parameter{
		{Name: "string", Type: cty.String},
		{Name: "substring", Type: cty.String},
		{Name: "replacement", Type: cty.String},
	},
	Type: function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		pattern := args[1].AsString()
		if len(pattern) > 1 && strings.HasPrefix(pattern, "/") && strings.HasSuffix(pattern, "/") {
			return stdlib.RegexReplace(args[0], cty.StringVal(pattern[1:len(pattern)-1]), args[2])
		}
		return stdlib.Replace(args[0], args[1], args[2])
	},
})
