package eval

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

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/functions"
	"kolla.openstack.org/kolla/lang/internal/budget"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/layers"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/syntax"
)

// Env turns expressions into values in one scope. It reports errors and then returns an unknown
// value, so that nothing reports a consequence of the same error.
type Env struct {
	Report    *diag.Reporter
	Decisions *Decisions
	Scope     *Scope
	Functions map[string]function.Function
	Memo      *Memo
	// Catalogue is the document of the built-in definitions.
	Catalogue *source.Block
	// InUse is an object with cloud.services, and Observed with cloud.targets and cloud.urls.
	InUse, Observed *Lazy
	// Owner is the user's service block under evaluation; nil outside of services.
	Owner *source.Block
	// InDefinition: the expressions belong to the definition, not to the owner.
	InDefinition bool
	// OfService and OfCloud evaluate the expressions that the service and the cloud's defaults
	// have in blocks of the definition; nil: there are none.
	OfService, OfCloud *Env
	// Around returns the names that expressions of a definition in another module know beside those
	// of this definition. Nil: no definition is evaluated.
	Around func(home *source.Module) *Scope
	// hasLocals: the parent of the scope has local values that the environment evaluates.
	hasLocals bool
}

// Value evaluates an expression. The result is unknown after an error, which is reported.
func (e *Env) Value(expr hcl.Expression) cty.Value {
	if v, ok := e.Memo.constants[expr]; ok {
		return v
	}
	if v, ok := e.reference(expr); ok {
		return v
	}
	if v, ok := e.overlaidValue(expr); ok {
		return v
	}
	refs := e.Memo.References(expr)
	ctx, ok := context(e, expr, refs)
	if !ok {
		return cty.DynamicVal
	}
	v, ok := e.computed(expr, refs, ctx)
	if !ok {
		return cty.DynamicVal
	}
	if values.Plain(v) {
		if constant(refs) {
			e.Memo.constants[expr] = v
		}
		return v
	}
	var later cty.ValueMarks
	if !v.IsWhollyKnown() {
		later = referred(expr, refs, ctx)
	}
	v, err := mark.Settle(v, later)
	if err != nil {
		if onlyInPod(e, expr.Range(), refs) {
			return cty.DynamicVal
		}
		e.Report.Error(expr.Range(), "Unsuitable use of a secret", "%s.", words.Sentence(err))
		return cty.DynamicVal
	}
	mark.Sensitives(v, e.Report.Secret)
	if constant(refs) {
		e.Memo.constants[expr] = v
	}
	if !v.IsWhollyKnown() && !mark.IsDeferred(v) {
		e.Decisions.Unexplained = append(e.Decisions.Unexplained, expr.Range())
	}
	return v
}

// computed evaluates an expression within the budget of the configuration. It reports errors; ok
// is then false.
func (e *Env) computed(expr hcl.Expression, refs []hcl.Traversal, ctx *hcl.EvalContext) (v cty.Value, ok bool) {
	b := e.Memo.budget
	if b.Err() != nil {
		return cty.DynamicVal, false // which was reported
	}
	v, diags, err := syntax.Evaluate(expr, ctx, b)
	diags = diags[:min(len(diags), maxErrors)] // a loop may repeat an error for each of its elements
	addEvaluation(e, diags, expr, refs, ctx)
	if at, exceeded := b.Failure(expr.Range()); exceeded != nil {
		e.Report.Error(at, "Evaluation too large", "%s.", words.Sentence(exceeded))
		return cty.DynamicVal, false
	}
	if diags.HasErrors() {
		return cty.DynamicVal, false
	}
	if err != nil {
		e.Report.Add(syntax.TooLarge(expr.Range(), err))
		return cty.DynamicVal, false
	}
	return v, true
}

// maxErrors is the number of diagnostics that are shown for one expression.
const maxErrors = 20

// constant reports whether an expression with these references has the same value wherever it
// is evaluated. path is the same in the whole module, and in the whole catalogue.
func constant(refs []hcl.Traversal) bool {
	return !slices.ContainsFunc(refs, func(t hcl.Traversal) bool { return t.RootName() != "path" })
}

