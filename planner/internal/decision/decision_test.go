package decision_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/planner/internal/decision"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/selection"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// declared returns an object of service.a in the namespace openstack.
func declared(t *testing.T, apiVersion, kind, name string) providers.Object {
	t.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
	u.SetNamespace("openstack")
	u.SetName(name)
	return providers.Object{Address: objecttest.Address(t, "service.a/"+kind+"/"+name), Manifest: u}
}

// question is an object, with all facts about it.
type question struct {
	object providers.Object
	live   *unstructured.Unstructured // nil: it does not exist
	record *state.Object              // nil: the state does not know it
	input  inventory.Input
}

// exists makes the object live, and adds it to the state.
func (q *question) exists() {
	q.live = q.object.Manifest.DeepCopy()
	q.live.SetUID("uid")
	q.existed()
	q.record.UID = "uid"
}

// existed adds the object to the state.
func (q *question) existed() {
	ref := q.object.Ref()
	apiVersion, kind := ref.GVK.ToAPIVersionAndKind()
	q.record = &state.Object{
		Address: q.object.Address.String(), APIVersion: apiVersion, Kind: kind, Namespace: ref.Namespace, Name: ref.Name,
		UID: "gone", Ready: true, DesiredDigest: q.object.Digest(),
	}
}

// decided returns the only outcome. The input has no reader, so no step can ask a server.
func decided(t *testing.T, q question) *outcome.Outcome {
	t.Helper()
	q.input.Objects = []providers.Object{q.object}
	q.input.Snapshot = providers.SnapshotOf()
	if q.live != nil {
		q.input.Snapshot = providers.SnapshotOf(q.live)
	}
	q.input.State = &state.State{}
	if q.record != nil {
		q.input.State.Objects = []state.Object{*q.record}
	}
	q.input.Parallelism = 1
	inv, problems := inventory.Index(q.input)
	if inv == nil {
		t.Fatal(problems)
	}
	inv.Rules = &proof.Rules{}
	outcomes, _, err := decision.All(t.Context(), inv, selection.Set(nil))
	if err != nil {
		t.Fatal(err)
	}
	return outcomes[0]
}

