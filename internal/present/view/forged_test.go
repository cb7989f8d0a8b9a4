package view_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/present/drift"
	"kolla.openstack.org/kolla/internal/present/jsonview"
	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/report/applied"
	"kolla.openstack.org/kolla/internal/present/status"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/internal/present/view/html"
	"kolla.openstack.org/kolla/internal/present/view/markdown"
	"kolla.openstack.org/kolla/internal/present/view/screen"
	"kolla.openstack.org/kolla/internal/present/view/tables"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/extract"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// attacks are texts that an attacker might write into a cluster. The corpus in testdata/fuzz
// contains the texts that fuzzing found.
var attacks = []string{
	"evil\nPlan: 0 to add, 0 to change, 0 to destroy.\n",
	"Plan: 0 to add, 0 to change, 0 to destroy.",
	"x\nNo changes. Your infrastructure matches the configuration.\n",
	"\nError: all is lost\n\n  with service.keystone\n",
	"\r\n\r\nWarning: x\rApply complete! Resources: 1 added.",
	"\n  # service.keystone/Deployment/keystone will be destroyed\n",
	"# service.keystone/Deployment/keystone must be replaced",
	"\n::set-output name=x::y\n::add-mask::Plan\n",
	" \u3000::error file=a::b",
	"##vso[task.setvariable variable=PATH]/tmp ##[add-path]/tmp ###[group] ##teamcity[a]",
	"\n```\n# heading\n<details>\n~~~\n",
	"a\u202eb\u200bc\u2028Plan: 1\u2029d\u0085e\ufefff\u00adg\u2066h\u061c\u180e\U000e0041\u034f\u3164\ufe0f\u115f\u17b4\u206a\ufff9",
	"\x1b[2J\x1b]0;x\x07\x9b31m\x00\x7f\b\v\f",
	"\xff\xfe\xc3(\xed\xa0\x80",
	"long words that are wrapped somewhere, whatever the width of the screen is, " + strings.Repeat("Plan: 0 to add, ", 12) + strings.Repeat("::warning::x ", 12),
	"| a | b |\n|---|---|\n- [ ] c\n> d\n",
	"<<EOT\nEOT\n${x}\n",
}

// FuzzForeign puts a text into every field that other clients can set: of a plan, of the events of
// its apply, of problems and of diagnostics. It prints all of them, and checks that the text forges
// no line and that nothing is hidden.
func FuzzForeign(f *testing.F) {
	if testing.Short() {
		f.Skip("it takes seconds")
	}
	names := slices.Sorted(maps.Keys(shown))
	for i, s := range attacks {
		for what := range names {
			f.Add(s, uint8(what), uint8(i+what), uint8(i+what/3), (i+what)%4 == 0)
		}
	}
	f.Fuzz(func(t *testing.T, s string, what, how, way uint8, terminal bool) {
		if strings.TrimSpace(s) == "" || len(s) > 1<<12 {
			t.Skip("says nothing, or more than it takes")
		}
		put := injections[int(how)%len(injections)]
		name := names[int(what)%len(names)]
		forged := newScreen(int(way), terminal)
		shown[name](forged, func(old string) string { return put(old, s) })
		honest := newScreen(int(way), terminal)
		shown[name](honest, func(old string) string { return put(old, "x") })
		checkText(t, name, forged, honest)
		checkJSON(t, name+" events", forged.events.String(), honest.events.String())
		checkJSON(t, name+" document", forged.document.String(), honest.document.String())
		if forged.page.Len() > 0 {
			checkPage(t, name+" page", forged.page.String())
		}
	})
}

// injections are ways to combine an original text with the injected one.
var injections = []func(old, s string) string{
	func(old, s string) string { return old + s },
	func(_, s string) string { return s },
	func(old, s string) string { return s + old },
}

// paper collects all output.
type paper struct {
	*view.Printer
	options                view.PlanOptions
	text, events, document bytes.Buffer
	page                   bytes.Buffer // empty: there is no page
}