// reference evaluates an expression that is only a reference to a plain value, such as
// service.memcached.address. Most expressions are of this form.
func (e *Env) reference(expr hcl.Expression) (v cty.Value, ok bool) {
	r, ok := expr.(*hclsyntax.ScopeTraversalExpr)
	if !ok || e.Owner != nil && r.Traversal.RootName() == "service" && !e.InDefinition {
		return cty.NilVal, false // a service must not refer to itself
	}
	steps := r.Traversal[1:]
	g, v, ok := e.Scope.find(r.Traversal.RootName())
	if !ok {
		return cty.NilVal, false
	}
	if g != nil {
		name, named := addrs.NameOf(r.Traversal)
		if !named {
			return cty.NilVal, false
		}
		if v, ok = e.Lookup(r.Traversal.RootName(), name, r.Traversal, r.SrcRange); !ok {
			return cty.NilVal, false
		}
		steps = steps[1:]
	}
	v, diags := steps.TraverseRel(v)
	return v, !diags.HasErrors() && values.Plain(v)
}

// Memo remembers facts about expressions that are evaluated many times, such as those of a
// definition that many services use.
type Memo struct {
	refs      map[hcl.Expression][]hcl.Traversal
	constants map[hcl.Expression]cty.Value // see constant
	lists     map[hcl.Expression][]string  // of constants that are right; nobody changes them
	tries     map[hcl.Expression][]hcl.Range
	budget    *budget.Budget
}

// NewMemo returns an empty memo. All expressions that are evaluated with it share the budget.
func NewMemo(b *budget.Budget) *Memo {
	return &Memo{
		budget:    b,
		refs:      map[hcl.Expression][]hcl.Traversal{},
		constants: map[hcl.Expression]cty.Value{},
		lists:     map[hcl.Expression][]string{},
		tries:     map[hcl.Expression][]hcl.Range{},
	}
}

// RenewBudget fills the budget of the expressions again.
func (m *Memo) RenewBudget() { m.budget.Renew() }

// References returns the references in an expression.
func (m *Memo) References(expr hcl.Expression) []hcl.Traversal {
	refs, ok := m.refs[expr]
	if !ok {
		refs = expr.Variables()
		m.refs[expr] = refs
	}
	return refs
}

// inTry reports whether a place in an expression is within a call of try or can.
func (m *Memo) inTry(expr hcl.Expression, at hcl.Range) bool {
	calls, ok := m.tries[expr]
	if node, isNode := expr.(hclsyntax.Node); !ok && isNode {
		_ = hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics {
			if call, ok := n.(*hclsyntax.FunctionCallExpr); ok && (call.Name == "try" || call.Name == "can") {
				calls = append(calls, call.Range())
			}
			return nil
		})
		m.tries[expr] = calls
	}
	return slices.ContainsFunc(calls, at.Overlaps)
}

