// Package readiness says whether an object is ready (Assess), and if it is not, why. An Inquiry
// looks at the pods, events, nodes and claims around an object; its result is a Finding. A
// Source lists these objects.
package readiness

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Assessment is the result of Assess.
type Assessment struct {
	Ready   bool
	Growing bool   // it is a ready claim whose file system is still to grow
	Failed  bool   // it will not become ready
	Status  string // what is missing, or why it failed
}

// Assess assesses an object by kstatus, with stricter or looser rules for some kinds. A Job
// must be complete and a Namespace active, because dependent objects need that. With the update
// strategy OnDelete, old pods count as ready. While kolla waits, package watch also accepts a
// claim that is bound by its first pod, and a DaemonSet that lacks only pods of nodes that are
// down.
func Assess(object *unstructured.Unstructured) (Assessment, error) {
	kind := object.GroupVersionKind().GroupKind()
	onDelete := Field(object, "spec", "updateStrategy", "type") == "OnDelete"
	switch {
	case object.GetDeletionTimestamp() != nil:
		return Assessment{Failed: true, Status: "it is being deleted"}, nil
	case kind == kinds.Job:
		return assessJob(object), nil
	case kind == kinds.Namespace:
		active := Field(object, "status", "phase") == string(corev1.NamespaceActive)
		return Assessment{Ready: active, Status: "the namespace is not active yet"}, nil
	case kind == kinds.PersistentVolumeClaim:
		return assessClaim(object), nil
	case providers.IsWayIn(object):
		problem := providers.WayInProblem(object)
		return Assessment{Ready: problem == "", Status: problem}, nil
	case kind == kinds.StatefulSet && onDelete:
		return assessOnDelete(object, number(object, 1, "spec", "replicas"), number(object, 0, "status", "readyReplicas")), nil
	case kind == kinds.DaemonSet && onDelete:
		return assessOnDelete(object, number(object, 0, "status", "desiredNumberScheduled"), number(object, 0, "status", "numberReady")), nil
	case slices.Contains([]schema.GroupKind{kinds.Deployment, kinds.StatefulSet, kinds.DaemonSet}, kind) && !observed(object):
		return Assessment{Status: progress(object, nil)}, nil // kstatus converts the whole object to find out
	}
	result, err := status.Compute(object)
	if err != nil {
		return Assessment{}, fmt.Errorf("judge the status of %s: %w", providers.RefOf(object), err)
	}
	return Assessment{
		Ready:  result.Status == status.CurrentStatus,
		Failed: result.Status == status.FailedStatus,
		Status: progress(object, result),
	}, nil
}

func assessJob(job *unstructured.Unstructured) Assessment {
	if condition := conditionOf(job, string(batchv1.JobComplete)); condition != nil {
		return Assessment{Ready: true}
	}
	if condition := conditionOf(job, string(batchv1.JobFailed)); condition != nil {
		return Assessment{Failed: true, Status: fmt.Sprintf("the job failed (%s)", condition["reason"])}
	}
	if suspended, _, _ := unstructured.NestedBool(job.Object, "spec", "suspend"); suspended {
		return Assessment{Status: "the job is suspended"}
	}
	var counts []string
	for _, state := range []string{"active", "failed"} {
		if n := number(job, 0, "status", state); n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, state))
		}
	}
	switch {
	case Field(job, "status", "startTime") == "":
		return Assessment{Status: "the job has not started yet"}
	case len(counts) == 0:
		return Assessment{Status: "the job has not completed yet"}
	}
	return Assessment{Status: "the job has not completed yet (" + strings.Join(counts, ", ") + ")"}
}

func assessClaim(claim *unstructured.Unstructured) Assessment {
	switch Field(claim, "status", "phase") {
	case string(corev1.ClaimBound):
		return assessSize(claim)
	case string(corev1.ClaimLost):
		return Assessment{Failed: true, Status: "the volume it was bound to does not exist any more"}
	}
	return Assessment{Status: "it has no volume yet"}
}

// assessOnDelete is for workloads whose pods are replaced only after somebody deletes them.
// Old pods count like new ones.
func assessOnDelete(object *unstructured.Unstructured, want, ready int64) Assessment {
	if !observed(object) {
		return Assessment{Status: rolloutUnseen}
	}
	return Assessment{Ready: ready >= want, Status: fmt.Sprintf("%d of %d pods ready", ready, want)}
}

const rolloutUnseen = "the controller has not seen it yet"

// observed reports whether the controller has seen the present specification.
func observed(object *unstructured.Unstructured) bool {
	return number(object, 0, "status", "observedGeneration") >= object.GetGeneration()
}

// progress describes in a few words what is still missing.
func progress(object *unstructured.Unstructured, result *status.Result) string {
	switch object.GroupVersionKind().GroupKind() {
	case kinds.Deployment, kinds.StatefulSet:
		if result != nil && result.Status == status.FailedStatus {
			break
		}
		return replicas(object)
	case kinds.DaemonSet:
		want := number(object, 0, "status", "desiredNumberScheduled")
		updated := number(object, 0, "status", "updatedNumberScheduled")
		switch {
		case !observed(object):
			return rolloutUnseen
		case updated < want:
			return fmt.Sprintf("%d of %d pods updated", updated, want)
		}
		return fmt.Sprintf("%d of %d pods ready", number(object, 0, "status", "numberReady"), want)
	}
	if result.Message == "" {
		return "it is not ready yet"
	}
	return strings.ToLower(result.Message[:1]) + result.Message[1:]
}

// replicas describes the progress of a Deployment or StatefulSet.
func replicas(object *unstructured.Unstructured) string {
	want := number(object, 1, "spec", "replicas")
	updated := number(object, 0, "status", "updatedReplicas")
	ready := number(object, 0, "status", "readyReplicas")
	paused, _, _ := unstructured.NestedBool(object.Object, "spec", "paused")
	switch {
	case paused:
		return "the rollout is paused"
	case !observed(object):
		return rolloutUnseen
	case updated < want:
		return fmt.Sprintf("%d of %d replicas updated", updated, want)
	case ready < want:
		return fmt.Sprintf("%d of %d replicas ready", ready, want)
	}
	if old := number(object, 0, "status", "replicas") - want; old > 0 {
		return fmt.Sprintf("%d old replicas have not ended yet", old)
	}
	return "the rollout is not complete yet"
}

// number returns a number of an object; otherwise: the field is missing.
func number(object *unstructured.Unstructured, otherwise int64, path ...string) int64 {
	if n, ok, err := unstructured.NestedInt64(object.Object, path...); ok && err == nil {
		return n
	}
	return otherwise
}

// Field returns a text of an object; empty: the field is missing.
func Field(object *unstructured.Unstructured, path ...string) string {
	text, _, _ := unstructured.NestedString(object.Object, path...)
	return text
}

// conditionOf returns the condition of a type if it is true; nil: it is not.
func conditionOf(object *unstructured.Unstructured, kind string) map[string]any {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, item := range conditions {
		condition, _ := item.(map[string]any)
		if condition["type"] == kind && condition["status"] == "True" {
			return condition
		}
	}
	return nil
}
