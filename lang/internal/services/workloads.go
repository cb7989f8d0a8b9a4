package services

import (
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/blocks"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/pods"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema"
)

// image returns the full name of an image. The service is stronger than the cloud.
func image(in *instance, name string) string {
	in.used[name] = true
	if full, ok := in.images[name]; ok {
		return full
	}
	return blocks.Image(in.set.Config.Cloud.Images, name)
}

// allReplicas returns the replicas of each workload.
func allReplicas(in *instance) map[string]int {
	out := map[string]int{}
	in.capped = nil
	setReplicasForAll(in)
	for _, b := range in.definition.All("workload") {
		out[b.Label] = replicasOf(in, b)
	}
	return out
}

// setReplicasForAll reads the replicas that the service wants for all workloads.
func setReplicasForAll(in *instance) {
	if eval.IsSet(in.user, in.block, "replicas") {
		if n := eval.Number(in.user, in.block, "replicas"); !mark.IsDeferred(in.user.Value(in.block.Attributes["replicas"].Expr)) {
			in.forAll = &n
		}
	}
}

// replicasValue returns the replicas of a workload, as expressions read them.
func replicasValue(in *instance, workload *source.Block) cty.Value {
	for _, said := range []struct {
		e *eval.Env
		b *source.Block
	}{{in.inner, workload}, {in.user, in.block}} {
		if !eval.AllKnown(said.e, said.b, "replicas") {
			return cty.UnknownVal(cty.Number).WithMarks(eval.Awaited(said.e, said.b, "replicas"))
		}
	}
	return cty.NumberIntVal(int64(in.replicas[workload.Label]))
}

// replicasOf returns the replicas of a workload: its block in the service says them, or else the
// argument of the service up to the limit of the workload, or else the definition. A DaemonSet
// has 0.
func replicasOf(in *instance, b *source.Block) int {
	n := eval.Number(in.inner, b, "replicas")
	said := eval.EnvOf(in.inner, b, "replicas") == in.user && eval.IsSet(in.inner, b, "replicas")
	if eval.String(in.inner, b, "kind") == "DaemonSet" {
		if (said || in.forAll == nil) && b.Attributes["replicas"] != nil {
			eval.Unsuitable(in.inner, b, "replicas", "A DaemonSet has one pod on each node of its role. Choose the nodes instead.")
		}
		return 0
	}
	maxReplicas := eval.Number(in.inner, b, "max_replicas")
	if in.forAll != nil && !said {
		if maxReplicas > 0 && *in.forAll > maxReplicas {
			in.capped = append(in.capped, fmt.Sprintf("%s runs %d", b.Label, maxReplicas))
			return maxReplicas
		}
		return *in.forAll
	}
	if maxReplicas > 0 && n > maxReplicas {
		eval.Unsuitable(in.inner, b, "replicas", "Definition %q runs at most %d of workload %q: more would not work together.", in.out.Definition, maxReplicas, b.Label)
	}
	return n
}

// podsOf returns the part of the service that the evaluation of its pods reads.
func podsOf(in *instance) *pods.Service {
	return &pods.Service{
		Out: &in.out, Label: in.block.LabelRange, Env: in.inner, Definition: in.definition, Whole: in.whole,
		Absent: in.absent, Leaves: in.set.Leaves,
		Image: func(name string) string { return image(in, name) },
		Host:  func(name string) cty.Value { return hostNamed(in, name) },
	}
}

// workload evaluates a workload with its lifecycle.
func workload(in *instance, b *source.Block) configs.Workload {
	w := pods.Workload(podsOf(in), b)
	w.Replicas = in.replicas[b.Label]
	base := b
	if b.Top != nil {
		base = b.Base
	}
	w.Lifecycle = blocks.Lifecycle(blocks.Layered{Block: base, Eval: in.inner}, blocks.Layered{Block: in.block, Eval: in.user}, blocks.Layered{Block: b.Top, Eval: in.user})
	w.Lifecycle.ReplaceTriggeredBy = in.set.Moves.Triggers(in.frame, in.user, in.block, b.Top)
	eval.Preconditions(in.inner, base)
	eval.Preconditions(in.user, b.Top)
	return w
}

// setLabelsAndAnnotations evaluates the labels and annotations for all objects of the service.
func setLabelsAndAnnotations(in *instance) {
	if d := in.set.defaults(); d != nil {
		eval.String(in.cloud, d, "storage_class") // wrong, too, where no service has a volume
		in.out.Labels, in.out.Annotations = eval.Strings(in.cloud, d, "labels"), eval.Strings(in.cloud, d, "annotations")
		blocks.CheckMarks(in.report, d, "labels", in.out.Labels)
		blocks.CheckMarks(in.report, d, "annotations", in.out.Annotations)
	}
	in.out.Labels, in.out.Annotations = blocks.Marks(in.user, in.block, "labels", in.out.Labels), blocks.Marks(in.user, in.block, "annotations", in.out.Annotations)
}

// addPatches evaluates the patches for objects of the service, the weakest first: definition,
// cloud, service.
func addPatches(in *instance) {
	var above []configs.Patch
	for _, b := range in.definition.All(schema.PatchType.Name) {
		for _, x := range eval.Layers(b, "object") {
			if x.Layer == configs.LayerService {
				above = blocks.AddPatch(above, in.user, b.Top, x)
			} else {
				in.out.Patches = blocks.AddPatch(in.out.Patches, in.inner, firstBlock(b.Base, b), x)
			}
		}
	}
	for _, b := range in.set.inDefaults(schema.PatchType.Name) {
		if attr := b.Attributes["object"]; attr != nil && eval.Bool(in.cloud, b, schema.EnabledAttribute.Name) {
			in.out.Patches = blocks.AddPatch(in.out.Patches, in.cloud, b, &eval.LayerExpr{Expression: attr.Expr, Layer: configs.LayerCloud})
		}
	}
	in.out.Patches = append(in.out.Patches, above...)
}

// firstBlock returns the first block that is not nil.
func firstBlock(blocks ...*source.Block) *source.Block {
	return blocks[slices.IndexFunc(blocks, func(b *source.Block) bool { return b != nil })]
}
