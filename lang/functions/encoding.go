package functions

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/go-cty-funcs/encoding"
	ctyyaml "github.com/zclconf/go-cty-yaml"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	textencoding "golang.org/x/text/encoding"
	"golang.org/x/text/encoding/ianaindex"

	"kolla.openstack.org/kolla/lang/escape"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/yaml"
)

func encodingFunctions() []entry {
	return []entry{
		computes("base64decode", base64decodeFunc, "Decodes a base64 string. The result must be UTF-8.", `base64decode("a29sbGE=")`, `"kolla"`),
		computes("base64encode", encoding.Base64EncodeFunc, "Encodes a string as base64.", `base64encode("kolla")`, `"a29sbGE="`),
		computes("base64gunzip", base64gunzipFunc, "Decodes a base64 string and decompresses the result with gzip. The result must be UTF-8.", `base64gunzip(base64gzip("kolla"))`, `"kolla"`),
		computes("base64gzip", base64gzipFunc, "Compresses a string with gzip and encodes the result as base64.", `startswith(base64gzip("kolla"), "H4sI")`, `true`),
		computes("csvdecode", stdlib.CSVDecodeFunc, "Parses CSV and returns a list of maps, one per row. The first row contains the keys.", `csvdecode("a,b\n1,2\n")`, `[{ a = "1", b = "2" }]`),
		computes("jsondecode", jsondecodeFunc, "Parses a JSON string and returns its value.", `jsondecode("{\"a\": [1, true]}")`, `{ a = [1, true] }`),
		carries("jsonencode", writing(stdlib.JSONEncodeFunc, escape.JSON), "Encodes a value as JSON.", `jsonencode({ a = [1, true] })`, `"{\"a\":[1,true]}"`),
		computes("textdecodebase64", textdecodeFunc, "Decodes a base64 string in the given character encoding.", `textdecodebase64("aABpAA==", "UTF-16LE")`, `"hi"`),
		computes("textencodebase64", textencodeFunc, "Encodes a string in the given character encoding, and the result as base64.", `textencodebase64("hi", "UTF-16LE")`, `"aABpAA=="`),
		computes("urldecode", urldecodeFunc, "Decodes a string from a URL query.", `urldecode("a+b%26c")`, `"a b&c"`),
		computes("urlencode", encoding.URLEncodeFunc, "Encodes a string for use in a URL query.", `urlencode("a b&c")`, `"a+b%26c"`),
		computes("yamldecode", yamldecodeFunc, "Parses a YAML string and returns its value. The string must contain exactly one document that is not empty.", `yamldecode("a: 1\nb: [x]")`, `{ a = 1, b = ["x"] }`),
		computes("yamldecodeall", yamldecodeallFunc, "Parses a YAML string and returns a list of the values of all its documents, without the empty ones.", `yamldecodeall("a: 1\n---\n- b\n")`, `[{ a = 1 }, ["b"]]`),
		carries("yamlencode", writing(ctyyaml.YAMLEncodeFunc, escape.Line), "Encodes a value as YAML.", `yamlencode({ a = 1 })`, `"\"a\": 1\n"`),
	}
}

// writing returns a function that writes JSON or YAML. A generated secret is not known yet and
// is escaped later, so the function records the secret's place: a JSON string. YAML, too,
// writes a text of one line between double quotes. lines is the place of a secret in a text of
// several lines.
func writing(f function.Function, lines escape.Place) function.Function {
	at := func(text, within string) string {
		place := escape.JSON
		if strings.Contains(text, "\n") {
			place = lines
		}
		return string(escape.Place(within).Then(place))
	}
	return function.New(&function.Spec{
		Params: []function.Parameter{passed(f.Params()[0])},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			value, err := mark.Within(args[0], at)
			if err != nil {
				return cty.DynamicVal, err
			}
			return f.Call([]cty.Value{value})
		},
	})
}

// oneText returns a function from one text to a text.
func oneText(param string, f func(string) (string, error)) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: param, Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			out, err := f(args[0].AsString())
			if err != nil {
				return cty.UnknownVal(cty.String), function.NewArgError(0, err)
			}
			return cty.StringVal(out), nil
		},
	})
}

var errNotUTF8 = errors.New("the decoded data is not UTF-8")

// base64decodeFunc does not quote an invalid text in its error, because the text may be secret.
// The function of go-cty-funcs quotes it.
var base64decodeFunc = oneText("str", func(text string) (string, error) {
	out, err := base64.StdEncoding.DecodeString(text)
	if err == nil && !utf8.Valid(out) {
		err = errNotUTF8
	}
	return string(out), err
})

var base64gzipFunc = oneText("str", func(text string) (string, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
})

