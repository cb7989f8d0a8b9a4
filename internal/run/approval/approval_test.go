package approval_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/run/approval"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/output"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

func address(name string) addrs.Object {
	return addrs.Object{Block: "manifest." + name, Kind: "ConfigMap", Name: name}
}

func object(kind, name string) *providers.Object {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": name, "namespace": "openstack"}}}
	return &providers.Object{Address: address(name), Manifest: u}
}

func act(verb plans.Verb, name, version string, paths ...string) plans.Action {
	a := plans.Action{Address: address(name), Verb: verb, Object: object("ConfigMap", name), Evidence: plans.Evidence{Kind: plans.DryRun}}
	a.Ref = a.Object.Ref()
	if version != "" {
		a.Prior = providers.Precondition{UID: types.UID("uid-" + name), ResourceVersion: version}
	}
	for _, path := range paths {
		a.Changes = append(a.Changes, plans.Change{Path: path, Before: "old", After: "new"})
	}
	if verb == plans.Delete || verb == plans.Forget {
		a.Object = nil
	}
	return a
}

// stored returns a plan as it is after a round trip through a file.
func stored(t *testing.T, plan plans.Plan) *plans.Plan {
	t.Helper()
	raw, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	back := &plans.Plan{}
	if err := json.Unmarshal(raw, back); err != nil {
		t.Fatal(err)
	}
	return back
}

func check(t *testing.T, saved, fresh plans.Action, problems ...plans.Problem) approval.Verdict {
	t.Helper()
	made := &plans.Plan{ID: "fresh"}
	if fresh.Verb != "" {
		made.Actions = append(made.Actions, fresh)
	}
	return approval.Check(stored(t, plans.Plan{ID: "saved", Actions: []plans.Action{saved}}), approval.Fresh{
		Plan: made, Problems: problems, Objects: []providers.Object{*object("ConfigMap", "a")},
		Live: func(providers.Ref) *unstructured.Unstructured { return theirs() },
	})
}

// theirs returns the object after a change by another client.
func theirs() *unstructured.Unstructured {
	u := object("ConfigMap", "a").Manifest.DeepCopy()
	u.SetUID("uid-theirs")
	u.SetResourceVersion("9")
	at := func(hour int) *metav1.Time {
		return &metav1.Time{Time: time.Date(2026, 11, 26, hour, 0, 0, 0, time.UTC)}
	}
	u.SetManagedFields([]metav1.ManagedFieldsEntry{
		{Manager: "kolla", Operation: metav1.ManagedFieldsOperationApply, Time: at(14)},
		{Manager: "helm", Operation: metav1.ManagedFieldsOperationUpdate, Time: at(14)},
		{Manager: "edit", Operation: metav1.ManagedFieldsOperationUpdate, Time: at(9)},
		{Manager: "controller", Operation: metav1.ManagedFieldsOperationUpdate, Subresource: "status", Time: at(15)},
	})
	return u
}

