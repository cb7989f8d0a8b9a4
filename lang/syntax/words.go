package syntax

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// reword replaces an error of HCL's parser by a clearer one, if the tokens around it show the
// cause. Otherwise it leaves the error unchanged.
func (s faulty) reword(d *hcl.Diagnostic) {
	i := slices.IndexFunc(s.tokens, func(t hclsyntax.Token) bool { return t.Range.Start.Byte >= d.Subject.Start.Byte })
	if i < 0 {
		return
	}
	var said *hcl.Diagnostic
	switch d.Summary {
	case "Invalid character":
		if !s.hidden || s.tokens[i].Type != hclsyntax.TokenInvalid {
			said = s.badCharacter(i)
		}
	case "Argument or block definition required":
		said = s.noItem(i)
	case "Invalid argument name":
		name, _, _ := strings.Cut(strings.TrimPrefix(lineAt(s.tokens, i), `"`), `"`)
		said = syntaxError(hcl.RangeBetween(*d.Subject, s.tokens[min(i+2, len(s.tokens)-1)].Range), "Quoted name", "Write the name of an argument without quotes: `%s = VALUE`. Only the keys of a map may be quoted.", name)
	case "Attribute redefined":
		said = s.twice(d, i)
	case "Invalid 'for' expression":
		said = syntaxError(*d.Subject, d.Summary, "%s For a list, write [for NAME in VALUES : VALUE]. For a map, write {for NAME in VALUES : KEY => VALUE}.", d.Detail)
	case "Invalid block definition":
		said = s.noBlock(d, i)
	case "Invalid single-argument block definition":
		said = syntaxError(*d.Subject, "Line break expected", "A block on one line can have at most one argument. Put each argument and the closing brace on its own line.")
	case "Unexpected comma after argument":
		said = syntaxError(*d.Subject, "Comma after an argument", "Arguments of a block are separated by line breaks. Remove the comma. Commas only separate the elements of lists and maps.")
	case "Missing newline after argument":
		said = s.noEnd(i)
	case "Extra characters after expression":
		said = s.noMore(i)
	case "Extra characters after interpolation expression":
		said = syntaxError(*d.Subject, "Brace expected", "A %s sequence must contain one expression and end with }. Perhaps an operator or a comma is missing before this. For the literal characters, write %s.", "${", "$${")
	case "Invalid expression", "Missing expression":
		said = s.noValue(i)
	case "Invalid escape sequence":
		said = syntaxError(*d.Subject, "Unknown escape", "The escape sequences of a string are \\n, \\r, \\t, \\\", \\\\, \\uNNNN and \\UNNNNNNNN. For a literal backslash, write \\\\.")
	case "Invalid template control keyword":
		said = syntaxError(*d.Subject, "Unknown directive", "In a string, %s must be followed by if, else, endif, for or endfor. For the literal characters, write %s.", "%{", "%%{")
	default:
		said = s.inBrackets(d, i)
	}
	if said != nil {
		d.Summary, d.Detail, d.Subject, d.Context = said.Summary, said.Detail, said.Subject, nil
	}
}

// inBrackets returns the error for a mistake in a list, a map, arguments of a function or
// parentheses.
func (s faulty) inBrackets(d *hcl.Diagnostic, i int) *hcl.Diagnostic {
	t := s.tokens[i]
	switch d.Summary {
	case "Missing item separator":
		if t.Type == hclsyntax.TokenEqual || t.Type == hclsyntax.TokenColon {
			return syntaxError(t.Range, "Names in a list", "The elements of a list have no names. For a map, use braces: { NAME = VALUE }.")
		}
		return syntaxError(t.Range, "Comma missing", "The elements of a list are separated by commas, even if each is on its own line. A comma is missing before this element.")
	case "Missing argument separator":
		return syntaxError(t.Range, "Comma missing", "The arguments of a function are separated by commas. A comma is missing before this argument.")
	case "Missing attribute separator":
		return syntaxError(t.Range, "Comma missing", "The elements of a map are separated by commas or line breaks. A comma is missing before this element.")
	case "Missing key/value separator", "Missing attribute value":
		return syntaxError(t.Range, "Equals sign missing", "Write each element of a map as NAME = VALUE. For a list, use brackets: [VALUE, VALUE].")
	case "Missing false expression in conditional":
		return syntaxError(s.tokens[max(i-1, 0)].Range, "Value missing", "Write a condition as CONDITION ? VALUE : OTHER. After this, `: OTHER` is missing.")
	case "Missing close bracket on index":
		return syntaxError(t.Range, "Bracket expected", "An index is one value in brackets. For the arguments of a function, use parentheses: NAME(VALUE, VALUE).")
	case "Unbalanced parentheses":
		if t.Type == hclsyntax.TokenComma {
			return syntaxError(t.Range, "Comma in parentheses", "Parentheses can contain only one value. For a list, use brackets: [VALUE, VALUE].")
		}
	}
	return nil
}

