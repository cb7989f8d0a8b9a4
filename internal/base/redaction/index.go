package redaction

import (
	"encoding/binary"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// index finds forms, and pieces of them, in a text. Four bytes at regular places of each form are
// its seeds. If a seed occurs in the text, the match is extended on both sides as far as form and
// text agree. So the time for a text hardly depends on the number of values, unless many of them have
// a piece in common that the text contains.
type index struct {
	forms []form
	known map[form]bool
	seeds []seed
	heads map[uint32]int32 // the last seed of each kind, from 1
	// filter has a bit for the hash of each seed. For most bytes of a text, it excludes a seed.
	filter [1 << 14]uint64
}

// seed is a place in a form.
type seed struct {
	form, at int32
	next     int32 // another seed of the same bytes, from 1; 0: none
}

// seedSize is the length of a seed; no form is shorter.
const seedSize = shortest

// maxSeeds bounds the equal seeds of a form, such as those of a line of dashes.
const maxSeeds = 4

func newIndex() *index {
	return &index{known: map[form]bool{}, heads: map[uint32]int32{}}
}

// add adds a value in all of its forms. Two forms can have the same text and different rules for
// pieces. The index keeps both, so that the order of the values does not change the result.
func (x *index) add(value string, sensitive bool) {
	for _, part := range partsOf(value) {
		for _, f := range spellings(part) {
			f.sensitive = sensitive
			if len(f.text) >= seedSize && !x.known[f] {
				x.known[f] = true
				x.plant(f)
			}
		}
	}
}

// plant adds the seeds of a form, so that each piece that counts contains one. Four equal bytes,
// such as the dashes of a PEM key, occur in many texts. They are no seeds. Instead, the places
// before and after them are.
func (x *index) plant(f form) {
	number := int32(len(x.forms))
	x.forms = append(x.forms, f)
	step := len(f.text)
	if f.minLength > 0 {
		step = max(f.minLength-seedSize+1, 1)
	}
	next, last, end := 0, -1, len(f.text)-seedSize
	for at := 0; at <= end; at++ {
		if isEven(f.text[at:]) {
			continue
		}
		last = at
		if at >= next {
			x.sow(number, at)
			next = at + step
		} else if f.minLength > 0 && at < end && isEven(f.text[at+1:]) {
			x.sow(number, at)
		}
	}
	x.sow(number, max(last, 0))
}

// isEven reports whether all bytes of a seed are equal.
func isEven(text string) bool {
	return text[0] == text[1] && text[1] == text[2] && text[2] == text[3]
}

func (x *index) sow(number int32, at int) {
	key := keyOf(x.forms[number].text[at:])
	head := x.heads[key]
	same := 0
	for n := head; n != 0 && x.seeds[n-1].form == number; n = x.seeds[n-1].next {
		same++
	}
	if same >= maxSeeds {
		return
	}
	x.seeds = append(x.seeds, seed{number, int32(at), head})
	x.heads[key] = int32(len(x.seeds))
	hash := hashOf(key)
	x.filter[hash>>6] |= 1 << (hash & 63)
}

func keyOf(text string) uint32 { return binary.LittleEndian.Uint32([]byte(text[:seedSize])) }

func hashOf(key uint32) uint32 { return key * 2654435761 >> 12 }

// span is a part of a text.
type span struct{ start, end int }

// beats reports whether a span is longer than another one, or equally long and earlier. It makes
// the result independent of the order of the forms.
func (s span) beats(other span) bool {
	length, others := s.end-s.start, other.end-other.start
	return length > others || length == others && s.start < other.start
}

// find returns the parts of a text to mask, in order and without overlaps.
func (x *index) find(text string, counts func(match) bool) []span {
	var spans []span
	for i := 0; i+seedSize <= len(text); i++ {
		key := keyOf(text[i:])
		if hash := hashOf(key); x.filter[hash>>6]&(1<<(hash&63)) == 0 {
			continue
		}
		best := span{}
		for n := x.heads[key]; n != 0; n = x.seeds[n-1].next {
			s := x.seeds[n-1]
			m := extend(&x.forms[s.form], int(s.at), text, i)
			if wide := m.wide(); wide.beats(best) && counts(m) {
				best = wide
			}
		}
		if best.end == 0 {
			continue
		}
		for len(spans) > 0 && spans[len(spans)-1].end >= best.start {
			best.start = min(best.start, spans[len(spans)-1].start)
			best.end = max(best.end, spans[len(spans)-1].end)
			spans = spans[:len(spans)-1]
		}
		spans = append(spans, best)
		i = max(i, best.end-seedSize) // another value may begin at the end of this one
	}
	return spans
}

// match is a part of a text that is a form, or a piece of one.
type match struct {
	span
	of   *form
	at   int // where the piece begins in the form
	text string
}

// stride is the number of bytes that extend compares at once.
const stride = 256

// extend makes a match around equal places of a form and a text.
func extend(f *form, at int, text string, i int) match {
	start, from := i, at
	for start >= stride && from >= stride && text[start-stride:start] == f.text[from-stride:from] {
		start, from = start-stride, from-stride
	}
	for start > 0 && from > 0 && text[start-1] == f.text[from-1] {
		start, from = start-1, from-1
	}
	end, to := i+seedSize, at+seedSize
	for end+stride <= len(text) && to+stride <= len(f.text) && text[end:end+stride] == f.text[to:to+stride] {
		end, to = end+stride, to+stride
	}
	for end < len(text) && to < len(f.text) && text[end] == f.text[to] {
		end, to = end+1, to+1
	}
	return match{span{start, end}, f, from, text}
}

// whole reports whether the match is the whole form.
func (m match) whole() bool {
	return m.end-m.start == len(m.of.text) && (!m.of.word || m.isWord())
}

// piece reports whether the match is a piece that counts: it is long, or the text was cut off
// there.
func (m match) piece() bool {
	length := m.end - m.start
	switch {
	case m.of.word && (length == len(m.of.text) || !m.isWord()):
		return false // a part of a word
	case m.of.minLength > 0 && length >= m.of.minLength:
		return !m.common()
	}
	// The end of the text counts as a cut only for a value itself, and not after a common word.
	edge := m.of.minLength > 0 && !(m.letters() && (m.isWord() || m.inLetters()))
	before, after := m.text[:m.start], m.text[m.end:]
	begins, ends := m.at == 0, m.at+length == len(m.of.text)
	return length >= cutPiece && !(begins && ends) &&
		(begins || edge && before == "" || cutBefore(before)) && (ends || edge && isEnd(after) || cutAfter(after))
}

// wordy matches words without digits and without changes of case, such as "nova_compute".
var wordy = regexp.MustCompile(`^(?:[A-Z]?[a-z]*|[A-Z]+)(?:[-_.](?:[A-Z]?[a-z]*|[A-Z]+))*$`)

// common reports whether a piece may be an ordinary word, such as "password": it is a part of
// longer words in the text, a small part of the value, or a short word of it.
func (m match) common() bool {
	length := m.end - m.start
	if length >= longPiece || !wordy.MatchString(m.text[m.start:m.end]) {
		return false
	}
	return m.inLetters() || 5*length <= 2*len(m.of.text) || length < unmistakable && !inLetters(m.of.text, m.at, m.at+length)
}

// within reports whether one of the texts contains the match.
func (m match) within(texts []string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(text, m.text[m.start:m.end]) })
}