// TestMovedObjects tests a saved plan whose object was written, created or deleted since. It checks
// the differences, and the action that is carried out if the drift is accepted.
func TestMovedObjects(t *testing.T) {
	anew := func(a plans.Action) plans.Action { a.Prior.UID = "uid-anew"; return a }
	forced := func(a plans.Action) plans.Action { a.Force = true; return a }
	by := func(a plans.Action, sensitive bool) plans.Action {
		a.Changes[0].Drift, a.Changes[0].Manager, a.Changes[0].Time = true, "kubectl", time.Date(2026, 11, 26, 14, 10, 7, 0, time.UTC)
		a.Changes[0].Before = "theirs"
		if sensitive {
			a.Changes[0].Before, a.Changes[0].After, a.Changes[0].Sensitive = nil, plans.Masked, true
		}
		return a
	}
	secret := act(plans.Update, "a", "1", "data.x")
	secret.Changes[0].Before, secret.Changes[0].After, secret.Changes[0].Sensitive = nil, plans.Masked, true
	replaced := act(plans.None, "a", "2")
	replaced.Reasons = []plans.Reason{{Kind: plans.ReasonReplaced, Path: `data["password"]`, Manager: "kubectl"}}
	job := act(plans.Delete, "a", "1")
	job.Ref.GVK = schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}
	const author = `, last written by "helm" at 2026-11-26 14:00:00 UTC`
	for name, test := range map[string]struct {
		saved, fresh plans.Action
		want         []string   // the differences
		verb         plans.Verb // of the remaining action
		held         string     // the reason to hold the action; empty: it is not held
	}{
		"the status alone":        {act(plans.Update, "a", "1", "data.x"), act(plans.Update, "a", "2", "data.x"), nil, plans.Update, ""},
		"the status of what fits": {act(plans.None, "a", "1"), act(plans.None, "a", "2"), nil, plans.None, ""},
		"a part of it was done": {
			act(plans.Update, "a", "1", "data.x", "data.y"), act(plans.Update, "a", "2", "data.y"),
			[]string{`data.x: no change instead of "old" → "new"` + author},
			plans.Update, "",
		},
		"all of it was done": {
			act(plans.Update, "a", "1", "data.x"), act(plans.None, "a", "2"),
			[]string{`the file says "update", and a new plan says none`, `data.x: no change instead of "old" → "new"` + author},
			plans.None, "",
		},
		"one change more": {
			act(plans.Update, "a", "1", "data.x"), act(plans.Update, "a", "2", "data.x", "data.y"),
			[]string{`data.y: "old" → "new" instead of no change` + author},
			plans.Update, "would now also change data.y",
		},
		"another value": {
			act(plans.Update, "a", "1", "data.x"), by(act(plans.Update, "a", "2", "data.x"), false),
			[]string{`data.x: "theirs" → "new" instead of "old" → "new", written by "kubectl" at 2026-11-26 14:10:07 UTC`},
			plans.Update, "would now also change data.x",
		},
		"another secret value": {
			secret, by(act(plans.Update, "a", "2", "data.x"), true),
			[]string{`data.x: (sensitive value) instead of (sensitive value), written by "kubectl" at 2026-11-26 14:10:07 UTC`},
			plans.Update, "would now also change data.x",
		},
		"a generated value": {
			act(plans.None, "a", "1"), replaced,
			[]string{`data["password"]: its generated value was replaced, written by "kubectl"`},
			plans.None, "others changed it",
		},
		"by force now": {
			act(plans.Update, "a", "1", "data.x"), forced(act(plans.Update, "a", "2", "data.x")),
			[]string{"the file has another word on taking fields by force than a new plan" + author},
			plans.Update, "by force",
		},
		"replaced now": {
			act(plans.Update, "a", "1", "data.x"), act(plans.Replace, "a", "2", "data.x"),
			[]string{`the file says "update", and a new plan says replace` + author},
			plans.Replace, "a new plan says replace",
		},
		"another one by now": {
			act(plans.Update, "a", "1", "data.x"), anew(act(plans.Update, "a", "2", "data.x")),
			[]string{`the file says "update", and it was deleted and created again since` + author},
			plans.Update, "was deleted",
		},
		"deleted by somebody": {
			act(plans.Update, "a", "1", "data.x"), act(plans.Create, "a", "", "data.x"),
			[]string{`the file says "update", and it was deleted since`},
			plans.Create, "was deleted",
		},
		"what stays was deleted": {
			act(plans.None, "a", "1"), act(plans.Create, "a", "", "data.x"),
			[]string{`the file says "none", and it was deleted since`},
			plans.Create, "was deleted",
		},
		"made by somebody": {
			act(plans.Create, "a", ""), act(plans.None, "a", "2"),
			[]string{`the file says "create", and it exists by now` + author},
			plans.None, "exists by now",
		},
		"drift of what stays": {
			act(plans.None, "a", "1"), act(plans.Update, "a", "2", "data.x"),
			[]string{`the file says "none", and a new plan says update`, `data.x: "old" → "new" instead of no change` + author},
			plans.None, "others changed it",
		},
		"gone before its delete":       {act(plans.Delete, "a", "1"), act(plans.Forget, "a", ""), []string{`the file says "delete", and it was deleted since`}, plans.Forget, ""},
		"a job gone before its delete": {job, act(plans.Forget, "a", ""), nil, plans.Forget, ""},
		"not the one to delete": {
			act(plans.Delete, "a", "1"), anew(act(plans.Delete, "a", "2")),
			[]string{`the file says "delete", and it was deleted and created again since` + author},
			plans.Delete, "was deleted",
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := check(t, test.saved, test.fresh)
			var got []string
			for _, d := range v.Differences {
				got = append(got, d.Text)
			}
			if !slices.Equal(got, test.want) || !approval.OnlyDrift(v.Differences) {
				t.Errorf("got the differences %q, want %q", got, test.want)
			}
			if v.Plan.ID != "saved" || len(v.Plan.Actions) != 1 {
				t.Fatalf("got %+v", v)
			}
			if got := v.Plan.Actions[0]; got.Verb != test.verb || got.Verb == plans.None && len(got.Changes) > 0 {
				t.Errorf("carried out is %+v", got)
			}
			why := v.Held[address("a")]
			if (why != nil) != (test.held != "") || why != nil && !strings.Contains(why.Error(), test.held) {
				t.Errorf("held by %v, want %q", why, test.held)
			}
		})
	}
}

