package schema

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
)

// Form is the form of a string. The zero Form allows any string.
type Form struct {
	// Expected completes "is not ...": "an absolute path".
	Expected string
	// Valid reports whether a string has the form. It is nil in the zero Form.
	Valid func(string) bool
}

// maxName is the maximum length of the names of services, workloads and jobs. Two names and a
// hash have to fit into the 63 characters of a label.
const maxName = 40

// The forms of names, paths, sizes and addresses.
var (
	formName = Form{
		"a name of at most 40 lower-case letters, digits and dashes that starts with a letter and does not end with a dash",
		func(s string) bool { return len(s) <= maxName && len(validation.IsDNS1035Label(s)) == 0 },
	}
	FormNamespace = Form{
		"a name of at most 63 lower-case letters, digits and dashes, with a letter or digit at both ends",
		func(s string) bool { return len(validation.IsDNS1123Label(s)) == 0 },
	}
	FormSubdomain = Form{
		"a name of lower-case letters, digits, dashes and dots, with a letter or digit at both ends",
		func(s string) bool { return len(validation.IsDNS1123Subdomain(s)) == 0 },
	}
	formHostPattern = Form{
		"a host name of lower-case letters, digits, dashes and dots, or a wildcard such as *.example.org",
		func(s string) bool { return len(validation.IsDNS1123Subdomain(strings.TrimPrefix(s, "*."))) == 0 },
	}
	formPort = Form{
		"a name of at most 15 lower-case letters, digits and dashes, at least one of them a letter",
		func(s string) bool { return len(validation.IsValidPortName(s)) == 0 },
	}
	formDatabase = Form{
		"a name of at most 32 lower-case letters, digits and underscores that starts with a letter",
		regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`).MatchString,
	}
	formQueue = Form{
		"a name of at most 63 letters, digits, dots, dashes and underscores that starts with a letter",
		regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,62}$`).MatchString,
	}
	formMode = Form{
		"four octal digits that start with 0, such as 0400",
		regexp.MustCompile(`^0[0-7]{3}$`).MatchString,
	}
	formFile = Form{
		"a file name of letters, digits, dots, dashes and underscores",
		func(s string) bool { return len(validation.IsConfigMapKey(s)) == 0 },
	}
	formIdentifier = Form{
		"a name of letters, digits, dashes and underscores that starts with a letter",
		regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`).MatchString,
	}
	formPath     = Form{"an absolute path without . and .. in it", func(s string) bool { return path.IsAbs(s) && path.Clean(s) == strings.TrimSuffix(s, "/") && s != "/" }}
	formURLPath  = Form{"a path that starts with a slash and has no spaces in it", func(s string) bool { return strings.HasPrefix(s, "/") && !strings.ContainsFunc(s, unprintable) }}
	formQuantity = Form{
		"a Kubernetes quantity that is not negative, such as 500m, 2, 512Mi or 10Gi",
		func(s string) bool {
			q, err := resource.ParseQuantity(s)
			return err == nil && q.Sign() >= 0
		},
	}
	formIP = Form{
		"an IP address, such as 192.0.2.10 or 2001:db8::10",
		func(s string) bool {
			ip, err := netip.ParseAddr(s)
			return err == nil && ip.Zone() == ""
		},
	}
	formPlain = Form{
		"a text without spaces",
		func(s string) bool { return s != "" && !strings.ContainsAny(s, " \t\r\n") },
	}
	formTag = Form{
		"a tag of an image: at most 128 letters, digits, dots, dashes and underscores",
		regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`).MatchString,
	}
	FormGlob = Form{
		"a file name or pattern, such as *.conf",
		func(s string) bool {
			_, err := path.Match(s, "")
			return err == nil && s != ""
		},
	}
	formTaint = Form{
		"a taint, KEY:EFFECT or KEY=VALUE:EFFECT, such as example.org/dedicated=compute:NoSchedule",
		func(s string) bool {
			key, value, effect := SplitTaint(s)
			return slices.Contains(TaintEffects, effect) && len(validation.IsQualifiedName(key)) == 0 && len(validation.IsValidLabelValue(value)) == 0
		},
	}
	formShare = Form{
		"a number of pods, or a share of them such as \"25%\"",
		func(s string) bool {
			number, percent := strings.CutSuffix(s, "%")
			n, err := strconv.Atoi(number)
			return err == nil && n >= 0 && (n <= 100 || !percent && n <= maxReplicas) && number == strconv.Itoa(n)
		},
	}
	formLabelKey = Form{
		"the key of a Kubernetes label: letters, digits, dots, dashes and underscores, with DOMAIN/ before them if wanted",
		func(s string) bool { return len(validation.IsQualifiedName(s)) == 0 },
	}
	formLabelValue = Form{
		"a text of at most 63 letters, digits, dots, dashes and underscores, with a letter or digit at both ends",
		func(s string) bool { return len(validation.IsValidLabelValue(s)) == 0 },
	}
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
