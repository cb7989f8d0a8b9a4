package lang

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/schema"
)

// defaulted is a definition with the cloud's defaults for workloads over it.
func (in *instance) defaulted(definition *block) *block {
	d := in.defaultsBlock()
	if d == nil || d.one("workload", "") == nil && d.attributes["storage_class"] == nil {
		return definition
	}
	return replaced(definition, func(b *block) *block {
		if b.typ != schema.WorkloadType {
			return b
		}
		if w := d.one("workload", ""); w != nil {
			b = defaultedBlock(b, w)
		}
		class := d.attributes["storage_class"]
		if class == nil {
			return b
		}
		return replaced(b, func(b *block) *block {
			if b.typ.Name != "claim" {
				return b
			}
			out := *b
			out.attributes = maps.Clone(b.attributes)
			overAttributes(&out, &block{attributes: map[string]*hclsyntax.Attribute{"storage_class": class}}, layerCloud)
			return &out
		})
	})
}

// replaced is a block with others in place of the blocks in it.
func replaced(b *block, by func(*block) *block) *block {
	out := b.withoutBlocks()
	for _, child := range b.blocks {
		out.add(by(child))
	}
	return out
}

// defaultedBlock is a block with what the cloud says over it, and the blocks in it likewise. It
// stays the definition's.
func defaultedBlock(base, top *block) *block {
	out := replaced(base, func(b *block) *block {
		if above := top.one(b.typ.Name, b.label); above != nil {
			return defaultedBlock(b, above)
		}
		return b
	})
	out.attributes = maps.Clone(base.attributes)
	if out.attributes == nil {
		out.attributes = map[string]*hclsyntax.Attribute{}
	}
	overAttributes(out, top, layerCloud)
	for _, child := range top.blocks {
		if base.one(child.typ.Name, child.label) == nil {
			out.add(rewritten(child, func(expr hclsyntax.Expression) hclsyntax.Expression { return &said{expr, layerCloud} }))
		}
	}
	return out
}

// marks are the labels and annotations that the cloud and the service have for all objects.
func (in *instance) marks() {
	if d := in.defaultsBlock(); d != nil {
		in.cloud.string(d, "storage_class") // wrong, too, where no service has a volume
		in.out.Labels, in.out.Annotations = in.cloud.strings(d, "labels"), in.cloud.strings(d, "annotations")
		in.checkMarks(d, "labels", in.out.Labels)
		in.checkMarks(d, "annotations", in.out.Annotations)
	}
	in.out.Labels, in.out.Annotations = in.objectMarks("labels", in.out.Labels), in.objectMarks("annotations", in.out.Annotations)
}

// ownMarks are labels that kolla gives its objects itself.
var ownMarks = []string{"app.kubernetes.io/managed-by", "app.kubernetes.io/part-of", "app.kubernetes.io/name", "app.kubernetes.io/component"}

func (in *instance) checkMarks(b *block, attribute string, marks map[string]string) {
	if len(marks) > 0 {
		in.checkLabelKeys(b, attribute, marks)
	}
	for _, key := range keysOf(marks) {
		if strings.HasPrefix(key, "kolla.openstack.org/") || slices.Contains(ownMarks, key) {
			in.report.Error(b.attributeRange(attribute), "Label of kolla's own", "kolla gives its objects %q itself, and finds them by that.", key)
		}
	}
}

// cloudImage is what the cloud uses in place of an image.
func (in *instance) cloudImage(name string) string {
	c := &in.config.Cloud
	pattern := patternFor(c.Images, name)
	if pattern == "" {
		return name
	}
	return strings.ReplaceAll(c.Images[pattern], "*", name)
}

// patternFor is the most special key that a name matches; empty: none.
func patternFor(images map[string]string, name string) string {
	keys := keysOf(images)
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	if _, exact := images[name]; exact {
		return name
	}
	for _, key := range keys {
		if matched, _ := path.Match(key, name); matched {
			return key
		}
	}
	return ""
}

// checkImages reports images of the cloud that no service runs.
func (g *graph) checkImages() {
	used, names := map[string]bool{}, map[string]bool{}
	for _, in := range g.services {
		for name := range in.used {
			names[name], used[patternFor(g.config.Cloud.Images, name)] = true, true
		}
	}
	for _, b := range g.document.all("cloud") {
		for _, key := range keysOf(g.config.Cloud.Images) {
			if !used[key] && len(names) > 0 && len(g.decisions.open) == 0 {
				g.report.Warn(b.attributeRange("images"), "Default without effect", "No service of this cloud runs an image whose name matches %q.%s", key, words.DidYouMean(key, keysOf(names)))
			}
		}
	}
}
