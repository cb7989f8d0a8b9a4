package services

import (
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/blocks"
	"kolla.openstack.org/kolla/lang/internal/check"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/graph"
	"kolla.openstack.org/kolla/lang/internal/pods"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
)

// evaluate evaluates one instance of a service block. It returns the value that expressions read
// as service.NAME.
func evaluate(d *declaration, files merged, f *graph.Frame, it eval.Instance) cty.Value {
	u, e, files, ok := prepare(d, files, f, it)
	if !ok {
		return cty.DynamicVal
	}
	out := configs.Service{
		Block: u.address, Name: u.name, Definition: d.written.Label, DefinedAt: d.written.Header, External: u.external,
		Lifecycle: blocks.Lifecycle(blocks.Layered{Block: u.block, Eval: e.OfService}), Range: d.node.Block.Header,
	}
	stages := deploy
	if u.external {
		stages = adopt
	}
	out, made, value := stages(u, e, files, out)
	if open := made.Definition.Incomplete; open != cty.NilVal {
		value = cty.DynamicVal.WithMarks(values.Deferrals(open))
	}
	eval.Preconditions(made.Env.OfService, u.block)
	out.Reasons = d.node.Reasons(f)
	out.Needs = graph.NeedsOf(out.Reasons)
	out.Undecided = e.Decisions.Open[d.node.ID]
	s := &service{u, out, made}
	check.Labels(e.Report, e.Memo, checked(s, &s.out), u.over.strays)
	d.set.services = append(d.set.services, s)
	d.set.byAddress[u.address] = s
	return value
}

// deploy runs the stages of a service that kolla deploys. out has what is known before them. It
// returns the service, what the evaluation of pods reads of it, and its value.
func deploy(u *use, e *eval.Env, values merged, out configs.Service) (configs.Service, *pods.Service, cty.Value) {
	definition := u.over.whole
	if eval.DeploysNothing(definition) {
		e.Report.Error(u.block.Header, fmt.Sprintf("Nothing to deploy for service %q", u.block.Label),
			"Definition %q has no workload: it describes what is there already. Say where:\n\n  external = { host = \"...\" }", out.Definition)
		return out, podsOf(u, withSelf(u, e, cty.DynamicVal), definition, nil, nil, nil, nil), cty.DynamicVal
	}
	out.Stage = eval.Literal(u.set.Constant, definition, "stage")
	out.Role, e = evaluateRole(u, e)
	out.Lifecycle.ReplaceTriggeredBy = u.set.Moves.Triggers(u.frame, e.OfService, u.block)
	images := eval.Strings(e.OfService, u.block, "images")
	out.ImagesRange = u.block.AttributeRange("images")
	e = takeInputs(u, e)
	definition, first, e := enablePorts(u, e, out.Role)
	out.Ports, e = evaluatePorts(u, e, definition)
	out.Exposure, e = evaluateExposure(u, e, out.Role, out.Ports)
	a := access{out.Role, out.Exposure, out.Ports}
	definition, e = enableBlocks(u, e, definition, a, first)
	n := allReplicas(u, e, definition)
	e = withSelf(u, e, selfValue(u, e, definition, a, n))
	out.Secrets, e = evaluateSecrets(u, e, definition)
	out.Databases, e = evaluateDatabases(u, e, definition)
	out.Endpoints, e = evaluateEndpoints(u, e, definition, a)
	out.Provided, e = evaluateProvided(u, e, definition, out.Endpoints)
	var value cty.Value
	value, out.Outputs = outputs(e, definition)
	e = withSelf(u, e, value)

	files, absent := makeConfigFiles(u, e, definition, values)
	out.Configs = files
	in := podsOf(u, e, definition, out.Ports, files, absent, images)
	var used map[string]bool
	out.Jobs, out.Workloads, used = evaluatePods(u, *in, n)
	out.NetworkPolicy = u.set.Config.Cloud.NetworkPolicy
	if eval.IsSet(e.OfService, u.block, "network_policy") {
		out.NetworkPolicy = eval.Bool(e.OfService, u.block, "network_policy")
	}
	for _, b := range definition.All("allow") {
		out.Allows = append(out.Allows, pods.Allow(in, e, b))
	}
	out.Labels, out.Annotations = labelsAndAnnotations(u, e)
	out.Patches = patches(u.set, e, definition)
	checkImages(u, e, definition, images, used)
	checkAccess(u, e, definition, a)
	checkReplicas(u, e, definition, n, out.Workloads)
	return out, in, value
}

// outputs evaluates the outputs of the definition, and returns the value of the service with
// them.
func outputs(e *eval.Env, definition *source.Block) (self cty.Value, out map[string]cty.Value) {
	base := e.Scope.Singles["self"].AsValueMap()
	names := slices.Sorted(maps.Keys(base))
	out = map[string]cty.Value{}
	for _, b := range definition.All("output") {
		if slices.Contains(names, b.Label) {
			e.Report.Error(b.LabelRange, "Unsuitable name", "Every service has an attribute %q already.", b.Label)
			continue
		}
		v := cty.DynamicVal
		if attr := b.Attributes["value"]; attr != nil {
			v = e.Value(attr.Expr)
		}
		out[b.Label], base[b.Label] = v, v
	}
	return cty.ObjectVal(base), out
}
