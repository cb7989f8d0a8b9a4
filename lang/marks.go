package lang

import (
	"maps"

	"kolla.openstack.org/kolla/lang/mark"
)

// Labels and annotations that the configuration gives objects and pods, besides kolla's own.

// podMarks are for what has pods.
var podMarks = []Attribute{
	{Name: "labels", Type: TypeMap, Form: formLabelValue, Doc: "Labels of the pods, besides kolla's own."},
	{Name: "annotations", Type: TypeMap, Doc: "Annotations of the pods, besides kolla's own."},
}

// objectMarks are for a service.
var objectMarks = []Attribute{
	{Name: "labels", Type: TypeMap, Form: formLabelValue, Doc: "Labels of all its objects, besides kolla's own and over those of the cloud's defaults; null takes one of these away. Pods have those of their workload or job."},
	{Name: "annotations", Type: TypeMap, Doc: "Annotations of all its objects, likewise."},
}

// podMarks reads the labels and annotations of pods.
func (in *instance) podMarks(b *block, e *evaluator, p *Pod) {
	if b.typ.attribute("labels") == nil {
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
	if v := in.user.value(in.block.attributes[attribute].Expr); v.IsKnown() && isMap(v) {
		for _, m := range mark.Members(v) {
			if m.Value.IsNull() {
				delete(out, m.Key)
			}
		}
	}
	return out
}
