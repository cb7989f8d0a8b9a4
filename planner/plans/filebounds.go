package plans

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Limits of a plan file. They admit some 12,000 new objects. Together they limit the
// memory that a file takes: 185 kB of zip can unpack to 190 MB of "{},",
// and each element would take about a kilobyte as an action. Tests change the bounds.
var (
	// maxFile bounds the file itself, in bytes.
	maxFile int64 = 32 << 20
	// maxEntry bounds the unpacked bytes.
	maxEntry = 1 << 27
	// maxItems bounds the number of actions and other items in the lists of a plan.
	maxItems = 50_000
	// maxValues bounds the number of all values. A plan of 1,000 objects has some 140,000.
	maxValues = 2_000_000
)

const (
	// maxDepth bounds the nesting of values: the nesting of a configuration, plus the levels of the
	// plan around it.
	maxDepth = 600
	// minBytesPerValue is the lowest average size of a value; plans have 20 bytes. Small values
	// need much more memory than their bytes.
	minBytesPerValue = 6
	// valuesNotLimitedBySize is the number of values that are allowed whatever their size.
	valuesNotLimitedBySize = 10_000
)

// errTooMuch is the error of a plan that exceeds the bounds.
var errTooMuch = errors.New("it holds more than a plan file may hold")

// meter counts the values in a JSON document without decoding it. It gets the document in pieces.
type meter struct {
	bytes, values, items, depth int
	quoted, escaped             bool
}

// Write counts the values in one piece.
func (m *meter) Write(text []byte) (int, error) {
	m.bytes += len(text)
	for _, c := range text {
		m.next(c)
		if m.depth > maxDepth {
			return 0, fmt.Errorf("%w: it is nested more than %d deep", errTooMuch, maxDepth)
		}
	}
	switch {
	case m.bytes > maxEntry:
		return 0, fmt.Errorf("%w: it has more than %d MB", errTooMuch, maxEntry>>20)
	case m.items > maxItems:
		return 0, fmt.Errorf("%w: a list of it has more than %d items", errTooMuch, maxItems)
	case m.values > maxValues, m.values > valuesNotLimitedBySize+m.bytes/minBytesPerValue:
		return 0, fmt.Errorf("%w: it has %d values in %d bytes", errTooMuch, m.values, m.bytes)
	}
	return len(text), nil
}

func (m *meter) next(c byte) {
	switch {
	case m.escaped:
		m.escaped = false
	case m.quoted:
		m.escaped = c == '\\'
		m.quoted = c != '"'
	case c == '"':
		m.quoted = true
	case c == '{' || c == '[':
		if c == '{' && m.depth == 2 { // an item of a top-level list of the plan
			m.items++
		}
		m.depth++
		m.values++
	case c == '}' || c == ']':
		m.depth--
	case c == ',':
		m.values++
	}
}

// entry unpacks one entry of a plan file.
func entry(archive *zip.Reader, name string) ([]byte, error) {
	file, err := archive.Open(name)
	if err != nil {
		return nil, fmt.Errorf("%w: it has no %s", ErrNotAPlan, name)
	}
	defer file.Close()
	var content bytes.Buffer
	if info, err := file.Stat(); err == nil { // the size that the archive claims
		content.Grow(int(min(max(info.Size(), 0), 1<<24)))
	}
	if _, err := io.Copy(&content, io.TeeReader(file, &meter{})); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, name, err)
	}
	return content.Bytes(), nil
}
