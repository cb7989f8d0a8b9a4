package proof

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
)

// Terms are the settings under which an object is compared. Other terms give another
// fingerprint.
type Terms struct {
	// Leave identifies the policy for undeclared fields. Any string will do.
	Leave string
	// Scaled: something else sets spec.replicas.
	Scaled bool
	// Added: others added to a field that the system keeps.
	Added bool
	// Partial: the rest of the object is not kolla's. Such objects have no hash.
	Partial bool
}

// TermsOf returns the terms for a declared object; nil: the object is not declared. scaled:
// something else sets spec.replicas. ignoreForeign: undeclared fields of others do not count.
func TermsOf(object *providers.Object, scaled, ignoreForeign bool) Terms {
	if object == nil {
		return Terms{}
	}
	var leave []string
	if ignoreForeign {
		leave = append(leave, "ignore")
	}
	if l := object.Lifecycle; l != nil {
		leave = slices.Concat(leave, l.IgnoreFields, l.YieldTo)
	}
	return Terms{Leave: strings.Join(leave, "\n"), Scaled: scaled, Partial: object.Partial}
}

// hashOwned hashes a live object: the set of fields that the manager owns, and the
// content of the object. It leaves out fields that the system or others keep (KeeperOf),
// unless the manager owns them, and values that must not be stored (Withheld). ok is false
// if it is not certain which fields the manager owns.
//
// The fingerprint of an applied object stays the same until somebody changes a field that
// the apply has set, takes a field over, or adds one. While it is the same, another apply
// of the same manifest under the same rules changes nothing.
func hashOwned(live *unstructured.Unstructured, manager string, terms Terms) (sum string, ok bool) {
	fields, ok := appliedBy(live, manager)
	if !ok || terms.Partial {
		return "", false
	}
	p := printer{hash: sha256.New(), secret: isSecret(live)}
	p.text(terms.Leave)
	p.presence(terms.Scaled)
	if terms.Added {
		p.text("added")
	}
	p.value(map[string]any(fields))
	keep := fieldsKeptIn(live)
	for _, name := range sortedKeys(live.Object) {
		own, _ := fields.child("f:" + name)
		switch value := live.Object[name]; {
		case name == "status":
		case name == "metadata":
			p.text(name)
			p.metadata(own, value)
		case name == "spec" && terms.Scaled:
			p.text(name)
			p.scaled(own, value, keep)
		case p.secret && (name == "data" || name == "stringData"):
			p.text(name)
			p.keys(value)
		default:
			p.text(name)
			p.kept(own, value, keep.at(name))
		}
	}
	p.flush()
	return hex.EncodeToString(p.hash.Sum(nil)), true
}

// at returns the kept fields below a field; nil: there are none.
func (k *kept) at(name string) *kept {
	if k == nil {
		return nil
	}
	return k.fields[name]
}

// printer writes values into a hash. Different values give different bytes.
type printer struct {
	hash   hash.Hash
	buffer []byte
	secret bool
}

// metadata writes the labels, annotations and owners that others must not change.
func (p *printer) metadata(own owned, value any) {
	metadata, _ := value.(map[string]any)
	for _, name := range []string{"annotations", "labels"} {
		content, _ := metadata[name].(map[string]any)
		inner, _ := own.child("f:" + name)
		for _, key := range sortedKeys(content) {
			_, owns := inner["f:"+key]
			path := []string{"metadata", name, key}
			if owns && Withheld(p.secret, path) || !owns && keptMetadata(path[1:]) != Nobody {
				continue
			}
			p.text(name)
			p.text(key)
			p.value(content[key])
		}
	}
	p.end()
	p.value(metadata["ownerReferences"])
}

// scaled writes a spec without its replicas, unless the manager owns them.
func (p *printer) scaled(own owned, value any, keep *kept) {
	spec, isMap := value.(map[string]any)
	if _, owns := own["f:replicas"]; isMap && !owns {
		spec = maps.Clone(spec)
		delete(spec, "replicas")
		value = spec
	}
	p.kept(own, value, keep.at("spec"))
}

// keys writes the keys of a map.
func (p *printer) keys(value any) {
	content, _ := value.(map[string]any)
	p.texts(sortedKeys(content))
}

