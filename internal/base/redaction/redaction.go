// Package redaction takes secret values out of text of others. The API server, webhooks,
// policies, controllers and the programs in containers quote what they were given: in errors,
// warnings, events, conditions and logs.
//
// A [Values] has the secret values of one run. Whoever sends or reads a Secret, or evaluates a
// sensitive value, adds the value. Whoever takes in a text of others passes it through
// [Values.Text]. A text in which words of kolla's own stand beside those of others goes
// through [Values.Mixed], which leaves short words alone.
//
//	values.AddObject(secret.Object)
//	...
//	message := values.Text(status.Message)
//
// A value is recognized in the forms in which programs quote it (forms.go), by the passwords in
// it (passwords.go), and in pieces (index.go). These rules keep messages readable:
//
//   - Values of fewer than 4 characters, and the words true, false and null, are not looked for.
//   - Values of fewer than 8 characters count only as a whole word.
//   - A value that is the name of an object that the configuration declares is not taken out,
//     unless it was added as a sensitive one.
//   - A piece of a value counts if it has at least 8 characters (6 or 7 of a value of fewer than
//     16), or 5 where the text was cut off. Pieces that are made of words of names, or of usual
//     words such as "password", stay. So do words within longer ones.
package redaction

import (
	"encoding/base64"
	"slices"
	"strings"
	"sync"
)

// Mask stands for a value that must not be seen.
const Mask = "(sensitive value)"

// shortest is the least length of a value that is looked for, in bytes.
const shortest = 4

// Types of Secrets without values that anybody quotes: those in which kolla keeps its state, and
// those in which Helm keeps its releases, compressed.
const (
	stateType   = "kolla.openstack.org/state"
	releaseType = "helm.sh/release.v1"
)

// Values are the secret values that a run of kolla has sent, read or evaluated. The zero value
// has none. A nil *Values has none either, and takes none. Several goroutines may use it.
type Values struct {
	mu   sync.RWMutex // searches share it
	seen map[entry]bool
	// pending are the values that the index does not have yet. Most runs get no text that
	// has to be searched, and so never build the index.
	pending  []entry
	index    *index
	declared map[string]bool // names of declared objects
	words    map[string]bool // names of all objects, and the words that they are made of
}

// entry is a value as it was added.
type entry struct {
	text      string
	encoded   bool // in base64
	sensitive bool // by declaration; no name makes it public
}

// Add adds a value that was declared to be secret.
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

// AddObject adds the values of an object that is a Secret, except for those of kolla's state and
// of Helm. The words of the name and the namespace of any object are public as pieces of values.
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

// addWords makes a name public as a piece. The caller holds the lock.
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

// Declare makes names of objects that the configuration declares public. A value of a Secret that
// is one of them, such as the user "keystone", is not taken out of a text.
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

// usual has words that messages about a cloud use, and that values are often made of.
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

// isPublic reports whether a match is the name of a declared object, or is within one, or is a
// piece that consists of words of names or of messages.
func (v *Values) isPublic(m match) bool {
	text := m.text[m.start:m.end]
	if m.whole() {
		return !m.of.sensitive && (v.declared[text] || v.declared[m.name()])
	}
	words := wordsOf(text)
	return v.words[text] || len(words) > 0 &&
		!slices.ContainsFunc(words, func(word string) bool { return !v.words[word] && !usual[strings.ToLower(word)] })
}

// Text returns a text of others with Mask in place of each secret value, and of each piece of
// one. A piece that public contains, such as the path of the request, stays.
func (v *Values) Text(text string, public ...string) string { return v.Around(text, nil, public...) }

// Around is Text for a text with parts that stay, such as the words of the API server that kolla
// reads. Each part is a pair of indexes, as package regexp returns them.
func (v *Values) Around(text string, parts [][]int, public ...string) string {
	return v.redact(text, func(m match) bool {
		return (m.whole() || m.piece() && !m.within(public)) &&
			!slices.ContainsFunc(parts, func(part []int) bool { return part[0] <= m.start && m.end <= part[1] })
	})
}

// Mixed is Text for a text that also has words of kolla's own, or declared values. Only whole
// values count, of at least 8 characters.
func (v *Values) Mixed(text string) string {
	return v.redact(text, func(m match) bool { return m.whole() && len(m.of.text) >= unmistakable })
}

// redact puts Mask in place of the matches that count.
func (v *Values) redact(text string, counts func(match) bool) string {
	if v == nil || len(text) < shortest {
		return text
	}
	v.complete()
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.index == nil {
		return text
	}
	spans := v.index.find(text, func(m match) bool { return counts(m) && !v.isPublic(m) })
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

// Tree applies a function, such as Text, to all strings of a value of JSON.
func Tree(value any, text func(string) string) any {
	switch value := value.(type) {
	case string:
		return text(value)
	case []any:
		out := make([]any, len(value))
		for i := range value {
			out[i] = Tree(value[i], text)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, inner := range value {
			out[text(key)] = Tree(inner, text)
		}
		return out
	}
	return value
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