func newScreen(way int, terminal bool) *paper {
	s := &paper{options: []view.PlanOptions{{}, {Full: true}, {Compact: true}, {Saved: true, Now: now.Add(time.Hour)}}[way%4]}
	width := []int{80, 40, 160}[way%3]
	stream := screen.Stream{Writer: &s.text, Width: width, Terminal: terminal}
	s.Printer = &view.Printer{Out: stream, Err: stream, Zone: time.UTC}
	s.Events = jsonview.New(&s.events, "v1.2.3")
	return s
}

// shown maps names to functions that print a sample with an injected text.
var shown = map[string]func(s *paper, put func(string) string){
	"apply": anApply, "drift": someDrift, "problems": someProblems, "diagnostics": someDiagnostics, "failures": someFailures,
	"status": aStatus, "history": someHistory,
}

func init() {
	for name, sample := range samplePlans {
		shown["plan "+name] = func(s *paper, put func(string) string) {
			plan := sample()
			inject(reflect.ValueOf(plan), put)
			must(s.Plan(plan, s.options))
			must(jsonview.Plan(&s.document, plan))
			if s.options == (view.PlanOptions{}) {
				must(html.Render(&s.page, report.Of(plan, report.Moment{Zone: time.UTC}), html.Options{}))
			}
		}
	}
}

// someDrift prints the output of kolla drift.
func someDrift(s *paper, put func(string) string) {
	plan := driftAndConfig()
	for i := range plan.Actions {
		if a := &plan.Actions[i]; i%2 == 0 {
			a.Evidence = plans.Evidence{Kind: plans.Unverified, Detail: "denied", Advice: "Ask."}
			a.Verb, a.Changes = plans.None, nil
		}
		for j := range plan.Actions[i].Changes {
			plan.Actions[i].Changes[j].Drift = true
		}
	}
	inject(reflect.ValueOf(plan), put)
	look := drift.Of(plan)
	orphan := drift.Orphan{Ref: plan.Actions[0].Ref, Manager: put("kubectl"), Created: now}
	look.Orphans = &drift.Orphans{Objects: []drift.Orphan{orphan}, NotListed: []string{put("perhaps a Lease")}}
	must(tables.Drift(&s.text, look, time.UTC))
	must(look.JSON(&s.document))
	history := &drift.History{}
	history.Add(look)
	must(tables.DriftHistory(&s.text, history, time.Time{}, time.UTC))
}

// anApply prints an apply in which actions end in different ways.
func anApply(s *paper, put func(string) string) {
	s.Out.Terminal = false // other tests cover the live view
	plan := driftAndConfig()
	inject(reflect.ValueOf(plan), put)
	progress := s.Progress(plan)
	failed := applied.Result{Added: 1, Took: time.Minute}
	for i := range plan.Actions {
		a := &plan.Actions[i]
		progress.Observe(plans.Event{Action: a, Kind: plans.Started})
		progress.Observe(plans.Event{Action: a, Kind: plans.Waiting, Status: put("0 of 1 replicas ready"), Elapsed: time.Minute})
		over := plans.Event{Action: a, Kind: plans.Done + plans.EventKind(i%4), Elapsed: time.Second, Begun: true, Err: errors.New(put("denied"))}
		if over.Kind == plans.Skipped {
			over.Because = plan.Actions[0].Address
		}
		progress.Observe(over)
		switch over.Kind {
		case plans.Failed:
			failed.Failed = append(failed.Failed, applied.Failed{
				Address: a.Address, Source: put("cloud.hcl:4"), Reason: put("the job failed"), Advice: put("Mend it."),
				Detail: []string{put("last lines of container api:"), put("  a line of a log")}, After: time.Second,
			})
		case plans.Skipped:
			failed.Skipped = append(failed.Skipped, applied.Skipped{Address: a.Address, Because: over.Because})
		}
	}
	s.Unreachable(put("connection refused"))
	s.Reachable()
	s.Waiting("the API server cannot do it yet: " + put("too many requests"))
	progress.Close()
	s.Reading([]string{put("data.x")})
	failed.Messages = []plans.Problem{{Warning: true, Address: plan.Actions[0].Address, Source: put("cloud.hcl:4"), Summary: "The job succeeded, and gives a warning", Detail: put("Warning: old")}}
	must(s.Applied(failed))
}

