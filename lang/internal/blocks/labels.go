package blocks

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"k8s.io/apimachinery/pkg/util/validation"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
)

// checkLabelKeys reports empty labels, and keys that Kubernetes does not accept.
func checkLabelKeys(report *diag.Reporter, b *source.Block, attribute string, labels map[string]string) {
	if labels != nil && len(labels) == 0 {
		// An empty match would select all nodes, and empty labels could select none.
		report.Error(b.AttributeRange(attribute), fmt.Sprintf("Unsuitable value for %q", attribute), "It needs at least one label.")
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if len(validation.IsQualifiedName(key)) > 0 {
			report.Error(b.AttributeRange(attribute), fmt.Sprintf("Unsuitable value for %q", attribute),
				"%q is not the key of a Kubernetes label: letters, digits, dots, dashes and underscores, with DOMAIN/ before them if wanted.", key)
		}
	}
}

// stringMap returns a map of texts as a value.
func stringMap(m map[string]string) cty.Value {
	if len(m) == 0 {
		return cty.MapValEmpty(cty.String)
	}
	out := map[string]cty.Value{}
	for k, v := range m {
		out[k] = cty.StringVal(v)
	}
	return cty.MapVal(out)
}

// StringList returns a list of texts as a value.
func StringList(list []string) cty.Value {
	if len(list) == 0 {
		return cty.ListValEmpty(cty.String)
	}
	var out []cty.Value
	for _, s := range list {
		out = append(out, cty.StringVal(s))
	}
	return cty.ListVal(out)
}

// RangeOf returns the place of a block for the Config, or empty if the block is only in the
// catalogue.
func RangeOf(b *source.Block) hcl.Range {
	if configs.InCatalogue(b.Header) {
		return hcl.Range{}
	}
	return b.Header
}

// ownLabels are labels that kolla sets itself, in addition to labels of its own domain.
var ownLabels = []string{"app.kubernetes.io/managed-by", "app.kubernetes.io/part-of", "app.kubernetes.io/name", "app.kubernetes.io/component"}

// CheckMarks reports labels or annotations that kolla sets itself or that Kubernetes refuses.
func CheckMarks(report *diag.Reporter, b *source.Block, attribute string, marks map[string]string) {
	if len(marks) > 0 {
		checkLabelKeys(report, b, attribute, marks)
	}
	for _, key := range slices.Sorted(maps.Keys(marks)) {
		if strings.HasPrefix(key, "kolla.openstack.org/") || slices.Contains(ownLabels, key) {
			report.Error(b.AttributeRange(attribute), "Label of kolla's own", "kolla sets %q itself, to find its objects.", key)
		}
	}
}

// Marks evaluates labels or annotations of a service over those of the cloud. A null removes a
// key of the cloud.
func Marks(e *eval.Env, b *source.Block, attribute string, cloud map[string]string) map[string]string {
	if !eval.IsSet(e, b, attribute) {
		return cloud
	}
	out := maps.Clone(cloud)
	if out == nil {
		out = map[string]string{}
	}
	own := eval.Strings(e, b, attribute)
	CheckMarks(e.Report, b, attribute, own)
	maps.Copy(out, own)
	if v := e.Value(b.Attributes[attribute].Expr); v.IsKnown() && values.IsMap(v) {
		for _, m := range mark.Members(v) {
			if m.Value.IsNull() {
				delete(out, m.Key)
			}
		}
	}
	return out
}
