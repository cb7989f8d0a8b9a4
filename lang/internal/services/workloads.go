package services

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/blocks"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/pods"
	"kolla.openstack.org/kolla/lang/internal/source"
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

// podsOf returns the part of the service that the evaluation of its pods reads.
func podsOf(u *use, e *eval.Env, definition *source.Block, ports []configs.Port, files []configs.ConfigFile, absent map[string]bool, images map[string]string) *pods.Service {
	return &pods.Service{
		Name: u.name, Ports: ports, Configs: files, Absent: absent,
		Label: u.block.LabelRange, Env: e, Definition: definition, Whole: u.over.whole, Leaves: u.set.Leaves,
		Image: func(name string) string { return image(u.set, images, name) },
		Host:  func(name string) cty.Value { return hostNamed(u.set, e, name) },
	}
}

// workload evaluates a workload with its lifecycle.
func workload(u *use, in *pods.Service, b *source.Block, n replicas) configs.Workload {
	e, user := in.Env, in.Env.OfService
	w := pods.Workload(in, b)
	w.Replicas = n.of[b.Label]
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
		for _, x := range eval.Layers(b, "object") {
			if x.Layer == configs.LayerService {
				above = blocks.AddPatch(above, e.OfService, b.Top, x)
			} else {
				out = blocks.AddPatch(out, e, firstBlock(b.Base, b), x)
			}
		}
	}
	for _, b := range c.inDefaults(schema.PatchType.Name) {
		if attr := b.Attributes["object"]; attr != nil && eval.Bool(e.OfCloud, b, schema.EnabledAttribute.Name) {
			out = blocks.AddPatch(out, e.OfCloud, b, &eval.LayerExpr{Expression: attr.Expr, Layer: configs.LayerCloud})
		}
	}
	return append(out, above...)
}

// firstBlock returns the first block that is not nil.
func firstBlock(blocks ...*source.Block) *source.Block {
	return blocks[slices.IndexFunc(blocks, func(b *source.Block) bool { return b != nil })]
}