// addEvaluation reports the diagnostics of HCL about an expression, without the values that
// they would show. For an unknown name it adds the known ones.
func addEvaluation(e *Env, diags hcl.Diagnostics, expr hcl.Expression, refs []hcl.Traversal, ctx *hcl.EvalContext) {
	if len(diags) == 0 {
		return
	}
	sensitive := makesSensitive(expr) || slices.ContainsFunc(values.Distinct(refs), func(t hcl.Traversal) bool {
		v, diags := t.TraverseAbs(ctx)
		return !diags.HasErrors() && mark.IsSensitive(v)
	})
	for _, v := range elementsAround(expr) {
		sensitive = sensitive || mark.IsSensitive(v)
	}
	for i, d := range diags {
		if d.Severity == hcl.DiagError && d.Subject != nil && (missingAttribute(e, *d.Subject, refs, ctx) || disabled(e, *d.Subject, refs)) {
			continue
		}
		if unknown, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallUnknownDiagExtra](d); ok {
			name := unknown.CalledFunctionNamespace() + unknown.CalledFunctionName()
			e.Report.Error(*d.Subject, fmt.Sprintf("There is no function %q", name), "%s", functions.Instead(name, slices.Sorted(maps.Keys(e.Functions))))
			continue
		}
		if d.Subject != nil && (syntax.Decides(d) || strings.Contains(d.Detail, mark.ErrComputed.Error())) && onlyInPod(e, *d.Subject, refs) {
			continue
		}
		if syntax.Decides(d) {
			e.Report.Error(*d.Subject, "Unsuitable use of a secret", "%s.", words.Sentence(mark.ErrComputed))
			continue
		}
		if name, ok := panicked(d); ok {
			e.Report.Error(*d.Subject, "Error in function call", "Function %q has no result for such arguments.", name)
			continue
		}
		if sameOperands(diags[:i], d) || noText(e, d) || lacksKey(e, d) {
			continue
		}
		detail := strings.ReplaceAll(d.Detail, "?.", "?") // HCL ends the sentences of functions
		if addedText(d, expr, ctx) {
			detail = "A number is needed here, and this is a string. Strings are joined within quotes, \"${A}${B}\", or with join and format."
		}
		clean := &hcl.Diagnostic{Severity: d.Severity, Summary: d.Summary, Detail: detail, Subject: d.Subject, Context: d.Context}
		if d.Expression != nil && d.EvalContext != nil {
			clean.Extra = values.StoodFor(d.Expression.Variables(), d.EvalContext)
		}
		if sensitive || mark.HasToken(d.Detail) {
			clean.Detail = "The expression refers to a sensitive value, so what is wrong cannot be shown in detail."
		}
		e.Report.Add(clean)
	}
}

// noText reports a template with a part that is no text, if the diagnostic is about that.
func noText(e *Env, d *hcl.Diagnostic) bool {
	if d.Summary != "Invalid template interpolation value" || d.Expression == nil || d.EvalContext == nil {
		return false
	}
	v, diags := d.Expression.Value(d.EvalContext)
	if v, _ = v.Unmark(); diags.HasErrors() || v.IsNull() || !values.IsMap(v) && !values.IsList(v) {
		return false
	}
	const summary = "Unsuitable value in a string"
	t, diags := hcl.AbsTraversalForExpr(d.Expression)
	switch {
	case !diags.HasErrors() && wholeThing(t, v):
		attribute := "name"
		if v.Type().HasAttribute("host") {
			attribute = "host"
		}
		whole := keyed(t)
		e.Report.Error(*d.Subject, summary, "%s is the whole %s, and not a string: write %s.%s. It has: %s.", whole, nouns[t.RootName()], whole, attribute, words.Sorted(slices.Sorted(maps.Keys(v.Type().AttributeTypes()))))
	case values.IsList(v):
		e.Report.Error(*d.Subject, summary, "This is a list, and no text. join(\", \", LIST) makes one of it, and jsonencode(LIST) JSON.")
	default:
		e.Report.Error(*d.Subject, summary, "This is a map, and no text. One of its values is MAP.NAME, or MAP[\"NAME\"]; jsonencode(MAP) makes JSON of all.")
	}
	return true
}

// wholeThing reports whether a reference means a whole block, or a whole instance of a block.
func wholeThing(t hcl.Traversal, v cty.Value) bool {
	if !slices.Contains(SharedKinds, t.RootName()) || !v.Type().IsObjectType() || !v.Type().HasAttribute("name") {
		return false
	}
	_, index := t[len(t)-1].(hcl.TraverseIndex)
	return len(t) == 2 || len(t) == 3 && index
}

// keyed returns a reference as it is written, with its keys.
func keyed(t hcl.Traversal) string {
	if index, ok := t[len(t)-1].(hcl.TraverseIndex); ok {
		return Written(t[:len(t)-1]) + addrs.KeySuffix(index.Key)
	}
	return Written(t)
}

// makesSensitive reports whether an expression itself makes a value sensitive.
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

// elementsAround returns the elements of the dynamic blocks around an expression.
func elementsAround(expr hcl.Expression) []cty.Value {
	var out []cty.Value
	for {
		inner, ok := expr.(*layers.DynamicExpr)
		if !ok {
			return out
		}
		out = append(out, inner.Element)
		expr = inner.Expression
	}
}

