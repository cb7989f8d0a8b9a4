// Package escape writes values from elsewhere, such as given passwords, into texts of other
// languages. Each place has a rule: the value is written so that the language reads back the
// same value, or it is refused. Errors never contain the value.
package escape

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Place is the place of a value in a text. The empty place accepts every value unchanged.
type Place string

// The places. A plus sign joins several places, the innermost first.
const (
	JSON    Place = "json"    // in a JSON string or a double-quoted YAML string: escaped
	SQL     Place = "sql"     // between single quotes of SQL: escaped; backslashes are refused
	URL     Place = "url"     // user or password of a URL: percent-encoded
	InURL   Place = "in-url"  // any other part of a URL: characters that would end the part are refused
	Literal Place = "literal" // a percent sign, which URL may produce, is refused
	INI     Place = "ini"     // value of an option that oslo.config reads
	Line    Place = "line"    // part of a line
	Quoted  Place = "quoted"  // between quotes of an unknown language
	Bare    Place = "bare"    // in a program or a document, without quotes
	Env     Place = "env"     // an environment variable
)

// Then returns the combined place of a value that is first put into p and then, with p, into
// outer.
func (p Place) Then(outer Place) Place {
	switch {
	case p == "":
		return outer
	case outer == "":
		return p
	}
	return p + "+" + outer
}

// Into returns the text that represents value at the place p.
func Into(p Place, value string) (string, error) {
	if p == "" {
		return value, nil
	}
	for each := range strings.SplitSeq(string(p), "+") {
		rule, ok := rules[Place(each)]
		if !ok {
			return "", fmt.Errorf("there is no place %q to put a value into", each)
		}
		out, err := rule(value)
		if err != nil {
			return "", err
		}
		value = out
	}
	return value, nil
}

var rules = map[Place]func(string) (string, error){
	JSON:    intoJSON,
	SQL:     intoSQL,
	URL:     func(s string) (string, error) { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20"), nil },
	InURL:   refusing(notInURL, "it has characters that would end or change the URL that it stands in; encode it first"),
	Literal: refusing(func(r rune) bool { return r == '%' }, "it has characters that have to be percent-encoded in a URL, and the service cannot read such a URL; letters, digits, dots, dashes and underscores need no encoding"),
	INI:     intoINI,
	Line:    intoLine,
	Quoted: func(s string) (string, error) {
		if strings.ContainsAny(s, "'\"`\\$") {
			return "", errors.New("it has a quote, a backtick, a backslash or a dollar sign, and stands between quotes, which such a character could end. Use jsonencode or yamlencode where the file is JSON or YAML, or mount the secret as a file")
		}
		return intoLine(s)
	},
	Bare: refusing(func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._+/=@%,-", r)
	}, "it has characters that could mean something in the program or document that it stands in without quotes. Put quotes round it, or use jsonencode or yamlencode where the file is JSON or YAML"),
	Env: refusing(func(r rune) bool { return r == 0 }, "it has a NUL character, and an environment variable cannot hold one"),
}

// refusing returns a rule that accepts values unchanged, except values with a wrong character.
func refusing(wrong func(rune) bool, why string) func(string) (string, error) {
	return func(s string) (string, error) {
		if strings.ContainsFunc(s, wrong) {
			return "", errors.New(why)
		}
		return s, nil
	}
}

func intoJSON(s string) (string, error) {
	if !utf8.ValidString(s) {
		return "", errors.New("it is not UTF-8 text, which JSON and YAML need")
	}
	out, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	return string(out[1 : len(out)-1]), nil
}

// intoSQL doubles single quotes, which all dialects of SQL understand. It refuses backslashes,
// because the dialects read them differently.
func intoSQL(s string) (string, error) {
	if strings.Contains(s, `\`) {
		return "", errors.New("it has a backslash, which some SQL servers take as the start of an escape sequence")
	}
	s, err := intoLine(s)
	return strings.ReplaceAll(s, "'", "''"), err
}

// intoINI refuses values that oslo.config would read differently: it strips quotes and blanks
// at the ends, and a name after a dollar sign refers to another option.
func intoINI(s string) (string, error) {
	if strings.TrimFunc(s, unicode.IsSpace) != s {
		return "", errors.New("it begins or ends with a blank, which is lost in a config file")
	}
	if s != strings.Trim(s, `'"`) {
		return "", errors.New("it begins or ends with a quote, which is lost in a config file")
	}
	for i := range len(s) {
		if s[i] != '$' {
			continue
		}
		after := s[i+1:]
		if i > 0 && s[i-1] == '\\' || after != "" && (after[0] == '$' || after[0] == '{' || after[0] == '_' || unicode.IsLetter(rune(after[0]))) {
			return "", errors.New("it has a dollar sign before a name, which refers to another option in a config file")
		}
	}
	return intoLine(s)
}

func intoLine(s string) (string, error) {
	if strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\t' || r == '\u2028' || r == '\u2029' }) {
		return "", errors.New("it has a line break or another control character, and has to fit into one line")
	}
	return s, nil
}

func notInURL(r rune) bool {
	return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !slices.Contains([]rune("-._~!$'()*+,;=:/%"), r)
}
