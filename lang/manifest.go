package lang

import (
	"bytes"
	"maps"
	"math"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema"
	"kolla.openstack.org/kolla/lang/yaml"
)

// manifest makes the objects that a manifest block brings.
func (g *graph) manifest(n *node, f *frame, b *source.Block, e *evaluator, it item) cty.Value {
	m := configs.Manifest{Block: n.address(f, it), Name: b.Label, Reason: e.string(b, schema.ReasonAttribute.Name), Range: b.Header}
	m.Lifecycle = lifecycle(layered{b, e})
	m.Lifecycle.ReplaceTriggeredBy = g.triggers(f, e, b)
	switch object, files := e.given(b, "object"), e.given(b, "files"); {
	case object && files:
		g.report.Error(b.Attributes["files"].NameRange, "Both object and files", "A manifest is either one object or files: take one of the two away.")
	case object:
		m.Objects = g.manifestObject(b, e)
	case files:
		for _, name := range g.manifestFiles(b, e) {
			m.Objects = append(m.Objects, g.manifestFile(b, name)...)
		}
	case len(b.Unknown) == 0: // else one of those was meant to be it
		g.report.Error(b.Header, "Manifest without objects", "Give it object = { ... } or files = [\"*.yaml\"].")
	}
	if l := b.One("lifecycle", ""); l != nil {
		e.preconditions(l)
	}
	m.Reasons = g.reasonsOf(n, f)
	m.Needs = needsOf(m.Reasons)
	g.config.Manifests = append(g.config.Manifests, m)
	return cty.NilVal
}

// manifestObject converts an object that is written in HCL.
func (g *graph) manifestObject(b *source.Block, e *evaluator) []configs.ManifestObject {
	at := b.AttributeRange("object")
	v := e.value(b.Attributes["object"].Expr)
	if !v.IsWhollyKnown() && !mark.IsDeferred(v) {
		return nil
	}
	if !v.IsKnown() {
		e.undecided(v, at, "which object it is")
		return nil
	}
	if !values.IsMap(v) {
		e.unsuitable(b, "object", "It must be a map with apiVersion, kind and metadata, and this is %s.", values.KindOf(v))
		return nil
	}
	content, _ := e.plain(v, b.Attributes["object"].Expr, nil, "a manifest").(map[string]any)
	if content == nil || !identified(content) || !g.checkObject(content, at) {
		return nil
	}
	return []configs.ManifestObject{{Content: content, Deferred: mark.DeferredBy(v), Range: at}}
}

// identity are the fields of an object that have to be known to say which one it is.
var identity = []string{"apiVersion", "kind", "metadata", "metadata.name", "metadata.namespace"}

// identified reports whether it is known which object it is.
func identified(content map[string]any) bool {
	metadata := content["metadata"]
	fields, _ := metadata.(map[string]any)
	return !slices.Contains([]any{content["apiVersion"], content["kind"], metadata, fields["name"], fields["namespace"]}, any(configs.KnownAfterApply))
}

// plain converts a value to what JSON would decode to. Secrets have no place in
// it, except that the values of a Secret may come from sensitive variables. The
// expression is what the value was written as; errors are about the part of it that
// they are caused by; what names the place of the value.
func (e *evaluator) plain(v cty.Value, expr hcl.Expression, path []string, what string) any {
	bare, marks := v.Unmark()
	waits := !bare.IsKnown()
	for _, d := range mark.Deferrals(v) {
		delete(marks, d)
	}
	inValues := (len(path) > 2 || waits && len(path) > 1) && (path[1] == "data" || path[1] == "stringData")
	inSecret := inValues && (path[0] == "Secret" || path[0] == configs.KnownAfterApply)
	if !(inSecret && marks.Equal(cty.NewValueMarks(mark.Sensitive{}))) && !e.publicMarks(marks, expr.Range(), what) {
		return nil
	}
	if inSecret && len(marks) == 0 && path[0] == "Secret" {
		e.checkWrittenOut(expr)
	}
	switch {
	case waits && len(path) > 0 && slices.Contains(identity, strings.Join(path[1:], ".")):
		e.undecided(v, expr.Range(), "which object it is")
		return configs.KnownAfterApply
	case waits:
		return configs.KnownAfterApply
	case v.IsNull():
		return nil
	case values.IsMap(v):
		if path == nil {
			path = []string{kindField(v)}
		}
		out := map[string]any{}
		for _, m := range mark.Members(v) {
			out[m.Key] = e.plain(m.Value, attributeOf(expr, m.Key), append(slices.Clip(path), m.Key), what)
		}
		return out
	case values.IsList(v):
		out := []any{}
		for i, item := range mark.Elements(v) {
			out = append(out, e.plain(item, elementOf(expr, i), append(slices.Clip(path), ""), what))
		}
		return out
	}
	value := scalar(v)
	if f, ok := value.(float64); ok && math.IsInf(f, 0) {
		e.report.Error(expr.Range(), "Number out of range", "A number of the object is too large for JSON.")
		return nil
	}
	return value
}

// attributeOf is the expression of one attribute of an object, where that is written
// out; else the whole.
func attributeOf(expr hcl.Expression, name string) hcl.Expression {
	object, ok := expr.(*hclsyntax.ObjectConsExpr)
	if !ok {
		return expr
	}
	for _, item := range object.Items {
		if key, ok := values.StaticKey(item.KeyExpr); ok && key == name {
			return item.ValueExpr
		}
	}
	return expr
}

