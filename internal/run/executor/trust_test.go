package executor_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/run/executor"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// TestTokensOfIntents checks that a created object carries the token that the journal recorded
// before the write, and that each object gets a new token.
func TestTokensOfIntents(t *testing.T) {
	a := newApply(t, newCluster(live("Deployment there")), recorded("Deployment there", true), recorded("Job again", true))
	announced := map[string]string{}
	a.onApply = func(_ context.Context, ref providers.Ref, _ providers.ApplyOptions) error {
		intent, _ := a.session.Object(address(ref.GVK.Kind + " " + ref.Name).String())
		a.mu.Lock()
		defer a.mu.Unlock()
		announced[ref.Name] = intent.Token
		return nil
	}
	update := act(plans.Update, "Deployment there")
	update.Token = "token-of-old"
	result := a.run(t.Context(), t, act(plans.Create, "ConfigMap new"), act(plans.Replace, "Job again"), act(plans.Adopt, "ConfigMap theirs"), update)
	if !result.Complete() {
		t.Fatal(outcomes(result))
	}
	for _, o := range result.Outcomes {
		carried := trust.Token(a.objects[o.Action.Ref])
		switch o.Action.Ref.Name {
		case "new", "again":
			if len(carried) < 26 || carried != announced[o.Action.Ref.Name] {
				t.Errorf("%s carries %q, announced was %q", o.Action.Ref, carried, announced[o.Action.Ref.Name])
			}
		case "theirs":
			if carried != "" || announced["theirs"] != "" {
				t.Errorf("what is taken over carries %q", carried)
			}
		case "there":
			if carried != "token-of-old" || announced["there"] != "" {
				t.Errorf("what is updated carries %q, announced was %q", carried, announced["there"])
			}
		}
	}
	if announced["new"] == announced["again"] {
		t.Error("two objects have the same token")
	}
	for _, o := range a.session.State().Objects {
		if o.Token != "" {
			t.Errorf("the state still has the token of %s", o.Address)
		}
	}
}

// TestDeletesWhatTheStateKnows checks that an apply only deletes objects that the state knows by
// UID, or by the token of an interrupted apply, whatever the plan says.
func TestDeletesWhatTheStateKnows(t *testing.T) {
	other := recorded("ConfigMap web", true)
	other.UID = "uid-other"
	made := recorded("ConfigMap web", false)
	made.UID, made.Token = "", "token-1"
	for name, test := range map[string]struct {
		known   []state.Object
		deleted bool
	}{
		"known":                            {[]state.Object{recorded("ConfigMap web", true)}, true},
		"made by an apply that was killed": {[]state.Object{made}, true},
		"another of that name":             {[]state.Object{other}, false},
		"unknown":                          {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := newApply(t, newCluster(live("ConfigMap web")), test.known...)
			result := a.run(t.Context(), t, act(plans.Delete, "ConfigMap web"))
			_, there := a.objects[act(plans.Delete, "ConfigMap web").Ref]
			if there == test.deleted {
				t.Errorf("it is there: %v; outcomes %v", there, outcomes(result))
			}
			var unknown *executor.UnknownError
			if errors.As(result.Outcomes[0].Err, &unknown) == test.deleted {
				t.Errorf("got %v", result.Outcomes[0].Err)
			}
		})
	}
}

// TestValuesOfAStranger checks that no values are read from a Secret that another client created in
// place of the planned one.
func TestValuesOfAStranger(t *testing.T) {
	planted := liveSecret("db", "swordfish")
	planted.SetUID("uid-planted")
	a := newApply(t, newCluster(planted))
	result := a.run(t.Context(), t, generated(plans.None, "db"), derived(plans.Create, "conf", "db"))
	if got := strings.Join(outcomes(result), ", "); got != "conf: failed" {
		t.Errorf("outcomes are %s, and conf has %q", got, a.value("conf", "url"))
	}
	result = newApply(t, newCluster(planted)).run(t.Context(), t, generated(plans.Create, "db"))
	if got := strings.Join(outcomes(result), ", "); got != "db: failed" {
		t.Errorf("outcomes are %s", got)
	}
}
