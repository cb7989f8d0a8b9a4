package blocks

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// WithDefaults returns a definition, overridden by the cloud's defaults for workloads and volumes.
// The defaults may be nil.
func WithDefaults(definition, defaults *source.Block) *source.Block {
	if defaults == nil || defaults.One("workload", "") == nil && defaults.Attributes["storage_class"] == nil {
		return definition
	}
	return replaced(definition, func(b *source.Block) *source.Block {
		if b.Type != schema.WorkloadType {
			return b
		}
		if w := defaults.One("workload", ""); w != nil {
			b = withDefaults(b, w)
		}
		class := defaults.Attributes["storage_class"]
		if class == nil {
			return b
		}
		return replaced(b, func(b *source.Block) *source.Block {
			if b.Type.Name != "claim" {
				return b
			}
			out := *b
			out.Attributes = maps.Clone(b.Attributes)
			eval.OverAttributes(&out, &source.Block{Attributes: map[string]*hclsyntax.Attribute{"storage_class": class}}, configs.LayerCloud)
			return &out
		})
	})
}

// replaced returns a block whose inner blocks are replaced.
func replaced(b *source.Block, by func(*source.Block) *source.Block) *source.Block {
	out := b.WithoutBlocks()
	for _, child := range b.Blocks {
		out.Add(by(child))
	}
	return out
}

// withDefaults returns a block of a definition, overridden by a block of the cloud's defaults, at
// all depths.
func withDefaults(base, top *source.Block) *source.Block {
	out := replaced(base, func(b *source.Block) *source.Block {
		if above := top.One(b.Type.Name, b.Label); above != nil {
			return withDefaults(b, above)
		}
		return b
	})
	out.Attributes = maps.Clone(base.Attributes)
	if out.Attributes == nil {
		out.Attributes = map[string]*hclsyntax.Attribute{}
	}
	eval.OverAttributes(out, top, configs.LayerCloud)
	for _, child := range top.Blocks {
		if base.One(child.Type.Name, child.Label) == nil {
			out.Add(eval.Rewritten(child, func(expr hclsyntax.Expression) hclsyntax.Expression {
				return &eval.LayerExpr{Expression: expr, Layer: configs.LayerCloud}
			}))
		}
	}
	return out
}

// Image returns the name that the cloud uses in place of the name of an image.
func Image(images map[string]string, name string) string {
	pattern := ImagePattern(images, name)
	if pattern == "" {
		return name
	}
	return strings.ReplaceAll(images[pattern], "*", name)
}

// ImagePattern returns the longest pattern of the cloud that matches the name of an image, or
// empty. A pattern without wildcards has precedence.
func ImagePattern(images map[string]string, name string) string {
	keys := slices.Sorted(maps.Keys(images))
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
