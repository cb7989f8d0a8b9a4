package services

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/blocks"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/layers"
	"kolla.openstack.org/kolla/lang/internal/pods"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema"
)

// image returns the full name of an image. The service is stronger than the cloud.
func image(c *Set, replaced map[string]string, name string) string {
	c.images[name] = true
	if full, ok := replaced[name]; ok {
		return full
	}
	return blocks.Image(c.Config.Cloud.Images, name)
}

// releaseOf returns the OpenStack release of an image by its full name: that of its tag, else that of the cloud.
func releaseOf(c *Set, image string) cty.Value {
	if release := c.Config.Cloud.TaggedRelease(image); release != "" {
		return cty.StringVal(release)
	}
	return c.Graph.Global.Singles["cloud"].GetAttr("release")
}

// podsOf returns the part of the service that the evaluation of its pods reads.
func podsOf(u *use, e *eval.Env, definition *source.Block, ports []configs.Port, files []configs.ConfigFile, absent map[string]bool, images map[string]string) *pods.Service {
	return &pods.Service{
		Name: u.name, Ports: ports, Configs: files, Absent: absent,
		Label: u.block.LabelRange, Env: e, Definition: definition, Whole: u.over.whole, Leaves: u.set.Leaves,
		Image:     func(name string) string { return image(u.set, images, name) },
		ReleaseOf: func(image string) cty.Value { return releaseOf(u.set, image) },
		Host:      func(name string) cty.Value { return hostNamed(u.set, e, name) },
	}
}

// evaluatePods evaluates the jobs and workloads. It also returns the names of their images.
func evaluatePods(u *use, in pods.Service, n replicas) (jobs []configs.Job, workloads []configs.Workload, images map[string]bool) {
	images = map[string]bool{}
	full := in.Image
	in.Image = func(name string) string {
		images[name] = true
		return full(name)
	}
	for _, b := range in.Definition.All("job") {
		jobs = append(jobs, pods.Job(&in, b, in.Env))
	}
	for _, b := range in.Definition.All("workload") {
		workloads = append(workloads, workload(u, &in, b, n))
	}
	pods.CheckAfter(in.Env.Report, in.Definition, workloads)
	return jobs, workloads, images
}

// workload evaluates a workload with its lifecycle.
func workload(u *use, in *pods.Service, b *source.Block, n replicas) configs.Workload {
	e, user := in.Env, in.Env.OfService
	w := pods.Workload(in, b)
	checkFollowed(u, b, w.Follows)
	w.Replicas = n.of[b.Label]
	pods.CheckExisting(in, b, w)
	base := b
	if b.Top != nil {
		base = b.Base
	}
	w.Lifecycle = blocks.Lifecycle(blocks.Layered{Block: base, Eval: e}, blocks.Layered{Block: u.block, Eval: user}, blocks.Layered{Block: b.Top, Eval: user})
	w.Lifecycle.ReplaceTriggeredBy = u.set.Moves.Triggers(u.frame, user, u.block, b.Top)
	eval.Preconditions(e, base)
	eval.Preconditions(user, b.Top)
	return w
}

// checkFollowed reports names of definitions that nobody declared.
func checkFollowed(u *use, b *source.Block, names []string) {
	known := slices.Concat(u.set.Root.Labels("definition"), u.set.Catalogue.Labels("definition"))
	for _, name := range names {
		if !slices.Contains(known, name) {
			u.set.Report.Undeclared(b.AttributeRange("follows"), "definition", name, known)
		}
	}
}

// labelsAndAnnotations evaluates the labels and annotations for all objects of the service.
func labelsAndAnnotations(u *use, e *eval.Env) (labels, annotations map[string]string) {
	if d := u.set.defaults(); d != nil {
		eval.String(e.OfCloud, d, "storage_class") // wrong, too, where no service has a volume
		labels, annotations = eval.Strings(e.OfCloud, d, "labels"), eval.Strings(e.OfCloud, d, "annotations")
		blocks.CheckMarks(e.Report, d, "labels", labels)
		blocks.CheckMarks(e.Report, d, "annotations", annotations)
	}
	return blocks.Marks(e.OfService, u.block, "labels", labels), blocks.Marks(e.OfService, u.block, "annotations", annotations)
}