// TestUnmovedObjects checks that a file is refused if its actions differ from those of a new plan
// although the object did not change.
func TestUnmovedObjects(t *testing.T) {
	for name, test := range map[string]struct{ saved, fresh plans.Action }{
		"a change that is not shown": {act(plans.Update, "a", "1", "data.x"), act(plans.Update, "a", "1", "data.x", "data.y")},
		"a change that is not made":  {act(plans.Update, "a", "1", "data.x", "data.y"), act(plans.Update, "a", "1", "data.x")},
		"an update that is left out": {act(plans.None, "a", "1"), act(plans.Update, "a", "1", "data.x")},
		"another verb":               {act(plans.Replace, "a", "1"), act(plans.Update, "a", "1")},
		"an action that is not made": {act(plans.Delete, "b", "1"), act(plans.None, "a", "1")},
	} {
		t.Run(name, func(t *testing.T) {
			if v := check(t, test.saved, test.fresh); approval.OnlyDrift(v.Differences) {
				t.Errorf("got %+v", v)
			}
		})
	}
	if v := check(t, act(plans.Update, "a", "1", "data.x"), act(plans.Update, "a", "1", "data.x")); len(v.Differences)+len(v.Held) > 0 {
		t.Errorf("the same plan is refused: %+v", v)
	}
}

// TestProblemsSince checks that a problem caused by a change of the object stops only its action
// and the dependent actions. Any other problem refuses the plan.
func TestProblemsSince(t *testing.T) {
	saved, dependant := act(plans.Create, "a", ""), act(plans.Create, "b", "")
	dependant.DependsOn = []addrs.Object{saved.Address}
	fresh := dependant
	fresh.DependsOn = nil // plans drop dependencies on objects without an action
	exists := plans.Problem{Address: saved.Address, Summary: "it exists and is not kolla's"}
	check := func(live *unstructured.Unstructured) approval.Verdict {
		return approval.Check(stored(t, plans.Plan{Actions: []plans.Action{saved, dependant}}), approval.Fresh{
			Plan: &plans.Plan{Actions: []plans.Action{fresh}}, Problems: []plans.Problem{exists},
			Objects: []providers.Object{*saved.Object, *dependant.Object},
			Live:    func(providers.Ref) *unstructured.Unstructured { return live },
		})
	}
	v := check(theirs())
	if len(v.Problems) > 0 || len(v.Differences) != 1 || !v.Differences[0].Drift || v.Held[saved.Address] == nil || len(v.Plan.Actions) != 2 {
		t.Fatalf("got %+v", v)
	}
	if on := v.Plan.Actions[1].DependsOn; len(on) != 1 || on[0] != saved.Address {
		t.Errorf("what depends on it waits for %v", on)
	}
	// The new plan has an action for an object although admission denied its dry run.
	made := approval.Fresh{
		Plan: &plans.Plan{Actions: []plans.Action{{
			Address: saved.Address, Verb: plans.None, Object: saved.Object, Ref: saved.Ref,
			Evidence: plans.Evidence{Kind: plans.Unverified, Refused: true},
		}, fresh}},
		Problems: []plans.Problem{{Address: saved.Address, Summary: "denied", DryRun: true}},
		Objects:  []providers.Object{*saved.Object, *dependant.Object},
		Live:     func(providers.Ref) *unstructured.Unstructured { return nil },
	}
	v = approval.Check(stored(t, plans.Plan{Actions: []plans.Action{saved, dependant}}), made)
	if len(v.Problems) != 1 || len(v.Plan.Actions) != 1 || v.Plan.Actions[0].Address != fresh.Address {
		t.Errorf("denied since: %+v", v)
	}
	if v := check(nil); len(v.Problems) != 1 {
		t.Errorf("a problem of another kind does not refuse the plan: %+v", v)
	}
}

