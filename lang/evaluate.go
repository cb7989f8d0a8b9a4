package lang

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/functions"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/syntax"
)

// evaluator turns expressions into values in one scope. It reports what is wrong
// and returns a value all the same: an unknown one, which nothing complains about
// a second time.
type evaluator struct {
	report    *diag.Reporter
	decisions *decisions
	scope     *scope
	functions map[string]function.Function
	memo      *memo
	// reach is where references are looked for before anything is evaluated.
	reach reach
	// owner is the user's service block that the evaluation is for; nil outside of
	// services.
	owner *source.Block
	// inDefinition: the expressions are the definition's, not the owner's.
	inDefinition bool
	// ofService and ofCloud evaluate what the service and the cloud's defaults say in
	// blocks of the definition; nil: nobody says anything there.
	ofService, ofCloud *evaluator
}

// evaluator is one for expressions of the user outside of services.
func (g *graph) evaluator(f *frame) *evaluator {
	return &evaluator{report: g.report, decisions: g.decisions, functions: g.functions, memo: g.memo, scope: f.scope, reach: g.reach(f.module)}
}

// value evaluates an expression. After an error, which was reported, the result
// is unknown.
func (e *evaluator) value(expr hcl.Expression) cty.Value {
	if v, ok := e.memo.constants[expr]; ok {
		return v
	}
	if v, ok := e.reference(expr); ok {
		return v
	}
	if v, ok := e.overlaidValue(expr); ok {
		return v
	}
	refs := e.memo.references(expr)
	ctx, ok := e.context(expr, refs)
	if !ok {
		return cty.DynamicVal
	}
	v, diags := expr.Value(ctx)
	e.addEvaluation(diags, expr, refs, ctx)
	if diags.HasErrors() {
		return cty.DynamicVal
	}
	if err := functions.Weigh(v); err != nil {
		e.report.Error(expr.Range(), "Value too large", "%s.", words.Sentence(err))
		return cty.DynamicVal
	}
	if values.Plain(v) {
		if constant(refs) {
			e.memo.constants[expr] = v
		}
		return v
	}
	var later cty.ValueMarks
	if !v.IsWhollyKnown() {
		later = referred(expr, refs, ctx)
	}
	v, err := mark.Settle(v, later)
	if err != nil {
		if e.onlyInPod(expr.Range(), refs) {
			return cty.DynamicVal
		}
		e.report.Error(expr.Range(), "Unsuitable use of a secret", "%s.", words.Sentence(err))
		return cty.DynamicVal
	}
	if constant(refs) {
		e.memo.constants[expr] = v
	}
	if !v.IsWhollyKnown() && !mark.IsDeferred(v) {
		e.decisions.unexplained = append(e.decisions.unexplained, expr.Range())
	}
	return v
}

// constant reports whether an expression with these references has the same value wherever it
// is evaluated. path is the same in all of a module, and in all of the catalogue.
func constant(refs []hcl.Traversal) bool {
	return !slices.ContainsFunc(refs, func(t hcl.Traversal) bool { return t.RootName() != "path" })
}

// reference evaluates an expression that is nothing but a reference to a plain value,
// such as service.memcached.address: most are.
func (e *evaluator) reference(expr hcl.Expression) (v cty.Value, ok bool) {
	r, ok := expr.(*hclsyntax.ScopeTraversalExpr)
	if !ok || e.owner != nil && r.Traversal.RootName() == "service" && !e.inDefinition {
		return cty.NilVal, false // a service must not refer to itself
	}
	steps := r.Traversal[1:]
	g, v, ok := e.scope.find(r.Traversal.RootName())
	if !ok {
		return cty.NilVal, false
	}
	if g != nil {
		name, named := addrs.NameOf(r.Traversal)
		if !named {
			return cty.NilVal, false
		}
		if v, ok = e.lookup(r.Traversal.RootName(), name, r.Traversal, r.SrcRange); !ok {
			return cty.NilVal, false
		}
		steps = steps[1:]
	}
	v, diags := steps.TraverseRel(v)
	return v, !diags.HasErrors() && values.Plain(v)
}