// kept writes a value without its kept fields. Kept fields that the manager owns are
// written.
func (p *printer) kept(own owned, value any, keep *kept) {
	content, isMap := value.(map[string]any)
	list, isList := value.([]any)
	switch {
	case keep == nil:
		p.value(value)
	case keep.keeper != 0:
		if own != nil {
			p.value(value)
		}
	case isMap:
		p.buffer = append(p.buffer, '(')
		for _, key := range sortedKeys(content) {
			inner, _ := own.child("f:" + key)
			p.text(key)
			p.kept(inner, content[key], keep.fields[key])
		}
		p.end()
	case isList && keep.fields[anyElement] != nil:
		p.count('[', len(list))
		inner := own.elements()
		for _, element := range list {
			p.kept(inner, element, keep.fields[anyElement])
		}
	default:
		p.value(value)
	}
}

// elements returns the fields that are owned in at least one element of a list.
func (o owned) elements() owned {
	all := owned{}
	for key := range o {
		if strings.HasPrefix(key, "k:") {
			inner, _ := o.child(key)
			maps.Copy(all, inner)
		}
	}
	return all
}

// Each of the following writes a byte for the type first, and then content with a length
// or an end mark.

func (p *printer) presence(present bool) {
	if present {
		p.buffer = append(p.buffer, '+')
	} else {
		p.buffer = append(p.buffer, '-')
	}
}

// end closes a value whose number of parts was not written before it.
func (p *printer) end() { p.buffer = append(p.buffer, ')') }

func (p *printer) text(text string) {
	p.buffer = append(p.buffer, '"')
	p.buffer = strconv.AppendInt(p.buffer, int64(len(text)), 10)
	p.buffer = append(p.buffer, ':')
	p.buffer = append(p.buffer, text...)
	if len(p.buffer) > 4096 {
		p.flush()
	}
}

func (p *printer) texts(texts []string) {
	p.count('<', len(texts))
	for _, text := range texts {
		p.text(text)
	}
}

func (p *printer) count(kind byte, n int) {
	p.buffer = append(p.buffer, kind)
	p.buffer = strconv.AppendInt(p.buffer, int64(n), 10)
	p.buffer = append(p.buffer, ';')
}

func (p *printer) flush() {
	p.hash.Write(p.buffer)
	p.buffer = p.buffer[:0]
}

// value writes a value with all its contents.
func (p *printer) value(value any) {
	switch value := value.(type) {
	case nil:
		p.buffer = append(p.buffer, '0')
	case bool:
		p.buffer = append(p.buffer, 'b')
		p.presence(value)
	case string:
		p.text(value)
	case []any:
		p.count('[', len(value))
		for _, element := range value {
			p.value(element)
		}
	case map[string]any:
		p.count('{', len(value))
		for _, key := range sortedKeys(value) {
			p.text(key)
			p.value(value[key])
		}
	default:
		number, _ := numeral(value)
		p.buffer = append(p.buffer, '#')
		p.text(number)
	}
}

// numeral formats a number in the same way for all types that JSON may be decoded to. A
// server treats 3 and 3.0 as the same number, so both give "3".
func numeral(value any) (text string, ok bool) {
	switch value := value.(type) {
	case int64:
		return strconv.FormatInt(value, 10), true
	case int:
		return strconv.Itoa(value), true
	case float64:
		if value == math.Trunc(value) && math.Abs(value) < 1<<53 {
			return strconv.FormatInt(int64(value), 10), true
		}
		return strconv.FormatFloat(value, 'g', -1, 64), true
	case json.Number:
		if whole, err := value.Int64(); err == nil {
			return strconv.FormatInt(whole, 10), true
		}
		if float, err := value.Float64(); err == nil {
			return numeral(float)
		}
	}
	return "", false
}

// sortedKeys returns the keys of a map in order. slices.Sorted(maps.Keys(m)) returns the same, but
// allocates several times: a third of all allocations of a plan.
func sortedKeys(m map[string]any) []string {
	keys := slices.AppendSeq(make([]string, 0, len(m)), maps.Keys(m))
	slices.Sort(keys)
	return keys
}
