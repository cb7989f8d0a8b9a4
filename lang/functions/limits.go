package functions

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"kolla.openstack.org/kolla/lang/internal/budget"
)

// operand is an argument without its own marks, and its size.
type operand struct {
	cty.Value
	budget.Size
}

// text returns the text of an operand; empty: it is no text, or not known.
func (o operand) text() string {
	if o.Type() != cty.String || !o.IsKnown() || o.IsNull() {
		return ""
	}
	return o.AsString()
}

// number returns the number of an operand, at most 2³¹; 0: it is no number, or not known.
func (o operand) number() int {
	if o.Type() != cty.Number || !o.IsKnown() || o.IsNull() {
		return 0
	}
	n, _ := o.AsBigFloat().Int64()
	return int(min(max(n, -1<<31), 1<<31))
}

// elements returns the sizes of the elements of a list; ok is false if it is no list, or not
// known.
func (o operand) elements() (sizes []budget.Size, ok bool) {
	if !ordered(o.Type()) || !o.IsKnown() || o.IsNull() {
		return nil, false
	}
	for it := o.ElementIterator(); it.Next(); {
		_, v := it.Element()
		size, err := budget.SizeOfRead(v)
		if err != nil {
			return nil, false // the size of the list, too, is an error
		}
		sizes = append(sizes, size)
	}
	return sizes, true
}

// maxCall is the number of steps of one call.
const maxCall = 4_000_000

var errLaborious = errors.New("the call would take too long: shorten the string, the list or the regular expression")

// texts reports whether all elements of a known list are texts.
func (o operand) texts() bool {
	for it := o.ElementIterator(); it.Next(); {
		if _, v := it.Element(); v.Type() != cty.String {
			return false
		}
	}
	return true
}

// cost is the cost of a call, as far as it exceeds the sizes of the arguments.
type cost struct {
	result budget.Size // at most
	steps  int
}

// limited returns a check of the arguments of a function: their sizes, and its cost.
func limited(name string, b *budget.Budget) func(args []cty.Value) error {
	estimate := costs[name]
	return func(args []cty.Value) error {
		operands := make([]operand, len(args))
		var all budget.Size
		for i, arg := range args {
			size, err := budget.SizeOfRead(arg)
			if err != nil {
				return function.NewArgError(i, err)
			}
			v, _ := arg.Unmark()
			operands[i] = operand{v, size}
			all.Text, all.Parts, all.Sorts = all.Text+size.Text, all.Parts+size.Parts, all.Sorts+size.Sorts
			if err := all.CheckRead(); err != nil {
				return err
			}
		}
		var c cost
		if estimate != nil {
			var err error
			if c, err = estimate(operands); err != nil {
				return err
			}
		}
		if c.steps > maxCall {
			return errLaborious
		}
		if err := b.Spend(1 + all.Steps() + c.steps); err != nil {
			return err
		}
		return c.result.Check()
	}
}

// costs has the functions whose results can be much larger than their arguments, or that take
// more than linear time.
var costs = map[string]func(args []operand) (cost, error){
	"coalesce":        uniformCost,
	"concat":          concatCost,
	"csvdecode":       csvCost,
	"didyoumean":      productCost(4),
	"distinct":        distinctCost,
	"format":          formatCost,
	"formatlist":      formatlistCost,
	"indent":          indentCost,
	"join":            joinCost,
	"jsondecode":      jsonCost,
	"length":          characterCost,
	"matchkeys":       matchkeysCost,
	"parseint":        parseintCost,
	"regex":           regexCost,
	"regexall":        regexallCost,
	"replace":         replaceCost,
	"setintersection": setCost,
	"setproduct":      setproductCost,
	"setsubtract":     setCost,
	"setunion":        setCost,
	"split":           splitCost,
	"strrev":          characterCost,
	"substr":          characterCost,
	"title":           characterCost,
	"trim":            productCost(64),
	"yamldecode":      yamlCost,
	"yamldecodeall":   yamlCost,
}

// uniformCost is the cost of a function that finds a type for all its arguments.
func uniformCost(args []operand) (cost, error) {
	types := make([]cty.Type, len(args))
	for i, arg := range args {
		types[i] = arg.Type()
	}
	return cost{}, budget.UniformTypes(types)
}

// setCost is the cost of a function of sets, which makes the result anew for each argument.
func setCost(args []operand) (cost, error) {
	c, err := uniformCost(args)
	for _, arg := range args {
		c.steps += arg.Parts * len(args) / setRate
	}
	return c, err
}

// setRate is the number of elements of a set that are copied in one step.
const setRate = 4

// concatCost is the cost of concat, which finds a type for lists of one type each.
func concatCost(args []operand) (cost, error) {
	if len(args) == 0 || !args[0].Type().IsListType() {
		return cost{}, nil
	}
	return uniformCost(args)
}

// characterCost is the cost of a function that looks for the characters of a text, which may
// consist of several code points.
func characterCost(args []operand) (cost, error) {
	return cost{steps: len(args[0].text()) / 4}, nil
}

