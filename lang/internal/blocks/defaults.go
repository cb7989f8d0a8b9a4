package blocks

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// Defaults returns the cloud's defaults for workloads and volumes as blocks that override those of
// a definition. It returns nil if there are none. The defaults may be nil.
func Defaults(definition, defaults *source.Block) *source.Block {
	if defaults == nil || defaults.One("workload", "") == nil && defaults.Attributes["storage_class"] == nil {
		return nil
	}
	out := &source.Block{Type: definition.Type}
	for _, b := range definition.All(schema.WorkloadType.Name) {
		w := &source.Block{Type: b.Type, Label: b.Label}
		if all := defaults.One("workload", ""); all != nil {
			w.Attributes = all.Attributes
			for _, child := range all.Blocks {
				w.Add(child)
			}
		}
		if class := defaults.Attributes["storage_class"]; class != nil {
			for _, claim := range b.All("claim") {
				w.Add(&source.Block{Type: claim.Type, Label: claim.Label, Attributes: map[string]*hclsyntax.Attribute{"storage_class": class}})
			}
		}
		out.Add(w)
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