// wide returns the match without blanks around it, and with the adjacent base64 characters that
// also depend on the value.
func (m match) wide() span {
	s := m.span
	for s.start < s.end && m.text[s.start] == ' ' {
		s.start++
	}
	for s.start < s.end && m.text[s.end-1] == ' ' {
		s.end--
	}
	if m.at == 0 {
		for n := 0; n < m.of.before && s.start > 0 && isBase64(m.text[s.start-1]); n++ {
			s.start--
		}
	}
	if m.at+m.end-m.start == len(m.of.text) {
		for n := 0; n < m.of.after && s.end < len(m.text) && isBase64(m.text[s.end]); n++ {
			s.end++
		}
	}
	return s
}

// isWord reports whether the match is not a part of a longer word.
func (m match) isWord() bool {
	before, _ := utf8.DecodeLastRuneInString(m.text[:m.start])
	after, _ := utf8.DecodeRuneInString(m.text[m.end:])
	return !inWord(after) && (!inWord(before) || escape.MatchString(m.text[max(0, m.start-maxEscape):m.start]))
}

// inLetters reports whether a letter is before or after the match.
func (m match) inLetters() bool { return inLetters(m.text, m.start, m.end) }

func inLetters(text string, start, end int) bool {
	return start > 0 && isLetter(text[start-1]) && !escape.MatchString(text[max(0, start-maxEscape):start]) || end < len(text) && isLetter(text[end])
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// escape matches an escape of Go, JSON or a URL, or a color of a terminal, at the end of a text.
var escape = regexp.MustCompile(`(?:\\(?:[abefnrtv0]|x[[:xdigit:]]{2}|u[[:xdigit:]]{4}|U[[:xdigit:]]{8}|[0-7]{3})|%(?:25)*[[:xdigit:]]{2}|(?:\x1b|\\x1b|\\u001[bB]|\\033|\\e)\[[\d;]*m)$`)

const maxEscape = 24

// name returns the match, extended to the whole name of an object around it.
func (m match) name() string {
	start, end := m.start, m.end
	for start > 0 && inName(m.text[start-1]) {
		start--
	}
	for end < len(m.text) && inName(m.text[end]) {
		end++
	}
	return strings.Trim(m.text[start:end], ".")
}

func inName(c byte) bool {
	return c == '-' || c == '.' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
}

// letters reports whether the match has lower-case letters only.
func (m match) letters() bool {
	return !strings.ContainsFunc(m.text[m.start:m.end], func(r rune) bool { return r < 'a' || r > 'z' })
}

// inWord reports whether a character is a part of a word. Letters without case do not count:
// scripts with such letters have no blanks between words.
func inWord(r rune) bool {
	return r == '-' || r == '_' || unicode.In(r, unicode.Lu, unicode.Ll, unicode.Nd)
}

func isBase64(c byte) bool {
	return c < 0x80 && (unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c))) || strings.IndexByte("+/-_", c) >= 0
}

// cutBefore reports whether the text ends with a mark such as "...", so that the part before it was
// cut off.
func cutBefore(text string) bool {
	return strings.HasSuffix(text, "...") || strings.HasSuffix(text, "...|") || strings.HasSuffix(text, "…")
}

// cutAfter reports whether the text begins with a mark such as "...", so that the part after it was
// cut off.
func cutAfter(text string) bool {
	text = strings.TrimLeft(text, quotes)
	return strings.HasPrefix(text, "...") || strings.HasPrefix(text, "…") ||
		len(text) > 1 && strings.IndexByte("[(<", text[0]) >= 0 && strings.HasPrefix(strings.ToLower(text[1:]), "trunc")
}

// isEnd reports whether the rest of a text contains only quotes.
func isEnd(text string) bool { return strings.TrimLeft(text, quotes) == "" }

const quotes = ` "'|`
