package services

import (
	"fmt"
	"maps"
	"slices"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// checkImages reports images in the service block that the definition does not run.
func checkImages(u *use, e *eval.Env, definition *source.Block, images map[string]string, used map[string]bool) {
	for _, name := range slices.Sorted(maps.Keys(images)) {
		if !used[name] && knowsImages(e, definition) {
			e.Report.Error(u.block.AttributeRange("images"), fmt.Sprintf("There is no image %q", name), "%s",
				words.WithHint(words.DidYouMean(name, slices.Sorted(maps.Keys(used))), fmt.Sprintf("Service %q runs: %s.", u.name, words.Sorted(slices.Sorted(maps.Keys(used))))))
		}
	}
}

// checkAccess reports an exposure and node ports that have no effect.
func checkAccess(u *use, e *eval.Env, definition *source.Block, a access) {
	if slices.ContainsFunc(definition.All("port"), func(b *source.Block) bool { return !eval.AllKnown(e, b, "expose") }) || !definition.Complete() {
		return
	}
	if a.exposure != "" && !slices.ContainsFunc(a.ports, isExposed) {
		e.Report.Warn(u.block.AttributeRange("expose"), "Exposure without effect",
			"Definition %q has no port that is meant to be reached from outside (expose = true in its port block), so that nothing of service %q is.", u.decl.written.Label, u.name)
	}
	by := placeOf(u, e, "expose", a.ports)
	exposed := eval.IsSet(by.Eval, by.Block, "expose") // an exposure with an error too
	exposure := u.set.Config.Exposure(a.exposure)
	for _, p := range a.ports {
		override := u.block.One("port", p.Name)
		if override != nil && override.Attributes["public"] != nil && exposure != nil && exposure.Domain != "" {
			e.Report.Warn(override.Header, "Public port without effect", "Clients find port %q by a host name: exposure %q has the mode %q.", p.Name, exposure.Name, exposure.Mode)
		}
		if override == nil || override.Attributes["node_port"] == nil {
			continue
		}
		why := ""
		switch {
		case !p.Exposed:
			why = "is not reachable from outside: the definition does not mean it to be"
		case !exposed:
			why = "is not reachable from outside: the service has no exposure (expose = exposure.NAME)"
		case exposure != nil && exposure.Mode != configs.ModeNodePort:
			why = fmt.Sprintf("has no port on the nodes: exposure %q has the mode %q", exposure.Name, exposure.Mode)
		}
		if why != "" {
			e.Report.Warn(override.Header, "Node port without effect", "Port %q %s.", p.Name, why)
		}
	}
}

// checkReplicas reports replicas in the service block that no workload can have.
func checkReplicas(u *use, e *eval.Env, definition *source.Block, n replicas, workloads []configs.Workload) {
	if n.forAll == nil || !definition.Complete() {
		return
	}
	countable := slices.DeleteFunc(slices.Clone(workloads), func(w configs.Workload) bool { return w.Kind == "DaemonSet" })
	switch {
	case len(countable) == 0:
		eval.Unsuitable(e.OfService, u.block, "replicas", "Definition %q has nothing that replicas could be counted of: a DaemonSet has one pod on each node of its role.", u.decl.written.Label)
	case len(n.capped) == len(countable):
		e.Report.Warn(u.block.AttributeRange("replicas"), "Fewer pods than asked for", "No workload of definition %q supports that many replicas: %s.", u.decl.written.Label, words.Sorted(n.capped))
	}
}

// knowsImages reports whether it is known which images the definition names.
func knowsImages(e *eval.Env, definition *source.Block) bool {
	pods := slices.Concat(definition.All("workload"), definition.All("job"))
	for _, b := range definition.All("workload") {
		pods = append(pods, slices.Concat(b.All("init"), b.All("sidecar"))...)
	}
	return definition.Complete() && !slices.ContainsFunc(pods, func(b *source.Block) bool { return !eval.AllKnown(e, b, "image") })
}