// badCharacter returns the error for a character that the language does not have.
func (s faulty) badCharacter(i int) *hcl.Diagnostic {
	t := s.tokens[i]
	r, _ := utf8.DecodeRune(t.Bytes)
	switch {
	case t.Type == hclsyntax.TokenSemicolon:
		return syntaxError(t.Range, "Unexpected semicolon", "Arguments and blocks end at the end of the line. Remove the semicolon.")
	case strings.ContainsRune(wrongQuotes, r):
		return syntaxError(t.Range, "Wrong quotes", "Write a string in straight double quotes: %s.", s.requoted(i))
	case unicode.IsSpace(r) || unicode.Is(unicode.Cf, r):
		return syntaxError(t.Range, "Invisible character", "There is an invisible character (%U) here. Copied text often contains such characters. Delete it, and type a space if one is needed.", r)
	case r > utf8.RuneSelf:
		return syntaxError(t.Range, "Unexpected character", "The character %q (%U) is only allowed inside strings. Copied text often contains such characters. Type the line again.", string(r), r)
	}
	return syntaxError(t.Range, "Unexpected character", "The character %q is only allowed inside strings.", string(r))
}

// requoted returns a text with straight quotes in place of wrong ones.
func (s faulty) requoted(i int) string {
	line := []rune(lineAt(s.tokens, i))
	if s.hidden {
		line = nil
	}
	for end := 1; end < len(line); end++ {
		if strings.ContainsRune(wrongQuotes, line[end]) {
			return strconv.Quote(string(line[1:end]))
		}
	}
	return `"STRING"`
}

// wrongQuotes contains the quotes of other languages and of word processors.
const wrongQuotes = "'`´‘’“”„«»"

// twice returns the error for a second argument of the same name.
func (s faulty) twice(d *hcl.Diagnostic, i int) *hcl.Diagnostic {
	at := regexp.MustCompile(`at (.*:[0-9]+),`).FindStringSubmatch(d.Detail)
	if at == nil {
		return nil
	}
	return syntaxError(*d.Subject, "Duplicate argument", "%q is already set at %s. Remove one of the two.", s.tokens[i].Bytes, at[1])
}

var (
	iniSection = regexp.MustCompile(`^\[[\w.:-]+\]$`)
	yamlItem   = regexp.MustCompile(`^(---|- |-$|[\w"-]+:( |$))`)
)

