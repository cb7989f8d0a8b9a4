package view_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/planner/plans"
)

var marked = map[string]func() *plans.Plan{
	"first": firstPlan, "drift": driftAndConfig, "replace": replaceAndDelete, "destroy": destroyAll, "many": manyUpdates,
	"unverified": unverified, "deferred": deferredPlan, "adopt": adoptAndForget, "long": longValues, "haystack": haystack,
	"requested": requested, "kinds": otherKinds, "lists": changedLists, "mixed": mixedDrift,
}

// headLine matches a line with the address of an object and its action.
var headLine = regexp.MustCompile(`^  # \S+/\S+/\S+ (will be|must be|has moved)`)

// TestEveryObjectHasAMark checks that each object has the right sign: below its comments, or above
// it in a compact plan.
func TestEveryObjectHasAMark(t *testing.T) {
	signs := map[string]string{
		"will be created": "+", "will be updated in-place": "~", "will be imported": "~", "will be destroyed": "-",
		"will be pruned": "-", "must be replaced": "-/+", "will be replaced, as requested": "-/+",
	}
	for name, sample := range marked {
		lines := strings.Split(string(capture(80, false, plan(sample, view.PlanOptions{}))), "\n")
		compact := strings.Split(string(capture(80, false, plan(sample, view.PlanOptions{Compact: true}))), "\n")
		above := ""
		for _, l := range compact {
			if sign := leading.FindStringSubmatch(l); sign != nil {
				above = sign[1]
			}
			checkMark(t, name+" compact", l, above, signs)
		}
		for i, l := range lines {
			below := ""
			for _, next := range lines[i:] {
				if sign := leading.FindStringSubmatch(next); sign != nil {
					below = sign[1]
				}
				if !strings.HasPrefix(next, "  # ") {
					break
				}
			}
			checkMark(t, name, l, below, signs)
		}
	}
}

// leading matches the sign of an object.
var leading = regexp.MustCompile(`^  (\+|~|-|-/\+) \S`)

func checkMark(t *testing.T, name, line, got string, signs map[string]string) {
	t.Helper()
	for words, want := range signs {
		if headLine.MatchString(line) && strings.HasSuffix(line, " "+words) && got != want {
			t.Errorf("%s: %q has the sign %q, want %q", name, line, got, want)
		}
	}
}

// TestLegend checks that the legend explains exactly the signs that occur.
func TestLegend(t *testing.T) {
	sign := regexp.MustCompile(`(?m)^ +(\+|~|-|-/\+) `)
	explained := regexp.MustCompile(`(\+|~|-|-/\+) (?:added|changed|removed and made again|removed)`)
	for name, sample := range marked {
		_, actions, found := strings.Cut(string(capture(80, false, plan(sample, view.PlanOptions{}))), "kolla will perform these actions:\n")
		if !found {
			t.Errorf("%s has no actions", name)
		}
		legend, rest, _ := strings.Cut(actions, "\n\n")
		var want, got []string
		for _, match := range sign.FindAllStringSubmatch(rest, -1) {
			want = append(want, match[1])
		}
		for _, match := range explained.FindAllStringSubmatch(legend, -1) {
			got = append(got, match[1])
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(slices.Compact(want), got); diff != "" {
			t.Errorf("%s: signs in the legend (-occur +explained):\n%s\n%s", name, diff, legend)
		}
	}
}

// TestReviewBotsListObjects checks that review bots find all objects despite the signs.
func TestReviewBotsListObjects(t *testing.T) {
	words := map[plans.Verb]string{
		plans.Create: "created", plans.Run: "created", plans.Update: "updated", plans.Replace: "replaced", plans.Delete: "deleted",
	}
	for name, sample := range map[string]func() *plans.Plan{"first": firstPlan, "drift": driftAndConfig, "kinds": otherKinds, "lists": changedLists, "destroy": destroyAll} {
		for _, options := range []view.PlanOptions{{}, {Compact: true}, {Full: true}} {
			want := map[string][]string{}
			for _, a := range sample().Actions {
				word := words[a.Verb]
				if a.Partial {
					word = "updated"
				}
				if word != "" {
					want[word] = append(want[word], a.Address.String())
				}
			}
			got := readTfcmt(t, string(capture(80, false, plan(sample, options)))).lists
			if diff := cmp.Diff(want, got, cmp.Transformer("sort", func(s []string) []string { return slices.Sorted(slices.Values(s)) })); diff != "" {
				t.Errorf("%s %+v (-planned +read):\n%s", name, options, diff)
			}
		}
	}
}

// TestNothingIsCreatedWithoutContent checks that the plan shows content of each created object,
// whatever its kind.
func TestNothingIsCreatedWithoutContent(t *testing.T) {
	for name, sample := range map[string]func() *plans.Plan{"first": firstPlan, "kinds": otherKinds} {
		lines := strings.Split(string(capture(80, false, plan(sample, view.PlanOptions{}))), "\n")
		created := 0
		for i, l := range lines {
			if !strings.HasPrefix(l, "  + ") || strings.HasPrefix(l, "  + added") {
				continue
			}
			created++
			if !strings.Contains(l, ": ") && !strings.HasPrefix(lines[i+1], "    + ") {
				t.Errorf("%s: nothing is said of%s", name, l)
			}
		}
		if want := sample().Counts().Add; created != want {
			t.Errorf("%s: %d objects are created, want %d", name, created, want)
		}
	}
}

// TestListsAreNotCut checks that each changed list element is shown completely and on its own line,
// at every width.
func TestListsAreNotCut(t *testing.T) {
	for _, width := range []int{40, 80, 160} {
		out := string(capture(width, false, plan(changedLists, view.PlanOptions{})))
		if strings.Contains(out, "…") {
			t.Errorf("something is cut at %d columns:\n%s", width, out)
		}
		if !strings.Contains(out, "    ~ rules[1]   secrets: get → * (all groups): *\n") && width > 40 {
			t.Errorf("a rule that becomes all rights is not one line at %d columns:\n%s", width, out)
		}
		for _, unchanged := range []string{"pods: get", "10.1.0.0/16"} {
			if strings.Contains(out, unchanged) {
				t.Errorf("%q did not change, and is shown at %d columns:\n%s", unchanged, width, out)
			}
		}
	}
	wide := func() *plans.Plan {
		return newPlan(0, action(plans.Update, "manifest.a/Deployment/a",
			plans.Change{Path: `spec.template.spec.containers["a"].args`, Before: []any{"cleanup"}, After: []any{wideCommand}}))
	}
	out := strings.Join(strings.Fields(string(capture(80, false, plan(wide, view.PlanOptions{})))), " ")
	if !strings.Contains(out, wideCommand) {
		t.Errorf("the middle of a command is cut:\n%s", out)
	}
}

// TestAboutIsShort checks that the summary above the question fits on a screen, however large the
// plan is.
func TestAboutIsShort(t *testing.T) {
	for name, sample := range marked {
		out := string(capture(80, false, question(sample, "admin@prod")))
		if n := strings.Count(out, "\n"); n > 20 {
			t.Errorf("%s: %d lines:\n%s", name, n, out)
		}
		for _, want := range []string{"prod, namespace openstack", "https://10.0.0.10:6443, context admin@prod", "to add, "} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in:\n%s", name, want, out)
			}
		}
	}
}
