package services

import (
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/internal/blocks"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/graph"
	"kolla.openstack.org/kolla/lang/internal/pods"
	"kolla.openstack.org/kolla/lang/internal/values"
)

// evaluate evaluates one instance of a service block. It returns the value that expressions read
// as service.NAME.
func evaluate(in *instance, it eval.Instance) cty.Value {
	s := &in.out
	s.Block = in.node.Address(in.frame, it)
	if s.Name = it.Name(in.user, in.block); s.Name == "" || !in.set.Claims.Take(in.report, "service", s.Name, s.Block, in.block.Header) {
		return cty.DynamicVal
	}
	if in.set.Directory != nil && s.Name != in.block.Label {
		in.merged = layers(in).Merge() // the config directory may have files for the name
	}
	s.Lifecycle = blocks.Lifecycle(blocks.Layered{Block: in.block, Eval: in.user})
	var object cty.Value
	if isExternal(in) {
		object = evaluateExternal(in)
	} else {
		object = evaluateDeployed(in)
	}
	if !in.definition.Complete() {
		object = cty.DynamicVal.WithMarks(values.Deferrals(in.definition.Incomplete))
	}
	checkOverrides(in)
	eval.Preconditions(in.user, in.block)
	s.Reasons = in.node.Reasons(in.frame)
	s.Needs = graph.NeedsOf(s.Reasons)
	s.Undecided = in.user.Decisions.Open[in.node.ID]
	in.merged = nil // they are large, and were all read
	in.set.services = append(in.set.services, in)
	in.set.byAddress[s.Block] = in
	return object
}

// evaluateDeployed runs the stages of a service that kolla deploys.
func evaluateDeployed(in *instance) cty.Value {
	s := &in.out
	if eval.DeploysNothing(in.definition) {
		in.report.Error(in.block.Header, fmt.Sprintf("Nothing to deploy for service %q", in.block.Label),
			"Definition %q has no workload: it describes what is there already. Say where:\n\n  external = { host = \"...\" }", s.Definition)
		setSelf(in, cty.DynamicVal)
		return cty.DynamicVal
	}
	setRole(in)
	s.Lifecycle.ReplaceTriggeredBy = in.set.Moves.Triggers(in.frame, in.user, in.block)
	in.images, s.ImagesRange = eval.Strings(in.user, in.block, "images"), in.block.AttributeRange("images")
	takeInputs(in)
	declareLocals(in)
	enablePorts(in)
	evaluatePorts(in)
	setExposure(in)
	enableBlocks(in)
	in.replicas = allReplicas(in)
	setSelf(in, selfValue(in))
	evaluateSecrets(in)
	evaluateDatabases(in)
	evaluateProvided(in)
	object := outputs(in)
	setSelf(in, object)
	makeConfigFiles(in)
	for _, b := range in.definition.All("job") {
		s.Jobs = append(s.Jobs, pods.Job(podsOf(in), b, in.inner))
	}
	for _, b := range in.definition.All("workload") {
		s.Workloads = append(s.Workloads, workload(in, b))
	}
	pods.CheckAfter(in.report, in.definition, in.out.Workloads)
	evaluateNetwork(in)
	setLabelsAndAnnotations(in)
	addPatches(in)
	return object
}

// setSelf sets the value that expressions in the service read as self.
func setSelf(in *instance, self cty.Value) {
	for _, e := range []*eval.Env{in.user, in.cloud, in.inner} {
		e.Scope.Singles["self"] = self
	}
	declareLocals(in)
}

// outputs evaluates the outputs of the definition, and returns the value of the service with
// them.
func outputs(in *instance) cty.Value {
	base := in.inner.Scope.Singles["self"].AsValueMap()
	names := slices.Sorted(maps.Keys(base))
	in.out.Outputs = map[string]cty.Value{}
	for _, b := range in.definition.All("output") {
		if slices.Contains(names, b.Label) {
			in.report.Error(b.LabelRange, "Unsuitable name", "Every service has an attribute %q already.", b.Label)
			continue
		}
		v := cty.DynamicVal
		if attr := b.Attributes["value"]; attr != nil {
			v = in.inner.Value(attr.Expr)
		}
		in.out.Outputs[b.Label], base[b.Label] = v, v
	}
	return cty.ObjectVal(base)
}

// evaluateNetwork evaluates which clients may connect to the pods of the service.
func evaluateNetwork(in *instance) {
	s := &in.out
	s.NetworkPolicy = in.set.Config.Cloud.NetworkPolicy
	if eval.IsSet(in.user, in.block, "network_policy") {
		s.NetworkPolicy = eval.Bool(in.user, in.block, "network_policy")
	}
	for _, b := range in.definition.All("allow") {
		s.Allows = append(s.Allows, pods.Allow(podsOf(in), in.inner, b))
	}
}
