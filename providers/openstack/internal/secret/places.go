package secret

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/escape"
	"kolla.openstack.org/kolla/providers"
)

// Placing returns the syntax at a place in a value, from the text before and after the place.
type Placing func(before, after string) escape.Place

// IntoEnv is the Placing of environment variables.
func IntoEnv(string, string) escape.Place { return escape.Env }

// IntoFile returns the Placing for a config file, by its format.
func IntoFile(definition string, decl configs.ConfigFile) Placing {
	switch decl.Format {
	case "ini":
		if definition == literalURLs && decl.Name == literalURLs+".conf" {
			return intoKeystone
		}
		return func(string, string) escape.Place { return escape.INI }
	case "properties":
		return func(string, string) escape.Place { return escape.Line }
	}
	return func(before, after string) escape.Place { return intoRaw(path.Ext(decl.Path), before, after) }
}

// literalURLs is the definition whose service fails on percent signs in URLs: keystone-manage
// db_sync passes the database URL to a ConfigParser, whose error shows the URL with the
// password (seen with Keystone 27.0).
const literalURLs = "keystone"

func intoKeystone(before, after string) escape.Place {
	if beforeCredential.MatchString(before) && afterCredential.MatchString(after) {
		return escape.Literal.Then(escape.INI)
	}
	return escape.INI
}

// programs are the extensions of files in which a word without quotes may have a meaning.
var programs = []string{".json", ".lua", ".php", ".py", ".sh", ".sql", ".toml", ".yaml", ".yml"}

// intoRaw returns the place in a file of any language. It knows only the extension of the file.
func intoRaw(ending, before, after string) escape.Place {
	line := before[strings.LastIndexByte(before, '\n')+1:]
	rest, _, _ := strings.Cut(after, "\n")
	quote := openQuote(line)
	switch {
	case quote != 0 && strings.ContainsRune(rest, quote) && quote == '\'' && ending == ".sql":
		return escape.SQL
	case quote != 0 && strings.ContainsRune(rest, quote):
		return escape.Quoted
	case slices.Contains(programs, ending):
		return escape.Bare
	case line != "" || rest != "":
		return escape.Line
	}
	return "" // a value that fills whole lines, such as a key
}

// openQuote returns the quote that is still open at the end of a line; 0: none.
func openQuote(line string) rune {
	open, escaped := rune(0), false
	for _, r := range line {
		switch {
		case escaped:
			escaped = false
		case r == '\\':
			escaped = true
		case open != 0 && r == open:
			open = 0
		case open == 0 && (r == '\'' || r == '"'):
			open = r
		}
	}
	return open
}

var (
	beforeCredential = regexp.MustCompile(`[a-z][a-z0-9+.-]*://(?:[^\s/@]*@[^\s/@,]*,)*[^\s/@]*$`)
	afterCredential  = regexp.MustCompile(`^[^\s/@]*@`)
	inURL            = regexp.MustCompile(`[a-z][a-z0-9+.-]*://[^\s"'<>]*$`)
)

// place sets the place of all parts that come from other Secrets. It returns a recipe that
// distinguishes the value from other values of the same parts: the literals and the escapes.
func place(parts []providers.DataPart, into Placing) (recipe []string) {
	text := func(parts []providers.DataPart) string {
		var b strings.Builder
		for _, p := range parts {
			if p.From != nil {
				b.WriteByte('x')
			}
			b.WriteString(p.Literal)
		}
		return b.String()
	}
	for i := range parts {
		p := &parts[i]
		recipe = append(recipe, p.Literal)
		if p.From == nil {
			continue
		}
		before, after := text(parts[:i]), text(parts[i+1:])
		var within escape.Place
		switch {
		case beforeCredential.MatchString(before) && afterCredential.MatchString(after):
			within = escape.URL
			recipe = append(recipe, "url")
		case inURL.MatchString(before):
			within = escape.InURL
		}
		if p.Place != "" { // jsonencode or yamlencode wrote it into a document
			recipe = append(recipe, string(p.Place))
			p.Place = within.Then(p.Place)
			continue
		}
		outer := into(before, after)
		if outer == escape.SQL {
			recipe = append(recipe, string(outer))
		}
		p.Place = within.Then(outer)
	}
	return recipe
}
