package planner_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// claimOf returns the bound claim of replica 0 of the StatefulSet db.
func claimOf(t *testing.T, size string) *unstructured.Unstructured {
	u := live(thing("v1", "PersistentVolumeClaim", "data-db-0"), "uid of the claim")
	u.SetLabels(map[string]string{providers.LabelCloud: "prod", providers.LabelService: "store"})
	put(t, u, size, "spec", "resources", "requests", "storage")
	put(t, u, size, "status", "capacity", "storage")
	put(t, u, "Bound", "status", "phase")
	return u
}

// TestVolumesGrow checks claims whose size differs from the StatefulSet's declaration of 2Gi.
func TestVolumesGrow(t *testing.T) {
	const at = "service.store/StatefulSet/db"
	forbidden := refusal(http.StatusForbidden, metav1.StatusReasonForbidden, `persistentvolumeclaims "data-db-0" is forbidden: the storageclass must support resize`)
	denied := refusal(http.StatusForbidden, metav1.StatusReasonForbidden, `admission webhook "sizes.example.org" denied the request: no`)
	refresh := func(in *planner.Input) { in.RefreshOnly = true }
	for name, test := range map[string]struct {
		size  string // of the claim; empty: 1Gi
		alter func(t *testing.T, claim *unstructured.Unstructured)
		set   func(t *testing.T, live *unstructured.Unstructured)
		input func(in *planner.Input)
		err   error  // of the dry run of the claim
		grows bool   // an action grows the claim
		says  string // part of a warning that the claim does not change
		error string // part of an error
		// evidence of the action, if the dry run failed.
		evidence string
		// hidden: the cluster does not show claims.
		hidden bool
	}{
		"hidden":         {hidden: true},
		"as declared":    {size: "2Gi"},
		"in other words": {size: "2048Mi"},
		"smaller":        {grows: true},
		"smaller, and declared elsewhere": {input: func(in *planner.Input) {
			in.Objects = append(in.Objects, declared("manifest.c/PersistentVolumeClaim/data-db-0", claimManifest(in)))
		}},
		"smaller, and being deleted": {alter: func(_ *testing.T, claim *unstructured.Unstructured) {
			now := metav1.NewTime(then)
			claim.SetDeletionTimestamp(&now)
		}},
		"of a replica that is scaled away": {grows: true, alter: func(_ *testing.T, claim *unstructured.Unstructured) { claim.SetName("data-db-7") }},
		"of another StatefulSet":           {alter: func(_ *testing.T, claim *unstructured.Unstructured) { claim.SetName("data-other-0") }},
		"smaller, in a refresh":            {input: refresh, says: "It has 1Gi, and 2Gi is declared. kolla plan says whether it can grow"},
		"smaller, in a refresh, and not as declared before": {input: refresh, set: func(_ *testing.T, live *unstructured.Unstructured) {
			live.Object["spec"] = databaseSet("db", "1Gi").Object["spec"]
		}},
		"smaller, and admission denies the dry run":             {err: denied, grows: true, evidence: "the dry run was denied"},
		"smaller, and it may be written although it was denied": {err: denied, grows: true, evidence: "the dry run was denied", input: func(in *planner.Input) { in.AllowUnverified = true }},
		"smaller, and it may not grow":                          {err: forbidden, says: "It has 1Gi, and 2Gi is declared. The cluster does not let it grow"},
		"smaller, without a class":                              {err: forbidden, says: "It has no storage class"},
		"smaller, as declared before, and it may not grow": {
			err: forbidden, error: "cannot make the volume of claim data-db-0 grow from 1Gi to 2Gi at claim.hcl:7", set: func(_ *testing.T, live *unstructured.Unstructured) {
				live.Object["spec"] = databaseSet("db", "1Gi").Object["spec"]
			},
		},
		"smaller, as declared before, and it may not grow, in a refresh": {err: forbidden, input: refresh, set: func(_ *testing.T, live *unstructured.Unstructured) {
			live.Object["spec"] = databaseSet("db", "1Gi").Object["spec"]
		}},
		"smaller, of a class": {err: forbidden, says: "kubectl patch storageclass fast -p '{\"allowVolumeExpansion\": true}'", alter: func(t *testing.T, claim *unstructured.Unstructured) {
			put(t, claim, "fast", "spec", "storageClassName")
		}},
		"without a volume": {says: "It has no volume yet", alter: func(t *testing.T, claim *unstructured.Unstructured) { put(t, claim, "Pending", "status", "phase") }},
		"lost":             {says: "its volume no longer exists", alter: func(t *testing.T, claim *unstructured.Unstructured) { put(t, claim, "Lost", "status", "phase") }},
		"larger":           {size: "4Gi", says: "It has 4Gi, and 2Gi is declared. A volume cannot shrink"},
		"larger, in a refresh": {
			size: "4Gi", says: "A volume cannot shrink", input: func(in *planner.Input) { in.RefreshOnly = true },
		},
		"larger, as declared before": {size: "4Gi", error: "cannot shrink the volume of claim data-db-0 from 4Gi to 2Gi at claim.hcl:7", set: func(_ *testing.T, live *unstructured.Unstructured) {
			live.Object["spec"] = databaseSet("db", "4Gi").Object["spec"]
		}},
		"larger, as declared before, in a refresh": {size: "4Gi", says: "It has 4Gi, and 2Gi is declared. Kubernetes makes no volume smaller", input: refresh, set: func(_ *testing.T, live *unstructured.Unstructured) {
			live.Object["spec"] = databaseSet("db", "4Gi").Object["spec"]
		}},
		"still growing": {size: "2Gi", says: "It asks for 2Gi, and has 1Gi. The storage driver makes it grow", alter: func(t *testing.T, claim *unstructured.Unstructured) {
			claim.SetAnnotations(map[string]string{"volume.kubernetes.io/storage-provisioner": "example.org"})
			put(t, claim, "1Gi", "status", "capacity", "storage")
		}},
		"bound by hand to a smaller volume": {size: "2Gi", alter: func(t *testing.T, claim *unstructured.Unstructured) {
			put(t, claim, "1Gi", "status", "capacity", "storage")
		}},
		"with a file system that grows later": {size: "2Gi", says: "The volume has grown. Its file system grows", alter: func(t *testing.T, claim *unstructured.Unstructured) {
			claim.SetAnnotations(map[string]string{"volume.kubernetes.io/storage-provisioner": "example.org"})
			put(t, claim, "1Gi", "status", "capacity", "storage")
			put(t, claim, []any{map[string]any{"type": "FileSystemResizePending", "status": "True"}}, "status", "conditions")
		}},
		"of another class": {size: "2Gi", says: `It has the storage class "slow", and "fast" is declared`, alter: func(t *testing.T, claim *unstructured.Unstructured) {
			put(t, claim, "slow", "spec", "storageClassName")
		}, input: declares("fast", "storageClassName")},
		"of other access modes": {size: "2Gi", says: "It has the access modes ReadWriteOnce, and ReadOnlyMany, ReadWriteMany is declared", alter: func(t *testing.T, claim *unstructured.Unstructured) {
			put(t, claim, []any{"ReadWriteOnce"}, "spec", "accessModes")
		}, input: declares([]any{"ReadWriteMany", "ReadOnlyMany"}, "accessModes")},
		"of the same access modes": {size: "2Gi", alter: func(t *testing.T, claim *unstructured.Unstructured) {
			put(t, claim, []any{"ReadOnlyMany", "ReadWriteMany"}, "spec", "accessModes")
		}, input: declares([]any{"ReadWriteMany", "ReadOnlyMany"}, "accessModes")},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			w.add(at, databaseSet("db", "2Gi"))
			if test.set != nil {
				test.set(t, w.last())
			}
			size := "1Gi"
			if test.size != "" {
				size = test.size
			}
			claim := claimOf(t, size)
			if test.alter != nil {
				test.alter(t, claim)
			}
			w.cluster.objects = append(w.cluster.objects, claim)
			w.cluster.answer = func(object *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
				if object.GetKind() == "PersistentVolumeClaim" {
					return object, test.err
				}
				return object, nil
			}
			if test.hidden {
				w.cluster.hidden = claim.GroupVersionKind().GroupKind()
			}
			db := declared(at, databaseSet("db", "2Gi"))
			db.Places = map[string]string{providers.ClaimPlace("data"): "claim.hcl:7"}
			in := w.input(db)
			if test.input != nil {
				test.input(&in)
			}
			plan, problems, err := planner.Make(t.Context(), in)
			if err != nil {
				t.Fatal(err)
			}
			var warned, failed string
			if test.hidden && !slices.ContainsFunc(problems, func(p plans.Problem) bool {
				return p.Warning && p.Summary == "the claims of StatefulSet openstack/db could not be compared"
			}) {
				t.Errorf("problems are %+v", problems)
			}
			for _, p := range problems {
				if p.Warning && p.Stays {
					warned += p.Detail
				} else if !p.Warning {
					failed += p.Summary + " at " + p.Source
				}
			}
			if !strings.Contains(warned, test.says) || (test.says == "") != (warned == "") {
				t.Errorf("it warns %q, want %q", warned, test.says)
			}
			if !strings.Contains(failed, test.error) || (test.error == "") != (failed == "") {
				t.Errorf("it fails with %q, want %q", failed, test.error)
			}
			i := slices.IndexFunc(plan.Actions, func(a plans.Action) bool { return a.Grows != "" })
			if (i >= 0) != test.grows {
				t.Fatalf("the claim grows: %t, want %t", i >= 0, test.grows)
			}
			if test.grows && !strings.HasPrefix(plan.Actions[i].Evidence.Detail, test.evidence) || test.grows && (test.evidence == "") != (plan.Actions[i].Evidence.Kind == plans.DryRun) {
				t.Errorf("evidence is %+v", plan.Actions[i].Evidence)
			}
			if a := plan.Actions; test.grows && (a[i].Grows != "2Gi" || a[i].Verb != plans.Update || a[i].Prior.UID != "uid of the claim" || a[i].Changes[0].Before != "1Gi") {
				t.Errorf("action is %+v", a[i])
			}
		})
	}
}

