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

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// fingerprint hashes what the manager owns in a live object: which fields, their
// values, and the order of the list elements among them. Values that must not be
// stored are left out; see Withheld. ok is false where it is not certain what the
// manager owns.
//
// The object that an apply gives has the same fingerprint until somebody changes
// something that the apply has set, or takes a field over. Then, and as long as
// the same is applied by the same rules, another apply would change nothing.
func fingerprint(live *unstructured.Unstructured, manager string) (sum string, ok bool) {
	fields, ok := appliedBy(live, manager)
	if !ok {
		return "", false
	}
	p := printer{hash: sha256.New(), secret: isSecret(live)}
	p.text(live.GetAPIVersion())
	if !p.set(fields, live.Object, true, nil) {
		return "", false
	}
	p.flush()
	return hex.EncodeToString(p.hash.Sum(nil)), true
}

// printer writes values into a hash, in such a way that no two different ones
// give the same bytes.
type printer struct {
	hash   hash.Hash
	buffer []byte
	secret bool
}

// set writes the owned fields of one value, which may be missing. It is false
// where the set cannot be read, or does not say which elements it means.
func (p *printer) set(fields owned, value any, present bool, path []string) bool {
	keys := fields.keys()
	if Withheld(p.secret, path) {
		p.presence(present)
		p.texts(keys)
		return true
	}
	if len(keys) == 0 {
		p.presence(present)
		p.value(value)
		return true
	}
	switch prefix, ok := form(keys); {
	case !ok:
		return false
	case prefix == "f:":
		return p.members(fields, keys, value, path)
	default:
		return p.elements(fields, keys, value, path)
	}
}

// members writes the owned fields of a map.
func (p *printer) members(fields owned, keys []string, value any, path []string) bool {
	content, isMap := value.(map[string]any)
	p.presence(isMap)
	p.texts(keys)
	for _, key := range keys {
		inner, ok := fields.child(key)
		if !ok {
			return false
		}
		name := key[2:]
		member, present := content[name]
		if !p.set(inner, member, present, append(slices.Clip(path), name)) {
			return false
		}
	}
	return true
}

// elements writes the owned elements of a list, in the order that they have there:
// an apply would put them back into its own.
func (p *printer) elements(fields owned, keys []string, value any, path []string) bool {
	list, isList := value.([]any)
	p.presence(isList)
	indexes := make(map[string]int, len(keys))
	for _, key := range keys {
		index, found, certain := element(list, key)
		if !certain {
			return false
		}
		indexes[key] = len(list)
		if found {
			indexes[key] = index
		}
	}
	slices.SortStableFunc(keys, func(a, b string) int { return indexes[a] - indexes[b] })
	p.texts(keys)
	for _, key := range keys {
		inner, ok := fields.child(key)
		if !ok {
			return false
		}
		var member any
		index := indexes[key]
		if index < len(list) {
			member = list[index]
		}
		if !p.set(inner, member, index < len(list), append(slices.Clip(path), key)) {
			return false
		}
	}
	return true
}

// Each of these begins with a byte that says what follows, and what follows has a
// length or an end.

func (p *printer) presence(present bool) {
	if present {
		p.buffer = append(p.buffer, '+')
	} else {
		p.buffer = append(p.buffer, '-')
	}
}

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

// value writes a whole value.
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
		for _, key := range slices.Sorted(maps.Keys(value)) {
			p.text(key)
			p.value(value[key])
		}
	default:
		number, _ := numeral(value)
		p.buffer = append(p.buffer, '#')
		p.text(number)
	}
}

// numeral spells a number in one way for all types that JSON may be decoded to:
// 3 and 3.0 are one number to a server, and spelled 3.
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
