package blocks

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/functions"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/internal/values"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/yaml"
)

// manifestObject converts an object from HCL.
func manifestObject(e *eval.Env, b *source.Block) []configs.ManifestObject {
	at := b.AttributeRange("object")
	v := e.Value(b.Attributes["object"].Expr)
	if !v.IsWhollyKnown() && !mark.IsDeferred(v) {
		return nil
	}
	if !v.IsKnown() {
		eval.ReportDeferred(e, v, at, "which object it is")
		return nil
	}
	if !values.IsMap(v) {
		eval.Unsuitable(e, b, "object", "It must be a map with apiVersion, kind and metadata, and this is %s.", values.KindOf(v))
		return nil
	}
	content, _ := plainValue(e, v, b.Attributes["object"].Expr, nil, "a manifest").(map[string]any)
	if content == nil || !identified(content) || !checkObject(e.Report, content, at) {
		return nil
	}
	return []configs.ManifestObject{{Content: content, Deferred: mark.DeferredBy(v), Range: at, Places: written{b.Attributes["object"].Expr}}}
}

// identity are the fields that identify an object. They must be known.
var identity = []string{"apiVersion", "kind", "metadata", "metadata.name", "metadata.namespace"}

// identified reports whether the fields of identity are known.
func identified(content map[string]any) bool {
	metadata := content["metadata"]
	fields, _ := metadata.(map[string]any)
	return !slices.Contains([]any{content["apiVersion"], content["kind"], metadata, fields["name"], fields["namespace"]}, any(configs.KnownAfterApply))
}

// plainValue converts a value to the Go types of decoded JSON. It reports secrets and
// sensitive values, but the values of a Secret may be sensitive. Errors point to the part of
// the expression that caused them. what names the place of the value.
func plainValue(e *eval.Env, v cty.Value, expr hcl.Expression, path []string, what string) any {
	bare, marks := v.Unmark()
	waits := !bare.IsKnown()
	for _, d := range mark.Deferrals(v) {
		delete(marks, d)
	}
	inValues := (len(path) > 2 || waits && len(path) > 1) && (path[1] == "data" || path[1] == "stringData")
	inSecret := inValues && (path[0] == "Secret" || path[0] == configs.KnownAfterApply)
	if !(inSecret && marks.Equal(cty.NewValueMarks(mark.Sensitive{}))) && !eval.PublicMarks(e, marks, expr.Range(), what) {
		return nil
	}
	if inSecret && len(marks) == 0 && path[0] == "Secret" {
		values.CheckWrittenOut(e.Report, expr)
	}
	switch {
	case waits && len(path) > 0 && slices.Contains(identity, strings.Join(path[1:], ".")):
		eval.ReportDeferred(e, v, expr.Range(), "which object it is")
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
			out[m.Key] = plainValue(e, m.Value, attributeOf(expr, m.Key), append(slices.Clip(path), m.Key), what)
		}
		return out
	case values.IsList(v):
		out := []any{}
		for i, item := range mark.Elements(v) {
			out = append(out, plainValue(e, item, elementOf(expr, i), append(slices.Clip(path), ""), what))
		}
		return out
	}
	value := scalar(v)
	if f, ok := value.(float64); ok && math.IsInf(f, 0) {
		e.Report.Error(expr.Range(), "Number out of range", "A number of the object is too large for JSON.")
		return nil
	}
	return value
}

// attributeOf returns the expression of one attribute of a literal object, or else the whole
// expression.
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

// elementOf returns the expression of one element of a literal list, or else the whole expression.
func elementOf(expr hcl.Expression, i int) hcl.Expression {
	if list, ok := expr.(*hclsyntax.TupleConsExpr); ok && i < len(list.Exprs) {
		return list.Exprs[i]
	}
	return expr
}

// kindField returns the kind of an object, or KnownAfterApply if the kind is unknown.
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

