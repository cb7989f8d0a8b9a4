package charts

import (
	"regexp"
	"strings"

	"kolla.openstack.org/kolla/lang/configs"
)

// public is a public address or name, and the expression of the value that replaces it.
type public struct {
	exposure, key, text string
	found               *regexp.Regexp // its first group is the text
}

// publicOf returns the addresses and names of the exposures. A name without a dot is left out, because
// it could be an ordinary word of a config file.
func publicOf(config *configs.Config) []public {
	var out []public
	for i := range config.Exposures {
		x := &config.Exposures[i]
		after := `(?:$|[^0-9A-Za-z.-]|[.-](?:$|[^0-9A-Za-z]))`
		beforeVIP, afterVIP := `(?:^|[^0-9A-Za-z.-])`, after
		if strings.Contains(x.VIP, ":") { // no port follows an IPv6 address without brackets
			beforeVIP, afterVIP = `(?:^|[^0-9A-Za-z:])`, `(?:$|[^0-9A-Za-z:])`
		}
		for _, each := range []struct{ key, text, before, after string }{
			{"vip", x.VIP, beforeVIP, afterVIP},
			{"fqdn", x.FQDN, `(?:^|[^0-9A-Za-z.-])`, after},
			{"domain", x.Domain, `(?:^|[^0-9A-Za-z-])`, after},
		} {
			if strings.ContainsAny(each.text, ".:") {
				out = append(out, public{x.Name, each.key, each.text, regexp.MustCompile(each.before + "(" + regexp.QuoteMeta(each.text) + ")" + each.after)})
			}
		}
	}
	return out
}

// replace replaces the text where it is a whole address or name, or the end of a name in the domain.
func (p public) replace(in string, by func() string) string {
	var b strings.Builder
	for {
		at := p.found.FindStringSubmatchIndex(in)
		if at == nil {
			return b.String() + in
		}
		b.WriteString(in[:at[2]] + by())
		in = in[at[3]:]
	}
}

// expression returns the expression of the value.
func (p public) expression() string { return ref("global", "exposures", p.exposure, p.key) }
