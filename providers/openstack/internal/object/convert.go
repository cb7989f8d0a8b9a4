package object

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

// Configuration is an apply configuration of client-go for a whole object. It holds only the
// fields that were set.
type Configuration interface {
	GetAPIVersion() *string
	GetKind() *string
	GetName() *string
}

// Manifest converts an apply configuration to an unstructured object.
func Manifest(c Configuration) *unstructured.Unstructured {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // apply configurations always convert
	}
	var u unstructured.Unstructured
	if err := u.UnmarshalJSON(text); err != nil {
		panic(err)
	}
	return &u
}

// nameOnly returns a manifest with apiVersion, kind and name only.
func nameOnly(c Configuration) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": *c.GetAPIVersion(),
		"kind":       *c.GetKind(),
		"metadata":   map[string]any{"name": *c.GetName()},
	}}
}

// Mark adds labels or annotations to a manifest and keeps its other ones.
func Mark(u *unstructured.Unstructured, field string, marks map[string]string) {
	metadata := u.Object["metadata"].(map[string]any)
	given, ok := metadata[field].(map[string]any)
	if !ok {
		given = make(map[string]any, len(marks))
		metadata[field] = given
	}
	for key, text := range marks {
		given[key] = text
	}
}

// Declared returns the manifest for the content of a declared object, which stays as it is. The manifest
// has no null fields: the server drops them, so they would show up as a difference in every plan. Only
// its top level and its metadata may be changed, because the fields below are shared with the content.
func Declared(content map[string]any) *unstructured.Unstructured {
	if hasNull(content) {
		content = runtime.DeepCopyJSON(content)
		dropNulls(content)
		return &unstructured.Unstructured{Object: content}
	}
	content = maps.Clone(content)
	content["metadata"] = runtime.DeepCopyJSONValue(content["metadata"])
	return &unstructured.Unstructured{Object: content}
}

func hasNull(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		for _, field := range v {
			if field == nil || hasNull(field) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hasNull)
	}
	return false
}

func dropNulls(value any) {
	switch v := value.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, field any) bool { return field == nil })
		for _, field := range v {
			dropNulls(field)
		}
	case []any:
		for _, element := range v {
			dropNulls(element)
		}
	}
}

// Lifecycle converts a lifecycle declaration to the form that an object carries. It returns nil
// for an empty declaration.
func Lifecycle(decl configs.Lifecycle) *providers.Lifecycle {
	if decl.Empty() {
		return nil
	}
	out := &providers.Lifecycle{
		PreventDestroy: decl.PreventDestroy,
		YieldTo:        decl.YieldTo,
		ForceConflicts: decl.ForceConflicts,
		Source:         Source(decl.Range),
	}
	out.AllowUnverified = decl.AllowUnverified
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

// Literal returns the data of a Secret for a value that kolla did not generate.
func Literal(value string) providers.SecretData {
	return providers.SecretData{Parts: []providers.DataPart{{Sensitive: value}}}
}

// Versioned appends a hash of the content to a name. If the content is not known yet, because
// deferred reads come first, it appends providers.UnknownVersion.
func Versioned(base string, deferred []string, content ...string) string {
	if len(deferred) > 0 {
		return base + "-" + providers.UnknownVersion
	}
	return base + "-" + providers.Hash(content...)
}

// Label turns a string into a valid part of a name of a volume or an object. It keeps lower-case
// letters and digits, and dots if dots is set; other characters become dashes.
func Label(text string, dots bool) string {
	return strings.Trim(strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '.' && dots:
			return c
		case c >= 'A' && c <= 'Z':
			return c - 'A' + 'a'
		}
		return '-'
	}, text), "-.")
}

// Merged joins two maps. The values of b win.
func Merged(a, b map[string]string) map[string]string {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, b)
	return out
}

// Unique removes duplicates and keeps the order.
func Unique[T comparable](list []T) []T {
	seen := make(map[T]bool, len(list))
	out := list[:0:0]
	for _, a := range list {
		if !seen[a] {
			seen[a] = true
			out = append(out, a)
		}
	}
	return out
}

// JSON returns a value that is made of JSON's types as text.
func JSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}