// noItem returns the error for a line that begins neither an argument nor a block. A hidden
// source is a file with values, which has no blocks.
func (s faulty) noItem(i int) *hcl.Diagnostic {
	t, line := s.tokens[i], lineAt(s.tokens, i)
	next := s.tokens[min(i+1, len(s.tokens)-1)]
	outside := depth(s.tokens[:i]) == 0
	switch {
	case outside && s.hidden && t.Type == hclsyntax.TokenOBrace:
		return syntaxError(t.Range, "Not HCL", "Each line of a variable file is `NAME = VALUE`. If this is JSON, rename the file so that its name ends in .json.")
	case outside && s.hidden && yamlItem.MatchString(line):
		return syntaxError(t.Range, "Not HCL", "This looks like YAML. Each line of a variable file is `NAME = VALUE`. Write a map as { NAME = VALUE } and a list as [VALUE, VALUE].")
	case outside && s.hidden && iniSection.MatchString(line):
		return syntaxError(t.Range, "Not HCL", "This looks like the config file of a service. Each line of a variable file is `NAME = VALUE`. It has no sections.")
	case outside && t.Type == hclsyntax.TokenOBrace:
		return syntaxError(t.Range, "Not HCL", "A block starts with its type, as in `service \"NAME\" {`. If this is JSON, rename the file so that its name ends in %s.", JSONExtension)
	case outside && yamlItem.MatchString(line):
		return syntaxError(t.Range, "Not HCL", "This looks like YAML. Write a block as `service \"NAME\" {`, and an argument in it as `replicas = 3`. To apply Kubernetes objects from YAML files, write manifest \"NAME\" { files = [\"FILE\"] }.")
	case outside && iniSection.MatchString(line):
		return syntaxError(t.Range, "Not HCL", "This looks like the config file of a service. Put its values into a `config \"FILE\" {` block of the service, or into a file in the cloud's config_dir.")
	case t.Type == hclsyntax.TokenNumberLit:
		return syntaxError(t.Range, "Unsuitable name", "A name starts with a letter or an underscore.")
	case t.Type != hclsyntax.TokenIdent:
		return syntaxError(t.Range, "Argument or block expected", "This line must start an argument, `NAME = VALUE`, or a block, `TYPE \"NAME\" {`. It starts with %s.", s.named(t))
	case slices.Contains([]hclsyntax.TokenType{hclsyntax.TokenColon, hclsyntax.TokenEqualOp, hclsyntax.TokenPlus}, next.Type):
		return syntaxError(next.Range, "Equals sign expected", "Write an argument with one equals sign: `%s = VALUE`.", t.Bytes)
	case next.Type == hclsyntax.TokenDot:
		return syntaxError(hcl.RangeBetween(t.Range, next.Range), "Unsuitable name", "The name of an argument is one word. To set an element of a map, use braces: `%s = { NAME = VALUE }`.", t.Bytes)
	case line == string(t.Bytes):
		return syntaxError(t.Range, "Value missing", "%q is alone on its line. Write an argument as `%s = VALUE`, and a block as `%s {`.", t.Bytes, t.Bytes, t.Bytes)
	}
	return syntaxError(next.Range, "Equals sign or brace expected", "After %q, write an equals sign for an argument, or a brace for a block.", t.Bytes)
}

// named describes a token for a message.
func (s faulty) named(t hclsyntax.Token) string {
	switch t.Type {
	case hclsyntax.TokenEOF:
		return "the end of the file"
	case hclsyntax.TokenNewline:
		return "the end of the line"
	}
	if s.hidden && (t.Type == hclsyntax.TokenIdent || t.Type == hclsyntax.TokenNumberLit || t.Type == hclsyntax.TokenQuotedLit) {
		return "this"
	}
	return fmt.Sprintf("%q", t.Bytes)
}

// depth returns the number of open braces after tokens.
func depth(tokens hclsyntax.Tokens) int {
	depth := 0
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOBrace:
			depth++
		case hclsyntax.TokenCBrace:
			depth--
		}
	}
	return depth
}

// noBlock returns the error for a line that begins like a block and continues differently.
func (s faulty) noBlock(d *hcl.Diagnostic, i int) *hcl.Diagnostic {
	first := i
	for first > 0 && s.tokens[first-1].Range.Start.Line == s.tokens[i].Range.Start.Line {
		first--
	}
	name, line := string(s.tokens[first].Bytes), lineAt(s.tokens, first)
	value := strings.TrimSpace(strings.TrimPrefix(line, name))
	if s.hidden {
		value, line = "VALUE", name+" VALUE"
	}
	at := s.tokens[i].Range
	switch {
	case s.tokens[i].Type == hclsyntax.TokenEqual:
		header, _, _ := strings.Cut(line, "=")
		return syntaxError(at, "Equals sign before a block", "A block has no equals sign: write `%s {`.", strings.TrimSpace(header))
	case at.Start.Line < at.End.Line:
		at = hcl.RangeBetween(s.tokens[first].Range, s.tokens[max(i-1, first)].Range)
		for _, t := range s.tokens[i:] {
			if t.Type == hclsyntax.TokenOBrace {
				return syntaxError(at, "Brace expected", "Put the opening brace of a block on the first line of the block: `%s {`.", line)
			}
			if t.Type != hclsyntax.TokenNewline && t.Type != hclsyntax.TokenComment {
				break
			}
		}
		return syntaxError(at, "Equals sign or brace missing", "Write an argument as `%s = %s`, and a block as `%s {`.", name, value, line)
	case !strings.HasSuffix(line, "{") && !strings.HasSuffix(line, "}"):
		return syntaxError(hcl.RangeBetween(s.tokens[first].Range, s.tokens[first+1].Range), "Equals sign missing", "Write an argument with an equals sign: `%s = %s`.", name, value)
	}
	return syntaxError(*d.Subject, "Brace expected", "Only the name of a block, in quotes, can be between its type and its brace.")
}

