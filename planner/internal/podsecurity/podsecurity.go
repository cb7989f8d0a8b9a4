// Package podsecurity evaluates the Pod Security level of a namespace before the namespace
// has that level. A dry run of the server cannot: there the namespace is as it is now.
package podsecurity

import (
	"regexp"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Label is the label of a namespace with its level.
const Label = api.EnforceLevelLabel

// Changes reports whether the declared namespace gets a level that the live one does not
// have. live may be nil.
func Changes(namespace *providers.Object, live *unstructured.Unstructured) bool {
	label := namespace.Manifest.GetLabels()[Label]
	return label != "" && (live == nil || live.GetLabels()[Label] != label)
}

// evaluator has the Pod Security Standards of the API server.
var evaluator = sync.OnceValues(func() (policy.Evaluator, error) {
	return policy.NewEvaluator(policy.DefaultChecks(), nil)
})

// levelOf returns the level of a namespace. If the namespace names no version, that of the
// server counts. An invalid level counts as privileged, because the server refuses it.
func levelOf(namespace *providers.Object, serverVersion string) api.LevelVersion {
	labels := namespace.Manifest.GetLabels()
	level, err := api.ParseLevel(labels[Label])
	if err != nil {
		level = api.LevelPrivileged
	}
	version, err := api.ParseVersion(labels[api.EnforceVersionLabel])
	if err != nil || version.Latest() {
		version, err = api.ParseVersion(minorVersion.FindString(serverVersion))
	}
	if err != nil {
		version = api.LatestVersion()
	}
	return api.LevelVersion{Level: level, Version: version}
}

// minorVersion matches the part of a server's version that Pod Security knows.
var minorVersion = regexp.MustCompile(`^v1\.[0-9]+`)

// Refused explains why the level of the declared namespace refuses the pods of an object;
// empty: it accepts them, or nobody can tell.
func Refused(object *unstructured.Unstructured, namespace *providers.Object, serverVersion string) string {
	path, runs := kinds.Pods(object.GroupVersionKind().GroupKind())
	if !runs {
		return ""
	}
	fields, _, _ := unstructured.NestedMap(object.Object, path...)
	var pod corev1.PodTemplateSpec
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &pod); err != nil {
		return ""
	}
	checks, err := evaluator()
	if err != nil {
		return ""
	}
	result := policy.AggregateCheckResults(checks.EvaluatePod(levelOf(namespace, serverVersion), &pod.ObjectMeta, &pod.Spec))
	if result.Allowed {
		return ""
	}
	return result.ForbiddenDetail()
}
