// Package podsecurity evaluates the Pod Security Standards for the pods of an object, with the
// checks of the API server. No cluster is needed, so it also judges a level that a namespace
// does not have yet.
package podsecurity

import (
	"regexp"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"kolla.openstack.org/kolla/providers/kinds"
)

// The levels of the Pod Security Standards.
const (
	Restricted = string(api.LevelRestricted)
	Baseline   = string(api.LevelBaseline)
	Privileged = string(api.LevelPrivileged)
)

// Label is the label of a namespace with its level.
const Label = api.EnforceLevelLabel

// Levels returns all levels, the strictest first.
func Levels() []string { return []string{Restricted, Baseline, Privileged} }

// Weaker returns the less strict of two levels.
func Weaker(a, b string) string {
	if slices.Index(Levels(), a) > slices.Index(Levels(), b) {
		return a
	}
	return b
}

// Latest returns a level in its latest version.
func Latest(level string) api.LevelVersion {
	return api.LevelVersion{Level: api.Level(level), Version: api.LatestVersion()}
}

// LevelOf returns the level of a namespace. If the namespace names no version, the version of
// the server counts. An invalid level counts as privileged, because the server refuses it.
func LevelOf(namespace *unstructured.Unstructured, serverVersion string) api.LevelVersion {
	labels := namespace.GetLabels()
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

// Changes reports whether the declared namespace gets a level that the live one does not have.
// live may be nil.
func Changes(declared, live *unstructured.Unstructured) bool {
	level := declared.GetLabels()[Label]
	return level != "" && (live == nil || live.GetLabels()[Label] != level)
}

// evaluator has the checks of the API server.
var evaluator = sync.OnceValues(func() (policy.Evaluator, error) {
	return policy.NewEvaluator(policy.DefaultChecks(), nil)
})

// Evaluate returns the results of all checks for a pod template. There are none if a part of
// the pod is not known yet.
func Evaluate(template map[string]any, level api.LevelVersion) []policy.CheckResult {
	var pod corev1.PodTemplateSpec
	checks, err := evaluator()
	if err != nil {
		return nil
	}
	text, err := json.Marshal(template)
	if err != nil || json.Unmarshal(text, &pod) != nil { // names are case-sensitive, as for the server
		return nil
	}
	return checks.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec)
}

// Judge checks the pods of an object against a level. It allows objects without pods, and pods
// with a part that is not known yet.
func Judge(object *unstructured.Unstructured, level api.LevelVersion) policy.AggregateCheckResult {
	path, runs := kinds.Pods(object.GroupVersionKind().GroupKind())
	if !runs {
		return policy.AggregateCheckResult{Allowed: true}
	}
	template, _, _ := unstructured.NestedMap(object.Object, path...)
	return policy.AggregateCheckResults(Evaluate(template, level))
}

// Refusal returns the reason why a level refuses the pods of an object. It is empty if Judge
// allows them.
func Refusal(object *unstructured.Unstructured, level api.LevelVersion) string {
	if result := Judge(object, level); !result.Allowed {
		return result.ForbiddenDetail()
	}
	return ""
}
