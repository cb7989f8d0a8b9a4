package lang

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// defaulted is a definition with the cloud's defaults for workloads over it.
func (in *instance) defaulted(definition *source.Block) *source.Block {
	d := in.defaultsBlock()
	if d == nil || d.One("workload", "") == nil && d.Attributes["storage_class"] == nil {
		return definition
	}
	return replaced(definition, func(b *source.Block) *source.Block {
		if b.Type != schema.WorkloadType {
			return b
		}
		if w := d.One("workload", ""); w != nil {
			b = defaultedBlock(b, w)
		}
		class := d.Attributes["storage_class"]
		if class == nil {
			return b
		}
		return replaced(b, func(b *source.Block) *source.Block {
			if b.Type.Name != "claim" {
				return b
			}
			out := *b
			out.Attributes = maps.Clone(b.Attributes)
			overAttributes(&out, &source.Block{Attributes: map[string]*hclsyntax.Attribute{"storage_class": class}}, configs.LayerCloud)
			return &out
		})
	})
}

// replaced is a block with others in place of the blocks in it.
func replaced(b *source.Block, by func(*source.Block) *source.Block) *source.Block {
	out := b.WithoutBlocks()
	for _, child := range b.Blocks {
		out.Add(by(child))
	}
	return out
}

// defaultedBlock is a block with what the cloud says over it, and the blocks in it likewise. It
// stays the definition's.
func defaultedBlock(base, top *source.Block) *source.Block {
	out := replaced(base, func(b *source.Block) *source.Block {
		if above := top.One(b.Type.Name, b.Label); above != nil {
			return defaultedBlock(b, above)
		}
		return b
	})
	out.Attributes = maps.Clone(base.Attributes)
	if out.Attributes == nil {
		out.Attributes = map[string]*hclsyntax.Attribute{}
	}
	overAttributes(out, top, configs.LayerCloud)
	for _, child := range top.Blocks {
		if base.One(child.Type.Name, child.Label) == nil {
			out.Add(rewritten(child, func(expr hclsyntax.Expression) hclsyntax.Expression { return &said{expr, configs.LayerCloud} }))
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

func (in *instance) checkMarks(b *source.Block, attribute string, marks map[string]string) {
	if len(marks) > 0 {
		in.checkLabelKeys(b, attribute, marks)
	}
	for _, key := range keysOf(marks) {
		if strings.HasPrefix(key, "kolla.openstack.org/") || slices.Contains(ownMarks, key) {
			in.report.Error(b.AttributeRange(attribute), "Label of kolla's own", "kolla gives its objects %q itself, and finds them by that.", key)
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
	for _, b := range g.document.All("cloud") {
		for _, key := range keysOf(g.config.Cloud.Images) {
			if !used[key] && len(names) > 0 && len(g.decisions.open) == 0 {
				g.report.Warn(b.AttributeRange("images"), "Default without effect", "No service of this cloud runs an image whose name matches %q.%s", key, words.DidYouMean(key, keysOf(names)))
			}
		}
	}
}