// TestEffectsAreShown checks that the file must show every effect, and at least as many pods. If
// only the number of pods grew, or if the actions that cause the effect are held, the rest of the
// plan may be carried out.
func TestEffectsAreShown(t *testing.T) {
	action, config := act(plans.Update, "a", "1", "data.x"), act(plans.Update, "b", "1", "data.x")
	action.DependsOn = []addrs.Object{config.Address}
	moved := config
	moved.Prior.ResourceVersion, moved.Changes = "2", act(plans.Update, "b", "2", "data.x", "data.y").Changes
	node := plans.Action{Address: addrs.Object{Block: "cloud.prod", Kind: "Node", Name: "node-2"}, Verb: plans.Update, Ref: providers.Ref{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Node"}, Name: "node-2"}}
	effect := plans.Effect{Kind: plans.EffectRestart, Name: "glance-api", Ref: action.Ref, Pods: 3, Strategy: plans.Rolling}
	with := func(change func(*plans.Effect)) []plans.Impact {
		e := effect
		change(&e)
		return []plans.Impact{{Block: "service.glance", Effects: []plans.Effect{e}}}
	}
	pods := func(n int) []plans.Impact { return with(func(e *plans.Effect) { e.Pods = n }) }
	down := with(func(e *plans.Effect) { e.Downtime = true })
	cut := with(func(e *plans.Effect) {
		e.Kind, e.Grave, e.Items = plans.EffectCutOff, true, []string{"node-2"}
	})
	const absent = "the file does not show what happens to glance-api of service.glance: "
	for name, test := range map[string]struct {
		saved, fresh []plans.Impact
		actions      []plans.Action // of the new plan
		want         string
		drift        bool
	}{
		"the same":              {pods(3), pods(3), []plans.Action{action, config}, "", false},
		"fewer pods":            {pods(3), pods(2), []plans.Action{action, config}, "", false},
		"another cause":         {pods(3), with(func(e *plans.Effect) { e.Causes = []plans.Cause{{Kind: plans.CauseImage}} }), []plans.Action{action, config}, "", false},
		"nothing any more":      {pods(3), nil, []plans.Action{action, config}, "", false},
		"more pods":             {pods(3), pods(4), []plans.Action{action, config}, absent + "restart (4 pods)", true},
		"downtime":              {pods(3), down, []plans.Action{action, config}, absent, false},
		"not shown":             {nil, pods(1), []plans.Action{action, config}, absent, false},
		"grave":                 {nil, cut, []plans.Action{action, config}, absent, false},
		"of what is left out":   {pods(3), down, []plans.Action{action, moved}, absent, true},
		"grave, and left out":   {nil, cut, []plans.Action{action, moved}, absent, true},
		"by a node that is not": {nil, cut, []plans.Action{action, moved, node}, absent, false},
	} {
		saved := plans.Plan{Actions: slices.Clone(test.actions), Impact: test.saved}
		saved.Actions[1] = config
		v := approval.Check(stored(t, saved), approval.Fresh{
			Plan: &plans.Plan{Actions: test.actions, Impact: test.fresh}, Objects: []providers.Object{*action.Object, *config.Object},
		})
		v.Differences = slices.DeleteFunc(v.Differences, func(d approval.Difference) bool { return d.Address == config.Address })
		expectOne(t, name, v, test.want, test.drift)
	}
}

// TestStrayLabelsSince checks that labels of a node count as drift if other clients set or removed
// them since the plan, and the apply only removes labels.
func TestStrayLabelsSince(t *testing.T) {
	stray := act(plans.Update, "n", "", "metadata.labels.tier")
	stray.Object.Partial, stray.Object.Unwanted, stray.Removes = true, []string{"tier"}, "tier"
	stray.Prior.UID = "uid-n"
	stray.Changes[0].Drift, stray.Changes[0].Manager = true, "kubelet"
	two := stray
	object := *stray.Object
	object.Unwanted = []string{"tier", "zone"}
	two.Object, two.Removes = &object, "tier, zone"
	two.Changes = append(slices.Clone(stray.Changes), plans.Change{Path: "metadata.labels.zone", Before: "z", Drift: true, Manager: "kubelet"})
	for name, test := range map[string]struct {
		saved, fresh []plans.Action
		want         string
		held         bool
	}{
		"set since":     {nil, []plans.Action{stray}, `metadata.labels.tier: "old" → "new" instead of no change, written by "kubelet"`, true},
		"removed since": {[]plans.Action{stray}, nil, `metadata.labels.tier: no change instead of "old" → "new"`, false},
		"one more":      {[]plans.Action{stray}, []plans.Action{two}, `metadata.labels.zone: "z" → nothing instead of no change, written by "kubelet"`, true},
	} {
		var objects []providers.Object
		for _, a := range test.fresh {
			objects = append(objects, *a.Object)
		}
		v := approval.Check(stored(t, plans.Plan{Actions: test.saved}), approval.Fresh{Plan: &plans.Plan{Actions: test.fresh}, Objects: objects})
		expectOne(t, name, v, test.want, true)
		if (v.Held[stray.Address] != nil) != test.held {
			t.Errorf("%s: held are %v", name, v.Held)
		}
	}
}

// expectOne checks that a verdict has one difference, or none if want is empty.
func expectOne(t *testing.T, name string, v approval.Verdict, want string, drift bool) {
	t.Helper()
	if want == "" && len(v.Differences) == 0 {
		return
	}
	if len(v.Differences) != 1 || want == "" || !strings.Contains(v.Differences[0].Text, want) || v.Differences[0].Drift != drift {
		t.Errorf("%s: got %+v, want %q", name, v.Differences, want)
	}
}

// TestVerdictsAreShown checks that the file must show the results of policies and checks, and the
// outputs.
func TestVerdictsAreShown(t *testing.T) {
	policy := func(status plans.PolicyStatus, message string) plans.Plan {
		return plans.Plan{Policies: []plans.PolicyResult{{Name: "p", Status: status, Message: message}}}
	}
	test := func(status string, problems ...string) plans.Plan {
		return plans.Plan{Checks: []state.CheckResult{{Address: "check.c", Status: status, Problems: problems}}}
	}
	out := func(o state.Output) plans.Plan {
		o.Name = "o"
		return plans.Plan{Outputs: []output.Change{{Name: "o", After: &o}}}
	}
	text := func(value string) state.Output {
		return state.Output{Type: json.RawMessage(`"string"`), Value: json.RawMessage(`"` + value + `"`)}
	}
	for name, test := range map[string]struct {
		saved, fresh plans.Plan
		want         string
		drift        bool
	}{
		"a policy passes":           {policy(plans.PolicyPassed, ""), policy(plans.PolicyPassed, ""), "", false},
		"a policy warns now":        {policy(plans.PolicyPassed, ""), policy(plans.PolicyWarned, "three pods"), `policy "p" says now, and not in the file: three pods`, true},
		"a policy warns of more":    {policy(plans.PolicyWarned, "two pods"), policy(plans.PolicyWarned, "three pods"), "three pods", true},
		"a policy warns no more":    {policy(plans.PolicyWarned, "two pods"), policy(plans.PolicyPassed, ""), "", false},
		"a policy masks a value":    {policy(plans.PolicyWarned, "was hunter2"), policy(plans.PolicyWarned, "was "+plans.Masked), "", false},
		"a file masks a warning":    {policy(plans.PolicyWarned, plans.Masked), policy(plans.PolicyWarned, "three pods"), "three pods", true},
		"a long output":             {out(text(strings.Repeat("a", 90) + "1")), out(text(strings.Repeat("a", 90) + "2")), `aaa2" instead of "...aaa`, false},
		"a check fails as before":   {test("fail", "no"), test("fail", "no"), "", false},
		"a check fails now":         {test("pass"), test("fail", "no answer"), "check.c fails now, and not in the file: no answer", false},
		"the same output":           {out(text("a")), out(text("a")), "", false},
		"another output":            {out(text("a")), out(text("b")), `output "o": "b" instead of "a"`, false},
		"a sensitive output":        {out(text("a")), out(state.Output{Sensitive: true}), `output "o": (sensitive value) instead of "a"`, false},
		"an output without a value": {out(text("a")), plans.Plan{Outputs: []output.Change{{Name: "o"}}}, `output "o": nothing instead of "a"`, false},
		"an output more":            {plans.Plan{}, out(text("a")), `the file does not have output "o"`, false},
	} {
		expectOne(t, name, approval.Check(stored(t, test.saved), approval.Fresh{Plan: &test.fresh}), test.want, test.drift)
	}
}

// TestGraveIsShown checks that the file must show grave effects.
func TestGraveIsShown(t *testing.T) {
	action := act(plans.Update, "a", "1", "data.x")
	grave := []plans.Impact{{Block: "service.mariadb", Effects: []plans.Effect{{Kind: plans.EffectStop, Name: "mariadb-server", Pods: 1, Grave: true}}}}
	for name, test := range map[string]struct {
		shown []plans.Impact
		want  int
	}{"shown": {grave, 0}, "not shown": {nil, 1}} {
		v := approval.Check(stored(t, plans.Plan{Actions: []plans.Action{action}, Impact: test.shown}), approval.Fresh{
			Plan: &plans.Plan{Actions: []plans.Action{action}, Impact: grave}, Objects: []providers.Object{*action.Object},
		})
		if len(v.Differences) != test.want {
			t.Errorf("%s: %v", name, v.Differences)
		}
	}
}

// TestCutOffIsShown checks that the file must show which pods with running items stop, and on which
// nodes. It cannot show the items, because only an apply asks the pods.
func TestCutOffIsShown(t *testing.T) {
	action := act(plans.Update, "a", "1", "data.x")
	impact := func(what string, nodes ...string) []plans.Impact {
		return []plans.Impact{{Block: "service.ovn", Effects: []plans.Effect{{Kind: plans.EffectCutOff, Name: "ovn", Data: what, Items: nodes, Grave: true}}}}
	}
	all, one, both := impact("running servers"), impact("running servers", "a"), impact("running servers", "a", "b")
	for name, test := range map[string]struct {
		shown, fresh []plans.Impact
		want         int
	}{
		"the same":            {all, all, 0},
		"the same nodes":      {both, both, 0},
		"fewer nodes":         {both, one, 0},
		"some nodes":          {all, one, 0},
		"more nodes":          {one, both, 1},
		"another node":        {one, impact("running servers", "b"), 1},
		"all nodes":           {both, all, 1},
		"other items":         {all, impact("bridges"), 1},
		"nothing was cut off": {nil, all, 1},
		"nothing is any more": {all, nil, 0},
	} {
		v := approval.Check(stored(t, plans.Plan{Actions: []plans.Action{action}, Impact: test.shown}), approval.Fresh{
			Plan: &plans.Plan{Actions: []plans.Action{action}, Impact: test.fresh}, Objects: []providers.Object{*action.Object},
		})
		if len(v.Differences) != test.want {
			t.Errorf("%s: %v", name, v.Differences)
		}
	}
}

// TestLastWriterIsNotKolla checks that kolla's own apply does not count as a write by another
// client.
func TestLastWriterIsNotKolla(t *testing.T) {
	written := func(manager string, operation metav1.ManagedFieldsOperationType) *unstructured.Unstructured {
		u := object("ConfigMap", "a").Manifest
		u.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: manager, Operation: operation}})
		return u
	}
	for want, live := range map[string]*unstructured.Unstructured{
		"":                           written("kolla", metav1.ManagedFieldsOperationApply),
		`, last written by "kolla"`:  written("kolla", metav1.ManagedFieldsOperationUpdate),
		`, last written by "kolla2"`: written("kolla2", metav1.ManagedFieldsOperationApply),
	} {
		if got := approval.LastWriter(live, strings.Clone); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := approval.LastWriter(written("kolla:prod", metav1.ManagedFieldsOperationApply), strings.Clone); got != "" {
		t.Errorf("%q", got)
	}
}

// TestLastWriterIsClean checks that the names of field managers are masked, because they may
// contain secret values.
func TestLastWriterIsClean(t *testing.T) {
	live := theirs()
	text := approval.LastWriter(live, func(manager string) string { return "not " + manager })
	if !strings.Contains(text, `last written by "not helm"`) {
		t.Errorf("%q", text)
	}
	saved, fresh := act(plans.Update, "a", "1", "data.a"), act(plans.Replace, "a", "2", "data.a")
	verdict := approval.Check(stored(t, plans.Plan{Actions: []plans.Action{saved}}), approval.Fresh{
		Plan: &plans.Plan{Actions: []plans.Action{fresh}}, Objects: []providers.Object{*object("ConfigMap", "a")},
		Live:  func(providers.Ref) *unstructured.Unstructured { return live },
		Clean: func(string) string { return plans.Masked },
	})
	if len(verdict.Differences) == 0 || !strings.Contains(verdict.Differences[0].Text, plans.Masked) || strings.Contains(verdict.Differences[0].Text, "helm") {
		t.Errorf("%v", verdict.Differences)
	}
}
