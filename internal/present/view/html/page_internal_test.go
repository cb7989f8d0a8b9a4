package html

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/textdiff"
)

// TestDraw checks the picture: a service is above the services that it needs, an arrow that follows
// from other arrows is omitted, and cyclic dependencies cause no error.
func TestDraw(t *testing.T) {
	services := []report.Service{
		{Block: "service.alone"},
		{Block: "service.api", Needs: []string{"service.db", "service.gone", "service.keystone"}},
		{Block: "service.db"},
		{Block: "service.egg", Needs: []string{"service.hen"}},
		{Block: "service.hen", Needs: []string{"service.egg"}},
		{Block: "service.keystone", Needs: []string{"service.db"}},
		{Block: "manifest.a-rather-long-name", Summary: "new"},
		{Block: `module.edge["west"].service.site`, Summary: "restarts"},
		{Block: `module.region.module.edge["north"].manifest.site`, Summary: "new"},
	}
	for _, columns := range []int{1, 2, 3, 6} {
		p := draw("id", services, map[string]string{"service.api": "b1"}, columns)
		var arrows []string
		name := func(n int) string { return strings.TrimPrefix(services[n].Block, "service.") }
		for _, e := range p.Edges {
			arrows = append(arrows, name(e.From)+" > "+name(e.To))
			if p.Boxes[e.From].Y >= p.Boxes[e.To].Y {
				t.Errorf("%d columns: %s is not above %s", columns, name(e.From), name(e.To))
			}
			checkPath(t, p, e)
		}
		if diff := cmp.Diff([]string{"api > keystone", "egg > hen", "keystone > db"}, arrows); diff != "" {
			t.Errorf("%d columns: arrows (-want +got):\n%s", columns, diff)
		}
		places := map[[2]int]bool{}
		for _, b := range p.Boxes {
			places[[2]int{b.X, b.Y}] = true
			if b.X < 0 || b.X+b.Width > p.Width || b.Y+b.Height > p.Height {
				t.Errorf("%d columns: %s is outside of the picture", columns, b.Title)
			}
		}
		if len(places) != len(services) {
			t.Errorf("%d columns: %d boxes have %d places", columns, len(services), len(places))
		}
		if api := p.Boxes[1]; api.Anchor != "b1" {
			t.Errorf("the box of the api leads to %q", api.Anchor)
		}
		if long := p.Boxes[6]; long.Label != "a-rather-long-na…" || long.Small != "manifest, new" || long.Title != "manifest.a-rather-long-name: new" {
			t.Errorf("a long name becomes %+v", long)
		}
		if site := p.Boxes[7]; site.Label != "site" || site.Small != `edge["west"]: restarts` || site.Title != `module.edge["west"].service.site: restarts` {
			t.Errorf("a service of a module becomes %+v", site)
		}
		if nested := p.Boxes[8]; nested.Small != `…e["north"]: manifest, new` {
			t.Errorf("a manifest of a nested module becomes %+v", nested)
		}
	}
}

// checkPath checks that an arrow crosses no other box: its vertical lines are beside the boxes.
func checkPath(t *testing.T, p picture, e edge) {
	t.Helper()
	x, passed := 0, 0
	for _, part := range regexp.MustCompile(`[MCV][^MCV]*`).FindAllString(e.Path, -1) {
		numbers := strings.Fields(part[1:])
		if part[0] != 'V' {
			x, _ = strconv.Atoi(numbers[len(numbers)-2])
			continue
		}
		passed++
		for _, b := range p.Boxes {
			if y, _ := strconv.Atoi(numbers[0]); y == b.Y+b.Height && x >= b.X && x <= b.X+b.Width || x < 0 || x > p.Width {
				t.Errorf("the arrow from %s to %s goes through %s: %s", p.Boxes[e.From].Title, p.Boxes[e.To].Title, b.Title, e.Path)
			}
		}
	}
	rows := map[int]bool{}
	for _, b := range p.Boxes {
		if b.Y > p.Boxes[e.From].Y && b.Y < p.Boxes[e.To].Y {
			rows[b.Y] = true
		}
	}
	if passed != len(rows) {
		t.Errorf("the arrow from %s to %s passes %d rows of %d: %s", p.Boxes[e.From].Title, p.Boxes[e.To].Title, passed, len(rows), e.Path)
	}
}

// TestRows checks that replaced lines are beside their replacements, and that the difference is
// marked and visible even in a long line.
func TestRows(t *testing.T) {
	got := rows(textdiff.Of("[a]\nsize = 5\nold = 1\n[b]\nsame = 1\nlast = x\n", "[a]\nsize = 50\n[b]\nsame = 1\nlast = y\nnew = 1\n"), Options{})
	want := []row{
		{Heading: "[a]"},
		{Old: []line{{"size = ", "5", ""}, {Head: "old = 1"}}, New: []line{{"size = ", "50", ""}}},
		{Heading: "[b]"},
		{Old: []line{{"last = ", "x", ""}}, New: []line{{"last = ", "y", ""}, {Head: "new = 1"}}},
	}
	key := strings.Repeat("0123456789", 60)
	got = append(got, rows(textdiff.Of(key+"old"+key+"\n", key+"new"+key+"\n"), Options{})...)
	head, tail := key[:60]+" … "+key[540:], key[:60]+" … "+key[540:]
	want = append(want, row{Old: []line{{head, "old", tail}}, New: []line{{head, "new", tail}}})
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}
