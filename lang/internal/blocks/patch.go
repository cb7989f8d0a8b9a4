package blocks

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/layers"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/schema/forms"
)

// AddPatch adds a valid layer of a patch to a list.
func AddPatch(list []configs.Patch, e *eval.Env, b *source.Block, from *layers.LayerExpr) []configs.Patch {
	at := from.Range()
	if !forms.Patched.Valid(b.Label) {
		return list // which was reported
	}
	v := e.Value(from.Expression)
	switch {
	case !v.IsWhollyKnown():
		eval.ReportDeferred(e, v, at, "what the patch says")
		return list
	case v.IsNull():
		return list
	case !values.IsMap(v):
		e.Report.Error(at, "Unsuitable value for \"object\"", "It must be a map, a part of the object, and this is %s.", values.KindOf(v))
		return list
	}
	content, _ := plainValue(e, v, from.Expression, []string{""}, "a patch").(map[string]any)
	p := configs.Patch{Object: content, Layer: from.Layer, Label: b.LabelRange, Range: at, Places: written{from.Expression}}
	p.Kind, p.Name, _ = strings.Cut(b.Label, "/")
	if content == nil || !checkPatch(e.Report, &p) {
		return list
	}
	return append(list, p)
}

// written finds the places of the parts of a value in its expression.
type written struct{ hcl.Expression }

// Find implements configs.Places.
func (w written) Find(field string) (at hcl.Range, ok bool) {
	at, rest := findWritten(w.Expression, field, hcl.Range{})
	return at, len(rest) < len(field)
}

// findWritten follows a path from an expression with a place. It returns the place of the last part
// that is written out, and the rest of the path.
func findWritten(expr hcl.Expression, field string, at hcl.Range) (last hcl.Range, rest string) {
	last, rest = at, field
	items, _ := layers.WrittenItems(expr)
	for _, item := range items {
		key, ok := values.StaticKey(item.KeyExpr)
		if !ok {
			continue
		}
		if inner, ok := configs.InMap(field, key); ok {
			if further, left := findWritten(item.ValueExpr, inner, item.KeyExpr.Range()); len(left) <= len(rest) {
				last, rest = further, left
			}
		}
	}
	if i, inner, ok := configs.InList(field); ok {
		if element := elementOf(expr, i); element != expr {
			return findWritten(element, inner, element.Range())
		}
	}
	return last, rest
}

// checkPatch reports fields that a patch cannot set.
func checkPatch(report *diag.Reporter, p *configs.Patch) bool {
	metadata, _ := p.Object["metadata"].(map[string]any)
	for _, field := range []string{"apiVersion", "kind", "metadata.name", "metadata.namespace"} {
		_, there := p.Object[field]
		if name, in := strings.CutPrefix(field, "metadata."); in {
			_, there = metadata[name]
		}
		if there {
			report.Error(p.Place("."+field), "Field that a patch cannot set", "%q says which object it is. The label of the patch does that: take the field away.", field)
			return false
		}
	}
	for _, marks := range []string{"labels", "annotations"} {
		given, _ := metadata[marks].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(given)) {
			if strings.HasPrefix(key, "kolla.openstack.org/") {
				report.Error(p.Place(".metadata."+marks+"."+key), "Field that a patch cannot set", "By %q kolla knows its own objects.", key)
				return false
			}
		}
	}
	if _, there := p.Object["status"]; there {
		report.Error(p.Place(".status"), "Field that a patch cannot set", "The cluster writes %q: what it is told stands elsewhere.", "status")
		return false
	}
	if p.Kind != "Secret" && p.Kind != "ConfigMap" {
		return true
	}
	for _, field := range slices.Sorted(maps.Keys(p.Object)) {
		switch {
		case field == "metadata":
		case p.Kind == "Secret":
			report.Error(p.Place("."+field), "Values of a Secret in a patch", "A patch is shown, and values of Secrets are not. What a Secret holds is said by the secret and config blocks of the service; a patch can set its metadata alone.")
			return false
		default:
			report.Error(p.Place("."+field), "Content of a config file in a patch", "The name of the ConfigMap is made of its content. What a config file holds is said by the config block of the service; a patch can set its metadata alone.")
			return false
		}
	}
	return true
}