// productCost returns the cost of a function that compares all characters of two arguments.
func productCost(rate int) func([]operand) (cost, error) {
	return func(args []operand) (cost, error) {
		return cost{steps: args[0].Text * args[1].Text / rate}, nil
	}
}

func joinCost(args []operand) (cost, error) {
	var c cost
	for _, list := range args[1:] {
		c.result.Text += list.Text + list.Parts*len(args[0].text())
	}
	return c, nil
}

func splitCost(args []operand) (cost, error) {
	return cost{result: budget.Size{Parts: 1 + strings.Count(args[1].text(), args[0].text())}}, nil
}

// indentCost is the cost of indent, which refuses more spaces than maxIndent.
func indentCost(args []operand) (cost, error) {
	text := args[1].text()
	return cost{result: budget.Size{Text: len(text) + strings.Count(text, "\n")*min(max(args[0].number(), 0), maxIndent)}}, nil
}

func setproductCost(args []operand) (cost, error) {
	n, text := 1, 0
	for _, list := range args {
		sizes, ok := list.elements()
		if !ok {
			return cost{}, nil
		}
		text = text*len(sizes) + list.Text*n
		n *= len(sizes)
		if err := budget.Uniform(list.Value); err != nil {
			return cost{}, err
		}
		if err := (budget.Size{Text: text, Parts: n}).Check(); err != nil {
			return cost{}, err
		}
	}
	return cost{result: budget.Size{Text: text, Parts: n * (1 + len(args))}}, nil
}

// distinctCost is the cost of distinct, which compares all elements with each other unless they
// are texts.
func distinctCost(args []operand) (cost, error) {
	list := args[0]
	sizes, ok := list.elements()
	if !ok || list.texts() {
		return cost{}, nil
	}
	return cost{steps: len(sizes) * list.Steps()}, nil
}

func matchkeysCost(args []operand) (cost, error) {
	keys, _ := args[1].elements()
	return cost{steps: len(keys) * args[2].Steps()}, nil
}

// maxParsed is the number of digits of parseint. The time of the conversion is quadratic.
const maxParsed = 10_000

func parseintCost(args []operand) (cost, error) {
	if args[0].Text > maxParsed {
		return cost{}, function.NewArgErrorf(0, "a number can have at most %d digits", maxParsed)
	}
	return cost{}, nil
}

// csvCost counts the fields of a table, including those that are only a comma in a text.
func csvCost(args []operand) (cost, error) {
	text := args[0].text()
	return cost{result: budget.Size{Parts: strings.Count(text, ",") + strings.Count(text, "\n")}}, nil
}

// jsonCost counts the elements of a text in JSON.
func jsonCost(args []operand) (cost, error) {
	text, inText, n := args[0].text(), false, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && inText:
			i++
		case c == '"':
			inText = !inText
		case !inText && (c == ',' || c == '[' || c == '{'):
			n++
		}
	}
	return cost{result: budget.Size{Parts: n}}, nil
}

// yamlRate is the number of separators in YAML for one element. Comments and texts have most of
// them. The check of the value counts the elements exactly.
const yamlRate = 5

// yamlCost counts the separators of a text in YAML.
func yamlCost(args []operand) (cost, error) {
	n := 0
	for _, c := range []byte(args[0].text()) {
		switch c {
		case '\n', ',', ':', '[', '{', '-':
			n++
		}
	}
	return cost{result: budget.Size{Parts: n / yamlRate}, steps: n}, nil
}

// verb is a verb of a format.
type verb struct {
	text             string
	width, precision string
	argument         int // from 1; 0: the next one
	kind             string
}

// formatVerb matches a verb. Its groups are the width, the precision, the number of the argument
// and the letter of the verb.
var formatVerb = regexp.MustCompile(`%[-+# 0]*([0-9]*)(?:\.([0-9]*))?(?:\[([0-9]+)\])?([a-zA-Z])`)

// verbs returns the verbs of a format.
func verbs(format string) []verb {
	var out []verb
	for _, m := range formatVerb.FindAllStringSubmatch(strings.ReplaceAll(format, "%%", ""), -1) {
		n, _ := strconv.Atoi(m[3])
		out = append(out, verb{m[0], m[1], m[2], n, m[4]})
	}
	return out
}

// formatDigits is the number of digits of a width or precision.
const formatDigits = 4

// formatted returns the size of the result of a format with arguments of the given sizes.
func formatted(format string, verbs []verb, args []budget.Size) (int, error) {
	n, next := len(format), 0
	for _, v := range verbs {
		if max(len(v.width), len(v.precision)) > formatDigits {
			return 0, function.NewArgErrorf(0, "the width or precision in %q is too large", v.text)
		}
		if v.argument == 0 {
			v.argument = next + 1
		}
		next = v.argument
		width, _ := strconv.Atoi(v.width)
		precision, _ := strconv.Atoi(v.precision)
		size := 0
		if v.argument <= len(args) {
			size = args[v.argument-1].Text + 4*args[v.argument-1].Parts
		}
		if n += max(width, precision, size); n > budget.MaxText {
			break
		}
	}
	return n, nil
}

