package view_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"

	"kolla.openstack.org/kolla/internal/dev/golden"
	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/view/markdown"
	"kolla.openstack.org/kolla/planner/output"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

// page returns the Markdown of a plan, in UTC.
func page(plan *plans.Plan, o markdown.Options) string {
	return markdown.Plan(report.Of(plan, report.Moment{Zone: time.UTC}), o)
}

// TestMarkdown compares the pages of the samples with the golden files.
func TestMarkdown(t *testing.T) {
	samples := map[string]func() *plans.Plan{
		"errors": serviceGone, "removed": servicesRemoved, "outputs": outputsOnly, "secrets": knownSecrets, "refresh_only": refreshOnly, "kept_drift": keptDrift, "losses": lossesAndOthers,
		"keys": keys, "policies": judged, "upgrade": upgraded, "downgrade": downgraded, "none": unchanged(64, 2),
	}
	for name, sample := range marked {
		samples[name] = sample
	}
	delete(samples, "many") // too large to read; TestMarkdownHasRoom tests such a page
	delete(samples, "haystack")
	for name, sample := range samples {
		got := page(sample(), markdown.Options{})
		file := filepath.Join("testdata", "markdown", name+".md")
		golden.Compare(t, file, []byte(got))
	}
	files, err := filepath.Glob(filepath.Join("testdata", "markdown", "*"))
	if err != nil || len(files) != len(samples) {
		t.Errorf("%d pages for %d samples, %v: remove what is gone", len(files), len(samples), err)
	}
}

// TestMarkdownHasRoom checks pages with smaller and smaller budgets. A page never exceeds its
// budget, always contains the summary and the dangers, and says that it is cut.
func TestMarkdownHasRoom(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	plan := haystack()
	whole := page(plan, markdown.Options{Full: true})
	doc := report.Of(plan, report.Moment{Zone: time.UTC})
	least := len(page(plan, markdown.Options{Budget: 1}))
	leastFull := len(page(plan, markdown.Options{Full: true, Budget: 1}))
	if max(least, leastFull) > len(whole)/2 {
		t.Fatalf("the shortest page has %d bytes of %d: the sample shows nothing", least, len(whole))
	}
	for budget := least; budget < len(whole); budget += max(1, len(whole)/50) {
		got := page(plan, markdown.Options{Budget: budget})
		if full := page(plan, markdown.Options{Full: true, Budget: budget}); len(full) > budget && budget >= leastFull {
			t.Errorf("with all values and a budget of %d the page has %d bytes", budget, len(full))
		}
		if len(got) > budget && budget >= least {
			t.Errorf("with a budget of %d the page has %d bytes", budget, len(got))
		}
		for _, want := range append(doc.Dangers(false), doc.Summary) {
			if !strings.Contains(rendered(t, got), htmlText(want)) {
				t.Errorf("with a budget of %d the page lacks %q", budget, want)
			}
		}
		if cut := strings.Contains(got, "This page is cut"); !cut && len(got) < len(page(plan, markdown.Options{Budget: 1 << 30})) {
			t.Errorf("with a budget of %d the page does not say that it is cut", budget)
		}
	}
}

// TestMarkdownLongTexts checks a plan with an output and messages that are longer than a comment
// may be: the page contains their beginnings and the sizes of the omitted parts.
func TestMarkdownLongTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	long := strings.Repeat("long & _longer_ ", 7000)
	plan := judged()
	for i := range plan.Policies {
		plan.Policies[i].Message = long
	}
	plan.Warnings = append(plan.Warnings, plans.Notice{Summary: "Long", Text: long})
	value, err := json.Marshal(long)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		name := fmt.Sprintf("long%d", i)
		plan.Outputs = append(plan.Outputs, output.Change{Name: name, After: &state.Output{Name: name, Type: json.RawMessage(`"string"`), Value: value}})
	}
	for _, full := range []bool{false, true} {
		got := page(plan, markdown.Options{Full: full, Budget: markdown.Budget})
		if len(got) > markdown.Budget {
			t.Errorf("full %t: the page has %d bytes", full, len(got))
		}
		for _, want := range []string{"bytes more)", "more\n```", report.Of(plan, report.Moment{}).Summary} {
			if !strings.Contains(got, want) {
				t.Errorf("full %t: the page lacks %q", full, want)
			}
		}
	}
}