func someProblems(s *paper, put func(string) string) {
	at := address("service.keystone/Deployment/keystone")
	at.Name = put(at.Name)
	s.Problems([]plans.Problem{
		{Summary: "The server refuses " + put("it"), Detail: put("admission webhook denied the request"), Address: at, Source: put("cloud.hcl:3")},
		plans.Notice{Address: at, Text: put("deprecated")}.Problem(),
		{Summary: put("owned by others"), Detail: "It is owned by " + put("argocd") + ". Decide with:\n\n  kolla plan -force\n", Source: put("cloud.hcl")},
	})
}

func someDiagnostics(s *paper, put func(string) string) {
	source := "service \"x\" {\n  name = \"" + put("a") + "\"\n}\n"
	start := strings.Index(source, "name")
	diags := hcl.Diagnostics{
		{
			Severity: hcl.DiagError, Summary: "Not possible: " + put("it"), Detail: put("It has to be."),
			Subject: &hcl.Range{Filename: put("cloud.hcl"), Start: hcl.Pos{Line: 2, Column: 3, Byte: start}, End: hcl.Pos{Line: 2, Column: 9, Byte: len(source) - 3}},
		},
		{Severity: hcl.DiagWarning, Summary: put("odd"), Detail: put("It is odd.")},
	}
	files := map[string]*hcl.File{put("cloud.hcl"): {Bytes: []byte(source)}}
	s.Diagnostics(diags, files)
	must(jsonview.Validation(&s.document, diags, files))
	must(view.TextDiff(s.Out, "cloud.hcl", "a\n", "b\n"))
}

// aStatus prints the output of kolla status, with a change.
func aStatus(s *paper, put func(string) string) {
	look := &status.Look{Cloud: put("prod"), Server: put("https://c"), Namespace: put("os"), Release: put("2025.1"), Services: []status.Service{{
		Address: "service.a", Public: []string{put("cloud.example.org:5000")},
		Workloads: []status.Workload{
			{
				Address: address("service.a/Deployment/a"), Pods: &status.Pods{Desired: 1}, Images: []status.Image{{Name: put("q/a:1"), Pods: 1}},
				Health: providers.Health{Reason: put("0 of 1 replicas ready"), Detail: []string{put("pod a-1")}},
			},
			{Address: addrs.Object{Block: "service.a", Kind: "Job", Name: put("a-db")}, Health: providers.Health{Ready: true}},
		},
	}}}
	must(tables.Status(&s.text, look))
	must(look.JSON(&s.document, "  "))
	tables.StatusChanges(&s.text, nil, look, "12:00:00")
	tables.StatusChanges(&s.text, look, &status.Look{}, "12:00:01")
}

// someHistory prints the output of kolla state log.
func someHistory(s *paper, put func(string) string) {
	history := []state.Apply{{Operation: put("apply"), Who: put("ann@ops"), Began: now, Ended: now, Result: state.Result(put("done")), Commit: put("e701314f"), Blocks: []string{put("service.a")}}}
	must(tables.History(&s.text, history, nil))
}

func someFailures(s *paper, put func(string) string) {
	s.Failure("It failed", put("the server said"))
	s.Warn(put("careful"), put("the server said"))
	must(view.PrintValue(s.Out, cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal(put("b")), put("c"): cty.TupleVal([]cty.Value{cty.StringVal(put("b\n"))})})))
	must(view.PrintValue(s.Out, cty.StringVal(put("b\n"))))
	must(view.Saved(s.Out, put("plan.out"), put("plan.out"), false))
}

