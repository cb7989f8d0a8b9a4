// Package security decides about the powers of pods. It finds the pods that need more than the
// Pod Security level restricted, and the level that the cloud's namespace therefore needs. It
// makes the policies that hold all other pods to restricted.
package security

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
	"kolla.openstack.org/kolla/providers/openstack/internal/runs"
	"kolla.openstack.org/kolla/providers/podsecurity"
)

// Levels are the Pod Security levels of the cloud's namespace and of its pods.
type Levels struct {
	cloud object.Cloud
	// chosen is the level for all pods; empty: the pods decide.
	chosen string
	// powerful are the pods that need more than restricted, by kind and name.
	powerful []powerful
	// names are their kinds and names.
	names map[[2]string]bool
}

// powerful is a workload or a job whose pods need more than the level restricted.
type powerful struct {
	// kind is a kind of Kubernetes, or runKind.
	kind  string
	name  string // without the hash for a job of a service
	level string
	needs []need
	by    object.Place // declaration: `workload "agent" of service.node`
}

// runKind is the kind of the jobs of services, whose names end in a hash. Jobs from manifests
// have the kind Job.
const runKind = "run"

// Assess finds the workloads and jobs that need more than the level restricted. A namespace has
// one level for all pods: the highest level that any of them needs. chosen is a level from the
// configuration; empty: the pods decide. jobs has the jobs of each service, in the order of the
// configuration.
func Assess(cloud object.Cloud, config *configs.Config, jobs []runs.Jobs, chosen string) Levels {
	var out []powerful
	add := func(kind, name string, needs []need, by object.Place) {
		if level := highest(needs); level != podsecurity.Restricted {
			out = append(out, powerful{kind, name, level, needs, by})
		}
	}
	for m, o := range manifestsHere(cloud, config) {
		u := &unstructured.Unstructured{Object: o.Content}
		add(u.GetKind(), u.GetName(), needsOfManifest(u, m.Reason != ""), object.Place{Block: u.GetKind() + "/" + u.GetName() + " of " + m.Block, At: o.Range})
	}
	for i := range config.Services {
		s := object.Service{Cloud: cloud, Decl: &config.Services[i]}
		of := " of " + s.Decl.Block
		for _, job := range jobs[i].All() {
			add(runKind, job.Name, needsOf(&job.Decl.Pod), object.Place{Block: fmt.Sprintf("job %q", job.Decl.Name) + of, At: job.Decl.Range})
		}
		for _, w := range s.Decl.Workloads {
			add(cmp.Or(w.Kind, "Deployment"), s.Workload(w), needsOf(&w.Pod), object.Place{Block: fmt.Sprintf("workload %q", w.Name) + of, At: w.Range})
		}
	}
	slices.SortStableFunc(out, func(a, b powerful) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.name, b.name))
	})
	out = slices.CompactFunc(out, func(a, b powerful) bool { return a.kind == b.kind && a.name == b.name && a.level == b.level })
	known := make(map[[2]string]bool, len(out))
	for _, p := range out {
		known[[2]string{p.kind, p.name}] = true
	}
	return Levels{cloud: cloud, chosen: chosen, powerful: out, names: known}
}

// manifestsHere returns the objects of manifests in the cloud's namespace whose pods may get
// powers. No other object can take the name of such a controller.
func manifestsHere(cloud object.Cloud, config *configs.Config) iter.Seq2[*configs.Manifest, configs.ManifestObject] {
	return func(yield func(*configs.Manifest, configs.ManifestObject) bool) {
		for i := range config.Manifests {
			m := &config.Manifests[i]
			for _, o := range m.Objects {
				u := unstructured.Unstructured{Object: o.Content}
				here := cmp.Or(u.GetNamespace(), cloud.Decl.Namespace) == cloud.Decl.Namespace
				named := len(validation.IsDNS1123Subdomain(u.GetName())) == 0 // else the server refuses it, and no policy may name it
				if here && named && raises(u.GroupVersionKind().GroupKind()) && !yield(m, o) {
					return
				}
			}
		}
	}
}

