package openstack

import (
	"fmt"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"kolla.openstack.org/kolla/lang/configs"
)

// A patch cannot give pods more rights: only blocks and manifests can. The plan warns that
// such pods would be refused.

// levels are the levels of the Pod Security Standards, the strictest first.
var levels = []string{restricted, baseline, privileged}

// podPolicy are the Pod Security Standards, as the API server has them.
var podPolicy = sync.OnceValues(func() (policy.Evaluator, error) {
	return policy.NewEvaluator(policy.DefaultChecks(), nil)
})

// levelFor is the level for the pods of a service's object: the level of the namespace, or,
// for pods without powers, the level of its policies.
func (r *renderer) levelFor(kind, name string) string {
	if level := r.chosenLevel(); level != "" {
		return level
	}
	if kind == "Job" {
		kind = runKind
	}
	for _, p := range r.powerful {
		if p.kind == kind && p.name == name {
			return r.podSecurity(r.powerful)
		}
	}
	return restricted
}

// warnRefused warns of an object whose pods need a higher level than they get.
func (r *renderer) warnRefused(at hcl.Range, what string, object *unstructured.Unstructured, level string) {
	why := refusal(object, level)
	if why == "" {
		return
	}
	needed := privileged
	for _, l := range levels[slices.Index(levels, level):] {
		if refusal(object, l) == "" {
			needed = l
			break
		}
	}
	r.warn(at, "Pods that will be refused", fmt.Sprintf("The pods of %s are held to the Pod Security level %q, and they break it: %s. They would never start. "+
		"If a block has an argument for that, such as host_network, use it: kolla lets these pods alone have the power. Or set pod_security = %q in the cloud block, for all pods of the namespace.",
		what, level, why, needed))
}

// refusal says why a level refuses the pods of an object. It is empty if the level allows
// them, if there are none, and if they are not known yet.
func refusal(object *unstructured.Unstructured, level string) string {
	if result := judge(object, level); !result.Allowed {
		return result.ForbiddenDetail()
	}
	return ""
}

// judge checks the pods of an object against a level. It allows objects without pods, and
// pods that are not known yet.
func judge(object *unstructured.Unstructured, level string) policy.AggregateCheckResult {
	allowed := policy.AggregateCheckResult{Allowed: true}
	path := []string{"spec", "template"}
	switch object.GetKind() {
	case "Pod":
		path = nil
	case "CronJob":
		path = []string{"spec", "jobTemplate", "spec", "template"}
	case "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job":
	default:
		return allowed
	}
	fields, _, _ := unstructured.NestedMap(object.Object, path...)
	var pod corev1.PodTemplateSpec
	checks, err := podPolicy()
	if err != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &pod) != nil {
		return allowed
	}
	return policy.AggregateCheckResults(checks.EvaluatePod(api.LevelVersion{Level: api.Level(level), Version: api.LatestVersion()}, &pod.ObjectMeta, &pod.Spec))
}

// checkBrought warns of objects of a manifest in the cloud's namespace whose pods its
// policies will refuse. Where there are no policies the API server itself warns.
func (r *renderer) checkBrought(m configs.ManifestObject, u *unstructured.Unstructured) {
	if len(r.powerful) > 0 && !r.isPowerful(u) && r.chosenLevel() == "" && u.GetNamespace() == r.config.Cloud.Namespace && len(m.Deferred) == 0 {
		r.warnRefused(m.Range, fmt.Sprintf("%s/%s", u.GetKind(), u.GetName()), u, restricted)
	}
}
