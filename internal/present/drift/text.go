package drift

import (
	"fmt"
	"strings"
	"time"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/present/report"
)

// Summary returns the result in one sentence.
func (l *Look) Summary() string {
	drifted, uncompared := l.Drifted(), len(l.NotCompared)
	switch {
	case drifted == 0 && uncompared == 0:
		return "No drift. All objects are as kolla wrote them."
	case drifted == 0:
		return fmt.Sprintf("No drift was found, but %s could not be compared.", words.Count(uncompared, "object"))
	}
	sentence := fmt.Sprintf("%s changed outside of kolla (%s)", words.Count(drifted, "object"), words.Count(len(l.Fields), "field"))
	if uncompared > 0 {
		sentence += fmt.Sprintf(", and %s could not be compared", words.Count(uncompared, "object"))
	}
	return sentence + "."
}

// PendingText counts the objects that an apply would change and that others did not change; empty:
// there are none.
func (l *Look) PendingText() string {
	var parts []string
	if l.Readers > 0 {
		parts = append(parts, fmt.Sprintf("An apply changes %s with values of the deleted or replaced Secrets", words.Count(l.Readers, "more object")))
	}
	if l.Pending > 0 {
		parts = append(parts, fmt.Sprintf("%s of the configuration %s pending", words.Count(l.Pending, "change"), words.Plural(l.Pending, "is", "are")))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "; ") + ": kolla plan"
}

// Values returns the change of the value in one short line: "1 → 3".
func (f Field) Values() string {
	var said string
	switch before, after := short(f.Before), short(f.After); {
	case f.Change == Deleted:
		return "the whole object"
	case f.Sensitive:
		said = report.Masked + " " + string(f.Change)
	case f.Change == Added:
		said = "added " + after
	case f.Change == Removed:
		said = "removed " + before
	case before == after: // they differ where they are cut
		said = "changed"
	default:
		said = before + " → " + after
	}
	if f.Means != "" {
		said += "; " + f.Means
	}
	if f.Stays {
		said += " (an apply leaves it)"
	}
	return said
}

// short returns a value in at most 40 characters. A text of several lines is counted.
func short(v any) string {
	const maxLength = 40
	if text, _ := v.(string); report.SeveralLines(v) {
		return words.Count(strings.Count(strings.TrimSuffix(text, "\n"), "\n")+1, "line")
	}
	letters := []rune(report.Value(v))
	if len(letters) > maxLength {
		return string(letters[:maxLength-1]) + "…"
	}
	return string(letters)
}

// Place says why the object is listed.
func (o Orphan) Place() string {
	if o.Labelled {
		return "has the label of the cloud, and the state does not know it"
	}
	return "in the namespace of the cloud"
}

// Origin says who created the object, and when.
func (o Orphan) Origin(zone *time.Location) string {
	by := "by an unknown client (no field manager recorded)"
	if o.Manager != "" {
		by = "by " + report.Tool(o.Manager)
	}
	return "created " + by + ", " + Moment(o.Created, zone)
}

// Program returns the command behind the field manager; empty: none is recorded.
func (e Entry) Program() string { return program(e.Manager) }
