// Package yaml reads texts with several YAML documents. Its errors are written for users and
// include the line.
package yaml

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	kubejson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// Document is one document of a YAML file.
type Document struct {
	From    hcl.Pos // the start of its first line
	To      int     // the byte after its end
	Content hcl.Pos // the start of the first line of its content
}

// Documents splits a file at the document separators. It omits documents that contain only
// comments.
func Documents(source []byte) []Document {
	var out []Document
	at := hcl.Pos{Line: 1, Column: 1}
	current := Document{From: at}
	flush := func() {
		current.To = at.Byte
		if current.Content.Line > 0 {
			out = append(out, current)
		}
	}
	for line := range bytes.Lines(source) {
		text := bytes.TrimRight(line, " \t\r\n")
		if bytes.Equal(text, separator) || bytes.HasPrefix(text, []byte("--- ")) {
			flush()
			current = Document{From: at}
			text = text[len(separator):]
		}
		if trimmed := bytes.TrimSpace(text); current.Content.Line == 0 && len(trimmed) > 0 && trimmed[0] != '#' && trimmed[0] != '%' {
			current.Content = at
		}
		at.Line++
		at.Byte += len(line)
	}
	flush()
	return out
}

// separator starts a document. The document may begin on the same line.
var separator = []byte("---")

// Decode decodes a document as kubectl does: whole numbers become int64.
func Decode(text []byte) (content map[string]any, err error) {
	asJSON, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, err
	}
	if err := kubejson.Unmarshal(asJSON, &content); err != nil {
		return nil, fmt.Errorf("an object is needed, with apiVersion, kind and metadata")
	}
	return content, nil
}

var yamlLine = regexp.MustCompile(`line (\d+): (?s:(.*))`)

// Explain returns the line number and the message of an error of the YAML parser.
func Explain(err error) (line int, message error) {
	text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "), "yaml: ")
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = m[2]
	}
	return line, fmt.Errorf("%s", text)
}

// Check returns an error for a document that expands too much or is nested too deep.
func Check(text string) error {
	var content any
	err := yaml.Unmarshal([]byte(text), &content)
	if err != nil && (strings.Contains(err.Error(), "excessive aliasing") || strings.Contains(err.Error(), "exceeded max depth")) {
		_, err = Explain(err)
		return err
	}
	return nil // the decoder of the values reports other errors
}
