package view_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/textdiff"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/planner/plans"
)

// TestActionsComeFromTheDocument compares the document of each sample with the list of actions on
// the screen: addresses, reasons, remarks and changed fields. Both must have the same lines.
func TestActionsComeFromTheDocument(t *testing.T) {
	samples := map[string]func() *plans.Plan{
		"outputs": outputsOnly, "destroy with data": destroyWithData, "secrets": knownSecrets, "refresh only": refreshOnly,
		"kept drift": keptDrift, "keys": keys, "losses": lossesAndOthers, "tuesday": tuesday,
	}
	for name, sample := range marked {
		samples[name] = sample
	}
	fields := 0
	for name, sample := range samples {
		const wide = 100_000 // so that each field is on one line
		printed := actionLines(string(capture(wide, false, plan(sample, view.PlanOptions{Full: true}))))
		want, may := map[string]bool{}, map[string]bool{}
		for _, a := range report.Of(sample(), report.Moment{Zone: time.UTC}).Actions {
			want[words("# "+a.Head.Before+a.Object.Address.String()+a.Head.After+a.Head.Danger)] = true
			for _, c := range a.Comments {
				want["# ("+words(c)+")"] = true
			}
			may["# ("+words(a.Place)+")"], may["# ("+words(a.PlaceOfMany)+")"] = true, true
			for _, f := range a.Object.Fields() {
				fields++
				expectField(f, a.Object.Family, want, may)
			}
		}
		for l := range want {
			if !printed[l] {
				t.Errorf("%s: the document says %q, the screen does not", name, l)
			}
		}
		for l := range printed {
			if !want[l] && !may[l] && !sameInAll.MatchString(l) {
				t.Errorf("%s: the screen says %q, the document does not", name, l)
			}
		}
	}
	if fields < 100 {
		t.Errorf("the samples have %d fields: too few to say anything", fields)
	}
}

// sameInAll matches the remark about folded objects.
var sameInAll = regexp.MustCompile(`^# \(the same in all \d+\)$`)

// expectField adds the lines of a field.
func expectField(f report.Field, family string, want, may map[string]bool) {
	sign := map[report.Sign]string{report.Add: "+ ", report.Change: "~ ", report.Remove: "- "}[f.Sign]
	switch {
	case f.Split:
		for _, part := range f.Parts {
			expectField(part, family, want, may)
		}
	case f.Lines:
		if f.FileName() != family || f.Note != "" {
			want[words(sign+f.FileName()+" "+f.Note)] = true
		}
		for _, l := range f.Diff() {
			text := map[textdiff.Kind]string{textdiff.Added: "+ ", textdiff.Removed: "- "}[l.Kind] + l.Text
			want[words(text)] = true
		}
	default:
		path := f.Path
		if f.File != "" {
			path = f.File
		}
		want[words(sign+path+" "+valuesText(f)+" "+f.Note)] = true
	}
}

// valuesText formats the values of a field.
func valuesText(f report.Field) string {
	text := func(v any) string {
		if v == report.Masked || v == report.Unknown {
			return v.(string)
		}
		return report.Value(v)
	}
	switch {
	case f.Sensitive:
		return report.Masked
	case f.Before == nil && f.After == nil:
		return report.Unknown
	case f.Before == nil:
		return text(f.After)
	case f.After == nil:
		return text(f.Before)
	}
	return text(f.Before) + " → " + text(f.After)
}

// actionLines returns the lines about addresses, reasons and fields in the list of actions, without
// indents.
func actionLines(out string) map[string]bool {
	lines := strings.Split(out, "\n")
	lines = lines[slices.Index(lines, "kolla will perform these actions:")+1:]
	found := map[string]bool{}
	for _, l := range lines {
		if l != "" && l[0] != ' ' && !strings.Contains(l, " to create") {
			break
		}
		if strings.HasPrefix(l, "  # ") || strings.HasPrefix(l, "    ") {
			found[words(l)] = true
		}
	}
	return found
}

// words returns a text as it is printed, with single spaces.
func words(s string) string { return strings.Join(strings.Fields(foreign.Text(s)), " ") }
