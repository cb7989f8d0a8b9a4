package planner_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

const (
	configMap = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: openstack}, data: {x: \"1\"}}"
	job       = "{apiVersion: batch/v1, kind: Job, metadata: {name: sync-1, namespace: openstack}, spec: {}}"
	node      = "{apiVersion: v1, kind: Node, metadata: {name: ctl-1, labels: {role: control}}}"

	atConfigMap = "service.a/ConfigMap/a"
	atJob       = "service.a/Job/sync-1"
	atNode      = "role.control/Node/ctl-1"
)

// situation is one object: its declaration, the live object and its record.
type situation struct {
	at       string
	manifest string
	adjust   func(*providers.Object)
	live     func(*unstructured.Unstructured) // nil: not in the cluster
	record   func(*state.Object)              // nil: not in the state
	answer   func(*unstructured.Unstructured, providers.DryRunOptions) (*unstructured.Unstructured, error)
	input    func(*planner.Input)
}

func (s situation) make(t *testing.T) planner.Input {
	manifest := objecttest.Read(t, s.manifest)
	o := declared(s.at, manifest)
	if s.adjust != nil {
		s.adjust(&o)
	}
	u := live(manifest, "uid-1")
	c := &cluster{answer: s.answer}
	if s.live != nil {
		s.live(u)
		c.objects = append(c.objects, u)
	}
	in := input(c, o)
	if s.record != nil {
		r := recorded(s.at, u)
		r.DesiredDigest, r.RunDigest = o.Digest(), o.RunDigest()
		s.record(&r)
		in.State.Objects = []state.Object{r}
	}
	if s.input != nil {
		s.input(&in)
	}
	return in
}

func asItIs(*unstructured.Unstructured) {}

func known(*state.Object) {}

func versioned(o *providers.Object) { o.Family = address("service.a/Job/sync") }

// forRelease lets a job run again only with another image.
func forRelease(o *providers.Object) {
	versioned(o)
	o.Manifest.SetAnnotations(map[string]string{providers.AnnotationInputs: "these"})
}

// withImage changes the image of a job, and withTTL its time to live.
func withImage(in *planner.Input) {
	in.Objects[0].Manifest.Object["spec"] = map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"image": "new"}}}}}
}

func withTTL(in *planner.Input) {
	in.Objects[0].Manifest.Object["spec"] = map[string]any{"ttlSecondsAfterFinished": int64(5)}
}

func withInputs(hash string) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		u.SetAnnotations(map[string]string{providers.AnnotationInputs: hash})
	}
}

func condition(kind string) func(*unstructured.Unstructured) {
	return func(u *unstructured.Unstructured) {
		u.Object["status"] = map[string]any{"conditions": []any{map[string]any{"type": kind, "status": "True", "message": "it is " + kind}}}
	}
}

func says(err error) func(*unstructured.Unstructured, providers.DryRunOptions) (*unstructured.Unstructured, error) {
	return func(*unstructured.Unstructured, providers.DryRunOptions) (*unstructured.Unstructured, error) {
		return nil, err
	}
}

// unlessNew rejects changes, and accepts new objects.
func unlessNew(err error) func(*unstructured.Unstructured, providers.DryRunOptions) (*unstructured.Unstructured, error) {
	return func(u *unstructured.Unstructured, o providers.DryRunOptions) (*unstructured.Unstructured, error) {
		if o.Surrogate {
			return u, nil
		}
		return nil, err
	}
}

