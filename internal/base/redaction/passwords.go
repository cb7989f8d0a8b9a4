package redaction

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

var (
	// userinfo matches the password of a URL.
	userinfo = regexp.MustCompile(`(?:://|,)[^:/@\s,]*:([^@/\s,]+)@`)
	// assignment matches a name and the characters between it and its value.
	assignment = regexp.MustCompile(`(?i)(?:^|[^\w./@-])(identified by|[\w.-]+)(["']?[ \t]*(?:=>|:=|[:=])[ \t]*|[ \t]+["'])`)
	// opening matches the text before the first name of a line.
	opening = regexp.MustCompile(`^[ \t]*(?:export[ \t]+|set[ \t]+)?(?:-[ \t]+)?[{"' \t]*$`)
	// secretName matches names whose values are secret.
	secretName = regexp.MustCompile(`(?i:pass(?:w|phr|code)|[_-]pwd|secret|token|credential|identified by)|(?i:pass|key)s?(?:[^a-z]|$)|[Pp]wd`)
	// keystone matches a name that contains "key" and is not secret.
	keystone = regexp.MustCompile(`(?i)keystone`)
	// statement matches a password after a word, as in .netrc and in the configuration of Redis.
	statement = regexp.MustCompile(`(?i)^(?:(?:machine[ \t]+\S+|default)[ \t].*?)?\b(?:password|requirepass|masterauth)[ \t]+(\S+)(?:[ \t]+(?:login|account)[ \t]+\S+)*$`)
	// pair matches a user with a password, or with the hash of one as in htpasswd.
	pair = regexp.MustCompile(`^[\w.@+-]+:([^\s:/]{8,}|(?:\$|\{\w+\})[^\s:]{8,})(?::.*)?$`)
)

// isSecret reports whether a name looks like that of a secret value.
func isSecret(name string) bool { return secretName.MatchString(keystone.ReplaceAllString(name, "")) }

// passwordsIn returns the passwords in a line: in URLs, after a user, and after names that look
// like those of secret values.
func passwordsIn(line string) []form {
	var parts []form
	for _, match := range userinfo.FindAllStringSubmatch(line, -1) {
		parts = append(parts, word(match[1]))
		if plain, err := url.PathUnescape(match[1]); err == nil {
			parts = append(parts, word(plain))
		}
	}
	if match := pair.FindStringSubmatch(line); match != nil && (len(match[1]) >= longPiece || !wordy.MatchString(match[1])) {
		parts = append(parts, word(match[1]))
	}
	for at := 0; at < len(line); {
		match := assignment.FindStringSubmatchIndex(line[at:])
		if match == nil {
			break
		}
		name, sign, rest := line[at+match[2]:at+match[3]], line[at+match[4]:at+match[5]], at+match[5]
		first := opening.MatchString(line[:at+match[2]])
		at = rest
		if !isSecret(name) {
			continue
		}
		if !strings.ContainsAny(sign, ":=") { // "password 'x'", as in SQL
			rest--
		}
		found, length := assigned(line[rest:], first)
		parts = append(parts, found...)
		at = max(at, rest+length)
	}
	if match := statement.FindStringSubmatch(line); match != nil {
		parts = append(parts, word(strings.Trim(match[1], `"'`)))
	}
	return parts
}

// assigned returns the value at the start of a text, and the length of its word. The value of the
// first name of a line may contain blanks and extend to the end of the line.
func assigned(text string, first bool) (parts []form, length int) {
	if first && len(text) <= huge {
		parts = append(parts, word(strings.Trim(text, `"'`)))
	}
	if quoted, ok := inQuotes(text); ok {
		return append(parts, partsOf(quoted)...), 0
	}
	end := strings.IndexAny(text, " \t,;&}")
	switch {
	case end < 0 && first, end == 0:
		return parts, 0
	case end < 0:
		end = len(text)
	case first && (text[end] == ' ' || text[end] == '\t') && !strings.ContainsAny(text[end:], "=:#;"):
		return parts, 0 // a phrase
	}
	return append(parts, word(text[:end])), end
}

// inQuotes returns the quoted string at the start of a text, without the escapes of JSON, YAML and
// SQL.
func inQuotes(text string) (plain string, ok bool) {
	if quoted, err := strconv.QuotedPrefix(text); err == nil && text[0] == '"' {
		plain, err = strconv.Unquote(quoted)
		return plain, err == nil
	}
	if text == "" || text[0] != '\'' && text[0] != '"' {
		return "", false
	}
	quote := text[:1]
	inner := strings.ReplaceAll(text[1:], quote+quote, "\x00")
	plain, _, ok = strings.Cut(inner, quote)
	return strings.ReplaceAll(plain, "\x00", quote), ok
}
