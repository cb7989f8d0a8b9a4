package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/run/probe"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/podsecurity"
)

// pods are the pods that a check needs.
type pods int

const (
	noPods     pods = iota
	nodePods        // one on each node, with the script of package probe
	imagePods       // one on each node, with a container for each image
	volumePods      // one for each storage class
)

// Probed are the facts that pods found out.
type Probed struct {
	// Namespace of the pods: that of the cloud, or another one as long as that does not exist.
	Namespace string
	// Withheld says why pods could not look at directories of their node; empty: they could.
	Withheld string
	Nodes    []NodeProbe
	Images   []ImageProbe
	Volumes  []VolumeProbe
	// Closed are the nodes without pods, because they are not ready.
	Closed []string
}

// NodeProbe is the report of the pod on a node; nil: Problem says why there is none.
type NodeProbe struct {
	Node    corev1.Node
	Report  *probe.Report
	Problem string
}

// probeable returns the ready nodes on which pods of the configuration may run, and the names of the others.
func (f *Facts) probeable() (open []corev1.Node, closed []string, err error) {
	nodes, err := f.used()
	for _, node := range nodes {
		if condition(&node, corev1.NodeReady) == corev1.ConditionTrue {
			open = append(open, node)
		} else {
			closed = append(closed, node.Name)
		}
	}
	return open, closed, err
}

// Probe runs the pods that the checks need, and adds their results to f. Read comes before it. Only failures of
// the cluster and the context are errors: a pod that cannot run is a result.
func Probe(ctx context.Context, runner *probe.Runner, f *Facts, checks []Check) error {
	wanted := map[pods]bool{}
	for _, check := range checks {
		if check.Starts() {
			wanted[check.pods] = true
		}
	}
	if len(wanted) == 0 || f.Unprobed != nil {
		return nil
	}
	nodes, closed, err := f.probeable()
	if err != nil {
		f.Unprobed = err
		return nil
	}
	f.Probed = &Probed{Namespace: f.probeNamespace(), Closed: closed}
	runner.Cloud, runner.Namespace = f.Config.Cloud.Name, f.Probed.Namespace
	var all []probe.Pod
	var keep []func(probe.Outcome)
	add := func(pod probe.Pod, take func(probe.Outcome)) {
		all, keep = append(all, pod), append(keep, take)
	}
	if wanted[nodePods] {
		if err := f.askNodes(runner, nodes, add); err != nil {
			return err
		}
	}
	if wanted[imagePods] {
		f.askImages(nodes, add)
	}
	if wanted[volumePods] {
		f.askVolumes(nodes, add)
	}
	outcomes, err := runner.Run(ctx, all)
	var denied *providers.PermissionError
	if errors.As(err, &denied) && ctx.Err() == nil {
		f.Probed, f.Unprobed = nil, denied
		return nil
	}
	if err != nil {
		return err
	}
	for i, outcome := range outcomes {
		keep[i](outcome)
	}
	return nil
}

// probeNamespace returns the namespace for pods.
func (f *Facts) probeNamespace() string {
	live, err := f.list(namespaceKind, "")
	for _, u := range live {
		if u.GetName() == f.Config.Cloud.Namespace && u.GetDeletionTimestamp() == nil {
			return u.GetName()
		}
	}
	if err != nil {
		return f.Config.Cloud.Namespace
	}
	return metav1.NamespaceDefault
}

// base returns the image for the pod on a node. The node needs the image anyway. Images of Kolla come first.
func (f *Facts) base(node *corev1.Node) probe.Base {
	return probe.Choose(f.containersOn(node), f.Config.Cloud.Registry)
}

// containersOn returns the images of the containers that may run on a node, each once.
func (f *Facts) containersOn(node *corev1.Node) []probe.Base {
	var pods []*corev1.PodSpec
	for _, w := range f.on(node) {
		pods = append(pods, w.pod)
	}
	return probe.Bases(pods, func(image string) bool { return !strings.Contains(image, configs.KnownAfterApply) })
}

// askNodes adds a pod for each node that answers all questions about it.
func (f *Facts) askNodes(runner *probe.Runner, nodes []corev1.Node, add func(probe.Pod, func(probe.Outcome))) error {
	p := f.Probed
	p.Nodes = make([]NodeProbe, len(nodes))
	for i := range nodes {
		node := &nodes[i]
		p.Nodes[i].Node = *node
		questions := probe.Questions{
			Names: f.names(), Reached: f.published(), Paths: f.pathsFrom(nodes, i), Modules: f.modules(node),
		}
		paths := f.hostPaths(node)
		pod, err := probe.OnNode(node.Name, f.base(node), questions, paths)
		if err == nil && len(paths) > 0 {
			if why := f.refusal(runner, pod); why != "" {
				p.Withheld = fmt.Sprintf("Namespace %s does not allow pods with directories of the node: %s", p.Namespace, why)
				pod, err = probe.OnNode(node.Name, f.base(node), questions, nil)
			}
		}
		if err != nil {
			return err
		}
		add(pod, func(o probe.Outcome) {
			report, err := o.Report()
			if p.Nodes[i].Report = report; err != nil {
				p.Nodes[i].Problem = err.Error()
			}
		})
	}
	return nil
}

