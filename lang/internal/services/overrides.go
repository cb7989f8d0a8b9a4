package services

import (
	"fmt"
	"maps"
	"slices"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/check"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// checkOverrides reports overrides that have no effect because the definition lacks their target.
// It runs after the evaluation of the service.
func checkOverrides(in *instance) {
	check.Labels(in.report, in.user.Memo, checked(in), in.strays)
	checkReplicas(in)
	for _, name := range slices.Sorted(maps.Keys(in.images)) {
		if !in.used[name] && knowsImages(in) {
			in.report.Error(in.block.AttributeRange("images"), fmt.Sprintf("There is no image %q", name), "%s",
				words.WithHint(words.DidYouMean(name, slices.Sorted(maps.Keys(in.used))), fmt.Sprintf("Service %q runs: %s.", in.out.Name, words.Sorted(slices.Sorted(maps.Keys(in.used))))))
		}
	}
	if in.out.Exposure != "" && !slices.ContainsFunc(in.out.Ports, func(p configs.Port) bool { return p.Exposed }) && knowsExposedPorts(in) {
		in.report.Warn(in.block.AttributeRange("expose"), "Exposure without effect",
			"Definition %q has no port that is meant to be reached from outside (expose = true in its port block), so that nothing of service %q is.", in.out.Definition, in.out.Name)
	}
	for _, p := range in.out.Ports {
		if override := in.block.One("port", p.Name); override != nil && override.Attributes["node_port"] != nil && (!wantsExposure(in) || !p.Exposed) && knowsExposedPorts(in) {
			in.report.Warn(override.Header, "Node port without effect", "Port %q is not reachable from outside: %s.", p.Name, whyInside(p))
		}
	}
}

// checkReplicas reports replicas in the service block that no workload can have.
func checkReplicas(in *instance) {
	if in.forAll == nil || !in.definition.Complete() {
		return
	}
	countable := slices.DeleteFunc(slices.Clone(in.out.Workloads), func(w configs.Workload) bool { return w.Kind == "DaemonSet" })
	switch {
	case len(countable) == 0:
		eval.Unsuitable(in.user, in.block, "replicas", "Definition %q has nothing that replicas could be counted of: a DaemonSet has one pod on each node of its role.", in.out.Definition)
	case len(in.capped) == len(countable):
		in.report.Warn(in.block.AttributeRange("replicas"), "Fewer pods than asked for", "No workload of definition %q supports that many replicas: %s.", in.out.Definition, words.Sorted(in.capped))
	}
}

// knowsExposedPorts reports whether it is known which ports are exposed.
func knowsExposedPorts(in *instance) bool {
	return in.definition.Complete() && !slices.ContainsFunc(in.definition.All("port"), func(b *source.Block) bool {
		return !eval.AllKnown(in.inner, b, "expose")
	})
}

// knowsImages reports whether it is known which images the definition names.
func knowsImages(in *instance) bool {
	pods := slices.Concat(in.definition.All("workload"), in.definition.All("job"))
	for _, b := range in.definition.All("workload") {
		pods = append(pods, slices.Concat(b.All("init"), b.All("sidecar"))...)
	}
	return in.definition.Complete() && !slices.ContainsFunc(pods, func(b *source.Block) bool { return !eval.AllKnown(in.inner, b, "image") })
}

// whyInside says why a port is not reachable from outside.
func whyInside(p configs.Port) string {
	if !p.Exposed {
		return "the definition does not mean it to be"
	}
	return "the service has no exposure (expose = exposure.NAME)"
}
