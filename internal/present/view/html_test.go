package view_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	nethtml "golang.org/x/net/html"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/textdiff"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/internal/present/view/html"
	"kolla.openstack.org/kolla/internal/present/view/markdown"
	"kolla.openstack.org/kolla/planner/plans"
)

// webPage returns the HTML page of a plan.
func webPage(plan *plans.Plan, o html.Options) string {
	var out bytes.Buffer
	must(html.Render(&out, report.Of(plan, report.Moment{Zone: time.UTC}), o))
	return out.String()
}

// tags lists the elements that a page may have.
var tags = strings.Fields(`html head meta title link style body script a header main footer section h1 h2 h3 p ul li b strong span code pre del ins wbr div
	table thead tbody tr th td details summary form label input select option button output svg desc defs marker path g rect text circle`)

// checkPage checks that a page sends no requests, runs only its own script, and has only permitted
// elements.
func checkPage(t *testing.T, name, page string) *nethtml.Node {
	t.Helper()
	root, err := nethtml.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexFunc(page, func(r rune) bool { return r != '\n' && hidden(r) }); i >= 0 {
		t.Errorf("%s: hidden at %d: %q", name, i, page[max(0, i-40):i+10])
	}
	ids, links := map[string]int{}, []string{}
	policy, permitted := "", map[string]string{}
	for n := range root.Descendants() {
		if n.Type != nethtml.ElementNode {
			continue
		}
		if !slices.Contains(tags, n.Data) {
			t.Errorf("%s: an element <%s>", name, n.Data)
		}
		if n.Data == "style" || n.Data == "script" {
			if permitted[n.Data] != "" {
				t.Errorf("%s: two elements <%s>", name, n.Data)
			}
			sum := sha256.Sum256([]byte(content(n)))
			permitted[n.Data] = fmt.Sprintf("%s-src 'sha256-%s';", n.Data, base64.StdEncoding.EncodeToString(sum[:]))
		}
		for _, a := range n.Attr {
			switch {
			case a.Key == "href" && n.Data == "a":
				links = append(links, a.Val)
			case a.Key == "href" && a.Val == "data:,", a.Key == "srcdoc":
			case a.Key == "href", a.Key == "src", a.Key == "style", a.Key == "action", a.Key == "formaction", strings.HasPrefix(a.Key, "on"):
				t.Errorf("%s: <%s %s=%q>", name, n.Data, a.Key, a.Val)
			case a.Key == "id":
				ids[a.Val]++
			case a.Val == "Content-Security-Policy":
				policy = attribute(n, "content")
			}
		}
	}
	for id, times := range ids {
		if times > 1 {
			t.Errorf("%s: %d elements have the id %s", name, times, id)
		}
	}
	for _, href := range links {
		if id, ok := strings.CutPrefix(href, "#"); !ok || ids[id] != 1 {
			t.Errorf("%s: a link to %q", name, href)
		}
	}
	for _, part := range append(slices.Collect(maps.Values(permitted)), "default-src 'none';") {
		if part == "" || !strings.Contains(policy, part) || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: the policy is %q, want %q in it", name, policy, part)
		}
	}
	return root
}

