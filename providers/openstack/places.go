package openstack

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/escape"
	"kolla.openstack.org/kolla/providers"
)

// placing says where a value goes that stands between two texts.
type placing func(before, after string) escape.Place

// intoEnv is for environment variables.
func intoEnv(string, string) escape.Place { return escape.Env }

// intoFile is for a config file of the given format.
func intoFile(definition string, decl configs.ConfigFile) placing {
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

// literalURLs is the definition whose service fails on percent signs in URLs:
// keystone-manage db_sync gives the one of the database to a ConfigParser, and shows it,
// with the password, in its error (seen with Keystone 27.0).
const literalURLs = "keystone"

func intoKeystone(before, after string) escape.Place {
	if beforeCredential.MatchString(before) && afterCredential.MatchString(after) {
		return escape.Literal.Then(escape.INI)
	}
	return escape.INI
}

// programs are the endings of files in which a bare word may mean something.
var programs = []string{".json", ".lua", ".php", ".py", ".sh", ".sql", ".toml", ".yaml", ".yml"}

// intoRaw is for a file of any language, of which only the ending of its name is known.
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
	return "" // lines of its own, such as a key
}

// openQuote is the quote that is open at the end of a line; 0: none is.
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

// place says for all parts where they go. It returns what tells this from other values
// of the same parts: the literals, and where something is escaped.
func place(parts []providers.DataPart, into placing) (recipe []string) {
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
		if p.Place != "" { // it was written into a document
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

// foreign is a value that kolla did not make, as far as it is known when a plan is made.
type foreign struct {
	value string
	known bool
	what  string // names it, at the start of a sentence
	at    hcl.Range
}

// foreign is what the secret has under a key, if that is known.
func (d *derivation) foreign(s *secret, ref configs.SecretRef) foreign {
	f := foreign{what: fmt.Sprintf("The value of secret %q", s.decl.Name), at: d.decl.Range}
	if ref.Service != "" {
		f.what += fmt.Sprintf(" of service %q", ref.Service)
	}
	if source := s.decl.Source; source != nil {
		f.what += ", which comes from " + originOf(source) + ","
		f.at = source.Range
		f.value, f.known = s.values[ref.Key]
		return f
	}
	if d.facts.Values == nil || s.renew != "" {
		return f
	}
	f.what += ", which somebody put into " + strings.TrimSuffix(d.from(s.address.Name, ref.Key).From.String(), ",") + ","
	value, there := d.live(s)[ref.Key]
	f.value, f.known = string(value), there
	return f
}

// check reports values that cannot go where they are to. The rest is found when it
// becomes known, at the apply.
func (d *derivation) check(key string, parts []providers.DataPart, known []foreign) {
	for i, f := range known {
		if !f.known {
			continue
		}
		if _, err := escape.Into(parts[i].Place, f.value); err != nil {
			at := f.at
			if at.Filename == "" {
				at = d.decl.Range
			}
			d.error(at, "A value that cannot stand there", fmt.Sprintf("%s goes into %s of service %q: %s.", f.what, cmp.Or(key, "a Secret"), d.decl.Name, err))
		}
	}
}