// patches evaluates the patches for objects of the service, the weakest first: definition, cloud,
// service.
func patches(c *Set, e *eval.Env, definition *source.Block) []configs.Patch {
	var out, above []configs.Patch
	for _, b := range definition.All(schema.PatchType.Name) {
		for _, x := range layers.Of(b, "object") {
			if x.Layer == configs.LayerService {
				above = blocks.AddPatch(above, e.OfService, b.Top, x)
			} else {
				out = blocks.AddPatch(out, e, cmp.Or(b.Base, b), x)
			}
		}
	}
	for _, b := range c.inDefaults(schema.PatchType.Name) {
		if attr := b.Attributes["object"]; attr != nil && eval.Bool(e.OfCloud, b, schema.EnabledAttribute.Name) {
			out = blocks.AddPatch(out, e.OfCloud, b, &layers.LayerExpr{Expression: attr.Expr, Layer: configs.LayerCloud})
		}
	}
	return append(out, above...)
}

// replicas are the replicas of the workloads.
type replicas struct {
	of     map[string]int // by workload
	forAll *int           // of all workloads, if the service says so
	capped []string       // workloads with fewer replicas than the service says
}

// allReplicas returns the replicas of each workload.
func allReplicas(u *use, e *eval.Env, definition *source.Block) replicas {
	out := replicas{forAll: replicasForAll(u, e), of: map[string]int{}}
	for _, b := range definition.All("workload") {
		n, capped := replicasOf(u, e, b, out.forAll)
		if out.of[b.Label] = n; capped {
			out.capped = append(out.capped, fmt.Sprintf("%s runs %d", b.Label, n))
		}
	}
	return out
}

// replicasForAll returns the replicas that the service wants for all workloads, or nil.
func replicasForAll(u *use, e *eval.Env) *int {
	if !eval.IsSet(e.OfService, u.block, "replicas") {
		return nil
	}
	n := eval.Number(e.OfService, u.block, "replicas")
	if mark.IsDeferred(e.OfService.Value(u.block.Attributes["replicas"].Expr)) {
		return nil
	}
	return &n
}

// replicasValue returns the replicas of a workload, as expressions read them.
func replicasValue(u *use, e *eval.Env, workload *source.Block, n replicas) cty.Value {
	for _, l := range []blocks.Layered{{Block: workload, Eval: e}, {Block: u.block, Eval: e.OfService}} {
		if !eval.AllKnown(l.Eval, l.Block, "replicas") {
			return cty.UnknownVal(cty.Number).WithMarks(eval.Awaited(l.Eval, l.Block, "replicas"))
		}
	}
	return cty.NumberIntVal(int64(n.of[workload.Label]))
}

// replicasOf returns the replicas of a workload: its block in the service says them, or else the
// argument of the service up to the limit of the workload, or else the definition. A DaemonSet
// has 0. Capped: the limit counts.
func replicasOf(u *use, e *eval.Env, b *source.Block, forAll *int) (n int, capped bool) {
	n = eval.Number(e, b, "replicas")
	said := eval.EnvOf(e, b, "replicas") == e.OfService && eval.IsSet(e, b, "replicas")
	if eval.String(e, b, "kind") == "DaemonSet" {
		if (said || forAll == nil) && b.Attributes["replicas"] != nil {
			eval.Unsuitable(e, b, "replicas", "A DaemonSet has one pod on each node of its role. Choose the nodes instead.")
		}
		return 0, false
	}
	maxReplicas := eval.Number(e, b, "max_replicas")
	switch {
	case forAll != nil && !said && maxReplicas > 0 && *forAll > maxReplicas:
		return maxReplicas, true
	case forAll != nil && !said:
		return *forAll, false
	case maxReplicas > 0 && n > maxReplicas:
		eval.Unsuitable(e, b, "replicas", "Definition %q runs at most %d of workload %q: more would not work together.", u.decl.written.Label, maxReplicas, b.Label)
	}
	return n, false
}