// memo is what is known of expressions that are evaluated many times, such as those of
// a definition that many services use.
type memo struct {
	refs      map[hcl.Expression][]hcl.Traversal
	constants map[hcl.Expression]cty.Value // see constant
	lists     map[hcl.Expression][]string  // of constants that are right; nobody changes them
	leaves    map[nested][]leaf            // see settings
}

// nested is a map that is taken apart down to a depth.
type nested struct {
	expr  hcl.Expression
	depth int
}

func newMemo() *memo {
	return &memo{
		refs:      map[hcl.Expression][]hcl.Traversal{},
		constants: map[hcl.Expression]cty.Value{},
		lists:     map[hcl.Expression][]string{},
		leaves:    map[nested][]leaf{},
	}
}

// references are the references in an expression.
func (m *memo) references(expr hcl.Expression) []hcl.Traversal {
	refs, ok := m.refs[expr]
	if !ok {
		refs = expr.Variables()
		m.refs[expr] = refs
	}
	return refs
}

// addEvaluation passes on what HCL says about an expression, without the values
// that it would show, and with the names there are where one is unknown.
func (e *evaluator) addEvaluation(diags hcl.Diagnostics, expr hcl.Expression, refs []hcl.Traversal, ctx *hcl.EvalContext) {
	if len(diags) == 0 {
		return
	}
	sensitive := makesSensitive(expr) || slices.ContainsFunc(refs, func(t hcl.Traversal) bool {
		v, diags := t.TraverseAbs(ctx)
		return !diags.HasErrors() && mark.IsSensitive(v)
	})
	for _, v := range elementsAround(expr) {
		sensitive = sensitive || mark.IsSensitive(v)
	}
	for i, d := range diags {
		if d.Severity == hcl.DiagError && d.Subject != nil && (e.missingAttribute(*d.Subject, refs, ctx) || e.disabled(*d.Subject, refs)) {
			continue
		}
		if unknown, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallUnknownDiagExtra](d); ok {
			name := unknown.CalledFunctionNamespace() + unknown.CalledFunctionName()
			e.report.Error(*d.Subject, fmt.Sprintf("There is no function %q", name), "%s", functions.Instead(name, keysOf(e.functions)))
			continue
		}
		if d.Subject != nil && (syntax.Decides(d) || strings.Contains(d.Detail, mark.ErrComputed.Error())) && e.onlyInPod(*d.Subject, refs) {
			continue
		}
		if syntax.Decides(d) {
			e.report.Error(*d.Subject, "Unsuitable use of a secret", "%s.", words.Sentence(mark.ErrComputed))
			continue
		}
		if name, ok := panicked(d); ok {
			e.report.Error(*d.Subject, "Error in function call", "Function %q has no result for such arguments.", name)
			continue
		}
		if sameOperands(diags[:i], d) || e.noText(d) || e.lacksKey(d) {
			continue
		}
		detail := strings.ReplaceAll(d.Detail, "?.", "?") // HCL ends the sentences of functions
		if addedText(d, expr, ctx) {
			detail = "A number is needed here, and this is a text. Texts are joined within quotes, \"${A}${B}\", or with join and format."
		}
		clean := &hcl.Diagnostic{Severity: d.Severity, Summary: d.Summary, Detail: detail, Subject: d.Subject, Context: d.Context}
		if d.Expression != nil && d.EvalContext != nil {
			clean.Extra = values.StoodFor(d.Expression.Variables(), d.EvalContext)
		}
		if sensitive || mark.HasToken(d.Detail) {
			clean.Detail = "The expression refers to a sensitive value, so what is wrong cannot be shown in detail."
		}
		e.report.Add(clean)
	}
}

