package security

import (
	"fmt"
	"strings"

	admission "k8s.io/api/admissionregistration/v1"
	admissionv1 "k8s.io/client-go/applyconfigurations/admissionregistration/v1"
	metav1 "k8s.io/client-go/applyconfigurations/meta/v1"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

// Policies returns policies that hold the other pods of the namespace to the level restricted,
// so that one pod with powers does not open the namespace to all. A chosen level applies to all
// pods: then there are no policies.
func (l Levels) Policies() []providers.Object {
	if len(l.powerful) == 0 || l.chosen != "" {
		return nil
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
	return append(ofPods, ofWorkloads...)
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
