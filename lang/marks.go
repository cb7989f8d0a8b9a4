package lang

import (
	"maps"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
)

// Labels and annotations that the configuration gives objects and pods, besides kolla's own.

// podMarks reads the labels and annotations of pods.
func (in *instance) podMarks(b *source.Block, e *evaluator, p *configs.Pod) {
	if b.Type.Attribute("labels") == nil {
		return
	}
	p.Labels, p.Annotations = e.strings(b, "labels"), e.strings(b, "annotations")
	in.checkMarks(b, "labels", p.Labels)
	in.checkMarks(b, "annotations", p.Annotations)
}

// objectMarks puts what the service says over the labels or annotations of the cloud.
func (in *instance) objectMarks(attribute string, cloud map[string]string) map[string]string {
	if !in.user.given(in.block, attribute) {
		return cloud
	}
	out := maps.Clone(cloud)
	if out == nil {
		out = map[string]string{}
	}
	own := in.user.strings(in.block, attribute)
	in.checkMarks(in.block, attribute, own)
	maps.Copy(out, own)
	if v := in.user.value(in.block.Attributes[attribute].Expr); v.IsKnown() && values.IsMap(v) {
		for _, m := range mark.Members(v) {
			if m.Value.IsNull() {
				delete(out, m.Key)
			}
		}
	}
	return out
}