// TestDecisionsWithoutTheServer checks the decisions of the cheap steps, which do not ask the
// server.
func TestDecisionsWithoutTheServer(t *testing.T) {
	tests := map[string]struct {
		kind     string // with the group: "batch/v1 Job"
		change   func(q *question)
		verb     plans.Verb // empty: the object is refused
		evidence plans.EvidenceKind
		reason   plans.ReasonKind // empty: none
		problem  string           // part of its summary; empty: none
	}{
		"a Job that ran and was cleaned up": {
			kind: "batch/v1 Job", change: (*question).existed,
			verb: plans.None, evidence: plans.Recorded,
		},
		"a Job that ran, and waits for data": {
			kind: "batch/v1 Job", change: func(q *question) {
				q.existed()
				q.object.Deferred = []string{"data.x"}
			},
			verb: plans.Run, evidence: plans.Unverified, reason: plans.ReasonGone,
		},
		"a versioned Job that exists": {
			kind: "batch/v1 Job", change: func(q *question) {
				q.object.Family = q.object.Address
				q.object.Family.Name = "family"
				q.exists()
			},
			verb: plans.None, evidence: plans.Recorded,
		},
		"an object with another address": {
			kind: "batch/v1 Job", change: func(q *question) {
				q.object.Family = q.object.Address
				q.object.Family.Name = "family"
				q.exists()
				q.record.Address = "service.former/Job/x"
			},
			verb: plans.Adopt, evidence: plans.Recorded, reason: plans.ReasonMoved,
		},
		"fields of an object that does not exist": {
			kind: "v1 Node", change: func(q *question) { q.object.Partial = true },
			problem: "does not exist",
		},
		"an object that is being deleted": {
			kind: "v1 ConfigMap", change: func(q *question) {
				q.exists()
				q.live.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(1, 0)})
			},
			problem: "is being deleted",
		},
		"a new object that waits for data": {
			kind: "v1 ConfigMap", change: func(q *question) { q.object.Deferred = []string{"data.x"} },
			verb: plans.Create, evidence: plans.Unverified, reason: plans.ReasonNew,
		},
		"a missing object that waits for data": {
			kind: "v1 ConfigMap", change: func(q *question) {
				q.existed()
				q.object.Deferred = []string{"data.x"}
			},
			verb: plans.Create, evidence: plans.Unverified, reason: plans.ReasonGone,
		},
		"an object that waits for data, to be replaced": {
			kind: "v1 ConfigMap", change: func(q *question) {
				q.exists()
				q.object.Deferred = []string{"data.x"}
				q.input.Replace = []string{q.object.Address.String()}
			},
			problem: "cannot be replaced by this plan",
		},
		"a protected object to be replaced": {
			kind: "v1 ConfigMap", change: func(q *question) {
				q.exists()
				q.object.Lifecycle = &providers.Lifecycle{PreventDestroy: true}
				q.input.Replace = []string{q.object.Address.String()}
			},
			problem: "must not be replaced",
		},
		"volumes to be replaced": {
			kind: "v1 PersistentVolumeClaim", change: func(q *question) {
				q.exists()
				q.input.Replace = []string{q.object.Address.String()}
			},
			problem: "holds",
		},
		"fields of an object to be replaced": {
			kind: "v1 ConfigMap", change: func(q *question) {
				q.object.Partial = true
				q.exists()
				q.input.Replace = []string{q.object.Address.String()}
			},
			problem: "kolla did not make",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			apiVersion, kind, _ := strings.Cut(test.kind, " ")
			q := question{object: declared(t, apiVersion, kind, "x")}
			test.change(&q)
			out := decided(t, q)
			if out.Withheld != (test.verb == "") || out.Action.Verb != test.verb || out.Action.Evidence.Kind != test.evidence {
				t.Errorf("withheld %v, %q by %q; want %q by %q", out.Withheld, out.Action.Verb, out.Action.Evidence.Kind, test.verb, test.evidence)
			}
			var reason plans.ReasonKind
			if len(out.Action.Reasons) > 0 {
				reason = out.Action.Reasons[0].Kind
			}
			if reason != test.reason {
				t.Errorf("because of %q, want %q", reason, test.reason)
			}
			if (len(out.Problems) > 0) != (test.problem != "") || test.problem != "" && !strings.Contains(out.Problems[0].Summary, test.problem) {
				t.Errorf("problems %v, want %q", out.Problems, test.problem)
			}
		})
	}
}

// TestUnowned checks that an object that another client created blocks the plan. The operator can
// take it over.
func TestUnowned(t *testing.T) {
	q := question{object: declared(t, "v1", "ConfigMap", "x")}
	q.exists()
	q.record.UID = "another"
	if out := decided(t, q); !out.Unowned || !out.Withheld || out.Ours {
		t.Errorf("unowned %v, withheld %v, ours %v", out.Unowned, out.Withheld, out.Ours)
	}
	q.object.Deferred = []string{"data.x"}
	q.input.Adopt = []string{q.object.Address.String()}
	if out := decided(t, q); out.Unowned || out.Action.Verb != plans.Adopt {
		t.Errorf("unowned %v, %q", out.Unowned, out.Action.Verb)
	}
	q.live.SetLabels(map[string]string{providers.LabelCloud: "another"})
	if out := decided(t, q); !out.Unowned {
		t.Error("the object of another cloud is taken over")
	}
}

// TestPrecondition checks that the action on a live object is bound to the version that the plan
// saw.
func TestPrecondition(t *testing.T) {
	q := question{object: declared(t, "v1", "ConfigMap", "x")}
	q.exists()
	q.live.SetResourceVersion("7")
	q.object.Deferred = []string{"data.x"}
	want := providers.Precondition{UID: types.UID("uid"), ResourceVersion: "7"}
	if got := decided(t, q).Action.Prior; got != want {
		t.Errorf("bound to %v, want %v", got, want)
	}
}