func attribute(n *nethtml.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

// content returns the text in an element.
func content(n *nethtml.Node) string {
	var out strings.Builder
	for d := range n.Descendants() {
		if d.Type == nethtml.TextNode {
			out.WriteString(d.Data)
		}
	}
	return out.String()
}

// samplePages returns the sample plans.
func samplePages() map[string]func() *plans.Plan {
	samples := map[string]func() *plans.Plan{
		"errors": serviceGone, "removed": servicesRemoved, "outputs": outputsOnly, "destroy with data": destroyWithData, "secrets": knownSecrets, "refresh only": refreshOnly,
		"kept drift": keptDrift, "keys": keys, "policies": judged, "upgrade": upgraded, "losses": lossesAndOthers, "tuesday": tuesday, "none": unchanged(64, 2), "debugged": debugged, "stack": stack,
	}
	maps.Copy(samples, marked)
	return samples
}

// TestPage checks the pages of all samples: their structure, and that they contain all texts of
// their documents.
func TestPage(t *testing.T) {
	for name, sample := range samplePages() {
		doc := report.Of(sample(), report.Moment{Zone: time.UTC})
		page := webPage(sample(), html.Options{Full: true})
		if !strings.HasPrefix(page, html.Begins) {
			t.Errorf("%s: the page begins with %q", name, page[:60])
		}
		said := flat(content(checkPage(t, name, page)))
		for _, sentence := range sentences(doc) {
			if !strings.Contains(said, flat(sentence)) {
				t.Errorf("%s: the document says %q, the page does not", name, sentence)
			}
		}
		checkPage(t, name, webPage(sample(), html.Options{}))
	}
}

// diffOfVersions is a comparison of two revisions without a cluster.
func diffOfVersions() *plans.Plan {
	plan := driftAndConfig()
	plan.Renderings = &plans.Renderings{Base: "main (3f2a1c9)", Head: "the working tree", Unset: []string{"var.password"}}
	return plan
}

// TestDiffPage checks that the page of a comparison without a cluster does not look like a plan,
// and that it begins with the limits of the comparison.
func TestDiffPage(t *testing.T) {
	plan := diffOfVersions()
	said := flat(content(checkPage(t, "diff", webPage(plan, html.Options{}))))
	from := strings.Index(said, "kolla diff: cloud prod")
	for _, want := range []string{
		"kolla diff Cloud prod Diff: ", "Limits of this comparison Rendered without a cluster: drift,", "was not compared: var.password.",
		"Impact", "Actions An apply of the second version would perform these actions:",
	} {
		at := strings.Index(said, want)
		if from < 0 || at < from {
			t.Errorf("the page does not say %q at its place:\n%.1500s", want, said)
		}
		from = max(at, from)
	}
	if strings.Contains(said, plan.ID) {
		t.Error("the page has the number of a plan")
	}
}

// flat returns a text on one line, with the escapes of the page.
func flat(s string) string {
	var out []string
	for l := range strings.Lines(s) {
		out = append(out, strings.Fields(foreign.Text(strings.TrimSuffix(l, "\n")))...)
	}
	return strings.Join(out, " ")
}

// sentences returns all texts of a document.
func sentences(doc *report.Plan) []string {
	out := append([]string{doc.Summary + doc.OutputCount, doc.Compared.What + " " + doc.Compared.Verdict, doc.Made, doc.Tool, doc.OutputNote}, doc.Scope...)
	table := func(t *report.Table) {
		if t == nil {
			return
		}
		out = append(append(out, strings.TrimSuffix(t.Title, ":"), t.Advice), t.Commands...)
		for _, row := range t.Rows {
			out = append(out, row.Address.String()+" "+row.Text)
		}
	}
	note := func(n *report.Note) {
		if n == nil {
			return
		}
		out = append(out, strings.TrimSuffix(n.Text, ":"), n.Advice)
		for _, a := range n.Addresses {
			out = append(out, a.String())
		}
	}
	outside := func(o *report.Outside) {
		if o == nil {
			return
		}
		out = append(out, strings.TrimSuffix(o.Title, ":"))
		for _, object := range o.Objects {
			out = append(append(out, object.Address.String(), object.Command), fieldTexts(object.Fields())...)
		}
	}
	if doc.Policies != nil {
		out = append(out, doc.Policies.Title)
		for _, policy := range doc.Policies.Unmet {
			out = append(out, policy.Verdict, policy.Name, policy.Message, policy.Source)
		}
	}
	out = append(out, doc.Dangers(true)...)
	for _, d := range doc.Disturbances(true) {
		out = append(out, d.Sentence())
	}
	for i := range doc.Losses {
		table(&doc.Losses[i])
	}
	table(doc.Jobs)
	table(doc.Kept)
	note(doc.Forced)
	note(doc.Pending)
	for i := range doc.Unverified {
		note(&doc.Unverified[i])
	}
	for i := range doc.Foreign {
		outside(&doc.Foreign[i])
	}
	outside(doc.Drift)
	outside(doc.Replaced)
	outside(doc.Yielded)
	if d := doc.Destroyed; d != nil {
		out = append(append(out, d.Title, d.Harmless), d.Renamed...)
		if !doc.Destroy {
			out = append(out, d.Folded)
		}
		for _, a := range d.Actions {
			out = append(out, a.Holds, a.Why)
		}
	}
	for _, a := range doc.Actions {
		out = append(out, a.Head.Before+a.Object.Address.String()+a.More+a.Head.After+a.Head.Danger, a.Place, a.Within, a.Evidence)
		out = append(append(out, a.Comments...), fieldTexts(a.Object.Fields())...)
	}
	for _, s := range doc.Services {
		out = append(out, s.Block+": "+s.Summary)
	}
	for _, o := range doc.Outputs {
		out = append(out, o.Name, o.Before, o.After)
	}
	for _, m := range doc.Warnings {
		out = append(out, report.Headline(m.Summary), m.Detail)
	}
	return out
}

// fieldTexts returns the texts of fields.
func fieldTexts(fields []report.Field) []string {
	var out []string
	for _, f := range report.Divide(fields, 100) {
		out = append(out, strings.TrimPrefix(f.Note, "# "))
		switch {
		case f.Lines:
			for _, l := range f.Diff() {
				if l.Kind != textdiff.Heading {
					out = append(out, l.Text)
				}
			}
		case f.Sensitive:
			out = append(out, report.Masked)
		default:
			for _, v := range []any{f.Before, f.After} {
				if text := report.Value(v); v != nil && len(text) <= 100 && !report.SeveralLines(v) && v != report.Masked && v != report.Unknown {
					out = append(out, text)
				}
			}
		}
	}
	return out
}

// TestHostileTexts puts hostile texts into all fields of a plan that other clients can set, and
// checks that they are shown as text.
func TestHostileTexts(t *testing.T) {
	evils := append(slices.Clone(hostile), `" onmouseover="alert(1)`, `'><svg onload=alert(1)>`, `javascript:alert(1)`, `</style><style>*{}`,
		`{{.Plan}}`, "</title></textarea></svg><iframe src=//evil.example>", `<a href="http://evil.example">`, "\x00<b\x00>", "</script\u2028>")
	for _, evil := range evils {
		plan := evilPlan(evil)
		root := checkPage(t, evil, webPage(plan, html.Options{}))
		for n := range root.Descendants() {
			if n.Data == "h1" && !strings.Contains(flat(content(n)), flat(strings.ReplaceAll(evil, "\x00", "\ufffd"))) {
				t.Errorf("%q is shown as %q", evil, content(n))
			}
		}
	}
}

// evilPlan is a plan with a text in all fields that other clients can set.
func evilPlan(evil string) *plans.Plan {
	plan := driftAndConfig()
	plan.Cloud, plan.Tool, plan.Cluster.Server = evil, evil, evil
	plan.Warnings = append(plan.Warnings, plans.Notice{Summary: evil, Text: evil})
	for i := range plan.Actions {
		a := &plan.Actions[i]
		a.Ref.Name, a.Address.Name, a.Address.Block = evil, evil, fmt.Sprintf("service.x[%q]", evil)
		for j := range a.Changes {
			a.Changes[j].Manager = evil
			if _, ok := a.Changes[j].After.(string); ok && !a.Changes[j].Sensitive {
				a.Changes[j].After = evil
			}
		}
		a.Reasons = append(a.Reasons, plans.Reason{Kind: plans.ReasonConfig, Detail: evil, Path: evil})
	}
	return plan
}

// stack is a cloud with the usual dependencies. A few of its services change.
func stack() *plans.Plan {
	plan := tuesday()
	for _, needs := range []string{
		"mariadb", "memcached", "rabbitmq", "keystone mariadb memcached", "glance keystone mariadb", "placement keystone mariadb",
		"neutron keystone mariadb rabbitmq", "nova glance keystone mariadb neutron placement rabbitmq", "cinder glance keystone mariadb rabbitmq",
		"heat cinder keystone mariadb neutron nova rabbitmq", "horizon keystone memcached", "skyline keystone mariadb", "libvirt",
	} {
		names := strings.Fields(needs)
		a := action(plans.None, "service."+names[0]+"/Deployment/"+names[0])
		if names[0] == "skyline" {
			a = create(a.Address.String(), "cloud.hcl:70", m{})
		}
		for _, on := range names[1:] {
			a.DependsOn = append(a.DependsOn, address("service."+on+"/Deployment/"+on))
		}
		plan.Actions = append(plan.Actions, a)
	}
	return plan
}

// thousand is a plan that changes 1,000 objects.
func thousand() *plans.Plan {
	plan := manyUpdates()
	plan.Actions = plan.Actions[700:]
	for i := range 100 {
		actions := apiService(fmt.Sprintf("new%03d", i), "cloud.hcl:41", 8000)
		plan.Actions = append(plan.Actions, actions[:7]...)
	}
	for i := range plan.Actions { // dependencies form chains: each service needs the one before
		if i >= 70 {
			plan.Actions[i].DependsOn = append(plan.Actions[i].DependsOn, plan.Actions[i-70].Address)
		}
	}
	return plan
}

// BenchmarkRender renders a plan that changes 1,000 objects, and reports the size of the output.
func BenchmarkRender(b *testing.B) {
	plan := thousand()
	for name, render := range map[string]func() int{
		"terminal":      func() int { return len(capture(120, false, plan1000(plan))) },
		"markdown":      func() int { return len(page(plan, markdown.Options{})) },
		"markdown-full": func() int { return len(page(plan, markdown.Options{Full: true})) },
		"html":          func() int { return len(webPage(plan, html.Options{})) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			size := 0
			for b.Loop() {
				size = render()
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
}

func plan1000(p *plans.Plan) func(*view.Printer) {
	return plan(func() *plans.Plan { return p }, view.PlanOptions{})
}
