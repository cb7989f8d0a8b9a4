package manifests

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	schemas "sigs.k8s.io/structured-merge-diff/v6/schema"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

// checkTypes reports values whose type is not the type of their field, such as a label 1.10
// without quotes, which is a number. The server would refuse the object. Of a kind that is not one
// of Kubernetes' own it checks the metadata. Unknown fields are left to the server, which may be
// newer. The values of a Secret have a check of their own.
func checkTypes(m configs.ManifestObject) hcl.Diagnostics {
	u := &unstructured.Unstructured{Object: m.Content}
	content := maps.Clone(m.Content)
	if u.GroupVersionKind().GroupKind() == kinds.Secret {
		delete(content, "data")
		delete(content, "stringData")
	}
	identity := &unstructured.Unstructured{Object: map[string]any{"apiVersion": content["apiVersion"], "kind": content["kind"]}}
	typed, err := providers.BuiltinTypes().ObjectToTyped(identity)
	if err != nil {
		content = map[string]any{"metadata": content["metadata"]}
		identity.SetGroupVersionKind(kinds.ConfigMap.WithVersion("v1"))
		if typed, err = providers.BuiltinTypes().ObjectToTyped(identity); err != nil {
			panic(err) // ConfigMap is built in
		}
	}
	c := typeCheck{m: m, subject: providers.RefOf(u).String(), types: typed.Schema()}
	c.check(typed.TypeRef(), content, "")
	return c.diags
}

// typeCheck compares an object with the types of its kind.
type typeCheck struct {
	m       configs.ManifestObject
	subject string
	types   *schemas.Schema
	diags   hcl.Diagnostics
}

// check compares a value with a type. field is its path, such as ".spec.ports[0].name".
func (c *typeCheck) check(ref schemas.TypeRef, value any, field string) {
	atom, known := c.types.Resolve(ref)
	if !known || atom == (schemas.Atom{}) || value == nil || value == configs.KnownAfterApply {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		if atom.Map == nil {
			c.unsuitable(atom, field, "a map")
			return
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			inner := atom.Map.ElementType
			if f, ok := atom.Map.FindField(key); ok {
				inner = f.Type
			}
			c.check(inner, value[key], field+"."+key)
		}
	case []any:
		if atom.List == nil {
			c.unsuitable(atom, field, "a list")
			return
		}
		for i, item := range value {
			c.check(atom.List.ElementType, item, fmt.Sprintf("%s[%d]", field, i))
		}
	case string:
		if !scalar(atom, schemas.String) {
			c.unsuitable(atom, field, "text")
		}
	case bool:
		if !scalar(atom, schemas.Boolean) {
			c.unsuitable(atom, field, "true or false")
		}
	default:
		if !scalar(atom, schemas.Numeric) {
			c.unsuitable(atom, field, "a number")
		}
	}
}

// scalar reports whether a type takes scalars of a kind.
func scalar(atom schemas.Atom, kind schemas.Scalar) bool {
	return atom.Scalar != nil && (*atom.Scalar == kind || *atom.Scalar == schemas.Untyped)
}

// unsuitable reports a value without showing it.
func (c *typeCheck) unsuitable(atom schemas.Atom, field, is string) {
	want, advice := "a map", ""
	switch {
	case atom.Map != nil:
	case atom.List != nil:
		want = "a list"
	case *atom.Scalar == schemas.Numeric:
		want = "a number"
	case *atom.Scalar == schemas.Boolean:
		want = "true or false"
	default:
		want = "text"
	}
	switch {
	case want == "text" && is == "a number":
		advice = " Quote it."
	case want == "text" && is == "true or false":
		advice = " Quote it: without quotes, YAML reads yes, no, on and off as true and false, too."
	case is == "text" && (want == "a number" || want == "true or false"):
		advice = " Write it without quotes."
	}
	c.diags = append(c.diags, object.Error(c.m.Place(field), "A value of another type",
		fmt.Sprintf("%s of %s has to be %s, and this is %s.%s", field[1:], c.subject, want, is, advice)))
}
