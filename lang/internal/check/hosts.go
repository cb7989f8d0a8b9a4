package check

import (
	"regexp"
	"strconv"
	"strings"
)

// hostByAddress matches values that name a host by its address, alone or in a URL.
var hostByAddress = regexp.MustCompile(`(?i)(^|[@/, ])(localhost|[0-9]{1,3}(\.[0-9]{1,3}){3}|\[[0-9a-f:.]+\])([:/, ]|$)`)

// hostName matches a word in the place of a host, with its port: at the start of a value or of
// a list element, in a URL, or in quotes.
var hostName = regexp.MustCompile(`(^|//|[@,;=\s"'\[(|])([a-z0-9](?:[-a-z0-9.]*[a-z0-9])?)(?::([0-9]{1,5}))?(?:$|[:/,;\s"'\])|?])`)

// nameInText is a host that a text names.
type nameInText struct {
	Name  string
	Port  int  // 0: none
	InURL bool // the word is certainly a host
}

// hostsIn returns the words of a text that may be hosts.
func hostsIn(text string) []nameInText {
	var out []nameInText
	url := strings.Contains(text, "://")
	for text != "" {
		found := hostName.FindStringSubmatchIndex(text)
		if found == nil {
			break
		}
		before := text[found[2]:found[3]]
		h := nameInText{Name: text[found[4]:found[5]], InURL: before == "//" || before == "@" && url}
		if found[6] >= 0 {
			h.Port, _ = strconv.Atoi(text[found[6]:found[7]]) // digits
		}
		out = append(out, h)
		text = text[found[5]:] // the end of a host may begin the next
	}
	return out
}

// namesake reports whether a name is the name of a service in another namespace or domain, or
// without one: keystone.example.org, if the service is keystone.openstack.
func namesake(given, host string) bool {
	service, namespace, _ := strings.Cut(host, ".")
	first, rest, _ := strings.Cut(given, ".")
	return host != "" && first == service && rest != namespace && !strings.HasPrefix(rest, namespace+".svc")
}
