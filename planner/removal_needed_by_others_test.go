package planner_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner"
)

// TestWhatOthersNeed checks that a workload that others need is protected like data, according to
// the state or the declaration.
func TestWhatOthersNeed(t *testing.T) {
	const at, other, holds = "service.ovn/DaemonSet/ovn-controller", "service.ovn/ConfigMap/ovn", "what others need (running servers lose their network)"
	tests := map[string]struct {
		change  func(w *world, in *planner.Input)
		problem string // empty: actions
		actions []string
	}{
		"no longer declared": {
			problem: "DaemonSet openstack/ovn-controller is no longer declared, and holds " + holds,
		},
		"no longer declared, and named": {
			change:  func(_ *world, in *planner.Input) { in.DeleteData = []string{at} },
			actions: []string{"delete " + at, "delete " + other},
		},
		"destroyed": {
			change:  func(_ *world, in *planner.Input) { in.Destroy = true },
			problem: "DaemonSet openstack/ovn-controller would be destroyed, and holds what others need",
		},
		"destroyed with its service": {
			change: func(_ *world, in *planner.Input) {
				in.Destroy, in.DeleteData = true, []string{"service.ovn"}
			},
			actions: []string{"delete " + at, "delete " + other},
		},
		"destroyed, and data is kept": {
			change:  func(_ *world, in *planner.Input) { in.Destroy, in.KeepData = true, true },
			actions: []string{"delete " + at, "delete " + other},
		},
		"removed with its data": {
			change: func(_ *world, in *planner.Input) {
				in.Removals = []addrs.Removal{{From: addrs.Target{Block: "service.ovn"}, Destroy: true, Data: addrs.AllData}}
			},
			actions: []string{"delete " + at, "delete " + other},
		},
		"removed with its passwords": {
			change: func(_ *world, in *planner.Input) {
				in.Removals = []addrs.Removal{{From: addrs.Target{Block: "service.ovn"}, Destroy: true, Data: addrs.GeneratedData}}
			},
			problem: "DaemonSet openstack/ovn-controller is no longer declared, and holds " + holds,
		},
		"replaced": {
			change: func(w *world, in *planner.Input) {
				o := declared(at, thing("apps/v1", "DaemonSet", "ovn-controller"))
				o.Holds = holds
				in.Objects, in.Replace = append(in.Objects, o, declared(other, thing("v1", "ConfigMap", "ovn"))), []string{at}
			},
			problem: "it holds " + holds,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			w.add(other, thing("v1", "ConfigMap", "ovn"))
			w.add(at, thing("apps/v1", "DaemonSet", "ovn-controller"), other).Holds = holds
			in := w.input()
			if test.change != nil {
				test.change(w, &in)
			}
			if test.problem != "" {
				text := mustNotPlan(t, in)
				if !strings.Contains(text, test.problem) || !strings.Contains(text, "running servers lose their network") || !strings.Contains(text, "-delete-data="+at) {
					t.Errorf("problems are %s", text)
				}
				return
			}
			plan, _, err := planner.Make(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.actions, verbs(plan)); diff != "" {
				t.Errorf("actions (-want +got):\n%s", diff)
			}
			if plan.Actions[0].Holds != holds {
				t.Errorf("it is not named: %+v", plan.Actions[0])
			}
		})
	}
}

// TestWhatOthersNeedIsGone checks that such a workload runs again without a loss after another
// client deleted it.
func TestWhatOthersNeedIsGone(t *testing.T) {
	const at = "service.ovn/DaemonSet/ovn-controller"
	w := &world{}
	w.add(at, thing("apps/v1", "DaemonSet", "ovn-controller"))
	w.cluster.objects = nil
	o := declared(at, thing("apps/v1", "DaemonSet", "ovn-controller"))
	o.Holds = "what others need (running servers lose their network)"
	plan, _, err := planner.Make(t.Context(), w.input(o))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"create " + at}, verbs(plan)); diff != "" || len(plan.Losses) != 0 {
		t.Errorf("losses %+v, actions (-want +got):\n%s", plan.Losses, diff)
	}
}