// maxVerbs is the number of verbs of a format.
const maxVerbs = 10_000

func verbsOf(format string) ([]verb, error) {
	if strings.Count(format, "%") > 2*maxVerbs {
		return nil, function.NewArgErrorf(0, "a format can have at most %d verbs", maxVerbs)
	}
	return verbs(format), nil
}

func formatCost(args []operand) (cost, error) {
	var sizes []budget.Size
	for _, arg := range args[1:] {
		sizes = append(sizes, arg.Size)
	}
	format := args[0].text()
	all, err := verbsOf(format)
	if err != nil {
		return cost{}, err
	}
	n, err := formatted(format, all, sizes)
	return cost{result: budget.Size{Text: n}}, err
}

// formatlistCost adds the costs of the formats. An argument that is no list is in each of them.
func formatlistCost(args []operand) (cost, error) {
	format := args[0].text()
	all, err := verbsOf(format)
	if err != nil {
		return cost{}, err
	}
	args = args[1:]
	lists, rounds := make([][]budget.Size, len(args)), 1
	for i, arg := range args {
		if sizes, ok := arg.elements(); ok {
			lists[i], rounds = sizes, max(rounds, len(sizes))
		}
	}
	c := cost{steps: rounds * (len(args) + len(all))}
	if c.steps > maxCall {
		return c, nil
	}
	for round := range rounds {
		sizes := make([]budget.Size, len(args))
		for i, arg := range args {
			sizes[i] = arg.Size
			if round < len(lists[i]) {
				sizes[i] = lists[i][round]
			}
		}
		n, err := formatted(format, all, sizes)
		if err != nil {
			return cost{}, err
		}
		c.result.Text += n
		c.result.Parts++
		if c.result.Check() != nil {
			break
		}
	}
	return c, nil
}

// expression is a regular expression with the costs of its use.
type expression struct {
	*regexp.Regexp
	instructions int
}

// maxPattern is the size of a regular expression, in bytes, and maxInstructions the size after
// its counted repetitions are written out.
const (
	maxPattern      = 100_000
	maxInstructions = 100_000
)

// compiled compiles a pattern. An invalid pattern gives nil: the function itself reports it.
func compiled(arg int, pattern string) (*expression, error) {
	if len(pattern) > maxPattern {
		return nil, function.NewArgErrorf(arg, "a regular expression can have at most %d characters", maxPattern)
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, nil
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, nil
	}
	if len(program.Inst) > maxInstructions {
		return nil, function.NewArgErrorf(arg, "the regular expression is too large because it repeats large parts many times")
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, nil
	}
	return &expression{re, len(program.Inst)}, nil
}

// steps returns the steps for a search of a text: each instruction may look at each character.
func (x *expression) steps(text string) int {
	const rate = 32 // instructions of a step
	return x.instructions + len(text)*x.instructions/rate
}

func regexCost(args []operand) (cost, error) {
	x, err := compiled(0, args[0].text())
	if x == nil {
		return cost{}, err
	}
	return cost{steps: x.steps(args[1].text())}, nil
}

func regexallCost(args []operand) (cost, error) {
	x, err := compiled(0, args[0].text())
	if x == nil {
		return cost{}, err
	}
	text := args[1].text()
	c := cost{steps: 2 * x.steps(text)}
	if c.steps > maxCall {
		return cost{}, errLaborious
	}
	// Of each match, the function keeps the places of all groups.
	parts := 1 + x.NumSubexp()
	maxMatches := 1 + budget.MaxParts/parts
	c.result.Parts = len(x.FindAllStringIndex(text, maxMatches)) * parts
	return c, nil
}

// replaceCost is the cost of replace, whose part is a regular expression between slashes.
func replaceCost(args []operand) (cost, error) {
	text, part, by := args[0].text(), args[1].text(), args[2].text()
	pattern, ok := betweenSlashes(part)
	if !ok {
		n := strings.Count(text, part)
		return cost{result: budget.Size{Text: len(text) + n*max(len(by)-len(part), 0)}}, nil
	}
	x, err := compiled(1, pattern)
	if x == nil {
		return cost{}, err
	}
	c := cost{steps: 2 * x.steps(text)}
	if c.steps > maxCall {
		return cost{}, errLaborious
	}
	// References in the replacement, such as $1, stand for at most the whole match.
	matches, matched := 0, 0
	x.ReplaceAllStringFunc(text, func(match string) string {
		matches++
		matched += len(match)
		return ""
	})
	c.result.Text = len(text) + matches*len(by) + matched*strings.Count(by, "$")
	return c, nil
}

// betweenSlashes returns the regular expression that replace looks for.
func betweenSlashes(part string) (pattern string, ok bool) {
	if len(part) > 1 && strings.HasPrefix(part, "/") && strings.HasSuffix(part, "/") {
		return part[1 : len(part)-1], true
	}
	return "", false
}
