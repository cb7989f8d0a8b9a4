package view_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"kolla.openstack.org/kolla/internal/present/drift"
	"kolla.openstack.org/kolla/internal/present/view/html"
	"kolla.openstack.org/kolla/internal/present/view/markdown"
)

// TestDriftFitsAComment checks that a page about drift never exceeds the maximum size of a comment,
// keeps its summary, and counts the omitted rows.
func TestDriftFitsAComment(t *testing.T) {
	look := &drift.Look{Cloud: "prod", Server: "https://10.0.0.10:6443", At: now, Declared: 5000, Pending: 1}
	for i := range 5000 {
		name := fmt.Sprintf("service.glance/ConfigMap/c-%d", i)
		look.Fields = append(look.Fields, drift.Field{Address: address(name), Path: "data[\"a|b\"]", Change: drift.Changed, Before: "x", After: "*y*", Manager: "kubectl"})
		look.NotCompared = append(look.NotCompared, drift.NotCompared{Address: address(name), Why: "no answer"})
	}
	page := markdown.Drift(look, time.UTC, 0)
	if len(page) > markdown.Budget {
		t.Errorf("the page has %d bytes", len(page))
	}
	if cut := markdown.Drift(look, time.UTC, 4096); len(cut) > 4096 || !strings.Contains(cut, "and 4") {
		t.Errorf("a page of at most 4096 bytes has %d:\n%s", len(cut), cut)
	}
	for _, want := range []string{
		"<!-- kolla drift of prod -->\n",
		"**5000 objects changed outside of kolla (5000 fields), and 5000 objects could not be compared.** 1 change of the configuration is pending: kolla plan",
		"| `service.glance/ConfigMap/c-0` | `data[\"a\\|b\"]` | \"x\" → \"\\*y\\*\" | by kubectl |",
		"\nand 4", // hundreds of rows more
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q:\n%.2000s", want, page)
		}
	}
}

const hostileText = `</td><script>alert(1)</script>`

// hostileLook has hostile text in every field that other clients can set.
func hostileLook() *drift.Look {
	const hostile = hostileText
	address := address("service.glance/Deployment/glance-api")
	return &drift.Look{
		Cloud: "prod" + hostile, Server: hostile, Declared: 3, Pending: 2,
		Fields: []drift.Field{
			{Address: address, Path: "spec.replicas", Change: drift.Changed, Before: int64(1), After: int64(3), Manager: "kubectl" + hostile},
			{Address: address, Change: drift.Deleted},
		},
		NotCompared: []drift.NotCompared{{Address: address, Why: hostile}},
		Orphans:     &drift.Orphans{NotListed: []string{hostile}},
	}
}

// TestDriftPage checks that the HTML page about drift shows hostile text as text, and that it is
// complete.
func TestDriftPage(t *testing.T) {
	look := hostileLook()
	var out bytes.Buffer
	if err := html.Drift(&out, look, time.UTC); err != nil {
		t.Fatal(err)
	}
	root := checkPage(t, "drift", out.String())
	text := content(root)
	for _, want := range []string{"1 object changed outside of kolla", "spec.replicas", "1 → 3", "(deleted)", hostileText, "2 changes of the configuration are pending", "Not compared", "Not managed by kolla"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not show %q:\n%s", want, text)
		}
	}
}
