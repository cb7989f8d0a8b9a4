// Package redaction masks secret values in foreign text. The API server, webhooks, policies,
// controllers and the programs in containers quote their input in errors, warnings, events,
// conditions and logs.
//
// A [Values] contains the secret values of one run. Code that sends or reads a Secret, or
// evaluates a sensitive value, adds the value. Code that receives a foreign text passes it
// through [Values.Text]. A text that also contains kolla's own words goes through
// [Values.Mixed], which does not mask short words.
//
//	values.AddObject(secret.Object)
//	...
//	message := values.Text(status.Message)
//
// A value is recognized in the forms in which programs quote it (forms.go), by the passwords in
// it (passwords.go), and in pieces (index.go). These rules keep messages readable:
//
//   - Values of fewer than 4 characters, and the words true, false and null, are not masked.
//   - Values of fewer than 8 characters are masked only as a whole word.
//   - A value that is the name of a declared object is not masked, unless it was added as a
//     sensitive one.
//   - A piece of a value is masked if it has at least 8 characters (6 or 7 if the value has fewer
//     than 16), or 5 if the text was cut off there. Pieces that consist of words of names, or of
//     usual words such as "password", are not masked. Nor are words within longer words.
package redaction

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Mask replaces a secret value.
const Mask = "(sensitive value)"

// shortest is the minimum length of a secret value, in bytes. Shorter ones are not masked.
const shortest = 4

// Types of Secrets whose values nobody quotes: kolla's state, and Helm's compressed releases.
const (
	stateType   = "kolla.openstack.org/state"
	releaseType = "helm.sh/release.v1"
)

// Values are the secret values that a run of kolla has sent, read or evaluated. The zero value is
// empty. A nil *Values is empty, too, and ignores added values. Several goroutines may use it.
type Values struct {
	mu   sync.RWMutex // searches hold it for reading
	seen map[entry]bool
	// pending are the values that are not in the index yet. Most runs search no text, so they never
	// build the index.
	pending  []entry
	index    *index
	declared map[string]bool // names of declared objects
	words    map[string]bool // names of all objects, and the words in them
}

// entry is a value as it was added.
type entry struct {
	text      string
	encoded   bool // in base64
	sensitive bool // declared as sensitive; no name makes it public
}

// Add adds a value that was declared as sensitive.
func (v *Values) Add(value string) { v.add(entry{text: value, sensitive: true}) }