func TestDecision(t *testing.T) {
	noDryRun := refusal(http.StatusBadRequest, metav1.StatusReasonBadRequest, `admission webhook "w.example.org" does not support dry run`)
	webhookDown := refusal(http.StatusInternalServerError, metav1.StatusReasonInternalError, `Internal error occurred: failed calling webhook "w": failed to call webhook: Post "https://w": connection refused`)
	tests := map[string]struct {
		situation
		verb     plans.Verb
		reasons  []plans.ReasonKind
		evidence plans.EvidenceKind
		pending  bool
	}{
		"new": {
			situation: situation{at: atConfigMap, manifest: configMap},
			verb:      plans.Create, reasons: []plans.ReasonKind{plans.ReasonNew}, evidence: plans.DryRun,
		},
		"deleted by somebody": {
			situation: situation{at: atConfigMap, manifest: configMap, record: known},
			verb:      plans.Create, reasons: []plans.ReasonKind{plans.ReasonGone}, evidence: plans.DryRun,
		},
		"deleted by an apply that was killed": {
			situation: situation{at: atConfigMap, manifest: configMap, record: func(r *state.Object) { r.Deleting = true }},
			verb:      plans.Create, reasons: []plans.ReasonKind{plans.ReasonUnfinished}, evidence: plans.DryRun,
		},
		"its pods cleaned their nodes for an apply that was killed": {
			situation: situation{
				at: atConfigMap, manifest: configMap, live: asItIs,
				record: func(r *state.Object) { r.Deleting, r.Cleaned, r.Ready = true, true, false },
			},
			verb: plans.Replace, reasons: []plans.ReasonKind{plans.ReasonCleaned}, evidence: plans.Surrogate,
		},
		"was about to be made": {
			situation: situation{at: atConfigMap, manifest: configMap, record: func(r *state.Object) { r.UID = "" }},
			verb:      plans.Create, reasons: []plans.ReasonKind{plans.ReasonNew}, evidence: plans.DryRun,
		},
		"new, and a webhook cannot be asked": {
			situation: situation{at: atConfigMap, manifest: configMap, answer: says(noDryRun)},
			verb:      plans.Create, reasons: []plans.ReasonKind{plans.ReasonNew}, evidence: plans.Unverified,
		},
		"new, and a webhook is down": {
			situation: situation{at: atConfigMap, manifest: configMap, answer: says(webhookDown)},
			verb:      plans.Create, reasons: []plans.ReasonKind{plans.ReasonNew}, evidence: plans.Unverified,
		},
		"matches": {
			situation: situation{at: atConfigMap, manifest: configMap, live: asItIs, record: known},
			verb:      plans.None, evidence: plans.DryRun,
		},
		"matches, made by an apply that was killed": {
			situation: situation{
				at: atConfigMap, manifest: configMap,
				live:   func(u *unstructured.Unstructured) { token(u, "token-1") },
				record: func(r *state.Object) { r.UID, r.Token, r.Ready = "", "token-1", false },
			},
			verb: plans.None, evidence: plans.DryRun, pending: true,
		},
		"recorded without a label": {
			situation: situation{at: atConfigMap, manifest: configMap, record: known, live: func(u *unstructured.Unstructured) { u.SetLabels(nil) }},
			verb:      plans.None, evidence: plans.DryRun,
		},
		"somebody else's, to be adopted": {
			situation: situation{
				at: atConfigMap, manifest: configMap,
				live:  func(u *unstructured.Unstructured) { u.SetLabels(nil) },
				input: func(in *planner.Input) { in.Adopt = everything(in.Objects) },
			},
			verb: plans.Adopt, reasons: []plans.ReasonKind{plans.ReasonUnowned}, evidence: plans.DryRun,
		},
		"changed, and a webhook cannot be asked": {
			situation: situation{
				at: atConfigMap, manifest: configMap, record: known, answer: says(noDryRun),
				live: func(u *unstructured.Unstructured) { u.Object["data"] = map[string]any{"x": "0"} },
			},
			verb: plans.Update, reasons: []plans.ReasonKind{plans.ReasonDrift}, evidence: plans.Unverified,
		},
		"job that never ran": {
			situation: situation{at: atJob, manifest: job, adjust: versioned},
			verb:      plans.Run, reasons: []plans.ReasonKind{plans.ReasonNew}, evidence: plans.DryRun,
		},
		"job of one name, whose image changed since it was cleaned up": {
			situation: situation{at: atJob, manifest: job, record: known, input: withImage},
			verb:      plans.Run, reasons: []plans.ReasonKind{plans.ReasonConfig}, evidence: plans.DryRun,
		},
		"job of one name, of which something else changed since it was cleaned up": {
			situation: situation{at: atJob, manifest: job, record: known, input: withTTL},
			verb:      plans.None, evidence: plans.Recorded,
		},
		"the same, and the record does not say what it ran": {
			situation: situation{at: atJob, manifest: job, record: func(r *state.Object) { r.RunDigest = "" }, input: withTTL},
			verb:      plans.Run, reasons: []plans.ReasonKind{plans.ReasonConfig}, evidence: plans.DryRun,
		},
		"job of one name that was cleaned up": {
			situation: situation{at: atJob, manifest: job, record: known},
			verb:      plans.None, evidence: plans.Recorded,
		},
		"job that vanished before it finished": {
			situation: situation{at: atJob, manifest: job, adjust: versioned, record: func(r *state.Object) { r.Ready = false }},
			verb:      plans.Run, reasons: []plans.ReasonKind{plans.ReasonGone}, evidence: plans.DryRun,
		},
		"job that is still running": {
			situation: situation{at: atJob, manifest: job, adjust: versioned, live: asItIs, record: func(r *state.Object) { r.Ready = false }},
			verb:      plans.None, evidence: plans.Recorded, pending: true,
		},
		"job that finished while nobody looked": {
			situation: situation{at: atJob, manifest: job, adjust: versioned, live: condition("Complete"), record: func(r *state.Object) { r.Ready = false }},
			verb:      plans.None, evidence: plans.Recorded, pending: true,
		},
		"job that ran with other inputs and attempts than it would have now": {
			situation: situation{
				at: atJob, manifest: job, adjust: forRelease, record: known,
				live: func(u *unstructured.Unstructured) {
					withInputs("others")(u)
					condition("Complete")(u)
					u.Object["spec"] = map[string]any{"backoffLimit": int64(2), "activeDeadlineSeconds": int64(60)}
				},
				answer: says(errors.New("nobody is asked")),
			},
			verb: plans.None, evidence: plans.Recorded,
		},
		"job that does not run": {
			situation: situation{at: atJob, manifest: job, adjust: func(o *providers.Object) {
				versioned(o)
				o.Manifest.Object["spec"] = map[string]any{"completions": int64(0)}
			}},
			verb: plans.Create, reasons: []plans.ReasonKind{plans.ReasonNew}, evidence: plans.DryRun,
		},
		"job with a name of its own": {
			situation: situation{at: atJob, manifest: job, live: condition("Complete"), record: known, input: withImage, answer: unlessNew(invalid("spec.template", "field is immutable"))},
			verb:      plans.Replace, reasons: []plans.ReasonKind{plans.ReasonImmutable}, evidence: plans.Surrogate,
		},
		"job with a name of its own, that has finished and would do the same": {
			situation: situation{at: atJob, manifest: job, live: condition("Complete"), record: known, input: withTTL, answer: unlessNew(invalid("spec.template", "field is immutable"))},
			verb:      plans.None, evidence: plans.Recorded,
		},
		"node": {
			situation: situation{
				at: atNode, manifest: node, record: known,
				adjust: func(o *providers.Object) { o.Partial = true },
				live:   func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{"role": "control"}) },
			},
			verb: plans.None, evidence: plans.DryRun,
		},
		"node whose labels are new": {
			situation: situation{
				at: atNode, manifest: node,
				adjust: func(o *providers.Object) { o.Partial = true },
				live:   func(u *unstructured.Unstructured) { u.SetLabels(nil) },
				answer: func(u *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
					u = u.DeepCopy()
					owns(u, "kolla:prod", metav1.ManagedFieldsOperationApply, now, `{"f:metadata":{"f:labels":{"f:role":{}}}}`)
					return u, nil
				},
			},
			verb: plans.Update, reasons: []plans.ReasonKind{plans.ReasonConfig}, evidence: plans.DryRun,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.manifest == configMap && test.answer == nil {
				test.answer = func(u *unstructured.Unstructured, o providers.DryRunOptions) (*unstructured.Unstructured, error) {
					u = u.DeepCopy()
					if test.live != nil {
						was := live(u, "uid-1")
						test.live(was)
						u.SetLabels(was.GetLabels())
					}
					return u, nil
				}
			}
			in := test.make(t)
			got := find(t, mustPlan(t, in), test.at)
			if got.Verb != test.verb || got.Evidence.Kind != test.evidence || got.Pending != test.pending {
				t.Errorf("decided %s, %+v, pending %v; want %s, %s, %v", got.Verb, got.Evidence, got.Pending, test.verb, test.evidence, test.pending)
			}
			if diff := cmp.Diff(test.reasons, kinds(got.Reasons)); diff != "" {
				t.Errorf("reasons (-want +got):\n%s", diff)
			}
			if bound := got.Prior.UID != ""; bound != (test.live != nil) {
				t.Errorf("bound to %+v", got.Prior)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	unlabelled := func(u *unstructured.Unstructured) { u.SetLabels(nil) }
	tests := map[string]struct {
		situation
		want []string
	}{
		"somebody else's": {
			situation{at: atConfigMap, manifest: configMap, live: unlabelled},
			[]string{"ConfigMap openstack/a exists and is not kolla's", "cloud.hcl:41", "-adopt"},
		},
		"another cloud's, in spite of -adopt": {
			situation{
				at: atConfigMap, manifest: configMap,
				live:  func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{providers.LabelCloud: "test"}) },
				input: func(in *planner.Input) { in.Adopt = everything(in.Objects) },
			},
			[]string{`ConfigMap openstack/a belongs to cloud "test"`},
		},
		"kolla's own, with the label of another cloud": {
			situation{
				at: atConfigMap, manifest: configMap, record: known,
				live: func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{providers.LabelCloud: "test"}) },
			},
			[]string{`The label kolla.openstack.org/cloud of ConfigMap openstack/a names cloud "test"`, "kubectl label configmap a kolla.openstack.org/cloud=prod --overwrite --namespace openstack"},
		},
		"node that does not exist": {
			situation{at: atNode, manifest: node, adjust: func(o *providers.Object) { o.Partial = true }},
			[]string{"Node ctl-1 does not exist"},
		},
		"on its way out": {
			situation{at: atConfigMap, manifest: configMap, record: known, live: func(u *unstructured.Unstructured) {
				stamp := metav1.NewTime(then)
				u.SetDeletionTimestamp(&stamp)
				u.SetFinalizers([]string{"example.org/wait"})
			}},
			[]string{"ConfigMap openstack/a is being deleted", "example.org/wait"},
		},
		"rejected": {
			situation{at: atConfigMap, manifest: configMap, answer: says(invalid("data", "must not be empty"))},
			[]string{"the cluster does not accept ConfigMap openstack/a", "must not be empty"},
		},
		"rejected as a change and as a new one": {
			situation{at: atConfigMap, manifest: configMap, live: asItIs, record: known, answer: says(invalid("data", "field is immutable, and wrong"))},
			[]string{"the cluster does not accept a new ConfigMap openstack/a in place of the old one", "It was to be replaced (data cannot be changed in place)"},
		},
		"cannot be changed in place, and is somebody else's": {
			situation{
				at: atConfigMap, manifest: configMap, live: unlabelled, answer: unlessNew(invalid("data", "field is immutable")),
				input: func(in *planner.Input) { in.Adopt = everything(in.Objects) },
			},
			[]string{"cannot be changed in place, and was not made by kolla", "data cannot change. Undo the change; or: to have it deleted and made again all the same, plan with -replace=service.a/ConfigMap/a."},
		},
		"cannot be changed in place, and a webhook cannot be asked": {
			situation{at: atConfigMap, manifest: configMap, live: asItIs, record: known, answer: func(_ *unstructured.Unstructured, o providers.DryRunOptions) (*unstructured.Unstructured, error) {
				if o.Surrogate {
					return nil, refusal(http.StatusBadRequest, metav1.StatusReasonBadRequest, `admission webhook "w" does not support dry run`)
				}
				return nil, invalid("data", "field is immutable")
			}},
			[]string{"kolla cannot check whether the cluster accepts a new one", `data cannot change, and the webhook "w" has side effects`, "plan with -replace=service.a/ConfigMap/a."},
		},
		"node port of somebody else": {
			situation{
				at: "service.a/Service/a", manifest: "{apiVersion: v1, kind: Service, metadata: {name: a, namespace: openstack}, spec: {type: NodePort, ports: [{port: 80, nodePort: 30500}]}}",
				answer: says(invalid("spec.ports[0].nodePort", "provided port is already allocated")),
			},
			[]string{"provided port is already allocated", "kubectl get services --all-namespaces"},
		},
		"field of somebody else": {
			situation{
				at: atConfigMap, manifest: configMap, input: func(in *planner.Input) { in.Adopt = []string{in.Objects[0].Address.String()} },
				live: func(u *unstructured.Unstructured) {
					u.SetLabels(nil)
					owns(u, "acme", metav1.ManagedFieldsOperationUpdate, then, `{"f:data":{"f:x":{}}}`)
				},
				answer: says(&providers.ConflictError{Conflicts: []providers.Conflict{{Manager: "acme", Path: ".data.x"}}}),
			},
			[]string{"a field of ConfigMap openstack/a belongs to acme", `data["x"] is owned by acme, last written 2026-11-21 02:11 UTC`, "-target limits that to this object and its dependencies: -force-conflicts -target='"},
		},
		"many fields of somebody else": {
			situation{
				at: atConfigMap, manifest: configMap, input: func(in *planner.Input) { in.Adopt = []string{in.Objects[0].Address.String()} },
				live:   func(u *unstructured.Unstructured) { u.SetLabels(nil) },
				answer: says(&providers.ConflictError{Conflicts: conflictsOf("acme", 14)}),
			},
			[]string{"k03 is owned by acme", "\nand 4 more fields\nDo not declare", `"k09" and 4 more]`},
		},
		"generated values that cannot change": {
			situation{
				at: atConfigMap, manifest: configMap, live: asItIs, record: known,
				adjust: func(o *providers.Object) { o.Holds = "generated values" },
				answer: unlessNew(invalid("data", "field is immutable")),
			},
			[]string{"cannot be changed in place, and holds generated values", "data cannot change"},
		},
		"claim templates that cannot change": {
			situation{
				at: "service.a/StatefulSet/a", live: asItIs, record: known,
				manifest: "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a, namespace: openstack}, spec: {volumeClaimTemplates: [{metadata: {name: data}}]}}",
				adjust: func(o *providers.Object) {
					o.Manifest = o.Manifest.DeepCopy()
					objects := o.Manifest.Object["spec"].(map[string]any)["volumeClaimTemplates"].([]any)
					objects[0].(map[string]any)["metadata"].(map[string]any)["name"] = "store"
				},
				answer: unlessNew(invalid("spec", "updates to statefulset spec for fields other than 'replicas' are forbidden")),
			},
			[]string{"volumes of its own for each replica", "it no longer uses those of its claim data"},
		},
		"a field that the kind does not have": {
			situation{
				at: atConfigMap, manifest: configMap,
				answer: says(refusal(http.StatusInternalServerError, "", "failed to create typed patch object (default/kolla-x7; /v1, Kind=ConfigMap): .datta: field not declared in schema")),
			},
			[]string{"the cluster does not accept ConfigMap openstack/a (cloud.hcl:41): .datta: field not declared in schema"},
		},
		"a value that cannot be converted": {
			situation{
				at: atConfigMap, manifest: configMap,
				answer: says(refusal(http.StatusInternalServerError, "", "failed to convert new object (default/kolla-x7; /v1, Kind=ConfigMap) to proper version: unable to convert: quantities must match the regular expression")),
			},
			[]string{"the cluster does not accept ConfigMap openstack/a (cloud.hcl:41): unable to convert: quantities must match"},
		},
		"no such namespace": {
			situation{at: "service.a/ConfigMap/other/a", manifest: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: other}}"},
			[]string{`namespace "other" does not exist`},
		},
		"state of another cluster": {
			situation{at: atConfigMap, manifest: configMap, input: func(in *planner.Input) { in.State.Cluster.UID = "cluster-0" }},
			[]string{"the state belongs to the cluster at", "cluster-0"},
		},
		"state of another cloud": {
			situation{at: atConfigMap, manifest: configMap, input: func(in *planner.Input) { in.State.Cloud = "test" }},
			[]string{`the state belongs to cloud "test"`},
		},
		"declared twice": {
			situation{at: atConfigMap, manifest: configMap, input: func(in *planner.Input) {
				twin := in.Objects[0]
				twin.Address.Block = "service.b"
				in.Objects = append(in.Objects, twin)
			}},
			[]string{"ConfigMap openstack/a is declared twice", "service.a/ConfigMap/a, at cloud.hcl:41"},
		},
		"depends on nothing": {
			situation{at: atConfigMap, manifest: configMap, input: func(in *planner.Input) {
				in.Objects[0].DependsOn = append(in.Objects[0].DependsOn, address("service.z/ConfigMap/z"))
			}},
			[]string{"depends on service.z/ConfigMap/z, which is not declared"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := mustNotPlan(t, test.make(t))
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("problem is %q, lacks %q", got, want)
				}
			}
		})
	}
}

