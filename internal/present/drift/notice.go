package drift

import (
	"fmt"
	"strings"
	"time"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
)

// The limits of a notification.
const (
	noticeLines = 20
	noticeBytes = 2800 // of the fields
)

// unmarked disarms the markup of messaging services: links, such as <https://example.org|text> and
// [text](https://example.org), and mentions of people.
var unmarked = strings.NewReplacer("<", "‹", ">", "›", "](", "] (", "@", "@\u200b")

// Notice returns a notification about drift, or about its end: a title and a text. It names the cluster
// and the next command. It has only harmless values: a field that others wrote may contain anything.
func (l *Look) Notice() (title, text string) {
	if len(l.Fields) == 0 {
		return fmt.Sprintf("kolla: the drift of cloud %s is gone", foreign.Name(l.Cloud)),
			fmt.Sprintf("All objects that could be compared with %s are as kolla wrote them.", l.Server)
	}
	title = fmt.Sprintf("kolla: %s of cloud %s changed outside of kolla", words.Count(l.Drifted(), "object"), foreign.Name(l.Cloud))
	var b strings.Builder
	for i, f := range l.Fields {
		line := unmarked.Replace(foreign.Text(f.line())) + "\n"
		if i == noticeLines || b.Len()+len(line) > noticeBytes {
			fmt.Fprintf(&b, "and %s more\n", words.Count(len(l.Fields)-i, "field"))
			break
		}
		b.WriteString(line)
	}
	if n := len(l.NotCompared); n > 0 {
		fmt.Fprintf(&b, "%s could not be compared.\n", words.Count(n, "object"))
	}
	fmt.Fprintf(&b, "Cluster %s. To see all: kolla drift. To put it right: kolla plan, then kolla apply.\n", l.Server)
	return title, b.String()
}

// harmless reports whether the values of a field can be no secret: numbers, booleans and images.
func harmless(f Field) bool {
	for _, v := range []any{f.Before, f.After} {
		switch v.(type) {
		case nil, bool, int64, float64:
		default:
			return strings.HasSuffix(f.Path, ".image")
		}
	}
	return true
}

// line returns a field in one line, with its values if they are harmless.
func (f Field) line() string {
	const maxPath = 160
	path := f.Path
	if len(path) > maxPath {
		path = strings.ToValidUTF8(path[:maxPath], "") + "…"
	}
	if f.Change == Deleted {
		return fmt.Sprintf("%s: deleted; known since %s", f.Address, Moment(f.Since, time.UTC))
	}
	change := string(f.Change)
	if !f.Sensitive && (harmless(f) || f.Means != "") {
		said := f.Means
		if harmless(f) {
			said = f.Values()
		}
		change += " (" + said + ")"
	}
	return fmt.Sprintf("%s: %s %s %s; known since %s", f.Address, path, change, f.Author(time.UTC), Moment(f.Since, time.UTC))
}
