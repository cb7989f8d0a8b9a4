package probe

import (
	_ "embed"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// script reports the facts of a node. It needs nothing but the python3 that each of Kolla's images has.
//
//go:embed node.py
var script string

// Questions are what a pod is to find out.
type Questions struct {
	Names   []string          `json:"names,omitempty"`   // DNS names
	Reached []string          `json:"reached,omitempty"` // HOST:PORT, or http URLs
	Paths   []string          `json:"paths,omitempty"`   // IP addresses of other nodes' pods
	Modules map[string]string `json:"modules,omitempty"` // of the kernel, each with a symbol that it has
}

// Report is the answer to Questions.
type Report struct {
	Format   int `json:"format"`
	Resolver struct {
		Nameservers []string `json:"nameservers"`
		Search      []string `json:"search"`
		Ndots       int      `json:"ndots"`
	} `json:"resolver"`
	Names   []Lookup  `json:"names"`
	Reached []Contact `json:"reached"`
	Paths   []Path    `json:"paths"`
	Kernel  Kernel    `json:"kernel"`
	// Initiators are the names of the node for iSCSI and NVMe.
	Initiators []string `json:"initiators"`
}

// Lookup is the result of one DNS name. Problem is empty if it has addresses.
type Lookup struct {
	Name      string   `json:"name"`
	Addresses []string `json:"addresses"`
	Problem   string   `json:"problem"`
	Seconds   float64  `json:"seconds"`
}

// NoAnswer is the problem of a lookup to which no name server answers.
const NoAnswer = "no answer"

// Contact is the result of one address.
type Contact struct {
	Address   string  `json:"address"`
	Connected float64 `json:"connected"` // seconds; 0: it did not
	Answered  float64 `json:"answered"`
	Status    int     `json:"status"` // of HTTP
	Problem   string  `json:"problem"`
}

// Path is the result for one address of another node. Large reports whether a packet that fills the MTU
// arrives; nil: the address answers nothing.
type Path struct {
	Address string `json:"address"`
	MTU     int    `json:"mtu"`
	Large   *bool  `json:"large"`
}

// ModuleMissing is the state of a module that the kernel does not have.
const ModuleMissing = "missing"

// Kernel has facts of the kernel and the processor. The state of a module is "loaded", "loadable", ModuleMissing,
// or empty if the pod cannot find it out.
type Kernel struct {
	Modules        map[string]string `json:"modules"`
	KVM            bool              `json:"kvm"`
	Virtualization bool              `json:"virtualization"` // the processor has it
	Cgroup         int               `json:"cgroup"`         // version
	SELinux        string            `json:"selinux"`        // enforcing, permissive, disabled; empty: not known
}

// format is the version of the report.
const format = 1

// Parse reads the report in the log of a pod: the last line with JSON.
func Parse(log string) (*Report, error) {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	for _, line := range slices.Backward(lines) {
		var report Report
		if json.Unmarshal([]byte(line), &report) == nil && report.Format == format {
			return &report, nil
		}
	}
	return nil, errors.New("its log has no report")
}

// Base is the part of a pod that comes from a workload of the cloud which runs on the node anyway.
type Base struct {
	Image       string
	PullPolicy  corev1.PullPolicy
	PullSecrets []corev1.LocalObjectReference
}

// nobody is a user with no rights. The script reads only files that everybody may read.
const nobody = 65534

// Bases returns the images of the containers of pods, each once. It leaves out those for which known is false.
func Bases(pods []*corev1.PodSpec, known func(image string) bool) []Base {
	var out []Base
	for _, pod := range pods {
		for _, c := range slices.Concat(pod.Containers, pod.InitContainers) {
			if c.Image != "" && known(c.Image) && !slices.ContainsFunc(out, func(b Base) bool { return b.Image == c.Image }) {
				out = append(out, Base{Image: c.Image, PullPolicy: c.ImagePullPolicy, PullSecrets: pod.ImagePullSecrets})
			}
		}
	}
	return out
}

// Choose returns the first image of a registry, or else the first one: all of Kolla's images have python3.
func Choose(bases []Base, registry string) Base {
	for _, b := range bases {
		if strings.HasPrefix(b.Image, registry+"/") {
			return b
		}
	}
	if len(bases) == 0 {
		return Base{}
	}
	return bases[0]
}

// OnNode returns a pod that answers questions about a node. hostPaths maps directories below /host to
// directories of the node, which the pod mounts without writing. Without them, a namespace of the level
// "restricted" takes the pod.
func OnNode(node string, base Base, questions Questions, hostPaths map[string]string) (Pod, error) {
	pod, err := Asking(base, questions)
	if err != nil {
		return Pod{}, err
	}
	pod.Node = node
	PinTo(&pod.Spec, node)
	spec, container := &pod.Spec, &pod.Spec.Containers[0]
	for name, path := range hostPaths {
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path}}})
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: "/host/" + name, ReadOnly: true})
	}
	if len(hostPaths) > 0 { // the type of the cloud's own pods with directories of the node
		spec.SecurityContext.SELinuxOptions = &corev1.SELinuxOptions{Type: "spc_t", Level: "s0"}
	}
	slices.SortFunc(spec.Volumes, func(a, b corev1.Volume) int { return strings.Compare(a.Name, b.Name) })
	return pod, nil
}

// Asking returns a pod that answers questions on any node.
func Asking(base Base, questions Questions) (Pod, error) {
	text, err := json.Marshal(questions)
	if err != nil {
		return Pod{}, err
	}
	container := Container("probe", base, []string{"python3", "-c", script})
	container.Env = []corev1.EnvVar{
		{Name: "PROBE", Value: string(text)},
		{Name: "RES_OPTIONS", Value: "timeout:2 attempts:2"}, // a name server that does not answer must not take the whole time
	}
	spec := Spec(base)
	spec.Containers = []corev1.Container{container}
	return Pod{Spec: spec}, nil
}

// Report returns what the pod reported. The error says why there is no report.
func (o Outcome) Report() (*Report, error) {
	if o.Problem != "" {
		return nil, errors.New(o.Problem)
	}
	return Parse(o.Log)
}

// Spec returns a pod without containers that a namespace of the level "restricted" takes.
func Spec(base Base) corev1.PodSpec {
	return corev1.PodSpec{
		ImagePullSecrets: base.PullSecrets,
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot:   new(true),
			RunAsUser:      new(int64(nobody)),
			RunAsGroup:     new(int64(nobody)),
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
	}
}

// PinTo makes a pod run on one node, whatever its taints are.
func PinTo(spec *corev1.PodSpec, node string) {
	spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{
			{Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{node}},
		}}},
	}}}
}

// Container returns a container with no rights and small needs.
func Container(name string, base Base, command []string) corev1.Container {
	return corev1.Container{
		Name: name, Image: base.Image, ImagePullPolicy: base.PullPolicy, Command: command,
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("5m"), corev1.ResourceMemory: resource.MustParse("16Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("256Mi")},
		},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false),
			ReadOnlyRootFilesystem:   new(true),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}
}

// Duration converts seconds of a report.
func Duration(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }
