package security

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	admission "k8s.io/api/admissionregistration/v1"
	admissionv1 "k8s.io/client-go/applyconfigurations/admissionregistration/v1"
	metav1 "k8s.io/client-go/applyconfigurations/meta/v1"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
	"kolla.openstack.org/kolla/providers/podsecurity"
)

// maxExpression is the length in characters of the longest expression that Kubernetes compiles:
// the default of https://pkg.go.dev/github.com/google/cel-go/parser#ExpressionSizeCodePointLimit.
const maxExpression = 100_000

// Policies returns policies that hold the other pods of the namespace to the level restricted,
// so that one pod with powers does not open the namespace to all. A chosen level applies to all
// pods: then there are no policies. It is an error if the names of the pods with powers do not fit
// into an expression.
func (l Levels) Policies() ([]providers.Object, hcl.Diagnostics) {
	if len(l.powerful) == 0 || l.chosen != "" {
		return nil, nil
	}
	n := namesOf(l.powerful)
	pods, workloads := policyName(l.cloud, "pods"), policyName(l.cloud, "workloads")
	conditions := []*admissionv1.MatchConditionApplyConfiguration{
		admissionv1.MatchCondition().WithName("not-of-the-powerful").WithExpression(n.others()),
		admissionv1.MatchCondition().WithName("runs-something-else").WithExpression(runsElse),
	}
	if len(n["Pod"]) > 0 {
		conditions = append(conditions, admissionv1.MatchCondition().WithName("not-brought").WithExpression(
			fmt.Sprintf("!(!has(object.metadata.ownerReferences) && object.metadata.name in ['%s'] && %s)", strings.Join(n["Pod"], "', '"), mayChange(pods))))
	}
	if diags := l.checkLength(conditions); diags.HasErrors() {
		return nil, diags
	}
	ofPods := policy(l.cloud, pods, admissionv1.ValidatingAdmissionPolicySpec().
		WithMatchConstraints(matching(l.cloud,
			admissionv1.NamedRuleWithOperations().WithOperations(admission.Create, admission.Update).WithAPIGroups("").WithAPIVersions("v1").WithResources("pods"),
			admissionv1.NamedRuleWithOperations().WithOperations(admission.Update).WithAPIGroups("").WithAPIVersions("v1").WithResources("pods/ephemeralcontainers"))).
		WithMatchConditions(conditions...).
		WithVariables(podVariables()...).
		WithValidations(podRules()...))
	resources := []string{"deployments", "replicasets", "statefulsets", "daemonsets", "jobs"}
	if len(n["CronJob"]) > 0 {
		resources = append(resources, "cronjobs")
	}
	ofWorkloads := policy(l.cloud, workloads, admissionv1.ValidatingAdmissionPolicySpec().
		WithMatchConstraints(matching(l.cloud,
			admissionv1.NamedRuleWithOperations().WithOperations(admission.Create, admission.Update).WithAPIGroups("apps", "batch").WithAPIVersions("v1").
				WithResources(resources...))).
		WithMatchConditions(admissionv1.MatchCondition().WithName("of-the-powerful").WithExpression(n.named("request.kind.kind", "object.metadata.name"))).
		WithValidations(admissionv1.Validation().
			WithExpression(n.ownerRule(workloads)).
			WithMessage("pods of this name may have powers, so only those who may change the ValidatingAdmissionPolicy "+workloads+" may say what runs in them")))
	return append(ofPods, ofWorkloads...), nil
}

// checkLength reports an expression that is longer than Kubernetes takes. The other expressions with the
// names of workloads and jobs are shorter than those in the conditions.
func (l Levels) checkLength(conditions []*admissionv1.MatchConditionApplyConfiguration) hcl.Diagnostics {
	for _, c := range conditions {
		if len(*c.Expression) > maxExpression {
			return hcl.Diagnostics{object.Error(l.cloud.Decl.Range, "Too many pods with powers", fmt.Sprintf(
				"A policy holds all other pods of Namespace/%s to the Pod Security level %s. It names the %d workloads and jobs that need more (%s), in an expression of %d characters. Kubernetes takes %d. "+
					"Give the pods a securityContext of the level %s where you can, or set pod_security = %q in the cloud block: then all pods get this level, and there is no policy.",
				l.cloud.Decl.Namespace, podsecurity.Restricted, len(l.powerful), l.Causes(), len(*c.Expression), maxExpression, podsecurity.Restricted, l.OfNamespace()))}
		}
	}
	return nil
}

// bindings returns the bindings that activate the policies.
func bindings(cloud object.Cloud) []addrs.Object {
	return []addrs.Object{
		cloud.Address(policyKind+"Binding", policyName(cloud, "pods")),
		cloud.Address(policyKind+"Binding", policyName(cloud, "workloads")),
	}
}

const policyKind = "ValidatingAdmissionPolicy"

// policyName returns the name of a policy. It is unique in the cluster because it contains the
// name of the namespace.
func policyName(cloud object.Cloud, of string) string {
	return cloud.Decl.Namespace + "-restricted-" + of
}

// matching returns the resources that a policy applies to. They are in the cloud's namespace only.
func matching(cloud object.Cloud, rules ...*admissionv1.NamedRuleWithOperationsApplyConfiguration) *admissionv1.MatchResourcesApplyConfiguration {
	return admissionv1.MatchResources().
		WithNamespaceSelector(metav1.LabelSelector().WithMatchLabels(map[string]string{"kubernetes.io/metadata.name": cloud.Decl.Namespace})).
		WithResourceRules(rules...)
}

// policy returns a policy that denies requests, and its binding.
func policy(cloud object.Cloud, name string, spec *admissionv1.ValidatingAdmissionPolicySpecApplyConfiguration) []providers.Object {
	address, bound := cloud.Address(policyKind, name), cloud.Address(policyKind+"Binding", name)
	return []providers.Object{{
		Address: address,
		Manifest: cloud.Manifest(admissionv1.ValidatingAdmissionPolicy(name).WithLabels(cloud.Labels()).WithAnnotations(object.AddressAnnotation(address)).
			WithSpec(spec.WithFailurePolicy(admission.Fail))),
		DependsOn: []addrs.Object{cloud.Namespace()},
		Source:    object.Source(cloud.Decl.Range),
	}, {
		Address: bound,
		Manifest: cloud.Manifest(admissionv1.ValidatingAdmissionPolicyBinding(name).WithLabels(cloud.Labels()).WithAnnotations(object.AddressAnnotation(bound)).
			WithSpec(admissionv1.ValidatingAdmissionPolicyBindingSpec().WithPolicyName(name).WithValidationActions(admission.Deny))),
		DependsOn: []addrs.Object{address},
		Source:    object.Source(cloud.Decl.Range),
	}}
}
