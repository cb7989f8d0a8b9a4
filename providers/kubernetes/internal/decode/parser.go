package decode

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"unicode/utf8"
)

// parser reads JSON.
type parser struct {
	raw []byte
	at  int
	// strings contains the strings that were allocated before: field names and short values.
	// Most of them occur in most objects.
	strings map[string]string
	// leaves: all empty objects are the same map, which must not be modified. Half of
	// managedFields are empty objects.
	leaves bool
}

// tables has the strings of parsers that are done, for the next ones.
var tables = sync.Pool{New: func() any { return map[string]string{} }}

// newParser returns a parser. The caller calls free when nothing is left to read.
func newParser(raw []byte) *parser {
	return &parser{raw: raw, strings: tables.Get().(map[string]string)}
}

func (p *parser) free() { tables.Put(p.strings) }

// leaf is the shared empty object.
var leaf = map[string]any{}

const (
	// maxShared is the length of values that are probably repeated.
	maxShared = 32
	// maxStrings bounds the number of shared strings.
	maxStrings = 1 << 14
	// maxDepth is more than the depth of any object in a server.
	maxDepth = 1000
)

// errSyntax has no details: servers do not send malformed JSON, and a lost connection is
// noticed before.
var errSyntax = errors.New("it is not JSON")

// value reads one value of any kind: map[string]any, []any, string, int64, float64,
// bool or nil.
func (p *parser) value(depth int) (any, error) {
	if depth > maxDepth {
		return nil, errSyntax
	}
	switch p.peek() {
	case '{':
		return p.object(depth)
	case '[':
		return p.array(depth)
	case '"':
		return p.text(maxShared)
	case 't':
		return true, p.literal("true")
	case 'f':
		return false, p.literal("false")
	case 'n':
		return nil, p.literal("null")
	}
	return p.number()
}

// peek skips white space and returns the next byte; 0 at the end.
func (p *parser) peek() byte {
	for ; p.at < len(p.raw); p.at++ {
		switch char := p.raw[p.at]; char {
		case ' ', '\t', '\r', '\n':
		default:
			return char
		}
	}
	return 0
}

// skip consumes a byte if it is the next one.
func (p *parser) skip(char byte) bool {
	if p.peek() != char {
		return false
	}
	p.at++
	return true
}

func (p *parser) literal(text string) error {
	if !bytes.HasPrefix(p.raw[p.at:], []byte(text)) {
		return errSyntax
	}
	p.at += len(text)
	return nil
}

// members reads an object. It calls field at the value of each field.
func (p *parser) members(field func(name string) error) error {
	if !p.skip('{') {
		return errSyntax
	}
	if p.skip('}') {
		return nil
	}
	for {
		if p.peek() != '"' {
			return errSyntax
		}
		name, err := p.text(len(p.raw))
		if err != nil {
			return err
		}
		if !p.skip(':') {
			return errSyntax
		}
		if err := field(name); err != nil {
			return err
		}
		if p.skip('}') {
			return nil
		}
		if !p.skip(',') {
			return errSyntax
		}
	}
}

// elements reads an array. It calls element at each element.
func (p *parser) elements(element func() error) error {
	if !p.skip('[') {
		return errSyntax
	}
	if p.skip(']') {
		return nil
	}
	for {
		if err := element(); err != nil {
			return err
		}
		if p.skip(']') {
			return nil
		}
		if !p.skip(',') {
			return errSyntax
		}
	}
}

func (p *parser) object(depth int) (map[string]any, error) {
	if p.leaves && p.empty() {
		return leaf, nil
	}
	content := map[string]any{}
	err := p.members(func(name string) (err error) {
		if name == "fieldsV1" {
			p.leaves = true
			defer func() { p.leaves = false }()
		}
		content[name], err = p.value(depth + 1)
		return err
	})
	return content, err
}

// empty consumes an object without fields, if that is next.
func (p *parser) empty() bool {
	start := p.at
	if p.skip('{') && p.skip('}') {
		return true
	}
	p.at = start
	return false
}

func (p *parser) array(depth int) ([]any, error) {
	content := []any{}
	err := p.elements(func() error {
		value, err := p.value(depth + 1)
		content = append(content, value)
		return err
	})
	return content, err
}

// text reads a string. Equal strings are shared if they are no longer than shared.
func (p *parser) text(shared int) (string, error) {
	start := p.at + 1
	plain := true
	for at := start; at < len(p.raw); at++ {
		switch char := p.raw[at]; {
		case char == '\\':
			plain = false
			at++
		case char == '"':
			p.at = at + 1
			return p.make(p.raw[start:at], plain, shared)
		case char < ' ':
			return "", errSyntax
		}
	}
	return "", errSyntax
}

func (p *parser) make(raw []byte, plain bool, shared int) (string, error) {
	if !plain || !utf8.Valid(raw) {
		var text string
		if json.Unmarshal(p.raw[p.at-len(raw)-2:p.at], &text) != nil {
			return "", errSyntax
		}
		return text, nil
	}
	if len(raw) > shared {
		return string(raw), nil
	}
	if text, ok := p.strings[string(raw)]; ok {
		return text, nil
	}
	text := string(raw)
	if len(p.strings) < maxStrings {
		p.strings[text] = text
	}
	return text, nil
}

// number reads a number. Whole numbers are int64 if they fit.
func (p *parser) number() (any, error) {
	start := p.at
	whole := true
	for ; p.at < len(p.raw); p.at++ {
		switch char := p.raw[p.at]; {
		case char >= '0' && char <= '9', char == '-', char == '+':
		case char == '.', char == 'e', char == 'E':
			whole = false
		default:
			return numberOf(string(p.raw[start:p.at]), whole)
		}
	}
	return numberOf(string(p.raw[start:p.at]), whole)
}

func numberOf(text string, whole bool) (any, error) {
	if !json.Valid([]byte(text)) {
		return nil, errSyntax
	}
	if whole {
		if value, err := strconv.ParseInt(text, 10, 64); err == nil {
			return value, nil
		}
	}
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, errSyntax
	}
	return value, nil
}