// insteadOf maps words of other languages to a hint about their notation here.
var insteadOf = map[string]string{
	"and": "Write && instead of `and`.", "or": "Write || instead of `or`.", "is": "Write == instead of `is`.", "not": "Write ! instead of `not`.",
	"then": "Write a condition as CONDITION ? VALUE : OTHER.", "else": "Write a condition as CONDITION ? VALUE : OTHER.",
	"if": "Write a condition as CONDITION ? VALUE : OTHER.",
}

// unexpectedWord returns the error for an operator that other languages write as a word.
func unexpectedWord(words ...hclsyntax.Token) *hcl.Diagnostic {
	for _, word := range words {
		if hint := insteadOf[string(word.Bytes)]; hint != "" && word.Type == hclsyntax.TokenIdent {
			return syntaxError(word.Range, "Unexpected word", "%s", hint)
		}
	}
	return nil
}

// noMore returns the error for tokens after a value that must be alone.
func (s faulty) noMore(i int) *hcl.Diagnostic {
	t := s.tokens[i]
	if d := unexpectedWord(s.tokens[max(i-1, 0)], t); d != nil {
		return d
	}
	if t.Type == hclsyntax.TokenEqual {
		return syntaxError(t.Range, "Unexpected equals sign", "Write only a value here, without a name. To compare two values, write ==.")
	}
	return syntaxError(t.Range, "End of the value expected", "The value ends before this. Perhaps an operator, a comma or a bracket is missing before %s.", s.named(t))
}

// noEnd returns the error for tokens after a value in the same line.
func (s faulty) noEnd(i int) *hcl.Diagnostic {
	t, before := s.tokens[i], s.tokens[max(i-1, 0)]
	if d := unexpectedWord(before, t); d != nil {
		return d
	}
	switch {
	case before.Type == hclsyntax.TokenCQuote && before.Range.End.Byte == t.Range.Start.Byte:
		return syntaxError(t.Range, "Characters after a closing quote", "The string ends before this. Inside a string, write a quote as \\\".")
	case t.Type == hclsyntax.TokenEqual:
		return syntaxError(t.Range, "Second equals sign", "An argument has one equals sign. To compare two values, write ==.")
	case t.Type == hclsyntax.TokenIdent && s.tokens[min(i+1, len(s.tokens)-1)].Type == hclsyntax.TokenEqual:
		return syntaxError(t.Range, "Line break expected", "Put each argument on its own line.")
	}
	return syntaxError(t.Range, "End of the line expected", "The value of the argument ends before this, so the line must end here. Perhaps an operator, a comma or a bracket is missing before %s.", s.named(t))
}

// noValue returns the error for a missing value.
func (s faulty) noValue(i int) *hcl.Diagnostic {
	t, before := s.tokens[i], s.tokens[max(i-1, 0)]
	ends := t.Type == hclsyntax.TokenNewline || t.Type == hclsyntax.TokenEOF || isCloser(t.Type) || t.Type == hclsyntax.TokenComma
	switch {
	case t.Type == hclsyntax.TokenComment:
		ends = true
	case t.Type == hclsyntax.TokenEqual:
		return syntaxError(t.Range, "Value expected", "To compare two values, write ==. The name of an argument must be at the start of a line.")
	}
	if ends && i > 0 {
		return syntaxError(before.Range, "Value missing", "There is no value after %s.", s.named(before))
	}
	if ends {
		return syntaxError(t.Range, "Value missing", "There is no value.")
	}
	return syntaxError(t.Range, "Value expected", "A value is expected here: a string in quotes, a number, true, false, a list, a map or a reference. None of them starts with %s.", s.named(t))
}
