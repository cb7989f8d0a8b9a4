package objects

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
	"kolla.openstack.org/kolla/internal/run/probe"
	"kolla.openstack.org/kolla/providers/scheduling"
)

// staticProvisioner is the provisioner of classes whose volumes somebody makes by hand.
const staticProvisioner = "kubernetes.io/no-provisioner"

// volumeName is the name of the volume of a pod, and of its container.
const volumeName = "volume"

// AskVolumes adds a pod with a claim for each storage class of the configuration. The claim belongs to the pod,
// and the cluster removes both.
func AskVolumes(f *cluster.Facts, nodes []corev1.Node, add func(probe.Pod, func(probe.Outcome))) {
	asked := map[string]bool{}
	for _, c := range smallestClaims(f) {
		class := classOf(f, c.class)
		if asked[c.class] || class == nil {
			continue // the check of the classes says so
		}
		asked[c.class] = true
		result := cluster.VolumeProbe{Class: c.class, Claim: c.object.Address.String()}
		switch {
		case class.Provisioner == staticProvisioner:
			result.Skipped = "nobody makes volumes for it on demand"
		case class.ReclaimPolicy != nil && *class.ReclaimPolicy == corev1.PersistentVolumeReclaimRetain:
			result.Skipped = "it keeps volumes (reclaimPolicy: Retain), so that the volume of the check would stay behind"
		default:
			if pod, ok := volumePod(f, c, nodes); ok {
				at := len(f.Probed.Volumes)
				add(pod, func(o probe.Outcome) { f.Probed.Volumes[at].Problem = unmounted(o) })
			} else {
				result.Skipped = "no node takes its pods, or their images are not known yet"
			}
		}
		f.Probed.Volumes = append(f.Probed.Volumes, result)
	}
}

// unmounted says why a pod got no volume. The kubelet mounts the volume before it pulls the image, so the storage
// class does not cause failures of the image or the container.
func unmounted(o probe.Outcome) string {
	if o.Pod != nil {
		status := probe.Status(o.Pod, volumeName)
		if status != nil && (status.State.Waiting == nil || status.State.Waiting.Reason != "ContainerCreating") {
			return ""
		}
	}
	return o.Problem
}

// smallestClaims returns the claims, those with the smallest requests first.
func smallestClaims(f *cluster.Facts) []claim {
	claims := declaredClaims(f)
	slices.SortStableFunc(claims, func(a, b claim) int {
		return a.spec.Resources.Requests.Storage().Cmp(*b.spec.Resources.Requests.Storage())
	})
	return claims
}

// classOf returns a storage class of the cluster; nil: there is none. An empty name is the default one.
func classOf(f *cluster.Facts, name string) *storagev1.StorageClass {
	live, _ := f.List(ClassKind, "")
	for _, u := range live {
		var class storagev1.StorageClass
		if (u.GetName() == name || name == "" && isDefault(u)) && cluster.Decode(u, &class) {
			return &class
		}
	}
	return nil
}

// volumePod returns a pod that mounts a claim, on the nodes of the workload with that claim.
func volumePod(f *cluster.Facts, c claim, nodes []corev1.Node) (probe.Pod, bool) {
	like := &corev1.PodSpec{}
	if pod, ok := scheduling.PodOf(c.object.Manifest); ok {
		like = pod
	}
	at := slices.IndexFunc(nodes, func(n corev1.Node) bool { return scheduling.RunsOn(like, &n) && f.Base(&n).Image != "" })
	if at < 0 {
		return probe.Pod{}, false
	}
	base := f.Base(&nodes[at])
	spec := probe.Spec(base)
	spec.NodeSelector, spec.Tolerations = like.NodeSelector, like.Tolerations
	spec.Volumes = []corev1.Volume{{Name: volumeName, VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{
		VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: c.spec.AccessModes, Resources: c.spec.Resources, StorageClassName: c.spec.StorageClassName, VolumeMode: c.spec.VolumeMode,
		}},
	}}}}
	container := probe.Container(volumeName, base, []string{"true"})
	if mode := c.spec.VolumeMode; mode != nil && *mode == corev1.PersistentVolumeBlock {
		container.VolumeDevices = []corev1.VolumeDevice{{Name: volumeName, DevicePath: "/dev/volume"}}
	} else {
		container.VolumeMounts = []corev1.VolumeMount{{Name: volumeName, MountPath: "/volume"}}
	}
	spec.Containers = []corev1.Container{container}
	return probe.Pod{Spec: spec}, true
}

// Volumes checks that a claim of each storage class gets a volume.
func Volumes(f *cluster.Facts) ([]cluster.Finding, error) {
	if f.Probed == nil {
		return nil, f.NotProbed()
	}
	var out []cluster.Finding
	var skipped []error
	for _, v := range f.Probed.Volumes {
		name := cmp.Or(v.Class, "(default)")
		switch {
		case v.Skipped != "":
			skipped = append(skipped, fmt.Errorf("StorageClass %s: %s", name, v.Skipped))
		case v.Problem != "":
			out = append(out, cluster.Finding{
				Severity: cluster.Error, Subject: "StorageClass " + name, Problem: "a pod with a claim of this class did not start: " + v.Problem,
				Reason: fmt.Sprintf("Claims such as that of %s get no volume, or not in time.", v.Claim),
				Next:   "Look at the provisioner of the class, its logs and its free space: kubectl describe storageclass. -timeout gives it more time.",
			})
		}
	}
	_, err := f.List(ClassKind, "")
	return out, errors.Join(append(skipped, err)...)
}

// claimSpec decodes the specification of a claim.
func claimSpec(content map[string]any) corev1.PersistentVolumeClaimSpec {
	var spec corev1.PersistentVolumeClaimSpec
	fields, _, _ := unstructured.NestedMap(content, "spec")
	if runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &spec) != nil {
		return corev1.PersistentVolumeClaimSpec{}
	}
	return spec
}