var base64gunzipFunc = oneText("str", func(text string) (string, error) {
	r, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	if err != nil {
		return "", err
	}
	out, err := readBounded(r)
	if err == nil && !utf8.Valid(out) {
		err = errNotUTF8
	}
	return string(out), err
})

var urldecodeFunc = oneText("str", func(text string) (string, error) {
	out, err := url.QueryUnescape(text)
	if err == nil && !utf8.ValidString(out) {
		err = errNotUTF8
	}
	return out, err
})

// jsondecodeFunc refuses texts that are nested too deep for the decoder.
var jsondecodeFunc = guarded(stdlib.JSONDecodeFunc, func(args []cty.Value) error {
	return checkText(args[0], func(text string) error {
		var raw json.RawMessage
		if err := json.Unmarshal([]byte(text), &raw); err != nil {
			return fmt.Errorf("not JSON: %w", err)
		}
		return nil
	})
})

// checkText checks an argument if it is a known text.
func checkText(arg cty.Value, check func(string) error) error {
	arg, _ = arg.Unmark()
	if arg.Type() != cty.String || !arg.IsKnown() || arg.IsNull() {
		return nil
	}
	if err := check(arg.AsString()); err != nil {
		return function.NewArgError(0, err)
	}
	return nil
}

var textencodeFunc = characterEncoding(func(text string, e textencoding.Encoding) (string, error) {
	out, err := e.NewEncoder().String(text)
	if err != nil {
		return "", errors.New("the string contains characters that do not exist in this encoding")
	}
	return base64.StdEncoding.EncodeToString([]byte(out)), nil
})

var textdecodeFunc = characterEncoding(func(text string, e textencoding.Encoding) (string, error) {
	source, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return "", err
	}
	out, err := e.NewDecoder().Bytes(source)
	if err != nil || bytes.ContainsRune(out, utf8.RuneError) {
		return "", errors.New("the decoded data is not valid in this encoding")
	}
	return string(out), nil
})

func characterEncoding(f func(string, textencoding.Encoding) (string, error)) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "str", Type: cty.String}, {Name: "encoding", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			e, err := ianaindex.IANA.Encoding(args[1].AsString())
			if err != nil || e == nil { // nil: registered, but not supported
				return cty.UnknownVal(cty.String), function.NewArgErrorf(1, "unknown encoding %q; examples of valid names are UTF-16LE and ISO-8859-1", args[1].AsString())
			}
			out, err := f(args[0].AsString(), e)
			if err != nil {
				return cty.UnknownVal(cty.String), function.NewArgError(0, err)
			}
			return cty.StringVal(out), nil
		},
	})
}

var (
	yamldecodeFunc    = yamlFunc(yamlDocument)
	yamldecodeallFunc = yamlFunc(yamlDocuments)
)

// yamlFunc returns a function that decodes a text.
func yamlFunc(decode func(text string) (cty.Value, error)) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "src", Type: cty.String}},
		Type:   function.StaticReturnType(cty.DynamicPseudoType), // to decode once
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			v, err := decode(args[0].AsString())
			if err != nil {
				return cty.DynamicVal, function.NewArgError(0, err)
			}
			return v, nil
		},
	})
}

// yamlDocument decodes the only document of a text. A text without a document, or with several,
// is an error.
func yamlDocument(text string) (cty.Value, error) {
	all, err := documentsOf(text)
	switch {
	case err != nil:
		return cty.DynamicVal, err
	case len(all) == 0:
		return cty.DynamicVal, errors.New("the string contains no YAML document")
	case len(all) > 1:
		return cty.DynamicVal, fmt.Errorf("the string contains %d documents; use yamldecodeall, which returns a list of all of them", len(all))
	}
	return decodeDocument(all[0])
}

func yamlDocuments(text string) (cty.Value, error) {
	all, err := documentsOf(text)
	if err != nil {
		return cty.DynamicVal, err
	}
	var out []cty.Value
	for i, doc := range all {
		v, err := decodeDocument(doc)
		if err != nil {
			return cty.DynamicVal, fmt.Errorf("document %d: %w", i+1, err)
		}
		out = append(out, v)
	}
	return cty.TupleVal(out), nil
}

func documentsOf(text string) ([]yaml.Document, error) {
	all, wrong := yaml.Documents([]byte(text))
	if len(wrong) > 0 {
		return nil, wrong[0]
	}
	return all, nil
}

func decodeDocument(doc yaml.Document) (cty.Value, error) {
	if err := doc.CheckSize(); err != nil {
		return cty.DynamicVal, err
	}
	if err := doc.CheckSyntax(); err != nil {
		return cty.DynamicVal, err
	}
	if err := doc.CheckKeys(); err != nil {
		return cty.DynamicVal, err
	}
	return ctyyaml.YAMLDecodeFunc.Call([]cty.Value{cty.StringVal(string(doc.Text))})
}