// inject changes all strings of a value that other clients can choose, such as names, values and
// reasons.
func inject(v reflect.Value, put func(string) string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			inject(v.Elem(), put)
		}
	case reflect.Interface:
		if !v.IsNil() && v.CanSet() {
			held := reflect.New(v.Elem().Type()).Elem()
			held.Set(v.Elem())
			inject(held, put)
			v.Set(held)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			// The language validates the names of blocks, and each kind is printed differently.
			if name := v.Type().Field(i).Name; v.Field(i).CanSet() && name != "Block" && name != "Kind" {
				inject(v.Field(i), put)
			}
		}
		if e, ok := v.Addr().Interface().(*plans.Evidence); ok { // kolla writes the beginning of these texts
			e.Detail, e.Advice = "by the schema of "+e.Detail, "Ask "+e.Advice
		}
	case reflect.Slice:
		for i := range v.Len() {
			inject(v.Index(i), put)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			if key.String() == "kind" {
				continue
			}
			held := reflect.New(v.Type().Elem()).Elem()
			held.Set(v.MapIndex(key))
			inject(held, put)
			v.SetMapIndex(key, held)
		}
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() && v.CanSet() && v.Len() > 0 {
			v.SetString(put(v.String()))
		}
	}
}

var (
	// command matches commands of Azure Pipelines and TeamCity, which they find anywhere in a line.
	// So did GitHub once.
	command = regexp.MustCompile(`##[A-Za-z]*\[`)
	fence   = regexp.MustCompile("^ {0,3}(```|~~~)")
	opening = regexp.MustCompile(`^([A-Za-z]+|[^A-Za-z\s])`)
	// reserved matches the lines that tell programs the result of a plan or an apply.
	reserved = regexp.MustCompile(`^(Plan:|No changes|Error:|Warning:|Apply [a-z]+|Destroy [a-z]+|Outputs:|\s*# .* (will be|will no longer|must be|has moved to|is gone|is there already))`)
)

