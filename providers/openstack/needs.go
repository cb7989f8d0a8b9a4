package openstack

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/pod-security-admission/api"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/kinds"
)

// need is a reason why pods need more than the level restricted.
type need struct {
	level  string
	why    string // the argument that it comes from
	stated bool   // the block says what it is for
}

// levelOf is the Pod Security level that a pod needs, with all of its containers.
func levelOf(pod *configs.Pod) string { return highest(needsOf(pod)) }

// highest is the least strict level that is needed.
func highest(needs []need) string {
	level := restricted
	for _, n := range needs {
		level = higher(level, n.level)
	}
	return level
}

// needsOf are the reasons why a pod needs more than the level restricted.
func needsOf(pod *configs.Pod) []need {
	var needs []need
	for _, of := range []struct {
		node bool
		why  string
	}{{pod.HostNetwork, "host_network"}, {pod.HostPID, "host_pid"}, {pod.HostIPC, "host_ipc"}} {
		if of.node {
			needs = append(needs, need{privileged, of.why, stated(pod.Powers)})
		}
	}
	unknown := ""
	switch {
	case pod.Start == startKolla:
		unknown = `start = "kolla"`
	case pod.User == 0:
		unknown = "no user"
	}
	needs = append(needs, needsOfContainer(pod.Powers, pod.Volumes, unknown)...)
	for _, init := range pod.Inits {
		unknown := ""
		if init.User == 0 && !pod.Unsettled && (pod.User == 0 || pod.Start == startKolla && !init.Sidecar) {
			unknown = "no user"
		}
		needs = append(needs, needsOfContainer(init.Powers, init.Volumes, unknown)...)
	}
	return needs
}

// stated reports whether a container needs no word more what its powers are for.
func stated(p configs.Powers) bool { return p.Reason != "" || p.Unsettled }

// needsOfContainer are those of one container: none if it starts directly as a known user,
// the level baseline if its image starts through sudo or as a user of its own choice, or as
// root, and privileged with powers that reach the node, or with its files. unknown says why
// its user is not known; empty: it is.
func needsOfContainer(p configs.Powers, volumes []configs.Volume, unknown string) []need {
	var needs []need
	add := func(level, why string) { needs = append(needs, need{level, why, stated(p)}) }
	if p.Privileged {
		add(privileged, "privileged")
	}
	if p.Seccomp == unconfined {
		add(privileged, "seccomp")
	}
	if p.AppArmor == unconfined {
		add(privileged, "apparmor")
	}
	if p.SELinux != "" && !slices.Contains(containerTypes, p.SELinux) {
		add(privileged, "selinux")
	}
	for _, v := range volumes {
		if v.Host != "" {
			add(privileged, v.Host+" of the node")
		}
	}
	for _, c := range p.Capabilities {
		switch {
		case !slices.Contains(usualCapabilities, c):
			add(privileged, c)
		case c != "NET_BIND_SERVICE":
			add(baseline, c)
		}
	}
	switch {
	case p.Root:
		add(baseline, "user = 0")
	case unknown != "":
		add(baseline, unknown)
	}
	return needs
}

const unconfined = "unconfined"

// The SELinux types and the capabilities that the level baseline lets containers have:
// https://kubernetes.io/docs/concepts/security/pod-security-standards/#baseline
var (
	containerTypes    = []string{"container_t", "container_init_t", "container_kvm_t", "container_engine_t"}
	usualCapabilities = []string{
		"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE",
		"SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
	}
)

// higher is the less strict of two levels.
func higher(a, b string) string {
	levels := []string{restricted, baseline, privileged}
	if slices.Index(levels, a) > slices.Index(levels, b) {
		return a
	}
	return b
}

// powerful is a workload or a job whose pods need more than the level restricted.
type powerful struct {
	// kind is that of Kubernetes, or runKind.
	kind  string
	name  string // of a job of a service without the hash
	level string
	needs []need
	by    placeOf // its declaration: `workload "agent" of service.node`
}

// runKind are the jobs of services, whose names go on with a hash. Those of manifests are
// of the kind Job.
const runKind = "run"

// powers are the powerful ones of the cloud, by kind and name. A namespace has one level
// for all of its pods, so it gets the highest that any of them needs.
func (r *renderer) powers() []powerful {
	var out []powerful
	add := func(kind, name string, needs []need, by placeOf) {
		if level := highest(needs); level != restricted {
			out = append(out, powerful{kind, name, level, needs, by})
		}
	}
	for m, o := range r.broughtHere() {
		u := &unstructured.Unstructured{Object: o.Content}
		add(u.GetKind(), u.GetName(), needsOfBrought(u, m.Reason != ""), placeOf{u.GetKind() + "/" + u.GetName() + " of " + m.Block, o.Range})
	}
	for i := range r.config.Services {
		s := newService(r, &r.config.Services[i])
		of := " of " + s.decl.Block
		var jobs []namedJob
		for _, when := range []string{"before", "after"} {
			jobs = append(jobs, slices.Concat(s.providedJobs(when), s.ownJobs(when))...)
		}
		for _, job := range append(jobs, s.cleanups()...) {
			add(runKind, job.name, needsOf(&job.decl.Pod), placeOf{fmt.Sprintf("job %q", job.decl.Name) + of, job.decl.Range})
		}
		for _, w := range s.decl.Workloads {
			add(cmp.Or(w.Kind, "Deployment"), s.workloadName(w), needsOf(&w.Pod), placeOf{fmt.Sprintf("workload %q", w.Name) + of, w.Range})
		}
	}
	slices.SortStableFunc(out, func(a, b powerful) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
	})
	return slices.CompactFunc(out, func(a, b powerful) bool { return a.kind == b.kind && a.name == b.name && a.level == b.level })
}