// panicked returns the name of the function that panicked, if the diagnostic is about that. The
// text of such a diagnostic is a stack trace.
func panicked(d *hcl.Diagnostic) (name string, ok bool) {
	call, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](d)
	if !ok {
		return "", false
	}
	var bug function.PanicError
	return call.CalledFunctionName(), errors.As(call.FunctionCallError(), &bug)
}

// missingAttribute reports a reference to an attribute that the value of a block lacks, if the
// diagnostic about the range is about that.
func missingAttribute(e *Env, complaint hcl.Range, refs []hcl.Traversal, ctx *hcl.EvalContext) bool {
	for _, t := range refs {
		for i := 1; i < len(t); i++ {
			if missingKey(e, complaint, t, i, ctx) {
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
				whichInstance(e, t, keys)
				return true
			}
			if name, ok := addrs.NameOf(t); ok && i == 2 && e.InDefinition && noInstance(t[:i], parent) {
				ReportMissingDependency(e, t.RootName(), name, diag.Position(step.SrcRange))
				return true
			}
			if parent.HasMark(mark.Sensitive{}) || !parent.IsKnown() || parent.IsNull() {
				continue
			}
			if parent.Type().IsPrimitiveType() || values.IsList(parent) {
				e.Report.Error(step.SrcRange, "Unknown attribute", "%s is %s, and has no attributes.%s", Written(t[:i]), values.KindOf(parent), elementsOf(Written(t[:i]), step.Name, parent))
				return true
			}
			if !parent.Type().IsObjectType() || parent.Type().HasAttribute(step.Name) {
				continue
			}
			if root := t.RootName(); root == "pod" && (step.Name == "host" || step.Name == "index") {
				e.Report.Error(step.SrcRange, "Unknown attribute", "Only the pods of a StatefulSet have %s.", Written(t))
				return true
			}
			names := slices.Collect(maps.Keys(parent.Type().AttributeTypes()))
			name, _ := addrs.NameOf(t)
			e.Blame(t.RootName(), name).Error(step.SrcRange, "Unknown attribute", "%s", words.WithHint(words.DidYouMean(step.Name, names),
				fmt.Sprintf("%s has no attribute %q. It has: %s.", Written(t[:i]), step.Name, words.Sorted(names))))
			return true
		}
	}
	return false
}

// elementsOf returns a text about how to read an attribute of the elements of a list.
func elementsOf(list, attribute string, v cty.Value) string {
	if !values.IsList(v) || v.Type().IsSetType() {
		return ""
	}
	return fmt.Sprintf(" That of one element is %s[0].%s, and those of all are %s[*].%s.", list, attribute, list, attribute)
}

// sameOperands reports whether an error is about the second operand of an expression with a
// wrong first one.
func sameOperands(before hcl.Diagnostics, d *hcl.Diagnostic) bool {
	return slices.ContainsFunc(before, func(first *hcl.Diagnostic) bool {
		return d.Summary == "Invalid operand" && first.Summary == d.Summary && d.Context != nil && first.Context != nil && *first.Context == *d.Context
	})
}

// addedText reports whether an error is about the addition of a string.
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