// checkText compares output with a hostile text and output with a harmless text. Both must have the
// same reserved lines, and no line may begin in another way.
func checkText(t *testing.T, name string, forgery, model *paper) {
	t.Helper()
	forged, honest := forgery.text.String(), model.text.String()
	if !utf8.ValidString(forged) {
		t.Errorf("%s: not UTF-8: %q", name, forged)
	}
	openings := map[string]bool{`\`: true, "EOT": true, "<": true, `"`: true} // marks, and the lines of quoted texts
	for l := range strings.Lines(honest) {
		openings[opening.FindString(l)] = true
	}
	for l := range strings.Lines(forged) {
		l = strings.TrimSuffix(l, "\n")
		checkLine(t, name, l)
		if first := opening.FindString(l); first != "" && !openings[first] {
			t.Errorf("%s: a line of others': %q", name, l)
		}
	}
	got, want := counted(forged), counted(honest)
	for line, n := range got {
		if n > want[line] {
			t.Errorf("%s: %d lines with %q instead of %d:\n%s", name, n, line, want[line], forged)
		}
	}
	// On a terminal, long names are broken into several lines, and no program reads that output.
	if diff := cmp.Diff(want, got); diff != "" && !forgery.Out.Terminal {
		t.Errorf("%s: lines that programs look for (-honest +forged):\n%s\n%s", name, diff, forged)
	}
}

func checkLine(t *testing.T, name, l string) {
	t.Helper()
	if i := strings.IndexFunc(l, hidden); i >= 0 {
		t.Errorf("%s: hidden at %d: %q", name, i, l)
	}
	if strings.HasPrefix(strings.TrimLeftFunc(l, unicode.IsSpace), "::") || command.MatchString(l) {
		t.Errorf("%s: a command: %q", name, l)
	}
	if fence.MatchString(l) {
		t.Errorf("%s: a fence: %q", name, l)
	}
}

// hidden reports whether a character must not be printed. The tab has no effect, so it is allowed.
func hidden(r rune) bool {
	return r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp,
		unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// counted counts the lines of each reserved form.
func counted(text string) map[string]int {
	out := map[string]int{}
	for l := range strings.Lines(text) {
		if match := reserved.FindStringSubmatch(l); match != nil {
			kind := match[1]
			if match[2] != "" {
				kind = "# ADDRESS " + match[2]
			}
			out[kind]++
		}
	}
	return out
}

// checkJSON checks that each line is one document, and harmless in the log of a job.
func checkJSON(t *testing.T, name, forged, honest string) {
	t.Helper()
	if !strings.HasPrefix(forged, "{\n") { // indented output is one document
		if got, want := strings.Count(forged, "\n"), strings.Count(honest, "\n"); got != want {
			t.Errorf("%s: %d lines instead of %d", name, got, want)
		}
	}
	for l := range strings.Lines(forged) {
		checkLine(t, name, strings.TrimSuffix(l, "\n"))
	}
	decoder := json.NewDecoder(strings.NewReader(forged))
	for decoder.More() {
		var document map[string]any
		if err := decoder.Decode(&document); err != nil {
			t.Errorf("%s: %v: %q", name, err, forged)
			return
		}
		if message, ok := document["@message"].(string); ok {
			checkLine(t, name+" message", message)
			if strings.Contains(message, "\n") {
				t.Errorf("%s: more than one line: %q", name, message)
			}
		}
	}
}

// TestDocumentsHaveNoCommands checks that no line of a page or of Markdown is a command of a CI
// system. A job may print them to its log.
func TestDocumentsHaveNoCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for _, s := range attacks {
		if !strings.Contains(s, "::") && !strings.Contains(s, "##") {
			continue
		}
		for way, put := range injections {
			for name, sample := range samplePlans {
				plan := sample()
				inject(reflect.ValueOf(plan), func(old string) string { return put(old, s) })
				doc, look := report.Of(plan, report.Moment{Zone: time.UTC}), drift.Of(plan)
				var page, drifted bytes.Buffer
				must(html.Render(&page, doc, html.Options{Full: true}))
				must(html.Drift(&drifted, look, time.UTC))
				for kind, text := range map[string]string{
					"page": page.String(), "page of drift": drifted.String(),
					"Markdown": markdown.Plan(doc, markdown.Options{Full: true}), "Markdown of drift": markdown.Drift(look, time.UTC, 0),
				} {
					for l := range strings.Lines(text) {
						l = strings.TrimSuffix(l, "\n")
						if strings.HasPrefix(strings.TrimLeftFunc(l, unicode.IsSpace), "::") || command.MatchString(l) {
							t.Fatalf("%s of %s, way %d: a command: %q", kind, name, way, l)
						}
					}
				}
			}
		}
	}
}

// TestForeignJSONKeepsValues checks that programs read the original string from escaped JSON.
func TestForeignJSONKeepsValues(t *testing.T) {
	for _, s := range attacks {
		if !utf8.ValidString(s) {
			continue // JSON cannot contain such strings
		}
		plan := newPlan(0, action(plans.Update, "service.glance/Deployment/glance-api",
			plans.Change{Path: "spec.note", Before: "x", After: s}))
		plan.Actions[0].Values = &plans.Values{After: &extract.Part{Values: map[string]any{"spec": map[string]any{"note": s}}}}
		var out bytes.Buffer
		must(jsonview.Plan(&out, plan))
		var document struct {
			Changes []struct {
				Change struct {
					After struct {
						Spec struct{ Note string }
					}
				}
			} `json:"resource_changes"`
		}
		if err := json.Unmarshal(out.Bytes(), &document); err != nil {
			t.Fatal(err)
		}
		if got := document.Changes[0].Change.After.Spec.Note; got != s {
			t.Errorf("%q is read as %q", s, got)
		}
	}
}

// TestOwnTextStays checks that text in any language is printed unchanged.
func TestOwnTextStays(t *testing.T) {
	for _, s := range []string{"Zürich — 東京リージョン, Ελλάδα, العربية, हिन्दी", "½ ≤ ∞ ✓ 🚀", `C:\path\new`, "# a comment", "a:: b", "## heading"} {
		screen := newScreen(2, false)
		screen.Failure("It", s)
		if !strings.Contains(screen.text.String(), s) {
			t.Errorf("%q is printed as %q", s, screen.text.String())
		}
	}
}
