package lang

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
)

func (g *graph) addData(m *module) {
	for _, b := range m.written.Document.All("data") {
		n := g.addRepeated(m, b, g.data)
		n.needs = append(n.needs, edge{to: "cloud", at: b.Header}) // for its namespace
		n.needs = append(n.needs, g.dependsOn(m, b)...)
	}
}

// data reads what a data block says.
func (g *graph) data(n *node, f *frame, b *source.Block, e *evaluator, it item) cty.Value {
	d := configs.Data{Block: n.address(f, it), Needs: needsOf(g.reasonsOf(n, f)), Range: b.Header}
	query, ok := e.query(b, g.config.Cloud.Namespace)
	d.DataQuery = query
	if b.Attributes["name"] == nil == (b.Attributes["labels"] == nil) {
		g.report.Error(b.Header, "One of name and labels", "data %q reads one object by its name, or all objects with some labels: give it one of the two arguments.", b.Label)
		return cty.DynamicVal
	}
	if e.given(b, "optional") && b.Attributes["labels"] != nil {
		e.unsuitable(b, "optional", "With labels there may be none anyway: data.%s.objects is empty then.", b.Label)
	}
	var value cty.Value
	switch {
	case !ok:
		return cty.DynamicVal
	case d.Deferred || g.waits(b, e) || g.options.Later[d.Block]:
		d.Deferred = true
	default:
		value, d.Deferred, ok = g.read(d, b, e)
	}
	g.config.Data = append(g.config.Data, d)
	if !ok {
		return cty.DynamicVal
	}
	if d.Deferred {
		value = unknownData(d, b, g.options.Read == nil)
	}
	if at, message := postcondition(b, e, value); message != "" {
		if len(d.Needs) == 0 || g.options.Settled {
			g.report.Error(at, "Postcondition not met", "%s", message)
			return value
		}
		g.report.Alert(at, "Postcondition not met yet", "%s\n\nThe apply may change that, since it depends on %s: what was read is not used, and is read again then.", message, words.Sorted(d.Needs))
		g.config.Data[len(g.config.Data)-1].Deferred = true
		return unknownData(d, b, false)
	}
	return value
}

// query evaluates what is to be read. It is not ok where that is wrong.
func (e *evaluator) query(b *source.Block, home string) (configs.DataQuery, bool) {
	q := configs.DataQuery{Home: home}
	for _, field := range []struct {
		name string
		into *string
	}{{"kind", &q.Kind}, {"api_version", &q.APIVersion}, {"name", &q.Name}, {"namespace", &q.Namespace}} {
		if attr := b.Attributes[field.name]; attr == nil || mark.IsDeferred(e.value(attr.Expr)) {
			continue
		}
		if *field.into = e.string(b, field.name); *field.into == "" && (field.name == "kind" || e.given(b, field.name)) {
			return q, false // which was reported
		}
	}
	if attr := b.Attributes["labels"]; attr != nil && !mark.IsDeferred(e.value(attr.Expr)) {
		if q.Labels = e.strings(b, "labels"); q.Labels == nil {
			return q, false
		}
	}
	return q, true
}

// waits reports whether what is to be read depends on what is not known yet.
func (g *graph) waits(b *source.Block, e *evaluator) bool {
	for _, name := range []string{"kind", "api_version", "name", "namespace", "labels"} {
		if attr := b.Attributes[name]; attr != nil && mark.IsDeferred(e.value(attr.Expr)) {
			return true
		}
	}
	return false
}

// read asks the cluster. later is true for what may come by what it depends on.
func (g *graph) read(d configs.Data, b *source.Block, e *evaluator) (value cty.Value, later, ok bool) {
	if g.options.Read == nil {
		return cty.NilVal, true, true
	}
	found, err := g.options.Read(d.DataQuery)
	var failed *configs.ReadError
	switch missing := err == nil && len(found) == 0 && d.Name != ""; {
	case errors.As(err, &failed) && failed.NoKind && len(d.Needs) > 0, missing && len(d.Needs) > 0:
		return cty.NilVal, true, true
	case err != nil:
		g.report.Error(b.Header, fmt.Sprintf("Cannot read %s", d.Block), "%s: %s", d.DataQuery, err)
	case missing && !e.bool(b, "optional"):
		g.report.Error(b.Header, fmt.Sprintf("%s does not exist", d.DataQuery), "%s reads it. Correct its kind, name or namespace; say optional = true if it may be missing; or, if something in this configuration makes it, name that in depends_on.", d.Block)
	default:
		return valueOfData(d, found), false, true
	}
	return cty.NilVal, false, false
}

// valueOfData is what was found, as expressions read it.
func valueOfData(d configs.Data, found []map[string]any) cty.Value {
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

// unknownData stands for data that are read later. The values of a Secret are marked as
// sensitive already.
func unknownData(d configs.Data, b *source.Block, offline bool) cty.Value {
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

// lastApplied is where kubectl keeps a copy of the whole object, values of Secrets
// included.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// objectValue is a live object as a value, without what only its server and kubectl
// are to know.
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
			values[m.Key] = m.Value.Mark(mark.Sensitive{}) // which keys there are is no secret
		}
		fields[name] = cty.ObjectVal(values)
	}
	return cty.ObjectVal(fields)
}

// decodeSecret makes the values of a Secret what they are: texts under data, and what
// is no text in base64 under binaryData, as a ConfigMap has them.
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

// postcondition is the first that what was read does not meet; no message: there is none.
func postcondition(b *source.Block, e *evaluator, self cty.Value) (at hcl.Range, message string) {
	l := b.One("lifecycle", "")
	if l == nil {
		return hcl.Range{}, ""
	}
	inner := *e
	inner.scope = newScope(e.scope)
	inner.scope.singles["self"] = self
	for _, p := range l.All("postcondition") {
		if ok, message := inner.condition(p); !ok {
			return p.AttributeRange("condition"), message
		}
	}
	return hcl.Range{}, ""
}
