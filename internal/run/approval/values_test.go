package approval_test

import (
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/run/approval"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// TestPickedByTheServer checks that node ports and addresses that the server chooses for each dry
// run are not compared. Declared ones are.
func TestPickedByTheServer(t *testing.T) {
	service := func(path string, after any) plans.Action {
		o := object("Service", "a")
		o.Manifest.Object["spec"] = map[string]any{"type": "NodePort", "clusterIP": "10.0.0.9", "ports": []any{
			map[string]any{"port": int64(80), "nodePort": int64(30080)},
			map[string]any{"port": int64(443)},
			map[string]any{"port": int64(53), "protocol": "UDP", "nodePort": int64(30053)},
			map[string]any{"port": int64(53)},
		}}
		return plans.Action{
			Address: o.Address, Verb: plans.Update, Object: o, Ref: o.Ref(), Prior: providers.Precondition{UID: "u", ResourceVersion: "1"},
			Changes: []plans.Change{{Path: path, After: after}},
		}
	}
	port := func(port int64, nodePort int64, more ...any) map[string]any {
		return map[string]any{"port": port, "nodePort": nodePort, "protocol": "TCP", "more": more}
	}
	for name, test := range map[string]struct {
		path         string
		saved, fresh any
		differs      bool
	}{
		"declared":                {"spec.ports[80/TCP].nodePort", int64(30080), int64(30081), true},
		"declared, by the port":   {"spec.ports[80].nodePort", int64(30080), int64(30081), true},
		"not declared":            {"spec.ports[443/TCP].nodePort", int64(30443), int64(30444), false},
		"not in this protocol":    {"spec.ports[53/TCP].nodePort", int64(30001), int64(30002), false},
		"in this protocol":        {"spec.ports[53/UDP].nodePort", int64(30001), int64(30002), true},
		"a declared port":         {"spec.ports[80/TCP]", port(80, 30001), port(80, 30002), true},
		"a port":                  {"spec.ports[443/TCP]", port(443, 30001), port(443, 30002), false},
		"more of a port":          {"spec.ports[443/TCP]", port(443, 30001), port(443, 30002, "x"), true},
		"all ports":               {"spec.ports", []any{port(80, 30080), port(443, 30001)}, []any{port(80, 30080), port(443, 30002)}, false},
		"a declared one of all":   {"spec.ports", []any{port(80, 30080), port(443, 30001)}, []any{port(80, 30081), port(443, 30001)}, true},
		"another field of a port": {"spec.ports[443/TCP].targetPort", int64(1), int64(2), true},
		"a declared address":      {"spec.clusterIP", "10.0.0.1", "10.0.0.2", true},
		"its other addresses":     {"spec.clusterIPs", []any{"10.0.0.1"}, []any{"10.0.0.2"}, false},
		"a health check":          {"spec.healthCheckNodePort", int64(30001), int64(30002), false},
	} {
		saved, fresh := service(test.path, test.saved), service(test.path, test.fresh)
		v := approval.Check(stored(t, plans.Plan{Actions: []plans.Action{saved}}), approval.Fresh{
			Plan: &plans.Plan{Actions: []plans.Action{fresh}}, Objects: []providers.Object{*fresh.Object},
		})
		if (len(v.Differences) > 0) != test.differs {
			t.Errorf("%s: %v", name, v.Differences)
		}
	}
}

// TestLongTextsShowWhereTheyDiffer checks that a difference of long texts shows the first differing
// line, or a part of it.
func TestLongTextsShowWhereTheyDiffer(t *testing.T) {
	change := func(before, after any) plans.Action {
		a := act(plans.Update, "a", "1")
		a.Changes = []plans.Change{{Path: `data["nova.conf"]`, Before: before, After: after}}
		return a
	}
	head := strings.Repeat("# a comment that is the same everywhere\n", 20)
	long := strings.Repeat("x", 100)
	for name, test := range map[string]struct {
		saved, fresh plans.Action
		want         string
	}{
		"the live line":     {change(head+"port = 1\n", head+"port = 2\n"), change(head+"port = 9\n", head+"port = 2\n"), `data["nova.conf"], line 21: "port = 9" → "port = 2" instead of "port = 1" → "port = 2"`},
		"the new line":      {change("", head+"port = 1\n"), change("", head+"port = 2\n"), `, line 21: nothing → "port = 2" instead of nothing → "port = 1"`},
		"a line more":       {change(head, head+"a"), change(head+"b", head+"a"), `, line 21: "b" → "a" instead of "" → "a"`},
		"a long line":       {change(long+"1", "y"), change(long+"2", "y"), `data["nova.conf"]: "...` + strings.Repeat("x", 59) + `2" → "y" instead of "...` + strings.Repeat("x", 59) + `1" → "y"`},
		"in a long line":    {change(long+"1"+long, "y"), change(long+"2"+long, "y"), `"...` + strings.Repeat("x", 30) + "2" + strings.Repeat("x", 29) + `..." → "y" instead of`},
		"in a long map":     {change(map[string]any{"a": long, "b": int64(1)}, "y"), change(map[string]any{"a": long, "b": int64(2)}, "y"), `"b":2} → "y" instead of ...`},
		"the only change":   {change(nil, nil), change(head+"port = 1\n", head+"port = 2\n"), `, line 21: "port = 1" → "port = 2" instead of `},
		"a short text":      {change("1", "2"), change("3", "2"), `data["nova.conf"]: "3" → "2" instead of "1" → "2"`},
		"a text and no one": {change(nil, "2"), change("3", "2"), `data["nova.conf"]: "3" → "2" instead of nothing → "2"`},
	} {
		if test.saved.Changes[0].Before == nil && test.saved.Changes[0].After == nil {
			test.saved.Changes = nil
		}
		v := check(t, test.saved, test.fresh)
		if len(v.Differences) != 1 || !strings.Contains(v.Differences[0].Text, test.want) {
			t.Errorf("%s: got %v, want %s", name, v.Differences, test.want)
		}
	}
	saved, declared := act(plans.Update, "a", "1", "data.x"), object("ConfigMap", "a")
	saved.Object.Manifest.Object["data"] = map[string]any{"nova.conf": head + "port = 1\n"}
	declared.Manifest.Object["data"] = map[string]any{"nova.conf": head + "port = 2\n"}
	fresh := act(plans.Update, "a", "1", "data.x")
	fresh.Object = declared
	v := approval.Check(stored(t, plans.Plan{Actions: []plans.Action{saved}}), approval.Fresh{Plan: &plans.Plan{Actions: []plans.Action{fresh}}, Objects: []providers.Object{*declared}})
	expectOne(t, "an object", v, `data["nova.conf"], line 21 ("port = 1" instead of "port = 2")`, false)
}
