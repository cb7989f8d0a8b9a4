package openstack

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

// lifecycleOf is what a declaration says, in the form that travels with an object;
// nil: nothing.
func lifecycleOf(decl configs.Lifecycle) *providers.Lifecycle {
	if decl.Empty() {
		return nil
	}
	out := &providers.Lifecycle{
		PreventDestroy: decl.PreventDestroy,
		YieldTo:        decl.YieldTo,
		ForceConflicts: decl.ForceConflicts,
		Source:         source(decl.Range),
	}
	for _, rule := range decl.IgnoreFields {
		out.IgnoreFields = append(out.IgnoreFields, rule.Text)
	}
	for _, target := range decl.ReplaceTriggeredBy {
		out.ReplaceTriggeredBy = append(out.ReplaceTriggeredBy, target.String())
	}
	for _, rule := range decl.ForceFrom {
		if rule.Path == nil {
			out.ForceManagers = append(out.ForceManagers, rule.Text)
		} else {
			out.ForceFields = append(out.ForceFields, rule.Text)
		}
	}
	return out
}

// checkLifecycles reports fields that no object can have that the rule is for.
func (r *renderer) checkLifecycles() {
	kinds := r.kindsByBlock()
	for _, s := range r.config.Services {
		r.checkRules(s.Lifecycle, kinds[s.Block])
		for _, w := range s.Workloads {
			own := []schema.GroupVersionKind{{Group: "apps", Version: "v1", Kind: w.Kind}}
			if slices.EqualFunc(w.Lifecycle.IgnoreFields, s.Lifecycle.IgnoreFields, sameRule) {
				w.Lifecycle.IgnoreFields = nil
			}
			if slices.EqualFunc(w.Lifecycle.ForceFrom, s.Lifecycle.ForceFrom, sameRule) {
				w.Lifecycle.ForceFrom = nil
			}
			r.checkRules(w.Lifecycle, own)
		}
	}
	for _, s := range r.config.Secrets {
		r.checkRules(s.Lifecycle, kinds[s.Block])
	}
	for _, m := range r.config.Manifests {
		r.checkRules(m.Lifecycle, kinds[m.Block])
	}
}

// sameRule reports whether a rule was only handed down.
func sameRule(a, b configs.FieldRule) bool { return a.Range == b.Range }

// kindsByBlock lists the kinds of the objects of each block.
func (r *renderer) kindsByBlock() map[string][]schema.GroupVersionKind {
	out := map[string][]schema.GroupVersionKind{}
	for _, d := range r.declared {
		if block := d.address.Block; !slices.Contains(out[block], d.ref.GVK) {
			out[block] = append(out[block], d.ref.GVK)
		}
	}
	return out
}

func (r *renderer) checkRules(l configs.Lifecycle, kinds []schema.GroupVersionKind) {
	for _, rule := range slices.Concat(l.IgnoreFields, l.ForceFrom) {
		if rule.Path == nil || len(kinds) == 0 {
			continue
		}
		if what := identity(rule.Path); what != "" {
			r.ruleError(rule.Range, "Field that cannot be left to others", fmt.Sprintf("%s %s.", rule.Path, what))
			continue
		}
		var deepest wrongPath
		for _, kind := range kinds {
			wrong := checkPath(kind, rule.Path)
			if wrong == nil {
				deepest = wrongPath{}
				break
			}
			if deepest.kind == "" || wrong.depth > deepest.depth {
				deepest = *wrong
			}
		}
		if deepest.kind != "" {
			r.ruleError(rule.Range, "There is no such field", deepest.detail(rule.Path))
		}
	}
}

func (r *renderer) ruleError(at hcl.Range, summary, detail string) {
	for _, d := range r.diags {
		if d.Subject != nil && *d.Subject == at {
			return // a definition that is used twice
		}
	}
	r.error(at, summary, detail)
}

// identity says why a path cannot be left to anybody; empty: it can.
func identity(path addrs.FieldPath) string {
	switch path.String() {
	case "apiVersion", "kind", "metadata", "metadata.name", "metadata.namespace":
		return "says which object it is"
	}
	if path[0] == "status" {
		return "is never kolla's: it is what the cluster says of the object"
	}
	return ""
}

// wrongPath is where a path leaves what a kind has.
type wrongPath struct {
	kind  string
	depth int      // elements that are right
	known []string // fields that there are in place of the next element
}

func (w wrongPath) detail(path addrs.FieldPath) string {
	where := "A " + w.kind
	if w.depth > 0 {
		where = fmt.Sprintf("%s of a %s", path[:w.depth], w.kind)
	}
	if len(w.known) == 0 {
		return fmt.Sprintf("%s is a single value, and has no field %q.", where, path[w.depth])
	}
	return strings.TrimSpace(fmt.Sprintf("%s has no field %q.%s", where, path[w.depth], words.DidYouMean(path[w.depth], w.known)))
}

// checkPath finds out whether objects of a kind can have a field. Of a kind that is
// not Kubernetes' own nobody knows; then it can.
func checkPath(kind schema.GroupVersionKind, path addrs.FieldPath) *wrongPath {
	object, err := scheme.Scheme.New(kind)
	if err != nil {
		return nil
	}
	at := reflect.TypeOf(object)
	for i, element := range path {
		at = pointed(at)
		switch {
		case leaf(at):
			return &wrongPath{kind: kind.Kind, depth: i}
		case at.Kind() == reflect.Map, at.Kind() == reflect.Slice:
			at = at.Elem()
			continue
		}
		fields := fieldsOf(at)
		if element == "*" {
			return nil
		}
		next, ok := fields[element]
		if !ok {
			known := make([]string, 0, len(fields))
			for name := range fields {
				known = append(known, name)
			}
			slices.Sort(known)
			return &wrongPath{kind: kind.Kind, depth: i, known: known}
		}
		at = next
	}
	return nil
}

func pointed(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// leaf reports whether a type is a single value in JSON.
func leaf(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Struct:
		return reflect.PointerTo(t).Implements(unmarshaler)
	case reflect.Slice:
		return t.Elem().Kind() == reflect.Uint8
	}
	return t.Kind() != reflect.Map
}

// fieldsOf are the fields of a struct by their names in JSON.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name != "" && name != "-":
			out[name] = field.Type
		case field.Anonymous:
			for name, typ := range fieldsOf(pointed(field.Type)) {
				out[name] = typ
			}
		}
	}
	return out
}
