package blocks

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
)

// DataQuery evaluates the query of a data block. ok is false after an error.
func DataQuery(e *eval.Env, b *source.Block, home string) (configs.DataQuery, bool) {
	q := configs.DataQuery{Home: home}
	for _, field := range []struct {
		name string
		into *string
	}{{"kind", &q.Kind}, {"api_version", &q.APIVersion}, {"name", &q.Name}, {"namespace", &q.Namespace}} {
		if attr := b.Attributes[field.name]; attr == nil || mark.IsDeferred(e.Value(attr.Expr)) {
			continue
		}
		if *field.into = eval.String(e, b, field.name); *field.into == "" && (field.name == "kind" || eval.IsSet(e, b, field.name)) {
			return q, false // which was reported
		}
	}
	if attr := b.Attributes["labels"]; attr != nil && !mark.IsDeferred(e.Value(attr.Expr)) {
		if q.Labels = eval.Strings(e, b, "labels"); q.Labels == nil {
			return q, false
		}
	}
	return q, true
}

// DataWaits reports whether the query depends on unknown values.
func DataWaits(e *eval.Env, b *source.Block) bool {
	return slices.ContainsFunc([]string{"kind", "api_version", "name", "namespace", "labels"}, func(name string) bool {
		attr := b.Attributes[name]
		return attr != nil && mark.IsDeferred(e.Value(attr.Expr))
	})
}

// ValueOfData returns the value of the found objects for expressions.
func ValueOfData(d configs.Data, found []map[string]any) cty.Value {
	var objects []cty.Value
	for _, object := range found {
		objects = append(objects, objectValue(object))
	}
	switch {
	case d.Name == "":
		return cty.ObjectVal(map[string]cty.Value{"objects": cty.TupleVal(objects)})
	case len(objects) == 0:
		return cty.ObjectVal(map[string]cty.Value{"object": cty.NullVal(cty.DynamicPseudoType), "exists": cty.False})
	}
	return cty.ObjectVal(map[string]cty.Value{"object": objects[0], "exists": cty.True})
}

// UnknownData returns the value of data that kolla reads later. The values of a Secret are marked
// as sensitive already.
func UnknownData(d configs.Data, b *source.Block, offline bool) cty.Value {
	wait := mark.Deferred{By: d.Block, After: strings.Join(d.Needs, " "), Offline: offline}
	later := cty.DynamicVal.Mark(wait)
	if b.Attributes["labels"] != nil {
		if d.Kind == "Secret" {
			later = later.Mark(mark.Sensitive{})
		}
		return cty.ObjectVal(map[string]cty.Value{"objects": later})
	}
	object := later
	if d.Kind == "Secret" {
		secret := later.Mark(mark.Sensitive{})
		object = cty.ObjectVal(map[string]cty.Value{
			"apiVersion": later, "kind": cty.StringVal(d.Kind), "metadata": later, "type": later, "immutable": later,
			"data": secret, "binaryData": secret,
		})
	}
	return cty.ObjectVal(map[string]cty.Value{"object": object, "exists": cty.UnknownVal(cty.Bool).Mark(wait)})
}

// lastApplied is the annotation in which kubectl keeps a copy of the whole object, including
// the values of Secrets.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// objectValue returns a live object as a value, without the fields for its server and kubectl.
func objectValue(object map[string]any) cty.Value {
	object = maps.Clone(object)
	if metadata, ok := object["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		delete(metadata, "managedFields")
		if annotations, ok := metadata["annotations"].(map[string]any); ok {
			annotations = maps.Clone(annotations)
			delete(annotations, lastApplied)
			metadata["annotations"] = annotations
		}
		object["metadata"] = metadata
	}
	secret := object["kind"] == "Secret" && object["apiVersion"] == "v1"
	if secret {
		decodeSecret(object)
	}
	text, err := json.Marshal(object)
	if err != nil {
		panic(fmt.Sprintf("an object of the cluster is not JSON: %v", err))
	}
	var value ctyjson.SimpleJSONValue
	if err := value.UnmarshalJSON(text); err != nil {
		panic(fmt.Sprintf("an object of the cluster is not JSON: %v", err))
	}
	if !secret {
		return value.Value
	}
	fields := value.AsValueMap()
	for _, name := range []string{"data", "binaryData"} {
		values := map[string]cty.Value{}
		for _, m := range mark.Members(fields[name]) {
			values[m.Key] = m.Value.Mark(mark.Sensitive{}) // the keys are not secret
		}
		fields[name] = cty.ObjectVal(values)
	}
	return cty.ObjectVal(fields)
}

// decodeSecret decodes the values of a Secret into the form of a ConfigMap: texts under data,
// and other values in base64 under binaryData.
func decodeSecret(object map[string]any) {
	encoded, _ := object["data"].(map[string]any)
	texts, others := map[string]any{}, map[string]any{}
	for key, field := range encoded {
		text, _ := field.(string)
		if raw, err := base64.StdEncoding.DecodeString(text); err == nil && utf8.Valid(raw) {
			texts[key] = string(raw)
		} else {
			others[key] = text
		}
	}
	object["data"], object["binaryData"] = texts, others
}

// Postcondition returns the first postcondition that the read objects do not meet. The message
// is empty if they meet all.
func Postcondition(e *eval.Env, b *source.Block, self cty.Value) (at hcl.Range, message string) {
	l := b.One("lifecycle", "")
	if l == nil {
		return hcl.Range{}, ""
	}
	inner := *e
	inner.Scope = eval.NewScope(e.Scope)
	inner.Scope.Singles["self"] = self
	for _, p := range l.All("postcondition") {
		if ok, message := eval.Condition(&inner, p); !ok {
			return p.AttributeRange("condition"), message
		}
	}
	return hcl.Range{}, ""
}