// elementOf is the same for an element of a list.
func elementOf(expr hcl.Expression, i int) hcl.Expression {
	if list, ok := expr.(*hclsyntax.TupleConsExpr); ok && i < len(list.Exprs) {
		return list.Exprs[i]
	}
	return expr
}

// kindField is the kind of an object; KnownAfterApply where it is not known.
func kindField(v cty.Value) string {
	for _, m := range mark.Members(v) {
		kind, _ := m.Value.Unmark()
		switch {
		case m.Key != "kind":
		case !kind.IsKnown():
			return configs.KnownAfterApply
		case kind.Type() == cty.String && !kind.IsNull():
			return kind.AsString()
		}
	}
	return ""
}

func scalar(v cty.Value) any {
	v, _ = v.Unmark()
	switch v.Type() {
	case cty.Bool:
		return v.True()
	case cty.Number:
		f := v.AsBigFloat()
		if n, accuracy := f.Int64(); accuracy == big.Exact {
			return n
		}
		n, _ := f.Float64()
		return n
	}
	return v.AsString()
}

// manifestFiles are the files that the patterns match, each once.
func (g *graph) manifestFiles(b *source.Block, e *evaluator) []string {
	var out []string
	for _, pattern := range e.list(b, "files") {
		names, err := filepath.Glob(g.reader.Path(pattern))
		if err != nil || len(names) == 0 {
			g.report.Error(b.AttributeRange("files"), "No such file", "No file matches %q, relative to the directory of the configuration.", pattern)
			continue
		}
		for _, name := range names {
			if rel, err := filepath.Rel(g.dir, name); err == nil && !filepath.IsAbs(pattern) {
				name = rel
			}
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// manifestFile reads the documents of a YAML file.
func (g *graph) manifestFile(b *source.Block, name string) []configs.ManifestObject {
	source, err := g.reader.Read(name)
	if err != nil {
		g.report.Error(b.AttributeRange("files"), "Cannot read a manifest", "%s.", words.Sentence(err))
		return nil
	}
	full := g.reader.Path(name)
	g.config.Files[full] = &hcl.File{Body: hcl.EmptyBody(), Bytes: source}
	var out []configs.ManifestObject
	for _, doc := range yaml.Documents(source) {
		at := lineRange(full, source, doc.Content, 0)
		content, err := yaml.Decode(source[doc.From.Byte:doc.To])
		if err != nil {
			line, message := yaml.Explain(err)
			g.report.Error(lineRange(full, source, doc.From, max(line, 1)-1), "Not valid YAML", "%s.", words.Sentence(message))
			continue
		}
		for _, object := range unlisted(content) {
			if g.checkObject(object, at) {
				out = append(out, configs.ManifestObject{Content: object, Range: at})
			}
		}
	}
	return out
}

// unlisted takes a list of objects apart: a List, or one of a kind such as a RoleList, whose
// items need not say what they are.
func unlisted(content map[string]any) []map[string]any {
	items, ok := content["items"].([]any)
	list, _ := content["kind"].(string)
	kind, isList := strings.CutSuffix(list, "List")
	if metadata, _ := content["metadata"].(map[string]any); !ok || !isList || metadata["name"] != nil {
		return []map[string]any{content}
	}
	var out []map[string]any
	for _, item := range items {
		object, _ := item.(map[string]any)
		if object != nil && kind != "" && object["kind"] == nil && object["apiVersion"] == nil {
			object = maps.Clone(object)
			object["kind"], object["apiVersion"] = kind, content["apiVersion"]
		}
		out = append(out, object)
	}
	return out
}

// ofServer are the fields of an object's metadata that only a server sets, with what they
// say there.
var ofServer = []struct{ name, says string }{
	{"generateName", "it would be another object at each apply: give it a metadata.name"},
	{"managedFields", "it says who set which field where the object was read: leave it out"},
	{"resourceVersion", "it is a version of the object where it was read: leave it out"},
	{"uid", "it is another object's where this one was read: leave it out"},
}

// checkObject reports what every object has to have.
func (g *graph) checkObject(content map[string]any, at hcl.Range) bool {
	metadata, _ := content["metadata"].(map[string]any)
	good := true
	var missing []string
	for _, field := range []struct {
		name  string
		value any
	}{{"apiVersion", content["apiVersion"]}, {"kind", content["kind"]}, {"metadata.name", metadata["name"]}} {
		if text, ok := field.value.(string); !ok || text == "" {
			missing = append(missing, field.name)
		}
	}
	for _, field := range ofServer {
		if metadata[field.name] != nil {
			g.report.Error(at, "A field that the server sets", "metadata.%s of %v %v cannot be declared, as %s.", field.name, orElse(content["kind"], "an object"), orElse(metadata["name"], "without a name"), field.says)
			good = false
		}
	}
	if len(missing) > 0 {
		g.report.Error(at, "Incomplete object", "An object of Kubernetes needs %s, as text.", words.Sorted(missing))
		good = false
	}
	return good
}

// orElse is a text, or another one where there is none.
func orElse(value any, other string) string {
	if text, ok := value.(string); ok {
		return text
	}
	return other
}

// lineRange is the range of a line of a file: so many lines after the one that
// starts at from.
func lineRange(name string, source []byte, from hcl.Pos, after int) hcl.Range {
	for range after {
		next := bytes.IndexByte(source[from.Byte:], '\n')
		if next < 0 {
			break
		}
		from.Byte += next + 1
		from.Line++
	}
	line, _, _ := bytes.Cut(source[from.Byte:], []byte("\n"))
	to := from
	to.Byte += len(line)
	to.Column += utf8.RuneCount(line)
	return hcl.Range{Filename: name, Start: from, End: to}
}