// TestProblemsAreCollected checks that one plan reports all problems.
func TestProblemsAreCollected(t *testing.T) {
	c := &cluster{answer: says(invalid("data", "is wrong"))}
	in := input(c,
		declared(atConfigMap, objecttest.Read(t, configMap)),
		declared("service.b/ConfigMap/b", objecttest.Read(t, strings.Replace(configMap, "name: a", "name: b", 1))))
	got := mustNotPlan(t, in)
	for _, want := range []string{"openstack/a", "openstack/b"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
}

func TestFailureOfTheWorld(t *testing.T) {
	gone := errors.New("connection refused")
	_, _, err := planner.Make(t.Context(), situation{at: atConfigMap, manifest: configMap, answer: says(gone)}.make(t))
	if !errors.Is(err, gone) || !strings.Contains(err.Error(), atConfigMap) {
		t.Errorf("error is %v", err)
	}
	throttled := refusal(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "later")
	if _, _, err = planner.Make(t.Context(), situation{at: atConfigMap, manifest: configMap, answer: says(throttled)}.make(t)); err == nil {
		t.Error("throttling is taken for an answer")
	}
}

// TestObjectThatMoves checks an object to which another client writes between the LIST and the dry
// run.
func TestObjectThatMoves(t *testing.T) {
	in := situation{
		at: atConfigMap, manifest: configMap, record: known,
		live: func(u *unstructured.Unstructured) {
			owns(u, "kolla", metav1.ManagedFieldsOperationApply, then, `{"f:data":{"f:x":{}}}`)
		},
		answer: func(u *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
			u = live(u, "uid-1")
			u.SetResourceVersion("2")
			u.SetAnnotations(map[string]string{"theirs": "new"})
			owns(u, "kolla", metav1.ManagedFieldsOperationApply, then, `{"f:data":{"f:x":{}}}`)
			return u, nil
		},
	}.make(t)
	if a := find(t, mustPlan(t, in), atConfigMap); a.Verb != plans.None {
		t.Errorf("%s: %+v", a.Verb, a.Changes)
	}
}

// TestObjectThatMovedIsReadAgain checks that a plan reads such an object again, so that it can tell
// the changes of an apply from the other client's write.
func TestObjectThatMovedIsReadAgain(t *testing.T) {
	moved := func(u *unstructured.Unstructured) *unstructured.Unstructured {
		u = live(u, "uid-1")
		u.SetResourceVersion("2")
		u.SetAnnotations(map[string]string{"theirs": "new"})
		owns(u, "kolla", metav1.ManagedFieldsOperationApply, then, `{"f:data":{"f:x":{}}}`)
		return u
	}
	earlier := objecttest.Read(t, strings.Replace(configMap, `"1"`, `"0"`, 1))
	var c *cluster
	in := situation{
		at: atConfigMap, manifest: configMap, record: known,
		live: func(u *unstructured.Unstructured) { *u = *live(earlier, "uid-1") },
		answer: func(u *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
			c.objects = []*unstructured.Unstructured{moved(earlier)}
			u = moved(u)
			return u, unstructured.SetNestedField(u.Object, "by default", "data", "y")
		},
	}.make(t)
	c = in.Reader.(*cluster)
	a := find(t, mustPlan(t, in), atConfigMap)
	var paths []string
	for _, change := range a.Changes {
		paths = append(paths, change.Path)
	}
	if diff := cmp.Diff([]string{`data["x"]`, `data["y"]`}, paths); diff != "" || a.Prior.ResourceVersion != "2" {
		t.Errorf("%s of version %s: %s", a.Verb, a.Prior.ResourceVersion, diff)
	}
}

// TestLongValuesAreNotQuoted checks that the server's quotes of an object get into neither a plan
// nor a message.
func TestLongValuesAreNotQuoted(t *testing.T) {
	long := invalid("spec.template", `Invalid value: {"Env":[{"Name":"PASSWORD","Value":"hunter2: it is"}],"DNSPolicy":"ClusterFirst","RestartPolicy":"Never"}: field is immutable`)
	plan := mustPlan(t, situation{at: atJob, manifest: job, live: asItIs, record: known, answer: unlessNew(long)}.make(t))
	if got := text(t, plan); strings.Contains(got, "hunter2") || !strings.Contains(got, "field is immutable") {
		t.Errorf("plan is %s", got)
	}
	got := mustNotPlan(t, situation{at: atJob, manifest: job, answer: says(long)}.make(t))
	if strings.Contains(got, "hunter2") || !strings.Contains(got, "spec.template: Invalid value: field is immutable") {
		t.Errorf("problem is %q", got)
	}
}

// TestOrderOfWhatDependsOnThePlan checks the order of objects whose kind or namespace the same plan
// creates.
func TestOrderOfWhatDependsOnThePlan(t *testing.T) {
	c := &cluster{missing: schema.GroupKind{Group: "example.org", Kind: "Widget"}}
	surrogates := map[string]bool{}
	c.answer = func(u *unstructured.Unstructured, o providers.DryRunOptions) (*unstructured.Unstructured, error) {
		surrogates[u.GetKind()] = o.Surrogate
		return u, nil
	}
	in := input(c,
		declared("manifest.w/Widget/new/w", objecttest.Read(t, "{apiVersion: example.org/v1, kind: Widget, metadata: {name: w, namespace: new}}")),
		declared("manifest.w/ConfigMap/new/c", objecttest.Read(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: new}}")),
		declared("manifest.w/CustomResourceDefinition/widgets.example.org", objecttest.Read(t,
			"{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: widgets.example.org}, spec: {group: example.org, names: {kind: Widget}}}")),
		declared("manifest.x/Namespace/new", namespaceOf("new")),
	)
	in.Parallelism = 1 // the answers are collected without a lock
	plan := mustPlan(t, in)
	want := []string{
		"create manifest.x/Namespace/new",
		"create manifest.w/ConfigMap/new/c",
		"create manifest.w/CustomResourceDefinition/widgets.example.org",
		"create manifest.w/Widget/new/w",
	}
	if diff := cmp.Diff(want, verbs(plan)); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]bool{"ConfigMap": true, "CustomResourceDefinition": false, "Namespace": false}, surrogates); diff != "" {
		t.Errorf("dry runs under a throw-away name (-want +got):\n%s", diff)
	}
	widget := find(t, plan, "manifest.w/Widget/new/w")
	if widget.Evidence.Kind != plans.Unverified || !strings.Contains(widget.Evidence.Detail, "CustomResourceDefinition/widgets.example.org: it serves no version") {
		t.Errorf("evidence of the custom resource is %+v", widget.Evidence)
	}
	if len(widget.DependsOn) != 2 {
		t.Errorf("custom resource depends on %v", widget.DependsOn)
	}
}

