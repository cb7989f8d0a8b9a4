package planner_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"

	godiff "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// registrar gives the same answer about each registration, and counts the questions.
type registrar struct {
	found []providers.Difference
	err   error
	asked int
}

func (r *registrar) Compare(context.Context, *providers.Registration) ([]providers.Difference, error) {
	r.asked++
	return r.found, r.err
}

// registering makes a versioned Job that registers something.
func registering(o *providers.Object) {
	versioned(o)
	o.Registers = &providers.Registration{Keystone: &providers.KeystoneRegistration{Region: "RegionOne"}}
}

// TestRegistrations checks that a plan compares what a Job registered only once the Job has completed,
// runs the Job again where something differs, and otherwise leaves it alone.
func TestRegistrations(t *testing.T) {
	deleted := []providers.Difference{{Server: "Keystone", Path: `endpoints["image/public/RegionOne"].url`, Declared: "http://glance"}}
	changes := []plans.Change{{Path: deleted[0].Path, After: "http://glance", Drift: true, Registered: "Keystone"}}
	reversed := []plans.Change{{Path: deleted[0].Path, Before: "http://glance", Drift: true, Registered: "Keystone"}}
	silent := &providers.UncomparedError{Why: "Keystone does not answer", Advice: "Wait."}
	unready := func(r *state.Object) { r.Ready = false }
	tests := map[string]struct {
		situation situation
		answer    registrar
		refresh   bool
		verb      plans.Verb // empty: no action
		reason    plans.ReasonKind
		evidence  plans.Evidence
		changes   []plans.Change
		asked     int
		drifted   bool
		server    string // empty: Keystone
	}{
		"all is there":      {situation: situation{live: condition("Complete"), record: known}, verb: plans.None, asked: 1},
		"something differs": {situation: situation{live: condition("Complete"), record: known}, answer: registrar{found: deleted}, verb: plans.Replace, reason: plans.ReasonRegistration, changes: changes, asked: 1, drifted: true},
		"a password differs": {
			situation: situation{live: condition("Complete"), record: known}, verb: plans.Replace, reason: plans.ReasonRegistration, asked: 1,
			answer:  registrar{found: []providers.Difference{{Server: "MariaDB", Path: `users["nova"].password`, Secret: true}}},
			changes: []plans.Change{{Path: `users["nova"].password`, Before: plans.Masked, After: plans.Masked, Drift: true, Sensitive: true, Registered: "MariaDB"}},
			server:  "MariaDB",
		},
		"cleaned up": {situation: situation{record: known}, verb: plans.None, asked: 1},
		"cleaned up, and something differs": {
			situation: situation{record: known}, answer: registrar{found: deleted}, verb: plans.Run, reason: plans.ReasonRegistration, changes: changes, asked: 1, drifted: true,
		},
		"not read": {
			situation: situation{live: condition("Complete"), record: known}, answer: registrar{err: silent}, verb: plans.None,
			evidence: plans.Evidence{Kind: plans.Unverified, Detail: silent.Why, Advice: silent.Advice}, asked: 1,
		},
		"cleaned up, and not read": {
			situation: situation{record: known}, answer: registrar{err: silent}, verb: plans.None,
			evidence: plans.Evidence{Kind: plans.Unverified, Detail: silent.Why, Advice: silent.Advice}, asked: 1,
		},
		"new":           {situation: situation{}, answer: registrar{found: deleted}, verb: plans.Run, reason: plans.ReasonNew},
		"still running": {situation: situation{live: asItIs, record: unready}, answer: registrar{found: deleted}, verb: plans.None},
		"failed":        {situation: situation{live: condition("Failed"), record: unready}, answer: registrar{found: deleted}, verb: plans.Replace, reason: plans.ReasonFailedJob},
		"protected": {
			situation: situation{live: condition("Complete"), record: known, adjust: func(o *providers.Object) {
				o.Lifecycle = &providers.Lifecycle{PreventDestroy: true}
			}},
			answer: registrar{found: deleted}, verb: plans.Replace, reason: plans.ReasonRegistration, changes: changes, asked: 1, drifted: true,
		},
		"drift": {situation: situation{live: condition("Complete"), record: known}, answer: registrar{found: deleted}, refresh: true, verb: plans.None, changes: reversed, asked: 1, drifted: true},
		"drift, cleaned up": {
			situation: situation{record: known}, answer: registrar{found: deleted}, refresh: true, verb: plans.None, changes: reversed, asked: 1, drifted: true,
		},
		"drift, new": {situation: situation{}, answer: registrar{found: deleted}, refresh: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, answer := test.situation, test.answer
			s.at, s.manifest = atJob, job
			adjust := s.adjust
			s.adjust = func(o *providers.Object) {
				registering(o)
				if adjust != nil {
					adjust(o)
				}
			}
			in := s.make(t)
			in.Registrar, in.RefreshOnly = &answer, test.refresh
			plan := mustPlan(t, in)
			if answer.asked != test.asked {
				t.Errorf("it was compared %d times, want %d", answer.asked, test.asked)
			}
			if test.drifted && (!plan.Drifted() || plan.ConfigChanges != 0) {
				t.Errorf("drifted: %t; %d changes of the configuration", plan.Drifted(), plan.ConfigChanges)
			}
			if test.verb == "" {
				if len(plan.Actions) != 0 {
					t.Errorf("actions: %v", verbs(plan))
				}
				return
			}
			a := find(t, plan, atJob)
			if a.Verb != test.verb {
				t.Errorf("verb %s, want %s", a.Verb, test.verb)
			}
			if test.reason != "" && !slices.Equal(kinds(a.Reasons), []plans.ReasonKind{test.reason}) || test.reason == "" && len(a.Reasons) > 0 {
				t.Errorf("reasons %v, want %s", kinds(a.Reasons), test.reason)
			}
			if test.reason == plans.ReasonRegistration && a.Reasons[0].Detail != cmp.Or(test.server, "Keystone") {
				t.Errorf("reason %+v", a.Reasons[0])
			}
			if test.evidence.Kind != "" {
				if diff := godiff.Diff(test.evidence, a.Evidence); diff != "" {
					t.Errorf("evidence (-want +got):\n%s", diff)
				}
			}
			if drift := a.Drift(); test.drifted && (len(drift) != 1 || drift[0].Before != "http://glance" || drift[0].After != nil) || !test.drifted && test.server == "" && len(drift) > 0 {
				t.Errorf("drift: %+v", drift)
			}
			registered := slices.DeleteFunc(slices.Clone(a.Changes), func(c plans.Change) bool { return c.Registered == "" })
			if diff := godiff.Diff(test.changes, registered); diff != "" && len(test.changes)+len(registered) > 0 {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRegistrationsAreLeftAlone checks that nothing is compared where the plan does not ask, for another's
// Job, and for a part of the cloud that is not selected. A failure of the cluster ends the plan.
func TestRegistrationsAreLeftAlone(t *testing.T) {
	s := situation{at: atJob, manifest: job, adjust: registering, live: condition("Complete"), record: known}
	in := s.make(t)
	if a := find(t, mustPlan(t, in), atJob); a.Verb != plans.None || a.Evidence.Kind != plans.Recorded {
		t.Errorf("without a Registrar: %+v", a)
	}
	gone := errors.New("the API server is gone")
	for name, change := range map[string]func(*planner.Input){
		"excluded": func(in *planner.Input) { in.Selection.Excludes = []string{"service.a"} },
		"destroy":  func(in *planner.Input) { in.Destroy = true },
		"foreign": func(in *planner.Input) {
			in.State.Objects = nil
			in.Adopt = []string{atJob}
			in.Reader.(*cluster).objects = slices.DeleteFunc(in.Reader.(*cluster).objects, func(u *unstructured.Unstructured) bool {
				u.SetLabels(nil)
				return false
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			in, answer := s.make(t), &registrar{err: gone}
			in.Registrar = answer
			change(&in)
			if _, _, err := planner.Make(t.Context(), in); err != nil || answer.asked > 0 {
				t.Errorf("%v; compared %d times", err, answer.asked)
			}
		})
	}
	in.Registrar = &registrar{err: gone}
	if _, _, err := planner.Make(t.Context(), in); !errors.Is(err, gone) {
		t.Errorf("error %v, want that of the cluster", err)
	}
}
