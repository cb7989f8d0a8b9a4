package lang

import (
	"fmt"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/gocty"

	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/graph"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema"
	"kolla.openstack.org/kolla/lang/syntax"
)

// planType is the type of `plan` in policies.
var planType = func() cty.Type {
	t, err := gocty.ImpliedType(configs.PlanFacts{})
	if err != nil {
		panic(err) // the type is fixed
	}
	return t
}()

// readPolicies adds the policies of Options.PolicyFiles to those of the configuration. The
// files are no part of the digest: a saved plan is judged by the policies at its apply.
func (l *loader) readPolicies(document *source.Block) bool {
	ok := true
	for _, name := range l.options.PolicyFiles {
		name = filepath.Clean(name)
		if l.config.Files[name] != nil { // a file of the configuration, or given twice
			continue
		}
		content, err := syntax.Read(name)
		if err != nil {
			l.report.Error(diag.Nowhere, "Cannot read a file of policies", "-policy names %s: %s.", name, files.Cause(err))
			ok = false
			continue
		}
		body, parsed := l.sources.Keep(syntax.Parse(name, content))
		if !parsed {
			ok = false
			continue
		}
		file := source.Decode(l.report, schema.PolicyFileType, []hcl.Body{body})
		if len(file.Blocks) == 0 {
			l.report.Error(diag.Nowhere, "No policies in a file", "-policy names %s, which has no policy block. It would check nothing.", name)
			ok = false
		}
		for _, b := range file.Blocks {
			if source.CheckUnique(l.report, document, b) {
				document.Add(b)
			}
		}
	}
	return ok
}

// addPolicies adds the nodes of the policies.
func addPolicies(a *assembly) {
	for _, b := range a.graph.Root.Written.Document.All("policy") {
		a.graph.AddBlock(a.graph.Root, b, func(f *graph.Frame) cty.Value {
			checkPolicy(a, f, b)
			p := configs.Policy{Name: b.Label, Range: b.Header, Denies: eval.String(f.Env(), b, "level") != "warn"}
			p.Judge = func(facts configs.PlanFacts) *hcl.Diagnostic { return judge(f, b, p.Denies, facts) }
			a.config.Policies = append(a.config.Policies, p)
			return cty.NilVal
		})
	}
}

// checkPolicy evaluates a policy for a plan whose lists have one element each and whose
// other values are unknown. It reports mistakes that do not depend on the plan, such as a
// misspelt attribute.
func checkPolicy(a *assembly, f *graph.Frame, b *source.Block) {
	e := policyEnv(f, sample(planType))
	eval.Attribute(e, b, "condition", cty.Bool)
	eval.Attribute(e, b, "error_message", cty.String)
	for _, d := range e.Report.All() {
		if d.Summary != "Invalid index" { // a real plan may have more elements
			a.report.Add(d)
		}
	}
}

// sample returns a value of a type: a list has one element, and everything else is unknown.
func sample(t cty.Type) cty.Value {
	switch {
	case t.IsObjectType():
		attributes := map[string]cty.Value{}
		for name, typ := range t.AttributeTypes() {
			attributes[name] = sample(typ)
		}
		return cty.ObjectVal(attributes)
	case t.IsListType():
		return cty.ListVal([]cty.Value{sample(t.ElementType())})
	}
	return cty.UnknownVal(t).Mark(mark.Deferred{By: "plan"})
}

// policyEnv evaluates expressions of policies. It has a report of its own.
func policyEnv(f *graph.Frame, plan cty.Value) *eval.Env {
	e := f.Env().With("plan", plan)
	e.Report, e.Decisions = diag.New(), eval.NewDecisions()
	return e
}

// judge evaluates a policy for a plan. It returns nil if the plan meets the policy.
func judge(f *graph.Frame, b *source.Block, denies bool, facts configs.PlanFacts) *hcl.Diagnostic {
	plan := planValue(facts)
	e := policyEnv(f, plan)
	e.Memo.RenewBudget() // the more policies there are, the less each could do
	condition, known := eval.Attribute(e, b, "condition", cty.Bool)
	bare, _ := condition.Unmark()
	var detail string
	switch {
	case e.Report.All().HasErrors():
		first := e.Report.All()[0]
		detail = fmt.Sprintf("Its condition cannot be evaluated, so it counts as not met. %s: %s", first.Summary, first.Detail)
	case !known:
		detail = "Its condition is not known, so it counts as not met." + waitsFor(condition)
	case bare.True():
		return nil
	default:
		_, detail = eval.Condition(e, b)
		if e.Report.All().HasErrors() {
			first := e.Report.All()[0]
			detail += fmt.Sprintf(" Its error_message cannot be evaluated. %s: %s", first.Summary, first.Detail)
		}
	}
	e = policyEnv(f, plan)
	if denies {
		eval.UnmetCondition(e, hcl.DiagError, b.AttributeRange("condition"), b, fmt.Sprintf("Policy %q denies this plan", b.Label), detail)
	} else {
		eval.UnmetCondition(e, hcl.DiagWarning, b.AttributeRange("condition"), b, fmt.Sprintf("Policy %q warns of this plan", b.Label), detail)
	}
	all := e.Report.All()
	return all[len(all)-1]
}

// waitsFor names the data that a condition depends on; empty: none.
func waitsFor(condition cty.Value) string {
	by := mark.DeferredBy(condition)
	if len(by) == 0 {
		return ""
	}
	return fmt.Sprintf(" It depends on %s, which this plan does not know.", words.All(by))
}

// planValue converts facts. Lists are never null.
func planValue(facts configs.PlanFacts) cty.Value {
	v, err := gocty.ToCtyValue(facts, planType)
	if err == nil {
		v, err = cty.Transform(v, func(_ cty.Path, v cty.Value) (cty.Value, error) {
			if v.IsNull() && v.Type().IsListType() {
				return cty.ListValEmpty(v.Type().ElementType()), nil
			}
			return v, nil
		})
	}
	if err != nil {
		panic(err) // the facts have the type
	}
	return v
}