// broughtHere are the objects of manifests in the cloud's namespace that pods can be given
// powers by: their controllers have names that nobody else can take.
func (r *renderer) broughtHere() iter.Seq2[*configs.Manifest, configs.ManifestObject] {
	return func(yield func(*configs.Manifest, configs.ManifestObject) bool) {
		for i := range r.config.Manifests {
			m := &r.config.Manifests[i]
			for _, o := range m.Objects {
				u := unstructured.Unstructured{Object: o.Content}
				here := cmp.Or(u.GetNamespace(), r.config.Cloud.Namespace) == r.config.Cloud.Namespace
				named := len(validation.IsDNS1123Subdomain(u.GetName())) == 0 // else no server takes it, and no policy may name it
				if here && named && raises(u.GroupVersionKind().GroupKind()) && !yield(m, o) {
					return
				}
			}
		}
	}
}

// raises reports whether the pods of a kind of manifests raise the level. A ReplicaSet is none:
// Deployments choose the names of theirs.
func raises(kind schema.GroupKind) bool {
	_, runs := kinds.Pods(kind)
	return runs && kind != kinds.ReplicaSet && kind != kinds.ReplicationController
}

// needsOfBrought are the reasons why the pods of an object of a manifest need more than the
// level restricted, as Kubernetes itself judges them.
func needsOfBrought(u *unstructured.Unstructured, stated bool) []need {
	for _, l := range []struct{ breaks, needs string }{{baseline, privileged}, {restricted, baseline}} {
		if result := judge(u, l.breaks); !result.Allowed {
			return []need{{l.needs, result.ForbiddenReason(), stated}}
		}
	}
	return nil
}

// isPowerful reports whether an object of a manifest is among the powerful.
func (r *renderer) isPowerful(u *unstructured.Unstructured) bool {
	return slices.ContainsFunc(r.powerful, func(p powerful) bool { return p.kind == u.GetKind() && p.name == u.GetName() })
}

// warnWeakened warns once if pods lower the level of the namespace without a word what for.
func (r *renderer) warnWeakened() {
	if r.chosenLevel() != "" {
		return
	}
	stated := restricted // the level that the namespace would have without all others
	for _, p := range r.powerful {
		for _, n := range p.needs {
			if n.stated {
				stated = higher(stated, n.level)
			}
		}
	}
	var causes []string
	for _, level := range []string{privileged, baseline} {
		if level != stated && higher(stated, level) == level {
			causes = append(causes, r.causes(level)...)
		}
	}
	if len(causes) == 0 {
		return
	}
	const most = 10
	if more := len(causes) - most; more > 0 {
		causes = append(causes[:most], fmt.Sprintf("and %d more", more))
	}
	r.warn(r.config.Cloud.Range, "Pods weaken the Pod Security level of the namespace", fmt.Sprintf(
		"Namespace/%s gets the label %s: %s, and not %s, because of:\n  %s\nAll other pods must meet the level %s. "+
			"Take the powers away: in a service with user = NUMBER and start = \"direct\" where the image allows it, in a manifest with the securityContext of its pods. Or say in the same block what they are for, with reason = \"...\".",
		r.config.Cloud.Namespace, api.EnforceLevelLabel, r.podSecurity(r.powerful), stated, strings.Join(causes, "\n  "), restricted))
}

// causes are the powerful that need a level without a word what for, with why they do.
func (r *renderer) causes(level string) []string {
	var causes []string
	for _, p := range r.powerful {
		unstated := slices.DeleteFunc(slices.Clone(p.needs), func(n need) bool { return n.stated })
		if highest(unstated) != level {
			continue
		}
		var whys []string
		for _, n := range unstated {
			if n.level == level && !slices.Contains(whys, n.why) {
				whys = append(whys, n.why)
			}
		}
		causes = append(causes, fmt.Sprintf("%s: %s", p.by, strings.Join(whys, ", ")))
	}
	return causes
}

// causesOf names the first of the powerful that need the level of the namespace; empty: none
// does, or the level was chosen.
func (r *renderer) causesOf(level string) string {
	if r.chosenLevel() != "" {
		return ""
	}
	var names []string
	for _, p := range r.powerful {
		if p.level == level && !slices.Contains(names, p.by.block) {
			names = append(names, p.by.block)
		}
	}
	return words.Few(names, 2)
}