// refusal says why the namespace refuses a pod with directories of the node: by its present Pod Security level, or
// because the cloud's own policy holds all pods but those of some workloads to the level restricted.
func (f *Facts) refusal(runner *probe.Runner, pod probe.Pod) string {
	at := slices.IndexFunc(f.Objects, func(o providers.Object) bool {
		return o.Address.Kind == "ValidatingAdmissionPolicy" && addrs.TypeOf(o.Address.Block) == "cloud"
	})
	if at >= 0 && f.Probed.Namespace == f.Config.Cloud.Namespace {
		return f.Objects[at].Ref().String() + " holds pods of no service to the level restricted"
	}
	live, err := f.list(namespaceKind, "")
	at = slices.IndexFunc(live, func(u *unstructured.Unstructured) bool { return u.GetName() == f.Probed.Namespace })
	if err != nil || at < 0 {
		return ""
	}
	return podsecurity.Refusal(runner.Job("probe", "", pod), podsecurity.LevelOf(live[at], f.Cluster.Version))
}

// hostPaths returns the directories of a node that its pod mounts, by their names below /host. The pods of the
// configuration on such a node mount directories, too. No name makes a directory on the node.
func (f *Facts) hostPaths(node *corev1.Node) map[string]string {
	out := map[string]string{}
	for _, w := range f.on(node) {
		for _, volume := range w.pod.Volumes {
			if volume.HostPath == nil {
				continue
			}
			out["lib"], out["sys-fs"] = "/lib", "/sys/fs" // every node has these
			for _, name := range []string{"iscsi", "nvme"} {
				if path := volume.HostPath.Path; mounts(w.pod, volume.Name, "/etc/"+name) && (path == "/etc/"+name || f.inUse(node, path)) {
					out[name] = path
				}
			}
		}
	}
	return out
}

// mounts reports whether a container mounts a volume at a path.
func mounts(pod *corev1.PodSpec, volume, path string) bool {
	return slices.ContainsFunc(slices.Concat(pod.InitContainers, pod.Containers), func(c corev1.Container) bool {
		return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == volume && m.MountPath == path })
	})
}

// inUse reports whether a running pod of a node mounts a directory of it, so that it exists.
func (f *Facts) inUse(node *corev1.Node, path string) bool {
	return slices.ContainsFunc(f.podsOn(node.Name), func(pod corev1.Pod) bool {
		return slices.ContainsFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.HostPath != nil && v.HostPath.Path == path })
	})
}

// podsOn returns the running pods of a node, as far as they could be read.
func (f *Facts) podsOn(node string) []corev1.Pod {
	if f.running != nil {
		return f.running[node]
	}
	f.running = map[string][]corev1.Pod{}
	live, err := f.list(podKind, "")
	if err != nil {
		return nil
	}
	for _, u := range live {
		var pod corev1.Pod
		if decode(u, &pod) && pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil {
			f.running[pod.Spec.NodeName] = append(f.running[pod.Spec.NodeName], pod)
		}
	}
	return f.running[node]
}

// reports returns the nodes with a report. The error says which nodes have none.
func (f *Facts) reports() ([]NodeProbe, error) {
	if f.Probed == nil {
		return nil, f.unprobed()
	}
	var out []NodeProbe
	silent := map[string][]string{}
	for _, n := range f.Probed.Nodes {
		if n.Report != nil {
			out = append(out, n)
		} else {
			silent[n.Problem] = append(silent[n.Problem], n.Node.Name)
		}
	}
	return out, f.unreported(silent)
}

// unreported says which nodes have no pods because they are not ready, and which others told nothing, by
// the problem.
func (f *Facts) unreported(silent map[string][]string) error {
	var problems []error
	if closed := f.Probed.Closed; len(closed) > 0 {
		problems = append(problems, fmt.Errorf("%s not ready: %s", words.Plural(len(closed), "This node is", "These nodes are"), words.Few(closed, 5)))
	}
	for _, problem := range slices.Sorted(maps.Keys(silent)) {
		nodes := slices.Sorted(slices.Values(silent[problem]))
		problems = append(problems, fmt.Errorf("on %s: %s", words.Few(slices.Compact(nodes), 5), problem))
	}
	return errors.Join(problems...)
}

// unprobed says why no pods ran.
func (f *Facts) unprobed() error {
	return cmp.Or(f.Unprobed, errors.New("no pods were started"))
}

// names collects names by key, each name once for a key.
type names[K comparable] struct {
	keys []K // in the order of their first name
	of   map[K][]string
}

func (n *names[K]) add(key K, name string) {
	if n.of == nil {
		n.of = map[K][]string{}
	}
	if _, has := n.of[key]; !has {
		n.keys = append(n.keys, key)
	}
	if !slices.Contains(n.of[key], name) {
		n.of[key] = append(n.of[key], name)
	}
}

// byNode collects the names of nodes by findings: nodes with equal findings share a finding.
type byNode struct{ names[Finding] }

// all returns the findings. Their subjects are the nodes.
func (b *byNode) all() []Finding {
	var out []Finding
	for _, finding := range b.keys {
		finding.Subject = subject(b.of[finding])
		out = append(out, finding)
	}
	return out
}

// subject names nodes at the beginning of a finding.
func subject(nodes []string) string {
	return words.Plural(len(nodes), "Node ", "Nodes ") + words.Few(nodes, 5)
}