// missingKey reports a key that a repeated block, or a map in an object of the cluster, lacks,
// if the diagnostic about the range is about that.
func missingKey(e *Env, complaint hcl.Range, t hcl.Traversal, i int, ctx *hcl.EvalContext) bool {
	step, ok := t[i].(hcl.TraverseIndex)
	if !ok || i != 2 && t.RootName() != "data" || !step.SrcRange.Overlaps(complaint) || !slices.Contains(NamedKinds, t.RootName()) {
		return false
	}
	parent, diags := t[:i].TraverseAbs(ctx)
	if diags.HasErrors() || !parent.IsKnown() || parent.IsNull() || parent.HasMark(mark.Sensitive{}) {
		return false
	}
	var keys []string
	switch {
	case parent.Type().IsObjectType() && step.Key.Type() == cty.Number && i == 2 && wholeThing(t[:i], parent):
		e.Report.Error(step.SrcRange, "Unknown key", "%s has no count or for_each. Write %s without %s.", Written(t[:i]), Written(t[:i]), addrs.KeySuffix(step.Key))
		return true
	case parent.Type().IsObjectType() && (step.Key.Type() == cty.Number || step.Key.Type() == cty.String && !parent.Type().HasAttribute(step.Key.AsString())):
		keys = slices.Sorted(maps.Keys(parent.Type().AttributeTypes()))
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
	e.Report.Error(step.SrcRange, "Unknown key", "%s", words.WithHint(hint, fmt.Sprintf("%s has no %s. Its keys are: %s.", Written(t[:i]), addrs.KeySuffix(step.Key), words.Sorted(keys))))
	return true
}

// instances returns the keys of the repeated block that a reference means, such as `["cache"]`;
// nil if the value is not of a repeated block.
func instances(t hcl.Traversal, v cty.Value) []string {
	if len(t) != 2 || !slices.Contains(SharedKinds, t.RootName()) || !v.IsKnown() || v.IsNull() {
		return nil
	}
	var keys []string
	switch typ := v.Type(); {
	case typ.IsTupleType():
		for n := range typ.TupleElementTypes() {
			keys = append(keys, fmt.Sprintf("[%d]", n))
		}
	case typ.IsObjectType() && !typ.HasAttribute("name"):
		for _, key := range slices.Sorted(maps.Keys(typ.AttributeTypes())) {
			keys = append(keys, fmt.Sprintf("[%q]", key))
		}
	}
	return keys
}

// noInstance reports whether a value belongs to a repeated block without instances.
func noInstance(t hcl.Traversal, v cty.Value) bool {
	if !slices.Contains(SharedKinds, t.RootName()) || !v.IsKnown() || v.IsNull() {
		return false
	}
	return v.RawEquals(cty.EmptyTupleVal) || v.RawEquals(cty.EmptyObjectVal)
}

// whichInstance reports a reference to a repeated block without a key. A definition cannot have
// a key there.
func whichInstance(e *Env, t hcl.Traversal, keys []string) {
	name, _ := addrs.NameOf(t)
	if e.InDefinition {
		e.Report.Error(e.Owner.Header, fmt.Sprintf("Which %s %q?", nouns[t.RootName()], name),
			"The definition of service %q refers to %s (%s), which is repeated: %s. Give the one that is meant the label %q in a block of its own, or write a config value in this service that refers to one of them.",
			e.Owner.Label, Written(t[:2]), diag.Position(t.SourceRange()), words.Sorted(keys), name)
		return
	}
	e.Report.Error(t.SourceRange(), fmt.Sprintf("Which %s %q?", nouns[t.RootName()], name),
		"It is repeated: say which one, as in %s%s%s. There are: %s.", Written(t[:2]), keys[0], strings.TrimPrefix(Written(t), Written(t[:2])), words.Sorted(keys))
}

// Written returns a reference as it is written.
func Written(t hcl.Traversal) string {
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

// With returns an environment with one more name, also for the expressions of the service.
func (e *Env) With(name string, value cty.Value) *Env {
	return e.WithAll(map[string]cty.Value{name: value})
}

// WithAll returns an environment with several more names.
func (e *Env) WithAll(names map[string]cty.Value) *Env {
	known := maps.Clone(e.Scope.Singles)
	maps.Copy(known, names)
	return e.extended(func(s *Scope) { s.Singles = known })
}

// WithGroup returns an environment with the named things of one kind.
func (e *Env) WithGroup(kind string, names Group) *Env {
	known := maps.Clone(e.Scope.Groups)
	known[kind] = names
	return e.extended(func(s *Scope) { s.Groups = known })
}

// extended returns an environment with more names, also for the expressions of the service and of
// the cloud's defaults: all three know the same of the service.
func (e *Env) extended(set func(*Scope)) *Env {
	out, scope := *e, *e.Scope // nobody changes the scope of another environment
	out.Scope = &scope
	set(&scope)
	if e.OfService != nil {
		out.OfService, out.OfCloud = e.OfService.extended(set), e.OfCloud.extended(set)
	}
	return &out
}
