package planner

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// warnPodSecurity warns of pods that a namespace will refuse, once this plan has made
// it or given it another Pod Security level. The server does not say so of a dry run:
// there the namespace is as it is now, or another one.
func (p *planning) warnPodSecurity() {
	levels := map[string]*subject{}
	for _, s := range p.subjects {
		if s.action.Ref.GVK == inventory.Namespaces && s.enforcesAnew() {
			levels[s.action.Ref.Name] = s
		}
	}
	if len(levels) == 0 {
		return
	}
	for _, s := range p.subjects {
		namespace := levels[s.action.Ref.Namespace]
		if namespace == nil || s.action.Verb == "" || s.finished() && s.action.Verb == plans.None {
			continue
		}
		if why := refusedPods(cmp.Or(s.after, s.object.Manifest), p.enforced(namespace.object)); why != "" {
			p.problems = append(p.problems, podSecurityProblem(s, namespace, why))
		}
	}
}

// enforcesAnew reports whether a namespace gets a level of Pod Security that it does
// not have yet.
func (s *subject) enforcesAnew() bool {
	label := s.object.Manifest.GetLabels()[api.EnforceLevelLabel]
	return label != "" && (s.live == nil || s.live.GetLabels()[api.EnforceLevelLabel] != label)
}

// letsIn reports whether this plan gives the namespace of the subject another Pod Security
// level, which lets its pods in.
func (p *planning) letsIn(s *subject) bool {
	ref := providers.Ref{GVK: inventory.Namespaces, Name: s.action.Ref.Namespace}
	namespace := p.inv.DeclaredAs(ref)
	if namespace == nil {
		return false
	}
	changed := subject{object: namespace, live: p.Snapshot.Get(ref)}
	return changed.enforcesAnew() && refusedPods(s.object.Manifest, p.enforced(namespace)) == ""
}

// podSecurityProblem says what is refused, who says so, and how to go on.
func podSecurityProblem(s, namespace *subject, why string) plans.Problem {
	advice := fmt.Sprintf("correct the securityContext of the pods, or set another level in the label %s of %s", api.EnforceLevelLabel, namespace.object.Address)
	if strings.HasPrefix(namespace.object.Address.Block, "cloud.") {
		advice = "correct the securityContext of the pods, or set another pod_security in the cloud block"
	}
	if namespace.object.Source != "" {
		advice += fmt.Sprintf(" (%s)", namespace.object.Source)
	}
	problem := plans.ProblemOf(s.object,
		fmt.Sprintf("the pods of %s will be refused: the namespace enforces %q", s.action.Ref, namespace.object.Manifest.GetLabels()[api.EnforceLevelLabel]),
		fmt.Sprintf("%s.\nThey would never start. To go on, %s.", why, advice))
	problem.Warning = true
	return problem
}

// podPolicy are the Pod Security Standards, as the API server has them.
var podPolicy = sync.OnceValues(func() (policy.Evaluator, error) {
	return policy.NewEvaluator(policy.DefaultChecks(), nil)
})

// enforced is the level of a namespace, in the version of the server where it does
// not name one. A level that there is not is privileged: the server refuses it.
func (p *planning) enforced(namespace *providers.Object) api.LevelVersion {
	labels := namespace.Manifest.GetLabels()
	level, err := api.ParseLevel(labels[api.EnforceLevelLabel])
	if err != nil {
		level = api.LevelPrivileged
	}
	version, err := api.ParseVersion(labels[api.EnforceVersionLabel])
	if err != nil || version.Latest() {
		version, err = api.ParseVersion(minorVersion.FindString(p.Cluster.Version))
	}
	if err != nil {
		version = api.LatestVersion()
	}
	return api.LevelVersion{Level: level, Version: version}
}

// minorVersion matches what Pod Security knows of a server's version.
var minorVersion = regexp.MustCompile(`^v1\.[0-9]+`)

// refusedPods says what a level has against the pods of an object; empty: nothing, or
// nothing can be said.
func refusedPods(object *unstructured.Unstructured, level api.LevelVersion) string {
	path, runs := kinds.Pods(object.GroupVersionKind().GroupKind())
	if !runs {
		return ""
	}
	fields, _, _ := unstructured.NestedMap(object.Object, path...)
	var pod corev1.PodTemplateSpec
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &pod); err != nil {
		return ""
	}
	checks, err := podPolicy()
	if err != nil {
		return ""
	}
	result := policy.AggregateCheckResults(checks.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec))
	if result.Allowed {
		return ""
	}
	return result.ForbiddenDetail()
}
