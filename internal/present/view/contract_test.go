package view_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kolla.openstack.org/kolla/internal/present/report/applied"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/internal/present/view/screen"
	"kolla.openstack.org/kolla/planner/plans"
)

// actionLine matches Terraform's phrases up to the end of the line, like review bots do.
var actionLine = regexp.MustCompile(`(?m)^ *# (\S+) (will be created|will be updated in-place|will be destroyed|must be replaced|will be replaced, as requested|will be imported)$`)

// TestPlanNamesEveryAction checks the lines that programs read: there is one per action in every
// form of the output, even if actions are folded.
func TestPlanNamesEveryAction(t *testing.T) {
	words := map[plans.Verb]string{
		plans.Create:  "will be created",
		plans.Run:     "will be created",
		plans.Update:  "will be updated in-place",
		plans.Delete:  "will be destroyed",
		plans.Replace: "must be replaced",
		plans.Adopt:   "will be imported",
	}
	samples := map[string]func() *plans.Plan{
		"first": firstPlan, "drift": driftAndConfig, "replace": replaceAndDelete, "destroy": destroyAll,
		"many": manyUpdates, "unverified": unverified, "deferred": deferredPlan, "adopt": adoptAndForget, "long": longValues,
		"haystack": haystack, "requested": requested,
	}
	for name, sample := range samples {
		for _, options := range []view.PlanOptions{{}, {Full: true}, {Compact: true}} {
			var want, got []string
			for _, a := range sample().Actions {
				word, ok := words[a.Verb]
				switch {
				case a.Partial, a.Verb == plans.Adopt && a.ChangesValues():
					word = words[plans.Update]
				case len(a.Reasons) > 0 && a.Reasons[0].Kind == plans.ReasonRequested:
					word = "will be replaced, as requested"
				}
				if ok && !a.Prunes() {
					want = append(want, a.Address.String()+" "+word)
				}
			}
			out := capture(80, false, plan(sample, options))
			for _, match := range actionLine.FindAllStringSubmatch(string(out), -1) {
				got = append(got, match[1]+" "+match[2])
			}
			if diff := cmp.Diff(want, got, cmpopts.SortSlices(strings.Compare)); diff != "" {
				t.Errorf("%s %+v: lines (-want +got):\n%s", name, options, diff)
			}
		}
	}
}

// TestSummaryLine checks the line that tells bots the kind of plan.
func TestSummaryLine(t *testing.T) {
	tests := map[string]struct {
		sample func() *plans.Plan
		want   string
	}{
		"changes": {driftAndConfig, "Plan: 2 to add, 2 to change, 0 to destroy."},
		"import":  {adoptAndForget, "Plan: 1 to import, 0 to add, 1 to change, 0 to destroy, 1 to forget."},
		"none":    {unchanged(3, 0), "No changes. Your infrastructure matches the configuration."},
		"pending": {unchanged(3, 1), "No changes. Your infrastructure matches the configuration."},
		"no part": {nothingSelected, "No changes. Nothing is selected: -exclude also excludes everything that depends on the excluded objects."},
		"part":    {partlyUnchanged, "No changes. What was selected matches the configuration."},
		"stuck":   {debugged, "No changes will be made. Fields that others added stay: only replacing the object removes them (-replace)."},
		"ignored": {notCompared, `No changes. Declared fields match the configuration; fields that others added were not compared (foreign = "ignore").`},
		"refresh": {refreshOnly, "Plan: 0 to add, 0 to change, 0 to destroy, 1 to forget."},
		"prunes":  {replaceAndDelete, "Plan: 2 to add, 1 to change, 4 to destroy, 2 to prune."},
		"destroy": {nothingToDestroy, "No changes. No objects need to be destroyed."},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			lines := strings.Split(strings.TrimSpace(string(capture(80, false, plan(test.sample, view.PlanOptions{})))), "\n")
			if got := lines[len(lines)-1]; got != test.want {
				t.Errorf("last line is %q, want %q", got, test.want)
			}
		})
	}
}

// Atlantis looks for these patterns in the whole output.
var (
	atlantisPlan = regexp.MustCompile(`(?m)^Plan: (?:(\d+) to import, )?(\d+) to add, (\d+) to change, (\d+) to destroy(?:, \d+ to forget)?\.$`)
	atlantisNone = regexp.MustCompile(`(?m)^No changes\. Your infrastructure matches the configuration\.$`)
)

// TestReviewBots checks the lines by which review bots tell kinds of plans apart. A plan that only
// changes outputs has the summary line of a plan, too, because all bots know that line.
func TestReviewBots(t *testing.T) {
	type verdict struct{ pass, none, destroy, atlantis, atlantisNone bool }
	tests := map[string]struct {
		sample func() *plans.Plan
		want   verdict
	}{
		"changes": {driftAndConfig, verdict{pass: true, atlantis: true}},
		// Atlantis has no summary of a plan that prunes, because it expects the line to end after
		// the numbers.
		"deletes":           {replaceAndDelete, verdict{pass: true, destroy: true}},
		"requested":         {requested, verdict{pass: true, destroy: true, atlantis: true}},
		"imports":           {adoptAndForget, verdict{pass: true, atlantis: true}},
		"outputs":           {outputsOnly, verdict{pass: true, atlantis: true}},
		"nothing":           {unchanged(3, 0), verdict{pass: true, none: true, atlantisNone: true}},
		"only waiting":      {unchanged(3, 1), verdict{pass: true, none: true, atlantisNone: true}},
		"nothing of a part": {partlyUnchanged, verdict{pass: true, none: true}},
	}
	for name, test := range tests {
		for _, options := range []view.PlanOptions{{}, {Compact: true}} {
			out := capture(80, false, plan(test.sample, options))
			read := readTfcmt(t, string(out))
			got := verdict{read.verdict != "", read.none, read.destroys, atlantisPlan.Match(out), atlantisNone.Match(out)}
			if got != test.want {
				t.Errorf("%s %+v: bots see %+v, want %+v", name, options, got, test.want)
			}
			if read.failed || read.warnings != "" {
				t.Errorf("%s %+v: bots see an error or a warning", name, options)
			}
		}
	}
	if out := capture(80, false, problems); !tfcmtFail.Match(out) || !tfcmtWarning.Match(out) {
		t.Error("bots see neither the error nor the warning among the problems")
	}
	if !tfcmtDone.Match(capture(80, false, appliedComplete)) || tfcmtDone.Match(capture(80, false, appliedFailed)) {
		t.Error("bots cannot tell a complete apply from one that failed")
	}
}