// claimManifest returns a separate declaration of the cluster's claim.
func claimManifest(in *planner.Input) *unstructured.Unstructured {
	u := thing("v1", "PersistentVolumeClaim", "data-db-0")
	in.Adopt = append(in.Adopt, "manifest.c/PersistentVolumeClaim/data-db-0")
	return u
}

// declares sets a field in the claim template of the StatefulSet, before and now.
func declares(value any, field string) func(*planner.Input) {
	return func(in *planner.Input) {
		template := in.Objects[0].Manifest.Object["spec"].(map[string]any)["volumeClaimTemplates"].([]any)[0].(map[string]any)
		template["spec"].(map[string]any)[field] = value
	}
}

// TestStiffClaims checks that only the server's own refusal says that a declared claim cannot grow.
func TestStiffClaims(t *testing.T) {
	const at = "manifest.c/PersistentVolumeClaim/data-db-0"
	for name, test := range map[string]struct {
		err   error
		stiff bool
	}{
		"the class":             {refusal(http.StatusForbidden, metav1.StatusReasonForbidden, "the storageclass must support resize"), true},
		"too many requests":     {refusal(http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, "later"), false},
		"a lost connection":     {errors.New("connection reset by peer"), false},
		"a policy or a webhook": {refusal(http.StatusForbidden, metav1.StatusReasonForbidden, `admission webhook "x.example.org" denied the request: no`), false},
	} {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			w.add(at, claimOf(t, "1Gi"))
			w.cluster.answer = func(object *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
				return object, test.err
			}
			_, problems, err := planner.Make(t.Context(), w.input(declared(at, claimOf(t, "2Gi"))))
			said := fmt.Sprint(problems, err)
			if strings.Contains(said, "cannot grow") != test.stiff {
				t.Errorf("it says %s", said)
			}
		})
	}
}
