package services

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// CheckDefinitions evaluates the checks in the definitions of the services that kolla deploys,
// after the evaluation of all services.
func (c *Set) CheckDefinitions() {
	cloud := c.Graph.Global.Singles["cloud"]
	if !cloud.IsKnown() {
		return
	}
	values := cloud.AsValueMap()
	values["outputs"] = outputsByDefinition(c)
	cloud = cty.ObjectVal(values)
	for _, s := range c.inOrder() {
		checks := s.pods.Definition.All(schema.OwnCheckType.Name)
		if s.out.External || len(checks) == 0 {
			continue
		}
		e := withLocals(s.pods.Env.With("cloud", cloud), s.use.locals)
		for _, b := range checks {
			for _, assert := range eval.Expanded(e, b).All("assert") {
				if ok, message := eval.Condition(e, assert); !ok {
					eval.UnmetCondition(e, hcl.DiagWarning, assertionRange(s.use.block, assert), assert,
						fmt.Sprintf("Check %q of definition %q does not hold", b.Label, s.out.Definition), message)
				}
			}
		}
	}
}

// outputsByDefinition returns the value of cloud.outputs. Definitions without services have an
// empty list. The value is unknown while it depends on unknown values which services there are.
func outputsByDefinition(c *Set) cty.Value {
	if len(c.Constant.Decisions.Open) > 0 {
		return cty.DynamicVal
	}
	lists := map[string][]cty.Value{}
	for _, name := range c.Catalogue.Labels("definition") {
		lists[name] = nil
	}
	for _, m := range c.Graph.Modules() {
		for _, name := range m.Written.Document.Labels("definition") {
			lists[name] = nil
		}
	}
	for _, s := range c.inOrder() {
		lists[s.out.Definition] = append(lists[s.out.Definition], cty.ObjectVal(s.out.Outputs))
	}
	out := map[string]cty.Value{}
	for name, services := range lists {
		out[name] = cty.TupleVal(services)
	}
	return cty.ObjectVal(out)
}

// assertionRange returns the place of the first input in the condition that the service sets, or
// the header of the service.
func assertionRange(service, assert *source.Block) hcl.Range {
	for _, t := range assert.Attributes["condition"].Expr.Variables() {
		if name, ok := addrs.NameOf(t); ok && t.RootName() == "input" && service.Attributes[name] != nil {
			return inputRange(service, name)
		}
	}
	return service.Header
}
