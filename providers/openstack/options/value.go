package options

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
)

var (
	booleans = []string{"true", "1", "on", "yes", "false", "0", "off", "no"}
	host     = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9._-]*[A-Za-z0-9_.])?$`)
	uri      = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://[^/]`)
)

// unsuitable describes the values that the option accepts, if it does not accept this one. It
// is empty otherwise. It is never stricter than oslo.config.
func (o *Option) unsuitable(value string) string {
	value = strings.TrimSpace(value)
	if value == "" || strings.Contains(value, "$") { // oslo.config inserts values of other options there
		return ""
	}
	if len(o.Choices) > 0 {
		is := func(choice string) bool { return strings.EqualFold(choice, strings.Trim(value, `"'`)) }
		if slices.ContainsFunc(o.Choices, is) {
			return ""
		}
		return o.oneOf(value)
	}
	switch o.Type {
	case "boolean":
		if !slices.Contains(booleans, strings.ToLower(value)) {
			return "true or false"
		}
	case "integer", "port", "floating point":
		return o.number(value)
	case "IP address", "interface address":
		if _, err := netip.ParseAddr(value); err != nil && (o.Type == "IP address" || !host.MatchString(value)) {
			return "an IP address"
		}
	case "host address", "hostname", "host domain":
		if _, err := netip.ParseAddr(value); err != nil && !host.MatchString(value) {
			return "the name or address of a host"
		}
	case "uri", "URI":
		if !uri.MatchString(value) {
			return "a URI (scheme://host...)"
		}
	case "dict":
		return dict(value)
	}
	return ""
}

// oneOf lists the choices. If there are many, it only gives the choice that was probably meant.
func (o *Option) oneOf(value string) string {
	if len(o.Choices) > 8 {
		return fmt.Sprintf("one of %d values", len(o.Choices)) + strings.Replace(strings.TrimSuffix(words.DidYouMean(value, o.Choices), "?"), " Did you mean", ", such as", 1)
	}
	var quoted []string
	for _, c := range o.Choices {
		quoted = append(quoted, strconv.Quote(c))
	}
	if len(quoted) == 1 {
		return quoted[0]
	}
	return strings.Join(quoted[:len(quoted)-1], ", ") + " or " + quoted[len(quoted)-1]
}

// number checks integers and fractions.
func (o *Option) number(value string) string {
	wanted, bits := "a whole number", strings.ReplaceAll(value, "_", "")
	number, err := strconv.ParseFloat(bits, 64)
	switch {
	case o.Type == "floating point":
		wanted = "a number"
	case err == nil:
		_, err = strconv.ParseInt(bits, 10, 64)
	}
	lower, upper := o.Min, o.Max
	if o.Type == "port" {
		wanted = "a port"
		zero, top := 0.0, 65535.0
		if lower == nil {
			lower = &zero
		}
		if upper == nil {
			upper = &top
		}
	}
	if err == nil && (lower == nil || number >= *lower) && (upper == nil || number <= *upper) {
		return ""
	}
	switch {
	case lower != nil && upper != nil:
		return fmt.Sprintf("%s from %s to %s", wanted, bound(*lower), bound(*upper))
	case lower != nil:
		return fmt.Sprintf("%s of at least %s", wanted, bound(*lower))
	case upper != nil:
		return fmt.Sprintf("%s of at most %s", wanted, bound(*upper))
	}
	return wanted
}

func bound(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// dict checks "key:value,key:value". It does not check values with quotes or brackets.
func dict(value string) string {
	if strings.ContainsAny(value, `"'[]{}`) {
		return ""
	}
	for pair := range strings.SplitSeq(value, ",") {
		if pair = strings.TrimSpace(pair); pair != "" && !strings.Contains(pair, ":") {
			return "pairs, KEY:VALUE,KEY:VALUE"
		}
	}
	return ""
}