func TestOrderIsByDependencyThenAddress(t *testing.T) {
	named := func(name string) *unstructured.Unstructured {
		return objecttest.Read(t, strings.Replace(configMap, "name: a", "name: "+name, 1))
	}
	in := input(&cluster{},
		declared("service.b/ConfigMap/b", named("b")),
		declared("service.c/ConfigMap/c", named("c")),
		declared("service.a/ConfigMap/a", named("a"), "service.c/ConfigMap/c"))
	want := []string{"create service.c/ConfigMap/c", "create service.a/ConfigMap/a", "create service.b/ConfigMap/b"}
	for range 5 {
		slices.Reverse(in.Objects)
		if diff := cmp.Diff(want, verbs(mustPlan(t, in))); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	}
}

func TestCycle(t *testing.T) {
	in := input(&cluster{},
		declared("service.a/ConfigMap/a", objecttest.Read(t, configMap), "service.b/ConfigMap/b"),
		declared("service.b/ConfigMap/b", objecttest.Read(t, strings.Replace(configMap, "name: a", "name: b", 1)), "service.a/ConfigMap/a"))
	if _, _, err := planner.Make(t.Context(), in); err == nil || !strings.Contains(err.Error(), "cycle") {
		t.Errorf("error is %v", err)
	}
}

