package openstack

import (
	"cmp"
	"fmt"
	"strings"

	admission "k8s.io/api/admissionregistration/v1"
	admissionv1 "k8s.io/client-go/applyconfigurations/admissionregistration/v1"
	metav1 "k8s.io/client-go/applyconfigurations/meta/v1"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

// The levels of the Pod Security Standards, the strictest first.
const (
	restricted = "restricted"
	baseline   = "baseline"
	privileged = "privileged"
)

// podSecurity is the Pod Security Standard that was chosen, or else the one that the
// cloud's pods need.
func (r *renderer) podSecurity(powers []powerful) string {
	level := restricted
	for _, p := range powers {
		level = higher(level, p.level)
	}
	return cmp.Or(r.chosenLevel(), level)
}

// restrain holds all pods of the namespace to the level restricted, other than those of
// the powerful: one that needs powers does not open the namespace to all. Who has chosen a
// level, has chosen it for all.
func (r *renderer) restrain(powers []powerful) {
	if len(powers) == 0 || r.chosenLevel() != "" {
		return
	}
	n := namesOf(powers)
	pods, workloads := r.policyName("pods"), r.policyName("workloads")
	conditions := []*admissionv1.MatchConditionApplyConfiguration{
		admissionv1.MatchCondition().WithName("not-of-the-powerful").WithExpression(n.others()),
		admissionv1.MatchCondition().WithName("runs-something-else").WithExpression(runsElse),
	}
	if len(n["Pod"]) > 0 {
		conditions = append(conditions, admissionv1.MatchCondition().WithName("not-brought").WithExpression(
			fmt.Sprintf("!(!has(object.metadata.ownerReferences) && object.metadata.name in ['%s'] && %s)", strings.Join(n["Pod"], "', '"), mayChange(pods))))
	}
	r.policy(pods, admissionv1.ValidatingAdmissionPolicySpec().
		WithMatchConstraints(r.resources(
			admissionv1.NamedRuleWithOperations().WithOperations(admission.Create, admission.Update).WithAPIGroups("").WithAPIVersions("v1").WithResources("pods"),
			admissionv1.NamedRuleWithOperations().WithOperations(admission.Update).WithAPIGroups("").WithAPIVersions("v1").WithResources("pods/ephemeralcontainers"))).
		WithMatchConditions(conditions...).
		WithVariables(podVariables()...).
		WithValidations(podRules()...))
	resources := []string{"deployments", "replicasets", "statefulsets", "daemonsets", "jobs"}
	if len(n["CronJob"]) > 0 {
		resources = append(resources, "cronjobs")
	}
	r.policy(workloads, admissionv1.ValidatingAdmissionPolicySpec().
		WithMatchConstraints(r.resources(
			admissionv1.NamedRuleWithOperations().WithOperations(admission.Create, admission.Update).WithAPIGroups("apps", "batch").WithAPIVersions("v1").
				WithResources(resources...))).
		WithMatchConditions(admissionv1.MatchCondition().WithName("of-the-powerful").WithExpression(n.named("request.kind.kind", "object.metadata.name"))).
		WithValidations(admissionv1.Validation().
			WithExpression(n.ownerRule(workloads)).
			WithMessage("pods of this name may have powers, so only those who may change the ValidatingAdmissionPolicy "+workloads+" may say what runs in them")))
}

// restrainedBy is what has to be there before the pods of a powerful one can be made.
func (r *renderer) restrainedBy(pod *configs.Pod) []addrs.Object {
	if levelOf(pod) == restricted || r.chosenLevel() != "" {
		return nil
	}
	return r.restraints()
}

// restraints are what puts the policies to work.
func (r *renderer) restraints() []addrs.Object {
	return []addrs.Object{
		{Block: r.cloudBlock(), Kind: policyKind + "Binding", Name: r.policyName("pods")},
		{Block: r.cloudBlock(), Kind: policyKind + "Binding", Name: r.policyName("workloads")},
	}
}

const policyKind = "ValidatingAdmissionPolicy"

// policyName is unique in the cluster, as the namespace is.
func (r *renderer) policyName(of string) string {
	return r.config.Cloud.Namespace + "-restricted-" + of
}

func (r *renderer) resources(rules ...*admissionv1.NamedRuleWithOperationsApplyConfiguration) *admissionv1.MatchResourcesApplyConfiguration {
	return admissionv1.MatchResources().
		WithNamespaceSelector(metav1.LabelSelector().WithMatchLabels(map[string]string{"kubernetes.io/metadata.name": r.config.Cloud.Namespace})).
		WithResourceRules(rules...)
}

// policy adds a policy that refuses, and what puts it to work.
func (r *renderer) policy(name string, spec *admissionv1.ValidatingAdmissionPolicySpecApplyConfiguration) {
	address := addrs.Object{Block: r.cloudBlock(), Kind: policyKind, Name: name}
	bound := addrs.Object{Block: r.cloudBlock(), Kind: policyKind + "Binding", Name: name}
	r.add(providers.Object{
		Address: address,
		Manifest: r.convert(admissionv1.ValidatingAdmissionPolicy(name).WithLabels(r.labels("")).WithAnnotations(addressAnnotation(address)).
			WithSpec(spec.WithFailurePolicy(admission.Fail))),
		DependsOn: []addrs.Object{r.namespaceAddress()},
		Source:    source(r.config.Cloud.Range),
	})
	r.add(providers.Object{
		Address: bound,
		Manifest: r.convert(admissionv1.ValidatingAdmissionPolicyBinding(name).WithLabels(r.labels("")).WithAnnotations(addressAnnotation(bound)).
			WithSpec(admissionv1.ValidatingAdmissionPolicyBindingSpec().WithPolicyName(name).WithValidationActions(admission.Deny))),
		DependsOn: []addrs.Object{address},
		Source:    source(r.config.Cloud.Range),
	})
}

// names are those of the powerful, by kind.
type names map[string][]string

func namesOf(powers []powerful) names {
	n := names{}
	for _, p := range powers {
		n[p.kind] = append(n[p.kind], p.name)
	}
	return n
}

// named is a CEL expression: is there a powerful one of that kind and name? A Deployment's
// ReplicaSets end in a hash, and so do the jobs of services; those of a CronJob in a number.
func (n names) named(kind, name string) string {
	var out []string
	for _, k := range []string{"CronJob", "DaemonSet", "Deployment", "Job", "StatefulSet"} {
		if len(n[k]) > 0 {
			out = append(out, fmt.Sprintf("%s == '%s' && %s in ['%s']", kind, k, name, strings.Join(n[k], "', '")))
		}
	}
	hashed := func(k, of, hash string) {
		if len(n[of]) > 0 {
			out = append(out, fmt.Sprintf("%s == '%s' && %s.matches('^(%s)-%s$')", kind, k, name, strings.ReplaceAll(strings.Join(n[of], "|"), ".", "[.]"), hash))
		}
	}
	hashed("Job", runKind, "[0-9a-f]{10}")
	hashed("Job", "CronJob", "[0-9]{1,11}")
	hashed("ReplicaSet", "Deployment", "[a-z0-9]{1,10}")
	return cmp.Or(strings.Join(out, " || "), "false") // pods without a controller only
}

// others is a CEL expression: is this pod not made by a controller for a powerful one?
func (n names) others() string {
	return fmt.Sprintf("!(request.operation == 'CREATE' && %s && has(object.metadata.ownerReferences) && "+
		"object.metadata.ownerReferences.exists(o, has(o.controller) && o.controller && (%s)))",
		controllers("daemon-set", "replicaset", "statefulset", "job"), n.named("o.kind", "o.name"))
}

// addsContainer is a CEL expression: is a container added to a running pod?
const addsContainer = "has(request.subResource) && request.subResource == 'ephemeralcontainers'"

// runsElse is a CEL expression: is the pod new, or will something else run in it? Of a
// running pod only images can be changed, by whoever may update pods.
const runsElse = "request.operation == 'CREATE' || " + addsContainer + " || " +
	"object.spec.containers.map(c, c.image) != oldObject.spec.containers.map(c, c.image) || " +
	"has(object.spec.initContainers) && object.spec.initContainers.map(c, c.image) != oldObject.spec.initContainers.map(c, c.image)"

// controllers is a CEL expression: is one of Kubernetes' controllers asking?
func controllers(which ...string) string {
	users := []string{"system:kube-controller-manager"}
	for _, w := range which {
		users = append(users, "system:serviceaccount:kube-system:"+w+"-controller")
	}
	return fmt.Sprintf("request.userInfo.username in ['%s']", strings.Join(users, "', '"))
}

// sameCommands is a CEL expression: are the commands as before that kolla runs in the pods?
// They have the powers of the container, and kolla runs them with the rights of its user.
var sameCommands = fmt.Sprintf("['%s', '%s'].all(a, (has(object.metadata.annotations) && a in object.metadata.annotations ? object.metadata.annotations[a] : '') == "+
	"(has(oldObject.metadata.annotations) && a in oldObject.metadata.annotations ? oldObject.metadata.annotations[a] : ''))",
	providers.AnnotationCarries, providers.AnnotationLeave)

// mayChange is a CEL expression: may whoever asks change the policy?
func mayChange(policy string) string {
	return fmt.Sprintf("authorizer.group('admissionregistration.k8s.io').resource('validatingadmissionpolicies').name('%s').check('update').allowed()", policy)
}

// ownerRule is a CEL expression: does this change leave what runs as it is, or come from
// the controller of a Deployment or a powerful CronJob, or from somebody who may change the
// policy itself?
func (n names) ownerRule(policy string) string {
	same, jobs := "object.spec.template == oldObject.spec.template", ""
	if len(n["CronJob"]) > 0 {
		same = "(request.kind.kind == 'CronJob' ? dyn(object).spec.jobTemplate == dyn(oldObject).spec.jobTemplate : dyn(object).spec.template == dyn(oldObject).spec.template)"
		jobs = fmt.Sprintf("request.kind.kind == 'Job' && %s && has(object.metadata.ownerReferences) && "+
			"object.metadata.ownerReferences.exists(o, o.kind == 'CronJob' && o.name in ['%s']) || ", controllers("cronjob"), strings.Join(n["CronJob"], "', '"))
	}
	return fmt.Sprintf("request.operation == 'UPDATE' && "+same+" && "+sameCommands+" || request.kind.kind == 'ReplicaSet' && %s || "+jobs+mayChange(policy), controllers("deployment"))
}

// podVariables are what the rules about pods read. What is added to a running pod, such as
// by kubectl debug, is judged alone.
func podVariables() []*admissionv1.VariableApplyConfiguration {
	variable := func(name, expression string) *admissionv1.VariableApplyConfiguration {
		return admissionv1.Variable().WithName(name).WithExpression(expression)
	}
	return []*admissionv1.VariableApplyConfiguration{
		variable("added", addsContainer),
		variable("containers", "variables.added ? dyn(object.spec.ephemeralContainers) : "+
			"dyn(object.spec.containers) + dyn(has(object.spec.initContainers) ? object.spec.initContainers : [])"),
		variable("pod", "has(object.spec.securityContext) ? dyn(object.spec.securityContext) : dyn({})"),
		variable("contexts", "variables.containers.map(c, has(c.securityContext) ? c.securityContext : dyn({}))"),
	}
}

// podRules are the Pod Security Standard "restricted" in CEL:
// https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
func podRules() []*admissionv1.ValidationApplyConfiguration {
	rule := func(message, expression string) *admissionv1.ValidationApplyConfiguration {
		return admissionv1.Validation().WithExpression(expression).WithMessage("only pods that kolla has given powers may do this: " + message)
	}
	absent := func(field string) string { return fmt.Sprintf("!(has(%[1]s) && %[1]s)", field) }
	// both says something of the context of the pod and of each container.
	both := func(format string) string {
		return "(variables.added || " + strings.ReplaceAll(format, "@", "variables.pod") + ") && variables.contexts.all(s, " + strings.ReplaceAll(format, "@", "s") + ")"
	}
	labels := "['', '" + strings.Join(containerTypes, "', '") + "']"
	const sysctls = "['kernel.shm_rmid_forced', 'net.ipv4.ip_local_port_range', 'net.ipv4.ip_unprivileged_port_start', 'net.ipv4.tcp_syncookies', " +
		"'net.ipv4.ping_group_range', 'net.ipv4.ip_local_reserved_ports', 'net.ipv4.tcp_keepalive_time', 'net.ipv4.tcp_fin_timeout', " +
		"'net.ipv4.tcp_keepalive_intvl', 'net.ipv4.tcp_keepalive_probes', 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem', 'net.ipv4.tcp_slow_start_after_idle', 'net.ipv4.tcp_notsent_lowat']"
	return []*admissionv1.ValidationApplyConfiguration{
		rule("share the network, processes or IPC of the node",
			"variables.added || "+absent("object.spec.hostNetwork")+" && "+absent("object.spec.hostPID")+" && "+absent("object.spec.hostIPC")),
		rule("mount volumes other than configMap, csi, downwardAPI, emptyDir, ephemeral, image, persistentVolumeClaim, projected and secret",
			"variables.added || !has(object.spec.volumes) || dyn(object.spec.volumes).all(v, has(v.configMap) || has(v.csi) || has(v.downwardAPI) || "+
				"has(v.emptyDir) || has(v.ephemeral) || has(v.image) || has(v.persistentVolumeClaim) || has(v.projected) || has(v.secret))"),
		rule("take ports of the node",
			"variables.containers.all(c, !has(c.ports) || c.ports.all(p, !has(p.hostPort) || p.hostPort == 0))"),
		rule("have privileged containers",
			"variables.contexts.all(s, "+absent("s.privileged")+")"),
		rule("gain privileges (allowPrivilegeEscalation has to be false)",
			"variables.contexts.all(s, has(s.allowPrivilegeEscalation) && !s.allowPrivilegeEscalation)"),
		rule("keep capabilities (drop has to have ALL, and add nothing but NET_BIND_SERVICE)",
			"variables.contexts.all(s, has(s.capabilities) && has(s.capabilities.drop) && 'ALL' in s.capabilities.drop && "+
				"(!has(s.capabilities.add) || s.capabilities.add.all(c, c == 'NET_BIND_SERVICE')))"),
		rule("run as root (runAsNonRoot has to be true)",
			"variables.contexts.all(s, has(s.runAsNonRoot) ? s.runAsNonRoot : has(variables.pod.runAsNonRoot) && variables.pod.runAsNonRoot)"),
		rule("run as user 0",
			both("(!has(@.runAsUser) || @.runAsUser != 0)")),
		rule("call the kernel unfiltered (seccompProfile has to be RuntimeDefault or Localhost)",
			"variables.contexts.all(s, has(s.seccompProfile) || has(variables.pod.seccompProfile)) && "+
				both("(!has(@.seccompProfile) || @.seccompProfile.type in ['RuntimeDefault', 'Localhost'])")),
		rule("see all of /proc",
			"variables.contexts.all(s, !has(s.procMount) || s.procMount == 'Default')"),
		rule("choose an AppArmor profile other than RuntimeDefault and Localhost",
			both("(!has(@.appArmorProfile) || @.appArmorProfile.type in ['RuntimeDefault', 'Localhost'])")+
				" && (!has(object.metadata.annotations) || object.metadata.annotations.all(k, !k.startsWith('container.apparmor.security.beta.kubernetes.io/') || "+
				"object.metadata.annotations[k] == '' || object.metadata.annotations[k] == 'runtime/default' || object.metadata.annotations[k].startsWith('localhost/')))"),
		rule("choose SELinux users, roles or types",
			both("(!has(@.seLinuxOptions) || (!has(@.seLinuxOptions.type) || @.seLinuxOptions.type in "+labels+") && "+
				"(!has(@.seLinuxOptions.user) || @.seLinuxOptions.user == '') && (!has(@.seLinuxOptions.role) || @.seLinuxOptions.role == ''))")),
		rule("set parameters of the kernel",
			"variables.added || !has(variables.pod.sysctls) || variables.pod.sysctls.all(p, p.name in "+sysctls+")"),
		rule("run as processes of a Windows host",
			both("!(has(@.windowsOptions) && has(@.windowsOptions.hostProcess) && @.windowsOptions.hostProcess)")),
		rule("probe other hosts",
			"variables.containers.all(c, [has(c.livenessProbe) ? c.livenessProbe : dyn({}), has(c.readinessProbe) ? c.readinessProbe : dyn({}), has(c.startupProbe) ? c.startupProbe : dyn({}), "+
				"has(c.lifecycle) && has(c.lifecycle.postStart) ? c.lifecycle.postStart : dyn({}), has(c.lifecycle) && has(c.lifecycle.preStop) ? c.lifecycle.preStop : dyn({})]"+
				".all(p, (!has(p.httpGet) || !has(p.httpGet.host) || p.httpGet.host == '') && (!has(p.tcpSocket) || !has(p.tcpSocket.host) || p.tcpSocket.host == '')))"),
	}
}