// noText reports something in a template that is no text, if that is what a complaint is
// about.
func (e *evaluator) noText(d *hcl.Diagnostic) bool {
	if d.Summary != "Invalid template interpolation value" || d.Expression == nil || d.EvalContext == nil {
		return false
	}
	v, diags := d.Expression.Value(d.EvalContext)
	if v, _ = v.Unmark(); diags.HasErrors() || v.IsNull() || !values.IsMap(v) && !values.IsList(v) {
		return false
	}
	const summary = "Unsuitable value in a text"
	t, diags := hcl.AbsTraversalForExpr(d.Expression)
	switch {
	case !diags.HasErrors() && wholeThing(t, v):
		attribute := "name"
		if v.Type().HasAttribute("host") {
			attribute = "host"
		}
		whole := keyed(t)
		e.report.Error(*d.Subject, summary, "%s is the whole %s, and no text: write %s.%s. It has: %s.", whole, nouns[t.RootName()], whole, attribute, words.Sorted(keysOf(v.Type().AttributeTypes())))
	case values.IsList(v):
		e.report.Error(*d.Subject, summary, "This is a list, and no text. join(\", \", LIST) makes one of it, and jsonencode(LIST) JSON.")
	default:
		e.report.Error(*d.Subject, summary, "This is a map, and no text. One of its values is MAP.NAME, or MAP[\"NAME\"]; jsonencode(MAP) makes JSON of all.")
	}
	return true
}

// wholeThing reports whether a reference is to all of a block, or of an instance of one.
func wholeThing(t hcl.Traversal, v cty.Value) bool {
	if !slices.Contains(things, t.RootName()) || !v.Type().IsObjectType() || !v.Type().HasAttribute("name") {
		return false
	}
	_, index := t[len(t)-1].(hcl.TraverseIndex)
	return len(t) == 2 || len(t) == 3 && index
}

// keyed is a reference as it is written, with its keys.
func keyed(t hcl.Traversal) string {
	if index, ok := t[len(t)-1].(hcl.TraverseIndex); ok {
		return written(t[:len(t)-1]) + item{key: index.Key}.suffix()
	}
	return written(t)
}

// makesSensitive reports whether an expression itself makes something sensitive.
func makesSensitive(expr hcl.Expression) bool {
	node, ok := expr.(hclsyntax.Node)
	found := false
	if ok {
		_ = hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics {
			call, ok := n.(*hclsyntax.FunctionCallExpr)
			found = found || ok && call.Name == "sensitive"
			return nil
		})
	}
	return found
}

// elementsAround are the elements of the dynamic blocks that an expression stands in.
func elementsAround(expr hcl.Expression) []cty.Value {
	var out []cty.Value
	for {
		inner, ok := expr.(*iterated)
		if !ok {
			return out
		}
		out = append(out, inner.value)
		expr = inner.Expression
	}
}

// panicked is the name of a function that panicked, if that is what a complaint is about:
// its own text is a stack trace.
func panicked(d *hcl.Diagnostic) (name string, ok bool) {
	call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](d)
	if !ok {
		return "", false
	}
	var bug function.PanicError
	return call.CalledFunctionName(), errors.As(call.FunctionCallError(), &bug)
}