// hostile lists texts that would have an effect if a page interpreted them as Markdown or HTML.
var hostile = []string{
	"</details><script>alert(1)</script>", "![x](http://evil.example/x.png)", "[click](http://evil.example)",
	"```\n# heading\n```", "`````", "@everyone", "| a | b |\n|---|---|", "<!-- --> -->", "**bold** _it_", "~~~", "\n\n- list\n\n> quote",
	"<img src=x onerror=alert(1)>", "&lt;b&gt;",
}

// TestMarkdownQuotes puts hostile texts into all fields of a plan that other clients can set. It
// renders the page with a real parser, and checks that no text has an effect.
func TestMarkdownQuotes(t *testing.T) {
	for _, evil := range hostile {
		plan := driftAndConfig()
		plan.Cloud, plan.Tool, plan.Cluster.Server = evil, evil, evil
		plan.Warnings = append(plan.Warnings, plans.Notice{Summary: evil, Text: evil})
		for i := range plan.Actions {
			a := &plan.Actions[i]
			a.Ref.Name, a.Address.Name = evil, evil
			for j := range a.Changes {
				a.Changes[j].Manager = evil
				if _, ok := a.Changes[j].After.(string); ok && !a.Changes[j].Sensitive {
					a.Changes[j].After = evil
				}
			}
			a.Reasons = append(a.Reasons, plans.Reason{Kind: plans.ReasonConfig, Detail: evil, Path: evil})
		}
		out := rendered(t, page(plan, markdown.Options{}))
		for _, tag := range []string{"<script", "<img", "<a ", "<table", "<blockquote>\n<p>quote", "<h1", "<strong>bold"} {
			if strings.Contains(out, tag) {
				t.Errorf("%q becomes %s:\n%s", evil, tag, out)
			}
		}
		if opened, closed := strings.Count(out, "<details"), strings.Count(out, "</details>"); opened != closed || opened == 0 {
			t.Errorf("%q: %d details are opened and %d closed", evil, opened, closed)
		}
		if strings.Contains(codeSpans.ReplaceAllString(out, ""), "@everyone") {
			t.Errorf("%q notifies people", evil)
		}
	}
}

// codeSpans matches code spans and code blocks. An @name in them notifies nobody.
var codeSpans = regexp.MustCompile(`(?s)<code.*?</code>`)

// rendered converts a page to HTML.
func rendered(t *testing.T, page string) string {
	t.Helper()
	var out bytes.Buffer
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	if err := md.Convert([]byte(page), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// htmlText escapes a text for HTML.
func htmlText(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}

// TestMarkdownImpact checks that the impact is complete as long as the page lists deletions.
func TestMarkdownImpact(t *testing.T) {
	var actions []plans.Action
	var impact []plans.Impact
	for i := range 80 {
		block := fmt.Sprintf("service.number-%02d", i)
		actions = append(actions, action(plans.Delete, block+"/Deployment/api"))
		impact = append(impact, disturbs(block, plans.Effect{Kind: plans.EffectStop, Pods: i + 1, Grave: true}))
	}
	plan := newPlan(0, actions...)
	plan.Impact = impact
	sizes := map[bool]int{} // by whether deletions are listed
	for budget := 2000; budget < 40_000; budget += 500 {
		got := page(plan, markdown.Options{Budget: budget})
		listed := strings.Contains(got, "- `service.number-00/Deployment/api`")
		sizes[listed]++
		if n := strings.Count(got, "- **number-"); listed && n < len(impact) {
			t.Errorf("with %d bytes, deletions are listed beside %d of %d lines of the impact", budget, n, len(impact))
		}
	}
	if sizes[true] == 0 || sizes[false] == 0 {
		t.Errorf("pages with and without deletions: %v", sizes)
	}
}
