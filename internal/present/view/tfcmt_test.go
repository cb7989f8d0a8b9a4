package view_test

import (
	"bytes"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/dev/golden"
	"kolla.openstack.org/kolla/internal/present/publish"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/planner/plans"
)

// tfcmtReading is the data that tfcmt finds in the output of a plan. The rules are those of the
// parser of tfcmt v4.14.18 (pkg/terraform/parser.go). The tests of internal/dev/consumers run the
// program itself, if it is installed.
type tfcmtReading struct {
	outside, changes, warnings string
	verdict                    string // empty: tfcmt cannot read the output
	failed, destroys, none     bool
	lists                      map[string][]string // addresses by the kind of change
}

var (
	tfcmtFail    = regexp.MustCompile(`(?m)^([│|] )?(Error: )`)
	tfcmtWarning = regexp.MustCompile(`(?m)^([│|] )?(Warning: )`)
	tfcmtVerdict = regexp.MustCompile(`(?m)^(([│|] )?Error: |Plan: \d|No changes.|Changes to Outputs:).*`)
	tfcmtNone    = regexp.MustCompile(`^(No changes\.|Plan: (\d+ to import, )?0 to add, 0 to change, 0 to destroy\.)`)
	tfcmtDestroy = regexp.MustCompile(`[1-9][0-9]* to destroy.`)
	tfcmtDone    = regexp.MustCompile(`(?m)^(Apply complete!)`)
	// tfcmtLists maps the patterns of lines with addresses to tfcmt's lists.
	tfcmtLists = []struct {
		name    string
		pattern *regexp.Regexp
	}{
		{"created", regexp.MustCompile(`^ *# (.*) will be created$`)},
		{"updated", regexp.MustCompile(`^ *# (.*) will be updated in-place$`)},
		{"deleted", regexp.MustCompile(`^ *# (.*) will be destroyed$`)},
		{"replaced", regexp.MustCompile(`^ *# (.*?)(?: is tainted, so)? must be replaced$`)},
		{"replaced", regexp.MustCompile(`^ *# (.*?) will be replaced, as requested$`)},
		{"replaced", regexp.MustCompile(`^ *# (.*?) will be replaced due to changes in replace_triggered_by$`)},
		{"imported", regexp.MustCompile(`^ *# (.*?) will be imported$`)},
		{"moved", regexp.MustCompile(`^ *# (.*? has moved to .*?)$`)},
	}
	tfcmtMoved = regexp.MustCompile(`^ *# \(moved from (.*?)\)$`) // follows an object that also changes
)

// readTfcmt reads output like tfcmt does. A whole line begins each of two parts: changes by others,
// and planned changes. The first words of a line end a part. The first verdict counts.
func readTfcmt(t *testing.T, output string) tfcmtReading {
	t.Helper()
	lines := strings.Split(output, "\n")
	find := func(from int, is func(string) bool) int {
		for i := from; i >= 0 && i < len(lines); i++ {
			if is(lines[i]) {
				return i
			}
		}
		return -1
	}
	rule := func(l string) bool { return strings.HasPrefix(l, "─────") || strings.HasPrefix(l, "-----") }
	join := func(from, to int) string {
		if to < from {
			t.Fatalf("tfcmt fails: a part begins at line %d, and ends at %d of\n%s", from, to, output)
		}
		return strings.Join(lines[from:to], "\n")
	}
	verdict := tfcmtVerdict.FindString(output)
	r := tfcmtReading{
		verdict: verdict, failed: tfcmtFail.MatchString(output),
		destroys: tfcmtDestroy.MatchString(verdict), none: tfcmtNone.MatchString(verdict), lists: map[string][]string{},
	}
	if i := find(0, func(l string) bool { return l == "Note: Objects have changed outside of Terraform" }); i >= 0 {
		end := find(i, func(l string) bool {
			return strings.HasPrefix(l, "Unless you have made equivalent changes to your configuration")
		})
		r.outside = join(i+1, end+1)
	}
	begin := find(0, func(l string) bool { return l == "Terraform will perform the following actions:" }) + 1
	if begin == 0 {
		begin = find(0, func(l string) bool { return l == "Changes to Outputs:" })
	}
	if end := find(begin, rule); begin >= 0 && end >= 0 {
		r.changes = join(begin, end-1)
	} else if begin >= 0 {
		r.changes = join(begin, len(lines)-1)
	}
	if i := find(0, tfcmtWarning.MatchString); i >= 0 {
		end := find(i, rule)
		if end < 0 {
			end = len(lines)
		}
		r.warnings = join(i, end)
	}
	above := ""
	for _, l := range lines {
		at := ""
		for _, list := range tfcmtLists {
			if match := list.pattern.FindStringSubmatch(l); match != nil {
				r.lists[list.name] = append(r.lists[list.name], match[1])
				at = match[1]
				break
			}
		}
		if match := tfcmtMoved.FindStringSubmatch(l); match != nil && above != "" {
			r.lists["moved"] = append(r.lists["moved"], match[1]+" has moved to "+above)
		}
		above = at
	}
	return r
}