// TestNoSecretInAPlan checks that a plan contains no secret values, whatever happens to the Secret.
func TestNoSecretInAPlan(t *testing.T) {
	const generated, given, derived = "c2VjcmV0LWdlbmVyYXRlZA==", "secret-given", "secret-generated"
	source := objecttest.Read(t, "{apiVersion: v1, kind: Secret, metadata: {name: source, namespace: openstack}, data: {password: "+generated+"}}")
	target := objecttest.Read(t, "{apiVersion: v1, kind: Secret, metadata: {name: target, namespace: openstack}}")
	o := declared("service.a/Secret/target", target)
	o.Data = map[string]providers.SecretData{
		"derived": {Parts: []providers.DataPart{{Literal: "p="}, {From: &providers.SecretKey{Namespace: "openstack", Name: "source", Key: "password"}}}},
		"given":   {Parts: []providers.DataPart{{Sensitive: given}}},
		"made":    {Generate: &providers.Generator{Kind: "password", Length: 8}},
	}
	was := live(target, "uid-2")
	was.Object["data"] = map[string]any{"derived": generated}
	for name, objects := range map[string][]*unstructured.Unstructured{
		"create": {live(source, "uid-1")},
		"update": {live(source, "uid-1"), was},
	} {
		t.Run(name, func(t *testing.T) {
			in := input(&cluster{objects: objects}, o)
			in.State.Objects = []state.Object{recorded("service.a/Secret/target", was)}
			plan := mustPlan(t, in)
			got := text(t, plan)
			for _, secret := range []string{generated, given, derived, "c2VjcmV0LWdpdmVu"} {
				if strings.Contains(got, secret) {
					t.Errorf("the plan holds %q:\n%s", secret, got)
				}
			}
			want := map[string]any{"derived": plans.Masked, "given": plans.Masked, "made": plans.Unknown}
			for _, c := range find(t, plan, "service.a/Secret/target").Changes {
				key := strings.TrimSuffix(strings.TrimPrefix(c.Path, `data["`), `"]`)
				if w, ok := want[key]; ok && (c.After != w || !c.Sensitive) {
					t.Errorf("change of %s is %+v, want %v", key, c, w)
				}
			}
		})
	}
}

func conflictsOf(manager string, fields int) []providers.Conflict {
	var out []providers.Conflict
	for i := range fields {
		out = append(out, providers.Conflict{Manager: manager, Path: fmt.Sprintf(".k%02d", i)})
	}
	return out
}
