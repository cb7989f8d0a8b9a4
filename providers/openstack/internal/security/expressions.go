package security

import (
	"cmp"
	"fmt"
	"strings"

	admissionv1 "k8s.io/client-go/applyconfigurations/admissionregistration/v1"

	"kolla.openstack.org/kolla/providers"
)

// names are the names of workloads and jobs with powers, by kind.
type names map[string][]string

func namesOf(powers []powerful) names {
	n := names{}
	for _, p := range powers {
		n[p.kind] = append(n[p.kind], p.name)
	}
	return n
}

// named returns a CEL expression: is this the name of a workload or job with powers? The names
// of a Deployment's ReplicaSets and of the jobs of services end in a hash. The names of a
// CronJob's Jobs end in a number.
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
	return cmp.Or(strings.Join(out, " || "), "false") // only pods without a controller have powers
}

// others returns a CEL expression: is the pod not made by a controller for a workload or job
// with powers?
func (n names) others() string {
	return fmt.Sprintf("!(request.operation == 'CREATE' && %s && has(object.metadata.ownerReferences) && "+
		"object.metadata.ownerReferences.exists(o, has(o.controller) && o.controller && (%s)))",
		controllers("daemon-set", "replicaset", "statefulset", "job"), n.named("o.kind", "o.name"))
}

// addsContainer is a CEL expression: is a container added to a running pod?
const addsContainer = "has(request.subResource) && request.subResource == 'ephemeralcontainers'"

// runsElse is a CEL expression: is the pod new, or will it run something else? Clients that may
// update pods can only change the images of a running pod.
const runsElse = "request.operation == 'CREATE' || " + addsContainer + " || " +
	"object.spec.containers.map(c, c.image) != oldObject.spec.containers.map(c, c.image) || " +
	"has(object.spec.initContainers) && object.spec.initContainers.map(c, c.image) != oldObject.spec.initContainers.map(c, c.image)"

// controllers returns a CEL expression: does the request come from a controller of Kubernetes?
func controllers(which ...string) string {
	users := []string{"system:kube-controller-manager"}
	for _, w := range which {
		users = append(users, "system:serviceaccount:kube-system:"+w+"-controller")
	}
	return fmt.Sprintf("request.userInfo.username in ['%s']", strings.Join(users, "', '"))
}

// sameCommands is a CEL expression: are the commands that kolla runs in the pods unchanged?
// They have the powers of the container, and kolla runs them with the rights of its user.
var sameCommands = fmt.Sprintf("['%s', '%s', '%s'].all(a, (has(object.metadata.annotations) && a in object.metadata.annotations ? object.metadata.annotations[a] : '') == "+
	"(has(oldObject.metadata.annotations) && a in oldObject.metadata.annotations ? oldObject.metadata.annotations[a] : ''))",
	providers.AnnotationCarries, providers.AnnotationLeave, providers.AnnotationBackup)

// mayChange returns a CEL expression: may the client change the policy? Either verb suffices.
// kolla itself has patch alone.
func mayChange(policy string) string {
	return fmt.Sprintf("['patch', 'update'].exists(v, authorizer.group('admissionregistration.k8s.io').resource('validatingadmissionpolicies').name('%s').check(v).allowed())", policy)
}

// ownerRule returns a CEL expression. It is true if the change leaves the pods as they are, if
// the request comes from the controller of a Deployment or of a CronJob with powers, or if the
// client may change the policy itself.
func (n names) ownerRule(policy string) string {
	same, jobs := "object.spec.template == oldObject.spec.template", ""
	if len(n["CronJob"]) > 0 {
		same = "(request.kind.kind == 'CronJob' ? dyn(object).spec.jobTemplate == dyn(oldObject).spec.jobTemplate : dyn(object).spec.template == dyn(oldObject).spec.template)"
		jobs = fmt.Sprintf("request.kind.kind == 'Job' && %s && has(object.metadata.ownerReferences) && "+
			"object.metadata.ownerReferences.exists(o, o.kind == 'CronJob' && o.name in ['%s']) || ", controllers("cronjob"), strings.Join(n["CronJob"], "', '"))
	}
	return fmt.Sprintf("request.operation == 'UPDATE' && "+same+" && "+sameCommands+" || request.kind.kind == 'ReplicaSet' && %s || "+jobs+mayChange(policy), controllers("deployment"))
}

// podVariables returns the variables that the rules about pods read. A container that is added
// to a running pod, such as by kubectl debug, is judged alone.
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

// podRules returns the Pod Security Standard "restricted" in CEL:
// https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
func podRules() []*admissionv1.ValidationApplyConfiguration {
	rule := func(message, expression string) *admissionv1.ValidationApplyConfiguration {
		return admissionv1.Validation().WithExpression(expression).WithMessage("only pods that kolla has given powers may do this: " + message)
	}
	absent := func(field string) string { return fmt.Sprintf("!(has(%[1]s) && %[1]s)", field) }
	// both applies a condition to the context of the pod and of each container.
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