// raises reports whether pods of a kind in manifests raise the level. The pods of a ReplicaSet
// do not, because Deployments choose the names of their ReplicaSets.
func raises(kind schema.GroupKind) bool {
	_, runs := kinds.Pods(kind)
	return runs && kind != kinds.ReplicaSet && kind != kinds.ReplicationController
}

// OfNamespace returns the level of the namespace. Without a chosen level, it is the strictest
// level with which all pods of the cloud can start.
func (l Levels) OfNamespace() string {
	level := podsecurity.Restricted
	for _, p := range l.powerful {
		level = podsecurity.Weaker(level, p.level)
	}
	return cmp.Or(l.chosen, level)
}

// For returns the level for the pods of a service's object. Pods with powers get the level of
// the namespace; other pods get the level of the policies, restricted.
func (l Levels) For(kind, name string) string {
	if l.chosen != "" {
		return l.chosen
	}
	if kind == "Job" {
		kind = runKind
	}
	if l.isPowerful(kind, name) {
		return l.OfNamespace()
	}
	return podsecurity.Restricted
}

// isPowerful reports whether pods have powers.
func (l Levels) isPowerful(kind, name string) bool { return l.names[[2]string{kind, name}] }

// BeforePod returns the objects that must exist before a service's pod starts: the policies, for
// a pod with powers.
func (l Levels) BeforePod(pod *configs.Pod) []addrs.Object {
	if l.chosen != "" || levelOf(pod) == podsecurity.Restricted {
		return nil
	}
	return bindings(l.cloud)
}

// BeforeManifest returns the objects that must exist before an object of a manifest in the
// cloud's namespace: the policies, for an object whose pods have powers.
func (l Levels) BeforeManifest(u *unstructured.Unstructured) []addrs.Object {
	if l.chosen != "" || !l.isPowerful(u.GetKind(), u.GetName()) {
		return nil
	}
	return bindings(l.cloud)
}

// Warn warns once if pods without a stated reason lower the level of the namespace.
func (l Levels) Warn() hcl.Diagnostics {
	if l.chosen != "" {
		return nil
	}
	stated := podsecurity.Restricted // the level of the namespace if only stated needs counted
	for _, p := range l.powerful {
		for _, n := range p.needs {
			if n.stated {
				stated = podsecurity.Weaker(stated, n.level)
			}
		}
	}
	var causes []string
	for _, level := range []string{podsecurity.Privileged, podsecurity.Baseline} {
		if level != stated && podsecurity.Weaker(stated, level) == level {
			causes = append(causes, l.unstated(level)...)
		}
	}
	if len(causes) == 0 {
		return nil
	}
	const maxCauses = 10
	return hcl.Diagnostics{object.Warning(l.cloud.Decl.Range, "Pods weaken the Pod Security level of the namespace", fmt.Sprintf(
		"Namespace/%s gets the label %s: %s, and not %s, because of:\n  %s\nAll other pods must meet the level %s. "+
			"Take the powers away: in a service with user = NUMBER and start = \"direct\" where the image allows it, in a manifest with the securityContext of its pods. Or say in the same block what they are for, with reason = \"...\".",
		l.cloud.Decl.Namespace, podsecurity.Label, l.OfNamespace(), stated, strings.Join(words.First(causes, maxCauses, ""), "\n  "), podsecurity.Restricted))}
}

// unstated lists the declarations that need a level without a stated reason, each with the
// causes.
func (l Levels) unstated(level string) []string {
	var causes []string
	for _, p := range l.powerful {
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

// Causes names the first declarations that need the level of the namespace. It is empty if there
// are none, or if the level was chosen.
func (l Levels) Causes() string {
	if l.chosen != "" {
		return ""
	}
	level := l.OfNamespace()
	var names []string
	seen := map[string]bool{}
	for _, p := range l.powerful {
		if p.level == level && !seen[p.by.Block] {
			seen[p.by.Block] = true
			names = append(names, p.by.Block)
		}
	}
	return words.Few(names, 2)
}
