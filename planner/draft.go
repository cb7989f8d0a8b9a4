package planner

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Draft returns a declaration of a live object. An apply of it changes nothing. It leaves out
// the fields that the server and its controllers write, and defaults. It leaves out a default
// only if a dry run shows that the server sets it again and that no other writer loses a
// field. If the dry run is not possible, all defaults stay. The values of a Secret are
// included.
func Draft(ctx context.Context, reader providers.Reader, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	full := declarable(live)
	if !proof.BuiltIn(live.GroupVersionKind()) {
		return full, nil
	}
	bare := &unstructured.Unstructured{Object: withoutDefaults(full.Object).(map[string]any)}
	trial := dryrun.WithoutUnique(bare, live)
	answer, err := reader.DryRun(ctx, trial.Manifest, providers.DryRunOptions{Surrogate: true, Namespace: live.GetNamespace()})
	if err != nil {
		return full, ctx.Err()
	}
	draft := &unstructured.Unstructured{Object: restored(bare.Object, full.Object, trial.Complete(answer).Object).(map[string]any)}
	// The server treats some different texts as one value. A draft with another text conflicts
	// with the owner of the original text.
	if _, err := reader.DryRun(ctx, draft, providers.DryRunOptions{}); err != nil {
		return full, ctx.Err()
	}
	return draft, nil
}

// ControllerOf names the controller that would create the object again or revert changes of
// it. It is empty if there is none.
func ControllerOf(live *unstructured.Unstructured) string {
	if owner := metav1.GetControllerOf(live); owner != nil {
		return owner.Kind + " " + owner.Name
	}
	return ""
}

// declarable returns a copy of a live object without the fields that nobody declares.
func declarable(live *unstructured.Unstructured) *unstructured.Unstructured {
	u := fields.Stripped(live.DeepCopy())
	u.SetName(live.GetName())
	u.SetNamespace(live.GetNamespace())
	u.SetFinalizers(nil)
	u.SetOwnerReferences(nil)
	annotations := u.GetAnnotations()
	maps.DeleteFunc(annotations, func(key, _ string) bool {
		return proof.KeeperOf(live, []string{"metadata", "annotations", key}) == proof.System
	})
	u.SetAnnotations(annotations)
	if len(annotations) == 0 {
		unstructured.RemoveNestedField(u.Object, "metadata", "annotations")
	}
	for _, path := range kinds.Assigned(live.GroupVersionKind().GroupKind()) {
		unstructured.RemoveNestedField(u.Object, path...)
	}
	if address, _, _ := unstructured.NestedString(u.Object, "spec", "clusterIP"); address != "None" && live.GroupVersionKind().GroupKind() == kinds.Service {
		unstructured.RemoveNestedField(u.Object, "spec", "clusterIP")
	}
	for _, path := range [][]string{{"metadata", "labels"}, {"spec", "template", "metadata", "labels"}} {
		labels, _, _ := unstructured.NestedStringMap(u.Object, path...)
		maps.DeleteFunc(labels, func(key, _ string) bool { return strings.HasSuffix(key, "controller-uid") })
		if len(labels) == 0 {
			unstructured.RemoveNestedField(u.Object, path...)
		} else if err := unstructured.SetNestedStringMap(u.Object, labels, path...); err != nil {
			panic(err) // it was a map of strings when it was read
		}
	}
	unstructured.RemoveNestedField(u.Object, "spec", "template", "metadata", "creationTimestamp")
	return u
}

// usual maps fields of Kubernetes' own kinds to their common default values, which Draft tries
// to leave out. Nil means any value.
var usual = map[string][]any{
	"allocateLoadBalancerNodePorts": {true}, "backoffLimit": {int64(6)},
	"completionMode": {"NonIndexed"}, "completions": {int64(1)}, "concurrencyPolicy": {"Allow"},
	"defaultMode": {int64(420)}, "dnsPolicy": {"ClusterFirst"}, "externalTrafficPolicy": {"Cluster"},
	"failedJobsHistoryLimit": {int64(1)}, "failurePolicy": {"Fail"}, "failureThreshold": {int64(3)},
	"imagePullPolicy": {"IfNotPresent", "Always"}, "internalTrafficPolicy": {"Cluster"},
	"ipFamilyPolicy": {"SingleStack"}, "matchPolicy": {"Equivalent"}, "parallelism": {int64(1)},
	"periodSeconds": {int64(10)}, "persistentVolumeClaimRetentionPolicy": nil, "podManagementPolicy": {"OrderedReady"},
	"podReplacementPolicy": nil, "policyTypes": nil, "progressDeadlineSeconds": {int64(600)}, "protocol": {"TCP"},
	"reclaimPolicy": {"Delete"}, "replicas": {int64(1)}, "resources": {map[string]any{}}, "restartPolicy": {"Always"}, "revisionHistoryLimit": {int64(10)},
	"schedulerName": {"default-scheduler"}, "scheme": {"HTTP"}, "securityContext": {map[string]any{}},
	"serviceAccount": nil, "sessionAffinity": {"None"}, "startingDeadlineSeconds": nil, "strategy": nil,
	"successThreshold": {int64(1)}, "successfulJobsHistoryLimit": {int64(3)}, "suspend": {false},
	"targetPort": nil, "terminationGracePeriodSeconds": {int64(30)}, "terminationMessagePath": nil,
	"terminationMessagePolicy": nil, "timeoutSeconds": {int64(1)}, "type": {"ClusterIP", "Opaque"},
	"updateStrategy": nil, "volumeBindingMode": {"Immediate"}, "volumeMode": {"Filesystem"},
}

// ownKeys are fields whose keys are arbitrary names, not fields.
var ownKeys = []string{"metadata", "data", "binaryData", "stringData", "matchLabels", "selector", "nodeSelector", "limits", "requests", "parameters", "schema"}

// withoutDefaults returns a copy of a part of an object without the usual values.
func withoutDefaults(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, field := range v {
			common, known := usual[key]
			switch {
			case slices.Contains(ownKeys, key):
				out[key] = field
			case known && (common == nil || slices.ContainsFunc(common, func(c any) bool { return reflect.DeepEqual(c, field) })):
			default:
				out[key] = withoutDefaults(field)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, element := range v {
			out[i] = withoutDefaults(element)
		}
		return out
	}
	return value
}

// restored puts back the fields that were left out of an object and that the server did not
// set again.
func restored(bare, full, answer any) any {
	switch b := bare.(type) {
	case map[string]any:
		whole, ok := full.(map[string]any)
		if !ok {
			return full
		}
		given, _ := answer.(map[string]any)
		out := map[string]any{}
		for key, value := range whole {
			kept, there := b[key]
			switch {
			case there:
				out[key] = restored(kept, value, given[key])
			case !reflect.DeepEqual(value, given[key]):
				out[key] = value
			}
		}
		return out
	case []any:
		whole, ok := full.([]any)
		if !ok || len(whole) != len(b) {
			return full
		}
		given, _ := answer.([]any)
		out := make([]any, len(b))
		for i := range b {
			var one any
			if i < len(given) {
				one = given[i]
			}
			out[i] = restored(b[i], whole[i], one)
		}
		return out
	}
	return full
}