// TestDangerFirst checks that destroyed, lost and forced objects are on the first screen of a plan
// of 300 changes. With colour, they are red.
func TestDangerFirst(t *testing.T) {
	for _, options := range []view.PlanOptions{{}, {Compact: true}} {
		for _, width := range []int{80, 160} {
			lines := strings.Split(string(capture(width, true, plan(haystack, options))), "\n")
			screen := strings.Join(lines[:24], "\n")
			for _, want := range []string{
				"\x1b[31;1m3 objects will be DESTROYED:", "data-mariadb-0", "the data on its volume",
				"redis", "svc099-api", "by FORCE in:", "service.svc050/Service/svc050",
			} {
				if !strings.Contains(strings.ReplaceAll(screen, "[1;31m", "[31;1m"), want) {
					t.Errorf("%+v at %d columns: %q is not on the first screen:\n%s", options, width, want, screen)
				}
			}
			if first := strings.Index(screen, "data-mariadb-0"); first > strings.Index(screen, "redis") {
				t.Errorf("%+v at %d columns: what holds data is not the first", options, width)
			}
		}
	}
}

// TestColorSaysNothingMore checks that the output without colour is the output with colour, without
// the escape sequences.
func TestColorSaysNothingMore(t *testing.T) {
	escape := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for name, render := range goldens {
		plain, colored := capture(80, false, render), capture(80, true, render)
		if bytes.Equal(plain, colored) && !strings.HasPrefix(name, "plan_none") {
			t.Errorf("%s has no colour", name)
		}
		if diff := cmp.Diff(string(plain), string(escape.ReplaceAll(colored, nil))); diff != "" {
			t.Errorf("%s (-plain +colored):\n%s", name, diff)
		}
	}
}

// TestNoControlCharacters checks that no control characters are printed.
func TestNoControlCharacters(t *testing.T) {
	for name, render := range goldens {
		if out := capture(80, false, render); bytes.ContainsAny(out, "\x1b\r\x07\u202e") {
			t.Errorf("%s lets control characters through", name)
		}
	}
}

// TestSecretsStaySecret puts values into a sensitive change, and checks that they are not printed.
func TestSecretsStaySecret(t *testing.T) {
	leaky := func() *plans.Plan {
		change := plans.Change{Path: `data["password"]`, Before: "hunter2", After: "hunter2\nhunter2\nhunter2", Sensitive: true, Text: true, Drift: true}
		p := newPlan(0, action(plans.Update, "service.keystone/Secret/keystone-admin", change))
		p.Actions = append(p.Actions, firstPlan().Actions...)
		return p
	}
	renders := map[string]func(*view.Printer){
		"plan": plan(leaky, view.PlanOptions{}), "full": plan(leaky, view.PlanOptions{Full: true}),
	}
	for name, render := range renders {
		out := string(capture(160, false, render))
		if strings.Contains(out, "hunter2") {
			t.Errorf("%s shows a secret value:\n%s", name, out)
		}
		if !strings.Contains(out, "(sensitive value)") {
			t.Errorf("%s does not say that there is a secret value", name)
		}
	}
}

// TestStreams checks that results go to standard output and all else to standard error.
func TestStreams(t *testing.T) {
	tests := map[string]struct {
		render   func(*view.Printer)
		out, err bool
	}{
		"plan":        {render: plan(firstPlan, view.PlanOptions{}), out: true},
		"diagnostics": {render: diagnostics, err: true},
		"problems":    {render: problems, err: true},
		"complete":    {render: appliedComplete, out: true},
		"warned":      {render: appliedWarned, out: true, err: true},
		"failed":      {render: appliedFailed, out: true, err: true},
	}
	for name, test := range tests {
		var stdout, stderr bytes.Buffer
		test.render(view.New(&stdout, &stderr, true))
		if got := stdout.Len() > 0; got != test.out {
			t.Errorf("%s: something on standard output is %v, want %v", name, got, test.out)
		}
		if got := stderr.Len() > 0; got != test.err {
			t.Errorf("%s: something on standard error is %v, want %v", name, got, test.err)
		}
	}
}

func TestNewStream(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	got := screen.NewStream(file, false)
	if want := (screen.Stream{Writer: file, Width: 80}); got != want {
		t.Errorf("a file is %+v, want %+v", got, want)
	}
}

// fullDisk is a writer whose writes fail.
type fullDisk struct{}

var errFull = errors.New("no space left on device")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestResultsThatCannotBeWritten(t *testing.T) {
	p := view.New(fullDisk{}, fullDisk{}, true)
	if err := p.Plan(firstPlan(), view.PlanOptions{}); !errors.Is(err, errFull) {
		t.Errorf("Plan gives %v, want %v", err, errFull)
	}
	if err := p.Applied(applied.Result{}); !errors.Is(err, errFull) {
		t.Errorf("Applied gives %v, want %v", err, errFull)
	}
}
