package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/run/probe"
	"kolla.openstack.org/kolla/lang/configs"
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

// ImageProbe is the result of one image on one node.
type ImageProbe struct {
	Node, Image string
	Digest      string // of the image there; empty: not known
	Refused     string // why it cannot be pulled
	Problem     string // why nobody knows
}

// VolumeProbe is the result of a claim of one storage class.
type VolumeProbe struct {
	Class   string // empty: the default one
	Claim   string // address of an object with such a claim
	Problem string // why it got no volume
	Skipped string // why no claim was made
}

// Base returns the image for the pod on a node. The node needs the image anyway. Images of Kolla come first.
func (f *Facts) Base(node *corev1.Node) probe.Base {
	return probe.Choose(f.Images(node), f.Config.Cloud.Registry)
}

// Images returns the images of the containers that may run on a node, each once.
func (f *Facts) Images(node *corev1.Node) []probe.Base {
	var pods []*corev1.PodSpec
	for _, w := range f.On(node) {
		pods = append(pods, w.Pod)
	}
	return probe.Bases(pods, func(image string) bool { return !strings.Contains(image, configs.KnownAfterApply) })
}

// PodsOn returns the running pods of a node, as far as they could be read.
func (f *Facts) PodsOn(node string) []corev1.Pod {
	if f.running != nil {
		return f.running[node]
	}
	f.running = map[string][]corev1.Pod{}
	live, err := f.List(PodKind, "")
	if err != nil {
		return nil
	}
	for _, u := range live {
		var pod corev1.Pod
		if Decode(u, &pod) && pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil {
			f.running[pod.Spec.NodeName] = append(f.running[pod.Spec.NodeName], pod)
		}
	}
	return f.running[node]
}

// Reports returns the nodes with a report. The error says which nodes have none.
func (f *Facts) Reports() ([]NodeProbe, error) {
	if f.Probed == nil {
		return nil, f.NotProbed()
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
	return out, f.Unreported(silent)
}

// Unreported says which nodes have no pods because they are not ready, and which others told nothing, by
// the problem.
func (f *Facts) Unreported(silent map[string][]string) error {
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

// NotProbed says why no pods ran.
func (f *Facts) NotProbed() error {
	return cmp.Or(f.Unprobed, errors.New("no pods were started"))
}