// asTfcmt prints a plan for tfcmt. tfcmt gets standard error, with warnings of the configuration,
// first.
func asTfcmt(t *testing.T, plan *plans.Plan) string {
	t.Helper()
	outputs, err := publish.To("tfcmt", nil, false)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	view.New(&b, &b, true).Warn("Something of the configuration", "Text.")
	if err := outputs.Write(&b, plan, time.Time{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// judgedOnly has only results of policies.
func judgedOnly() *plans.Plan {
	p := newPlan(3)
	p.Policies = judged().Policies
	return p
}

// TestTfcmt checks that tfcmt finds the changes, the drift and all warnings of a plan in the right
// lists, and the right verdict.
func TestTfcmt(t *testing.T) {
	drifted := driftAndConfig()
	drifted.Warnings = []plans.Notice{{Text: "this version is deprecated"}}
	const none = "No changes. Your infrastructure matches the configuration."
	for name, test := range map[string]struct {
		plan             *plans.Plan
		outside, changes []string
		verdict          string
	}{
		"drift": {
			drifted,
			[]string{"scaled to 5 by kubectl"},
			[]string{"# service.keystone/Deployment/keystone-api will be updated in-place", "Impact:", "Plan: "},
			"Plan: 2 to add, 2 to change, 0 to destroy.",
		},
		"replace": {
			replaceAndDelete(), nil,
			[]string{"must be replaced", "will be DESTROYED:", "Plan: 2 to add, 1 to change, 4 to destroy"},
			"Plan: 2 to add, 1 to change, 4 to destroy, 2 to prune.",
		},
		"outputs": {outputsOnly(), nil, []string{"Changes to Outputs:", "Plan: 0 to add"}, "Changes to Outputs:"},
		"replace and outputs": {
			replaceWithOutputs(), nil,
			[]string{"must be replaced", "Changes to Outputs:", "+ password = (sensitive value)"},
			"Plan: 2 to add, 1 to change, 4 to destroy, 2 to prune.",
		},
		"policies": {
			judged(), nil,
			[]string{"Policies: 1 passed, 1 denied, 1 overridden, 1 warned.", "denied     volumes-stay", "Plan: "},
			"Plan: 0 to add, 0 to change, 1 to destroy.",
		},
		"only policies": {judgedOnly(), nil, []string{"denied     volumes-stay", none}, none},
		"none":          {unchanged(3, 0)(), nil, nil, none},
	} {
		t.Run(name, func(t *testing.T) {
			output := asTfcmt(t, test.plan)
			got := readTfcmt(t, output)
			if (got.outside == "") != (test.outside == nil) || (got.changes == "") != (test.changes == nil) {
				t.Errorf("parts: %+v", got)
			}
			for _, want := range test.outside {
				if !strings.Contains(got.outside, want) {
					t.Errorf("changes outside lack %q:\n%s", want, got.outside)
				}
			}
			for _, want := range test.changes {
				if !strings.Contains(got.changes, want) {
					t.Errorf("changes lack %q:\n%s", want, got.changes)
				}
			}
			if !strings.Contains(got.warnings, "Something of the configuration") || strings.Contains(got.warnings, "Plan: ") {
				t.Errorf("warnings:\n%s", got.warnings)
			}
			if len(test.plan.Warnings) > 0 && !strings.Contains(got.warnings, "this version is deprecated") {
				t.Errorf("warnings lack that of the plan:\n%s", got.warnings)
			}
			if got.verdict != test.verdict || got.failed || got.none != (test.verdict == none) || got.destroys != (test.plan.Counts().Destroy > 0) {
				t.Errorf("tfcmt mistakes the result: %+v", got)
			}
		})
	}
}

// TestTfcmtMoves checks that tfcmt lists moved objects, with and without other changes.
func TestTfcmtMoves(t *testing.T) {
	want := []string{
		`service.old/ConfigMap/older has moved to service.old["x"]/ConfigMap/older`,
		`service.old/ConfigMap/old has moved to service.old["x"]/ConfigMap/old`,
	}
	if diff := cmp.Diff(want, readTfcmt(t, asTfcmt(t, keys())).lists["moved"]); diff != "" {
		t.Errorf("moved (-want +got):\n%s", diff)
	}
}

// TestTfcmtGolden compares plans for tfcmt with golden files. Most of the plans also have golden
// files in JSON. The tests of internal/dev/consumers give both to third-party programs, which must
// agree.
func TestTfcmtGolden(t *testing.T) {
	dir := filepath.Join("..", "..", "dev", "consumers", "testdata", "tfcmt")
	for _, name := range consumed {
		golden.Compare(t, filepath.Join(dir, name+".txt"), []byte(asTfcmt(t, samplePlans[name]())))
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if name, _ := strings.CutSuffix(filepath.Base(file), ".txt"); !slices.Contains(consumed, name) {
			t.Errorf("%s belongs to no plan", file)
		}
	}
}
