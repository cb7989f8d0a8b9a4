package drift

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/providers/kinds"
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

// PendingText counts the changes of the configuration; empty: there are none.
func (l *Look) PendingText() string {
	if l.Pending == 0 {
		return ""
	}
	if slices.ContainsFunc(l.Fields, func(f Field) bool { return f.Change == Deleted && f.Ref.GVK.Kind == kinds.Secret.Kind }) {
		return fmt.Sprintf("An apply would change %s, with those that use values of the deleted Secrets: kolla plan", words.Count(l.Pending, "more object"))
	}
	return fmt.Sprintf("%s of the configuration %s pending: kolla plan", words.Count(l.Pending, "change"), words.Plural(l.Pending, "is", "are"))
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
