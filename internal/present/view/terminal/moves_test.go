package terminal_test

import (
	"fmt"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/view/screen"
	"kolla.openstack.org/kolla/internal/present/view/terminal"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// TestRelocated checks that many objects that only move with their block are one line, and that
// -full lists them. Objects that also change or get another name are always listed.
func TestRelocated(t *testing.T) {
	moved := func(from, to string, changes ...plans.Change) plans.Action {
		address, err := addrs.ParseObject(to)
		if err != nil {
			t.Fatal(err)
		}
		return plans.Action{
			Verb: plans.Update, Address: address, Changes: changes,
			Reasons: []plans.Reason{{Kind: plans.ReasonMoved, Detail: from}},
		}
	}
	var actions []plans.Action
	for i := range 7 {
		actions = append(actions, moved(fmt.Sprintf("service.web/ConfigMap/c-%d", i), fmt.Sprintf("service.site/ConfigMap/c-%d", i)))
	}
	actions = append(actions,
		moved("service.web/ConfigMap/old", "service.site/ConfigMap/new"),
		moved("service.web/ConfigMap/d", "service.site/ConfigMap/d", plans.Change{Path: `data["a"]`, Before: "1", After: "2"}),
		moved("service.few/ConfigMap/e", "service.some/ConfigMap/e"))
	for name, test := range map[string]struct {
		options terminal.Options
		lines   int // with moves
		says    string
	}{
		"plan":    {terminal.Options{}, 3, "  # service.web has moved to service.site\n  # (7 objects keep their names; -full lists them)\n"},
		"compact": {terminal.Options{Compact: true}, 3, "  # service.web has moved to service.site (7 objects)\n"},
		"full":    {terminal.Options{Full: true}, 9, "  # service.web/ConfigMap/c-6 has moved to service.site/ConfigMap/c-6\n"},
	} {
		t.Run(name, func(t *testing.T) {
			doc := report.Of(&plans.Plan{Actions: actions}, report.Moment{})
			got := screen.PlainText(terminal.Plan(doc, test.options, screen.Stream{Width: 80}))
			if n := strings.Count(got, " has moved to "); n != test.lines || !strings.Contains(got, test.says) || !strings.Contains(got, "service.site/ConfigMap/d will be updated in-place") {
				t.Errorf("%d lines of moves:\n%s", n, got)
			}
		})
	}
}
