package jsonview_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/internal/present/jsonview"
	"kolla.openstack.org/kolla/planner/extract"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// m is a short name for the type of JSON objects.
type m = map[string]any

// action returns an action on service.a/Service/a.
func action(t *testing.T, verb plans.Verb, reasons ...plans.Reason) plans.Action {
	t.Helper()
	return plans.Action{
		Address: objecttest.Address(t, "service.a/Service/a"), Verb: verb, Reasons: reasons,
		Ref: providers.Ref{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Service"}, Namespace: "openstack", Name: "a"},
	}
}

func because(kind plans.ReasonKind) plans.Reason { return plans.Reason{Kind: kind} }

// planOf returns a plan with one action.
func planOf(a plans.Action) *plans.Plan {
	return &plans.Plan{Values: true, Actions: []plans.Action{a}}
}

// document returns the decoded JSON document of a plan.
func document(t *testing.T, plan *plans.Plan) m {
	t.Helper()
	var out bytes.Buffer
	if err := jsonview.Plan(&out, plan); err != nil {
		t.Fatal(err)
	}
	var read m
	if err := json.Unmarshal(out.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	return read
}

// within returns the value at a path of keys in a document, or nil.
func within(v any, keys ...any) any {
	for _, key := range keys {
		switch at := v.(type) {
		case m:
			v = at[fmt.Sprint(key)]
		case []any:
			if n, _ := key.(int); n < len(at) {
				v = at[n]
			} else {
				return nil
			}
		default:
			return nil
		}
	}
	return v
}

// events returns the events that a function writes.
func events(t *testing.T, write func(*jsonview.Events)) []m {
	t.Helper()
	var out bytes.Buffer
	write(jsonview.New(&out, "v1.2.3"))
	var all []m
	for line := range strings.Lines(out.String()) {
		var e m
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, e)
	}
	return all
}

// TestActions checks how a plan and its events describe each kind of action, in Terraform's terms.
func TestActions(t *testing.T) {
	const (
		id    = "apiVersion=v1,kind=Service,namespace=openstack,name=a"
		moved = "service.b/Service/a"
	)
	change := []plans.Change{{Path: "spec.x", After: "1"}}
	label := []plans.Change{{Path: `metadata.labels["kolla.openstack.org/cloud"]`, After: "prod"}}
	tests := map[string]struct {
		verb    plans.Verb
		reasons []plans.Reason
		change  func(*plans.Action)
		plan    string // the list, the actions, the reason; empty: the plan has no such object
		event   string // the type, the action, the reason; empty: there is no such event
		id      string // of an import
		before  string // the address before
		paths   any    // the fields that require the replacement
	}{
		"none":                {verb: plans.None, plan: "resource_changes [no-op]"},
		"refresh":             {verb: plans.Refresh, plan: "resource_changes [no-op]"},
		"create":              {verb: plans.Create, plan: "resource_changes [create]", event: "planned_change create"},
		"run":                 {verb: plans.Run, plan: "resource_changes [create]", event: "planned_change create"},
		"update":              {verb: plans.Update, plan: "resource_changes [update]", event: "planned_change update"},
		"replace, requested":  {verb: plans.Replace, reasons: []plans.Reason{because(plans.ReasonRequested)}, plan: "resource_changes [delete create] replace_by_request", event: "planned_change replace requested"},
		"replace, triggered":  {verb: plans.Replace, reasons: []plans.Reason{because(plans.ReasonTriggered)}, plan: "resource_changes [delete create] replace_by_triggers", event: "planned_change replace replace_triggered_by"},
		"replace, failed Job": {verb: plans.Replace, reasons: []plans.Reason{because(plans.ReasonFailedJob)}, plan: "resource_changes [delete create] replace_because_tainted", event: "planned_change replace tainted"},
		"replace, immutable": {
			verb: plans.Replace, reasons: []plans.Reason{{Kind: plans.ReasonImmutable, Path: `spec.x["a.b"].y[0]["1"]`}, {Kind: plans.ReasonImmutable}, {Kind: plans.ReasonDrift, Path: "spec.z"}},
			plan: "resource_changes [delete create] replace_because_cannot_update", event: "planned_change replace cannot_update",
			paths: []any{[]any{"spec", "x", "a.b", "y", 0.0, "1"}},
		},
		"delete, undeclared":  {verb: plans.Delete, reasons: []plans.Reason{because(plans.ReasonUndeclared)}, plan: "resource_changes [delete] delete_because_no_resource_config", event: "planned_change delete delete_because_no_resource_config"},
		"delete, external":    {verb: plans.Delete, reasons: []plans.Reason{because(plans.ReasonExternal)}, plan: "resource_changes [delete] delete_because_no_resource_config", event: "planned_change delete delete_because_no_resource_config"},
		"delete, in destroy":  {verb: plans.Delete, reasons: []plans.Reason{because(plans.ReasonDestroy)}, plan: "resource_changes [delete]", event: "planned_change delete"},
		"delete, old version": {verb: plans.Delete, reasons: []plans.Reason{because(plans.ReasonSuperseded)}, plan: "prunes [delete]", event: "planned_prune delete"},
		"give fields up": {
			verb: plans.Delete, reasons: []plans.Reason{because(plans.ReasonUndeclared)}, change: func(a *plans.Action) { a.Partial = true },
			plan: "resource_changes [update]", event: "planned_change update",
		},
		"adopt": {verb: plans.Adopt, reasons: []plans.Reason{because(plans.ReasonUnowned)}, plan: "resource_changes [no-op]", event: "planned_change import", id: id},
		"adopt, with labels of kolla": {
			verb: plans.Adopt, change: func(a *plans.Action) { a.Changes = label },
			plan: "resource_changes [no-op]", event: "planned_change import", id: id,
		},
		"adopt and change": {
			verb: plans.Adopt, change: func(a *plans.Action) { a.Changes = change },
			plan: "resource_changes [update]", event: "planned_change update", id: id,
		},
		"adopt without a namespace": {
			verb: plans.Adopt, change: func(a *plans.Action) { a.Ref.Namespace = "" },
			plan: "resource_changes [no-op]", event: "planned_change import", id: "apiVersion=v1,kind=Service,name=a",
		},
		"another address":         {verb: plans.Adopt, reasons: []plans.Reason{{Kind: plans.ReasonMoved, Detail: moved}}, plan: "resource_changes [no-op]", event: "planned_change import", before: moved},
		"forget":                  {verb: plans.Forget, reasons: []plans.Reason{because(plans.ReasonGone)}, plan: "resource_changes [forget]", event: "planned_change remove"},
		"forget, another address": {verb: plans.Forget, reasons: []plans.Reason{{Kind: plans.ReasonMoved, Detail: moved}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := action(t, test.verb, test.reasons...)
			if test.change != nil {
				test.change(&a)
			}
			read := document(t, planOf(a))
			plan, list, one := "", "resource_changes", within(read, "resource_changes", 0)
			if one == nil {
				list, one = "prunes", within(read, "kolla", "prunes", 0)
			}
			if one != nil {
				plan = words(list, within(one, "change", "actions"), within(one, "action_reason"))
			}
			event, before := "", any(nil)
			for _, e := range events(t, func(e *jsonview.Events) { e.Plan(planOf(a)) }) {
				if within(e, "change") != nil && e["type"] != "resource_drift" {
					event, before = words(e["type"], within(e, "change", "action"), within(e, "change", "reason")), within(e, "change", "previous_resource", "addr")
				}
			}
			if plan != test.plan || event != test.event {
				t.Errorf("plan %q, event %q; want %q, %q", plan, event, test.plan, test.event)
			}
			if got := words(within(one, "change", "importing", "id")); got != test.id {
				t.Errorf("imports %q, want %q", got, test.id)
			}
			if got := words(within(one, "previous_address")); got != test.before || words(before) != test.before {
				t.Errorf("moved from %q, and by the event from %v; want %q", got, before, test.before)
			}
			if diff := cmp.Diff(test.paths, within(one, "change", "replace_paths")); diff != "" {
				t.Errorf("replace_paths (-want +got):\n%s", diff)
			}
		})
	}
}

// words joins all values that are not nil with spaces.
func words(parts ...any) string {
	var out []string
	for _, p := range parts {
		if p != nil {
			out = append(out, fmt.Sprint(p))
		}
	}
	return strings.Join(out, " ")
}

// TestSides checks the values of a change before and after it, and which of them are sensitive or
// unknown.
func TestSides(t *testing.T) {
	part := func(values m) *extract.Part { return &extract.Part{Values: values} }
	object := func(data m) m {
		return m{"apiVersion": "v1", "kind": "Service", "metadata": m{"name": "a", "namespace": "openstack"}, "data": data}
	}
	none, masked := m{}, object(m{"password": plans.Masked})
	bare := m{"apiVersion": "v1", "kind": "Service", "metadata": m{"name": "a", "namespace": "openstack"}}
	secret := &extract.Part{Values: masked, Sensitive: m{"data": m{"password": true}}}
	drift := plans.Change{Path: "x", Before: "theirs", After: "ours", Drift: true}
	replaced := plans.Reason{Kind: plans.ReasonReplaced, Path: "data.password"}
	type sides struct {
		Actions                                        []string
		Before, After, Unknown, Sensitive, SensitiveTo any
		Drift                                          [][]any // from, to
	}
	tests := map[string]struct {
		verb    plans.Verb
		reasons []plans.Reason
		changes []plans.Change
		foreign []plans.Change // added fields that stay
		values  *plans.Values
		list    string
		want    *sides // nil: the object is not in the list
	}{
		"no values": {verb: plans.Update, list: "resource_changes", want: &sides{Actions: []string{"update"}}},
		"created":   {verb: plans.Create, values: &plans.Values{After: part(bare)}, list: "resource_changes", want: &sides{Actions: []string{"create"}, After: bare}},
		"deleted":   {verb: plans.Delete, values: &plans.Values{Before: part(bare)}, list: "resource_changes", want: &sides{Actions: []string{"delete"}, Before: bare}},
		"unchanged": {verb: plans.None, values: &plans.Values{Before: part(bare)}, list: "resource_changes", want: &sides{Actions: []string{"no-op"}, Before: bare, After: bare}},
		"updated": {
			verb: plans.Update, list: "resource_changes",
			values: &plans.Values{Before: secret, After: &extract.Part{Values: bare, Sensitive: m{"data": m{"new": true}}, Unknown: m{"data": m{"password": true}}}},
			want:   &sides{Actions: []string{"update"}, Before: masked, After: bare, Unknown: m{"data": m{"password": true}}, Sensitive: m{"data": m{"password": true}}, SensitiveTo: m{"data": m{"new": true}}},
		},
		"drift that the update undoes": {
			verb: plans.Update, changes: []plans.Change{drift, {Path: "y", Before: "1", After: "2"}}, list: "resource_drift",
			values: &plans.Values{Before: part(m{"x": "theirs"}), After: part(m{"x": "ours"}), Written: part(m{"x": "ours"})},
			want:   &sides{Actions: []string{"update"}, Before: m{"x": "ours"}, After: m{"x": "theirs"}, Drift: [][]any{{"ours", "theirs"}}},
		},
		"drift that a refresh records": {
			verb: plans.Refresh, changes: []plans.Change{{Path: "x", Before: "ours", After: "theirs", Drift: true}}, list: "resource_drift",
			values: &plans.Values{Before: part(m{"x": "theirs"}), Written: part(m{"x": "ours"})},
			want:   &sides{Actions: []string{"update"}, Before: m{"x": "ours"}, After: m{"x": "theirs"}, Drift: [][]any{{"ours", "theirs"}}},
		},
		"an addition that stays": {
			verb: plans.None, foreign: []plans.Change{{Path: "x", Before: "theirs"}}, list: "resource_drift",
			values: &plans.Values{Before: part(m{"x": "theirs"}), Written: part(none)},
			want:   &sides{Actions: []string{"update"}, Before: none, After: m{"x": "theirs"}, Drift: [][]any{{nil, "theirs"}}},
		},
		"a replaced value": {
			verb: plans.None, reasons: []plans.Reason{replaced}, values: &plans.Values{Before: secret}, list: "resource_drift",
			want: &sides{Actions: []string{"update"}, Before: masked, After: masked, Sensitive: m{"data": m{"password": true}}, SensitiveTo: m{"data": m{"password": true}}, Drift: [][]any{{plans.Masked, plans.Masked}}},
		},
		"deleted by others": {
			verb: plans.Create, reasons: []plans.Reason{because(plans.ReasonGone)}, values: &plans.Values{After: part(bare)}, list: "resource_drift",
			want: &sides{Actions: []string{"delete"}, Before: bare},
		},
		"no drift": {verb: plans.Update, changes: []plans.Change{{Path: "x", After: "1"}}, values: &plans.Values{Before: part(bare)}, list: "resource_drift"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := action(t, test.verb, test.reasons...)
			a.Changes, a.Values = test.changes, test.values
			plan := planOf(a)
			if test.foreign != nil {
				plan.Foreign = []plans.Foreign{{Address: a.Address, Ref: a.Ref, Reported: true, Fields: test.foreign}}
			}
			found, _ := within(document(t, plan), test.list, 0).(m)
			if test.want == nil || found == nil {
				if test.want != nil || found != nil {
					t.Errorf("%s has %v, want %v", test.list, found, test.want)
				}
				return
			}
			c := found["change"].(m)
			got := sides{Before: c["before"], After: c["after"], Unknown: c["after_unknown"], Sensitive: c["before_sensitive"], SensitiveTo: c["after_sensitive"]}
			for _, name := range c["actions"].([]any) {
				got.Actions = append(got.Actions, name.(string))
			}
			if changes, _ := within(found, "kolla", "changes").([]any); test.list == "resource_drift" {
				for _, one := range changes {
					got.Drift = append(got.Drift, []any{within(one, "before"), within(one, "after")})
				}
			}
			for _, marks := range []*any{&test.want.Unknown, &test.want.Sensitive, &test.want.SensitiveTo} {
				if *marks == nil {
					*marks = none // an empty object, not null
				}
			}
			if diff := cmp.Diff(*test.want, got); diff != "" {
				t.Errorf("change (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMasked checks that neither a plan nor an event has the values of a sensitive change, and that
// a reader can tell a missing and an unknown value from a masked one.
func TestMasked(t *testing.T) {
	const value = "hunter2"
	tests := map[string]struct{ before, after, wantBefore, wantAfter any }{
		"changed":  {value, value, plans.Masked, plans.Masked},
		"new":      {nil, value, nil, plans.Masked},
		"removed":  {value, nil, plans.Masked, nil},
		"not yet":  {value, plans.Unknown, plans.Masked, plans.Unknown},
		"no text":  {[]any{value}, m{"x": value}, plans.Masked, plans.Masked},
		"an empty": {"", "", plans.Masked, plans.Masked},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			a := action(t, plans.Update)
			a.Changes = []plans.Change{{Path: "data.x", Before: test.before, After: test.after, Sensitive: true, Drift: true}}
			read := document(t, planOf(a))
			said := events(t, func(e *jsonview.Events) { e.Plan(planOf(a)) })
			if text := fmt.Sprint(read, said); strings.Contains(text, value) {
				t.Errorf("the value is in %s", text)
			}
			change, _ := within(read, "resource_changes", 0, "kolla", "changes", 0).(m)
			if change["before"] != test.wantBefore || change["after"] != test.wantAfter {
				t.Errorf("got %v", change)
			}
		})
	}
}

// TestPlanAsAWhole checks the fields that describe the whole plan.
func TestPlanAsAWhole(t *testing.T) {
	drifted := action(t, plans.Refresh)
	drifted.Changes = []plans.Change{{Path: "x", Drift: true}}
	tests := map[string]struct {
		action                                                  plans.Action
		change                                                  func(*plans.Plan)
		applyable, incomplete, drifted, refresh, destroy, error bool
	}{
		"nothing to do":  {action: action(t, plans.None)},
		"something":      {action: action(t, plans.Update), applyable: true},
		"a part":         {action: action(t, plans.Update), change: func(p *plans.Plan) { p.Selection.Targets = []string{"service.a"} }, applyable: true, incomplete: true},
		"two renderings": {action: action(t, plans.Update), change: func(p *plans.Plan) { p.Renderings = &plans.Renderings{} }},
		"denied":         {action: action(t, plans.Update), change: func(p *plans.Plan) { p.Policies = []plans.PolicyResult{{Status: plans.PolicyDenied}} }},
		"refused":        {action: action(t, plans.Update), change: func(p *plans.Plan) { p.Actions[0].Evidence.Refused = true }, error: true},
		"a refresh":      {action: drifted, change: func(p *plans.Plan) { p.RefreshOnly = true }, applyable: true, drifted: true, refresh: true},
		"a destroy":      {action: action(t, plans.Delete), change: func(p *plans.Plan) { p.Destroy = true }, applyable: true, destroy: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			plan := planOf(test.action)
			if test.change != nil {
				test.change(plan)
			}
			read := document(t, plan)
			got := m{"applyable": read["applyable"], "complete": read["complete"], "errored": read["errored"]}
			for _, key := range []string{"drifted", "refresh_only", "destroy"} {
				got[key] = within(read, "kolla", key)
			}
			want := m{
				"applyable": test.applyable, "complete": !test.incomplete, "errored": test.error,
				"drifted": test.drifted, "refresh_only": test.refresh, "destroy": test.destroy,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if selected := within(read, "kolla", "selection") != nil; selected != test.incomplete {
				t.Errorf("selection: %v", selected)
			}
		})
	}
}

// TestPlanNeedsValues checks that a plan file without the values of its objects is refused.
func TestPlanNeedsValues(t *testing.T) {
	var out bytes.Buffer
	if err := jsonview.Plan(&out, &plans.Plan{Created: time.Unix(0, 0)}); err == nil || !strings.Contains(err.Error(), "Plan again with -out") || out.Len() > 0 {
		t.Errorf("it says %v, and prints %q", err, &out)
	}
}

// TestKeys checks modules and keys in Terraform's fields: in a plan, in its values and in events.
func TestKeys(t *testing.T) {
	const west = `module.edge["west"]`
	tests := map[string]struct {
		module, index any // of the object
		modules       []string
		resource      string // in an event: the address within the module
	}{
		"service.plain/Deployment/plain":                                     {resource: "service.plain/Deployment/plain"},
		"service.numbered[1]/Deployment/numbered-1":                          {index: 1.0, resource: "service.numbered[1]/Deployment/numbered-1"},
		west + ".manifest.note/ConfigMap/note":                               {module: west, modules: []string{west}, resource: "manifest.note/ConfigMap/note"},
		west + `.module.web[0].service.site["a.b"]/Deployment/a`:             {module: west + ".module.web[0]", index: "a.b", modules: []string{west, west + ".module.web[0]"}, resource: `service.site["a.b"]/Deployment/a`},
		west + `.module.web[0].service.site["module.x.y"]/Deployment/site-y`: {module: west + ".module.web[0]", index: "module.x.y", modules: []string{west, west + ".module.web[0]"}, resource: `service.site["module.x.y"]/Deployment/site-y`},
	}
	for at, test := range tests {
		t.Run(at, func(t *testing.T) {
			a := action(t, plans.Create)
			a.Address, a.Object = objecttest.Address(t, at), &providers.Object{}
			a.Values = &plans.Values{After: &extract.Part{Values: m{}}}
			beside := a
			beside.Address.Name = "beside"
			read := document(t, &plans.Plan{Values: true, Actions: []plans.Action{a, beside}})
			change := within(read, "resource_changes", 0)
			if within(change, "address") != at || within(change, "module_address") != test.module || within(change, "index") != test.index {
				t.Errorf("the change is %v", change)
			}
			root := within(read, "planned_values", "root_module")
			var modules []string
			for within(root, "child_modules", 0) != nil {
				root = within(root, "child_modules", 0)
				modules = append(modules, within(root, "address").(string))
			}
			if diff := cmp.Diff(test.modules, modules); diff != "" {
				t.Errorf("modules of the values (-want +got):\n%s", diff)
			}
			if within(root, "resources", 1, "name") != "beside" {
				t.Errorf("not all are in one module: %v", root)
			}
			if one := within(root, "resources", 0); within(one, "address") != at || within(one, "index") != test.index {
				t.Errorf("its values are %v", one)
			}
			resource := within(events(t, func(e *jsonview.Events) { e.Plan(planOf(a)) })[1], "change", "resource")
			if within(resource, "addr") != at || within(resource, "resource") != test.resource || words(within(resource, "module")) != words(test.module) || within(resource, "resource_key") != test.index {
				t.Errorf("the event has %v", resource)
			}
		})
	}
}
