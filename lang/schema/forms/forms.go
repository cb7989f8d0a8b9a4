// Package forms has the forms of the strings in a configuration: names, paths, sizes and
// addresses. A Form checks one string and describes what it expects.
package forms

import (
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"kolla.openstack.org/kolla/lang/addrs"
)

// Form is the form of a string. The zero Form allows any string.
type Form struct {
	// Expected completes "is not ...": "an absolute path".
	Expected string
	// Valid reports whether a string has the form. It is nil in the zero Form.
	Valid func(string) bool
}

// MaxReplicas is higher than any sensible number of pods.
const MaxReplicas = 1000

// maxName is the maximum length of the names of services, workloads and jobs. Two names and a
// hash have to fit into the 63 characters of a label.
const maxName = 40

// The forms of names, paths, sizes and addresses.
var (
	Name = Form{
		"a name of at most 40 lower-case letters, digits and dashes that starts with a letter and does not end with a dash",
		func(s string) bool { return len(s) <= maxName && len(validation.IsDNS1035Label(s)) == 0 },
	}
	Namespace = Form{
		"a name of at most 63 lower-case letters, digits and dashes, with a letter or digit at both ends",
		func(s string) bool { return len(validation.IsDNS1123Label(s)) == 0 },
	}
	Subdomain = Form{
		"a name of lower-case letters, digits, dashes and dots, with a letter or digit at both ends",
		func(s string) bool { return len(validation.IsDNS1123Subdomain(s)) == 0 },
	}
	HostPattern = Form{
		"a host name of lower-case letters, digits, dashes and dots, or a wildcard such as *.example.org",
		func(s string) bool { return len(validation.IsDNS1123Subdomain(strings.TrimPrefix(s, "*."))) == 0 },
	}
	Port = Form{
		"a name of at most 15 lower-case letters, digits and dashes, at least one of them a letter",
		func(s string) bool { return len(validation.IsValidPortName(s)) == 0 },
	}
	Database = Form{
		"a name of at most 32 lower-case letters, digits and underscores that starts with a letter",
		regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`).MatchString,
	}
	Queue = Form{
		"a name of at most 63 letters, digits, dots, dashes and underscores that starts with a letter",
		regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,62}$`).MatchString,
	}
	Mode = Form{
		"four octal digits that start with 0, such as 0400",
		regexp.MustCompile(`^0[0-7]{3}$`).MatchString,
	}
	ExitCode = Form{
		"an exit code from 1 to 255",
		regexp.MustCompile(`^([1-9][0-9]?|1[0-9]{2}|2[0-4][0-9]|25[0-5])$`).MatchString,
	}
	File = Form{
		"a file name of letters, digits, dots, dashes and underscores",
		func(s string) bool { return len(validation.IsConfigMapKey(s)) == 0 },
	}
	Identifier = Form{
		"a name of letters, digits, dashes and underscores that starts with a letter",
		regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`).MatchString,
	}
	Path     = Form{"an absolute path without . and .. in it", func(s string) bool { return path.IsAbs(s) && path.Clean(s) == strings.TrimSuffix(s, "/") && s != "/" }}
	URLPath  = Form{"a path that starts with a slash and has no spaces in it", func(s string) bool { return strings.HasPrefix(s, "/") && !strings.ContainsFunc(s, unprintable) }}
	Quantity = Form{
		"a Kubernetes quantity that is not negative, such as 500m, 2, 512Mi or 10Gi",
		func(s string) bool {
			q, err := resource.ParseQuantity(s)
			return err == nil && q.Sign() >= 0
		},
	}
	IP = Form{
		"an IP address, such as 192.0.2.10 or 2001:db8::10",
		func(s string) bool {
			ip, err := netip.ParseAddr(s)
			return err == nil && ip.Zone() == ""
		},
	}
	Interface = Form{
		"the name of a network interface, such as eth0 or bond0.100",
		func(s string) bool { return s != "" && len(s) <= 15 && !strings.ContainsAny(s, " \t\r\n/:\"'\\#!{}@") },
	}
	Plain = Form{
		"a string without spaces",
		func(s string) bool { return s != "" && !strings.ContainsAny(s, " \t\r\n") },
	}
	Tag = Form{
		"a tag of an image: at most 128 letters, digits, dots, dashes and underscores",
		regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`).MatchString,
	}
	Glob = Form{
		"a file name or pattern, such as *.conf",
		func(s string) bool {
			_, err := path.Match(s, "")
			return err == nil && s != ""
		},
	}
	Taint = Form{
		"a taint, KEY:EFFECT or KEY=VALUE:EFFECT, such as example.org/dedicated=compute:NoSchedule",
		func(s string) bool {
			key, value, effect := SplitTaint(s)
			return slices.Contains(TaintEffects, effect) && len(validation.IsQualifiedName(key)) == 0 && len(validation.IsValidLabelValue(value)) == 0
		},
	}
	Share = Form{
		"a number of pods, or a share of them such as \"25%\"",
		func(s string) bool {
			number, percent := strings.CutSuffix(s, "%")
			n, err := strconv.Atoi(number)
			return err == nil && n >= 0 && (n <= 100 || !percent && n <= MaxReplicas) && number == strconv.Itoa(n)
		},
	}
	LabelKey = Form{
		"the key of a Kubernetes label: letters, digits, dots, dashes and underscores, with DOMAIN/ before them if wanted",
		func(s string) bool { return len(validation.IsQualifiedName(s)) == 0 },
	}
	LabelValue = Form{
		"a string of at most 63 letters, digits, dots, dashes and underscores, with a letter or digit at both ends",
		func(s string) bool { return len(validation.IsValidLabelValue(s)) == 0 },
	}
	CIDR = Form{
		"a range of addresses, such as 192.0.2.0/24, 192.0.2.10/32 or 0.0.0.0/0",
		func(s string) bool {
			p, err := netip.ParsePrefix(s)
			return err == nil && p.Masked() == p
		},
	}
	PortOrNumber = Form{
		"the name of a port, or the number of one in quotes, such as \"53\" or \"53/udp\"",
		func(s string) bool {
			s = strings.TrimSuffix(s, "/udp")
			n, err := strconv.Atoi(s)
			return Port.Valid(s) || err == nil && portNumber.MatchString(s) && n <= 65535
		},
	}
	FieldPath = Form{
		`the path of a field as plans show it, such as spec.replicas or spec.template.spec.containers["api"].image`,
		func(s string) bool {
			_, err := addrs.ParseFieldPath(s)
			return err == nil
		},
	}
	Profile = Form{
		`"unconfined", or "localhost/NAME" for a profile that the nodes have`,
		regexp.MustCompile(`^(unconfined|localhost/[^/\s][^\s]*)$`).MatchString,
	}
	Patched = Form{
		"the kind of an object, a slash and its name or a pattern, such as Deployment/cinder-api or Deployment/*-api",
		func(s string) bool {
			kind, name, ok := strings.Cut(s, "/")
			_, err := path.Match(name, "")
			return ok && err == nil && name != "" && !strings.Contains(name, "/") && patchedKind.MatchString(kind)
		},
	}
)

var (
	portNumber  = regexp.MustCompile(`^[1-9][0-9]{0,4}$`)
	patchedKind = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
)

// unprintable reports spaces and control characters, which have to be escaped in a URL.
func unprintable(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// SplitTaint splits KEY:EFFECT or KEY=VALUE:EFFECT. It accepts any text.
func SplitTaint(text string) (key, value, effect string) {
	if i := strings.LastIndex(text, ":"); i >= 0 {
		text, effect = text[:i], text[i+1:]
	}
	key, value, _ = strings.Cut(text, "=")
	return key, value, effect
}

// TaintEffects are the effects of taints in Kubernetes.
var TaintEffects = []string{"NoSchedule", "PreferNoSchedule", "NoExecute"}