// missingAttribute reports a reference to an attribute that a block's value does
// not have, if that is what a complaint about the range is about.
func (e *evaluator) missingAttribute(complaint hcl.Range, refs []hcl.Traversal, ctx *hcl.EvalContext) bool {
	for _, t := range refs {
		for i := 1; i < len(t); i++ {
			if e.missingKey(complaint, t, i, ctx) {
				return true
			}
			step, isAttr := t[i].(hcl.TraverseAttr)
			if !isAttr || !step.SrcRange.Overlaps(complaint) {
				continue
			}
			parent, diags := t[:i].TraverseAbs(ctx)
			if diags.HasErrors() {
				continue
			}
			if keys := instances(t[:i], parent); keys != nil {
				e.whichInstance(t, keys)
				return true
			}
			if name, ok := addrs.NameOf(t); ok && i == 2 && e.inDefinition && noInstance(t[:i], parent) {
				e.unmet(t.RootName(), name, diag.Position(step.SrcRange))
				return true
			}
			if parent.HasMark(mark.Sensitive{}) || !parent.IsKnown() || parent.IsNull() {
				continue
			}
			if parent.Type().IsPrimitiveType() || values.IsList(parent) {
				e.report.Error(step.SrcRange, "Unknown attribute", "%s is %s, and has no attributes.%s", written(t[:i]), values.KindOf(parent), elementsOf(written(t[:i]), step.Name, parent))
				return true
			}
			if !parent.Type().IsObjectType() || parent.Type().HasAttribute(step.Name) {
				continue
			}
			if root := t.RootName(); root == "pod" && (step.Name == "host" || step.Name == "index") {
				e.report.Error(step.SrcRange, "Unknown attribute", "Only the pods of a StatefulSet have %s.", written(t))
				return true
			}
			var names []string
			for name := range parent.Type().AttributeTypes() {
				names = append(names, name)
			}
			e.report.Error(step.SrcRange, "Unknown attribute", "%s", words.WithHint(words.DidYouMean(step.Name, names),
				fmt.Sprintf("%s has no attribute %q. It has: %s.", written(t[:i]), step.Name, words.Sorted(names))))
			return true
		}
	}
	return false
}

// elementsOf says how an attribute of the elements of a list is read.
func elementsOf(list, attribute string, v cty.Value) string {
	if !values.IsList(v) || v.Type().IsSetType() {
		return ""
	}
	return fmt.Sprintf(" That of one element is %s[0].%s, and those of all are %s[*].%s.", list, attribute, list, attribute)
}

// sameOperands reports whether an error is about the second operand of an expression
// whose first one is wrong as well.
func sameOperands(before hcl.Diagnostics, d *hcl.Diagnostic) bool {
	return slices.ContainsFunc(before, func(first *hcl.Diagnostic) bool {
		return d.Summary == "Invalid operand" && first.Summary == d.Summary && d.Context != nil && first.Context != nil && *first.Context == *d.Context
	})
}

// addedText reports whether an error is about a string that is to be added to something.
func addedText(d *hcl.Diagnostic, expr hcl.Expression, ctx *hcl.EvalContext) bool {
	node, ok := expr.(hclsyntax.Node)
	if !ok || d.Summary != "Invalid operand" || d.Context == nil || d.Expression == nil {
		return false
	}
	added := false
	_ = hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics {
		operation, ok := n.(*hclsyntax.BinaryOpExpr)
		added = added || ok && operation.Op == hclsyntax.OpAdd && operation.SrcRange == *d.Context
		return nil
	})
	if !added {
		return false
	}
	v, diags := d.Expression.Value(ctx)
	return !diags.HasErrors() && v.Type() == cty.String
}

// missingKey reports a key that a repeated block, or something in an object of the
// cluster, does not have, if that is what a complaint about the range is about.
func (e *evaluator) missingKey(complaint hcl.Range, t hcl.Traversal, i int, ctx *hcl.EvalContext) bool {
	step, ok := t[i].(hcl.TraverseIndex)
	if !ok || i != 2 && t.RootName() != "data" || !step.SrcRange.Overlaps(complaint) || !slices.Contains(named, t.RootName()) {
		return false
	}
	parent, diags := t[:i].TraverseAbs(ctx)
	if diags.HasErrors() || !parent.IsKnown() || parent.IsNull() || parent.HasMark(mark.Sensitive{}) {
		return false
	}
	var keys []string
	switch {
	case parent.Type().IsObjectType() && step.Key.Type() == cty.Number && i == 2 && wholeThing(t[:i], parent):
		e.report.Error(step.SrcRange, "Unknown key", "%s is not repeated, so that there is one alone. It is %s, without %s.", written(t[:i]), written(t[:i]), item{key: step.Key}.suffix())
		return true
	case parent.Type().IsObjectType() && (step.Key.Type() == cty.Number || step.Key.Type() == cty.String && !parent.Type().HasAttribute(step.Key.AsString())):
		keys = keysOf(parent.Type().AttributeTypes())
	case parent.Type().IsTupleType() && step.Key.Type() == cty.Number && !parent.HasIndex(step.Key).True():
		for n := range parent.Type().TupleElementTypes() {
			keys = append(keys, strconv.Itoa(n))
		}
	default:
		return false
	}
	var hint string
	if step.Key.Type() == cty.String {
		hint = words.DidYouMean(step.Key.AsString(), keys)
	}
	e.report.Error(step.SrcRange, "Unknown key", "%s", words.WithHint(hint, fmt.Sprintf("%s has no %s. Its keys are: %s.", written(t[:i]), item{key: step.Key}.suffix(), words.Sorted(keys))))
	return true
}