// manifestFileNames returns the files that match the patterns, without duplicates.
func manifestFileNames(e *eval.Env, b *source.Block, from ManifestFiles) []string {
	var out []string
	for _, pattern := range eval.List(e, b, "files") {
		names, err := from.Reader.Glob(from.Reader.Path(pattern))
		if err != nil || len(names) == 0 {
			e.Report.Error(b.AttributeRange("files"), "No such file", "No file matches %q, relative to the directory of the configuration.", pattern)
			continue
		}
		for _, name := range names {
			if rel, err := filepath.Rel(from.Dir, name); err == nil && !filepath.IsAbs(pattern) {
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
func manifestFile(report *diag.Reporter, b *source.Block, name string, from ManifestFiles) []configs.ManifestObject {
	source, err := from.Reader.ReadManifest(name)
	if err != nil {
		report.Error(b.AttributeRange("files"), "Cannot read a manifest", "%s.", words.Sentence(err))
		return nil
	}
	full := from.Reader.Path(name)
	from.Sources[full] = &hcl.File{Body: hcl.EmptyBody(), Bytes: source}
	documents, wrong := yaml.Documents(source)
	contents, undecodable := yaml.Decode(documents)
	var out []configs.ManifestObject
	for n, doc := range documents {
		if err := undecodable[n]; err != nil {
			wrong = append(wrong, err)
		}
		content := contents[n]
		if content == nil {
			continue
		}
		objects, isList := unlisted(content)
		for i, object := range objects {
			m := configs.ManifestObject{Content: object, Range: in(full, doc.Line), Places: document{doc.Compact(), full, ""}}
			if isList {
				item := fmt.Sprintf(".items[%d]", i)
				if at, ok := doc.Find(item); ok {
					m.Range = in(full, at)
				}
				m.Places = document{doc, full, item}
			}
			if checkObject(report, object, m.Range) {
				out = append(out, m)
			}
		}
	}
	for _, err := range wrong {
		if holdsSecret.Match(source) {
			report.Hide(in(full, err.Range))
		}
		report.Error(in(full, err.Range), "Not valid YAML", "%s.", words.Sentence(errors.New(err.Message)))
	}
	return out
}

// holdsSecret matches a text with a Secret, even if the rest of it cannot be parsed.
var holdsSecret = regexp.MustCompile(`\bkind["']?\s*:\s*["']?Secret(List)?\b`)

// in returns a range in a file.
func in(file string, at hcl.Range) hcl.Range {
	at.Filename = file
	return at
}

// document finds places in a document of a file.
type document struct {
	yaml.Document
	file string
	item string // the path of an object of a list; empty: the object is the document
}

// Find implements configs.Places.
func (d document) Find(field string) (at hcl.Range, ok bool) {
	at, ok = d.Document.Find(d.item + field)
	return in(d.file, at), ok
}

// unlisted splits a list of objects: a List, or a typed list such as a RoleList, whose items
// need no kind.
func unlisted(content map[string]any) (objects []map[string]any, isList bool) {
	items, ok := content["items"].([]any)
	list, _ := content["kind"].(string)
	kind, isList := strings.CutSuffix(list, "List")
	if metadata, _ := content["metadata"].(map[string]any); !ok || !isList || metadata["name"] != nil {
		return []map[string]any{content}, false
	}
	for _, item := range items {
		object, _ := item.(map[string]any)
		if object != nil && kind != "" && object["kind"] == nil && object["apiVersion"] == nil {
			object = maps.Clone(object)
			object["kind"], object["apiVersion"] = kind, content["apiVersion"]
		}
		objects = append(objects, object)
	}
	return objects, true
}

// ofServer maps the fields of an object's metadata that only the server sets to their meaning.
var ofServer = []struct{ name, says string }{
	{"generateName", "it would be another object at each apply: give it a metadata.name"},
	{"managedFields", "it says who set which field where the object was read: leave it out"},
	{"resourceVersion", "it is a version of the object where it was read: leave it out"},
	{"uid", "it is another object's where this one was read: leave it out"},
}

// checkObject reports missing fields that every object needs.
func checkObject(report *diag.Reporter, content map[string]any, at hcl.Range) bool {
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
			report.Error(at, "A field that the server sets", "metadata.%s of %v %v cannot be declared, as %s.", field.name, orElse(content["kind"], "an object"), orElse(metadata["name"], "without a name"), field.says)
			good = false
		}
	}
	if len(missing) > 0 {
		report.Error(at, "Incomplete object", "An object of Kubernetes needs %s, as text.", words.Sorted(missing))
		good = false
	}
	return good
}

// orElse returns a text, or another text if it is empty.
func orElse(value any, other string) string {
	if text, ok := value.(string); ok {
		return text
	}
	return other
}

// ManifestFiles reads the files of manifests.
type ManifestFiles struct {
	Reader  *functions.Files
	Dir     string               // of the configuration
	Sources map[string]*hcl.File // receives the files that were read
}

// ManifestObjects evaluates the objects of a manifest block.
func ManifestObjects(e *eval.Env, b *source.Block, from ManifestFiles) []configs.ManifestObject {
	switch object, files := eval.IsSet(e, b, "object"), eval.IsSet(e, b, "files"); {
	case object && files:
		e.Report.Error(b.Attributes["files"].NameRange, "Both object and files", "A manifest is either one object or files: take one of the two away.")
	case object:
		return manifestObject(e, b)
	case files:
		var out []configs.ManifestObject
		for _, name := range manifestFileNames(e, b, from) {
			out = append(out, manifestFile(e.Report, b, name, from)...)
		}
		return out
	case len(b.Unknown) == 0: // otherwise the error about the unknown argument is enough
		e.Report.Error(b.Header, "Manifest without objects", "Give it object = { ... } or files = [\"*.yaml\"].")
	}
	return nil
}