func (v *Values) add(e entry) {
	if v == nil || len(e.text) < shortest {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.seen[e] {
		return
	}
	if v.seen == nil {
		v.seen = map[entry]bool{}
	}
	v.seen[e] = true
	v.pending = append(v.pending, e)
}

// AddObject adds the values of a Secret, except for those of kolla's state and of Helm. It makes
// the words in the name and namespace of any object public as pieces of values.
func (v *Values) AddObject(object map[string]any) {
	if v == nil {
		return
	}
	v.addNames(object)
	if object["kind"] != "Secret" || object["apiVersion"] != "v1" || object["type"] == stateType || object["type"] == releaseType {
		return
	}
	for _, field := range []string{"data", "stringData"} {
		values, _ := object[field].(map[string]any)
		for _, value := range values {
			if text, ok := value.(string); ok {
				v.add(entry{text: text, encoded: field == "data"})
			}
		}
	}
}

func (v *Values) addNames(object map[string]any) {
	metadata, _ := object["metadata"].(map[string]any)
	for _, field := range []string{"name", "namespace"} {
		if name, _ := metadata[field].(string); name != "" {
			v.mu.Lock()
			v.addWords(name)
			v.mu.Unlock()
		}
	}
}

// addWords makes a name, and the words in it, public as pieces. The caller holds the lock.
func (v *Values) addWords(name string) {
	if v.words[name] {
		return
	}
	if v.words == nil {
		v.words = map[string]bool{}
	}
	v.words[name] = true
	for _, word := range wordsOf(name) {
		v.words[word] = true
	}
}

// Declare makes the names of declared objects public. A value of a Secret that equals such a name,
// for example the user "keystone", is not masked.
func (v *Values) Declare(names ...string) {
	if v == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, name := range names {
		if v.declared == nil {
			v.declared = map[string]bool{}
		}
		v.declared[name] = true
		v.addWords(name)
	}
}

func wordsOf(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-._ ", r) })
}

// usual contains words that are common in messages about a cloud, and in values.
var usual = func() map[string]bool {
	words := map[string]bool{}
	for _, word := range strings.Fields(`access account admin administrator agent application authentication
		authorization authorized backend bootstrap certificate cinder client cluster compute conductor config configuration
		connection console container controller credential credentials database default deployment domain
		external glance heat horizon image instance internal ironic keystone kubernetes machine manager mariadb
		memcached message metadata mysql namespace network neutron nova octavia openstack operator password
		placement policy postgres private production project public rabbit rabbitmq redis region registry
		request robot root scheduler secret secrets security server service services session staging storage
		swift system tenant token tokens user username users value version volume webhook worker`) {
		words[word] = true
	}
	return words
}()

// isPublicName reports whether a whole value is the name of a declared object, or a part of one.
func (v *Values) isPublicName(m match) bool {
	return !m.of.sensitive && (v.declared[m.text[m.start:m.end]] || v.declared[m.name()])
}

// isPublicPiece reports whether a piece consists of words of names or of usual words.
func (v *Values) isPublicPiece(text string) bool {
	words := wordsOf(text)
	return v.words[text] || len(words) > 0 &&
		!slices.ContainsFunc(words, func(word string) bool { return !v.words[word] && !usual[strings.ToLower(word)] })
}

// Text returns a foreign text with Mask in place of each secret value, and of each piece of one. A
// piece that also occurs in public, such as the path of the request, stays.
func (v *Values) Text(text string, public ...string) string { return v.Around(text, nil, public...) }

// Around is Text for a text with parts that are not masked, such as the words of the API server
// that kolla parses. Each part is a pair of indexes, as in package regexp.
func (v *Values) Around(text string, parts [][]int, public ...string) string {
	outside := func(m match) bool {
		return !slices.ContainsFunc(parts, func(part []int) bool { return part[0] <= m.start && m.end <= part[1] })
	}
	return v.redact(text, outside, func(m match) bool { return outside(m) && m.piece() && !m.within(public) })
}

// Mixed is Text for a text that also contains kolla's own words or declared values. It masks only
// whole values of at least 8 characters.
func (v *Values) Mixed(text string) string {
	return v.redact(text, func(m match) bool { return len(m.of.text) >= unmistakable }, nil)
}

// redact replaces the whole values, and the pieces of values, that count by Mask. nil: no pieces count.
func (v *Values) redact(text string, whole, piece func(match) bool) string {
	if v == nil || len(text) < shortest {
		return text
	}
	v.complete()
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.index == nil {
		return text
	}
	// Many values may have a piece in common, so the answer to the last one is kept.
	var last span
	var public bool
	spans := v.index.find(text, func(m match) bool {
		if m.whole() {
			return whole(m) && !v.isPublicName(m)
		}
		if piece == nil || m.end-m.start < cutPiece {
			return false
		}
		if m.span != last {
			last, public = m.span, v.isPublicPiece(text[m.start:m.end])
		}
		return !public && piece(m)
	})
	if len(spans) == 0 {
		return text
	}
	var b strings.Builder
	end := 0
	for _, s := range spans {
		b.WriteString(text[end:s.start])
		b.WriteString(Mask)
		end = s.end
	}
	b.WriteString(text[end:])
	return b.String()
}

// complete adds the pending values to the index.
func (v *Values) complete() {
	v.mu.RLock()
	pending := len(v.pending) > 0
	v.mu.RUnlock()
	if !pending {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.index == nil {
		v.index = newIndex()
	}
	for _, e := range v.pending {
		v.index.add(e.value(), e.sensitive)
	}
	v.pending = nil
}

// Tree applies a function, such as Text, to all strings of a JSON value. The result shares all maps
// and lists with the value that the function does not change. differs is false if it changes nothing.
func Tree(value any, text func(string) string) (out any, differs bool) {
	switch value := value.(type) {
	case string:
		masked := text(value)
		return masked, masked != value
	case []any:
		out := value
		for i, inner := range value {
			masked, changed := Tree(inner, text)
			if !changed {
				continue
			}
			if !differs {
				out, differs = slices.Clone(value), true
			}
			out[i] = masked
		}
		return out, differs
	case map[string]any:
		out := value
		for key, inner := range value {
			name := text(key)
			masked, changed := Tree(inner, text)
			if !changed && name == key {
				continue
			}
			if !differs {
				out, differs = maps.Clone(value), true
			}
			delete(out, key)
			out[name] = masked
		}
		return out, differs
	}
	return value, false
}

// value returns the plain value.
func (e entry) value() string {
	if e.encoded {
		if plain, err := base64.StdEncoding.DecodeString(e.text); err == nil {
			return string(plain)
		}
	}
	return e.text
}