// instances are the keys of a repeated block that a reference is to, `["cache"]`; nil
// if the value is not that of one.
func instances(t hcl.Traversal, v cty.Value) []string {
	if len(t) != 2 || !slices.Contains(things, t.RootName()) || !v.IsKnown() || v.IsNull() {
		return nil
	}
	var keys []string
	switch typ := v.Type(); {
	case typ.IsTupleType():
		for n := range typ.TupleElementTypes() {
			keys = append(keys, fmt.Sprintf("[%d]", n))
		}
	case typ.IsObjectType() && !typ.HasAttribute("name"):
		for _, key := range keysOf(typ.AttributeTypes()) {
			keys = append(keys, fmt.Sprintf("[%q]", key))
		}
	}
	return keys
}

// noInstance reports whether a value is that of a repeated block without any instance.
func noInstance(t hcl.Traversal, v cty.Value) bool {
	if !slices.Contains(things, t.RootName()) || !v.IsKnown() || v.IsNull() {
		return false
	}
	return v.RawEquals(cty.EmptyTupleVal) || v.RawEquals(cty.EmptyObjectVal)
}

// whichInstance reports a reference to a repeated block that does not say which
// instance is meant. A definition cannot say it.
func (e *evaluator) whichInstance(t hcl.Traversal, keys []string) {
	name, _ := addrs.NameOf(t)
	if e.inDefinition {
		e.report.Error(e.owner.Header, fmt.Sprintf("Which %s %q?", nouns[t.RootName()], name),
			"The definition of service %q refers to %s (%s), which is repeated: %s. Give the one that is meant the label %q in a block of its own, or write a config value in this service that refers to one of them.",
			e.owner.Label, written(t[:2]), diag.Position(t.SourceRange()), words.Sorted(keys), name)
		return
	}
	e.report.Error(t.SourceRange(), fmt.Sprintf("Which %s %q?", nouns[t.RootName()], name),
		"It is repeated: say which one, as in %s%s%s. There are: %s.", written(t[:2]), keys[0], strings.TrimPrefix(written(t), written(t[:2])), words.Sorted(keys))
}

// written gives a reference as it is written.
func written(t hcl.Traversal) string {
	var b strings.Builder
	for _, step := range t {
		switch step := step.(type) {
		case hcl.TraverseRoot:
			b.WriteString(step.Name)
		case hcl.TraverseAttr:
			b.WriteString("." + step.Name)
		default:
			b.WriteString("[...]")
		}
	}
	return b.String()
}

// with is the evaluator where one name more means something, for what the service says
// too.
func (e *evaluator) with(name string, value cty.Value) *evaluator {
	return e.withAll(map[string]cty.Value{name: value})
}

// withAll is the evaluator where several names more mean something.
func (e *evaluator) withAll(names map[string]cty.Value) *evaluator {
	out := *e
	inner := *e.scope // the same names belong to it
	inner.singles = maps.Clone(inner.singles)
	maps.Copy(inner.singles, names)
	out.scope = &inner
	if e.ofService != nil {
		out.ofService, out.ofCloud = e.ofService.withAll(names), e.ofCloud.withAll(names)
	}
	return &out
}
