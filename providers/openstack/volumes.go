package openstack

import (
	"path"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"kolla.openstack.org/kolla/lang/configs"
)

// sharedVolume is a declared volume with its name in the pod.
type sharedVolume struct {
	configs.Volume
	name string
}

// addVolumes adds declared volumes to the pod.
func (t *podTemplate) addVolumes(volumes []configs.Volume) {
	t.shared = slices.Clone(t.shared)
	for _, decl := range volumes {
		name := t.volumeName(decl.Name)
		t.shared = append(t.shared, sharedVolume{decl, name})
		volume := corev1.Volume().WithName(name)
		switch {
		case decl.Host != "":
			volume.WithHostPath(corev1.HostPathVolumeSource().WithPath(decl.Host).WithType(hostPathType(decl)))
		case decl.Claim != "":
			volume.WithPersistentVolumeClaim(corev1.PersistentVolumeClaimVolumeSource().WithClaimName(decl.Claim))
		case decl.Memory != "":
			volume.WithEmptyDir(sized(decl.Memory).WithMedium(v1.StorageMediumMemory))
		case decl.Shared != "":
			volume.WithEmptyDir(sized(decl.Shared))
		}
		t.volumes = append(t.volumes, volume)
	}
}

func sized(size string) *corev1.EmptyDirVolumeSourceApplyConfiguration {
	return corev1.EmptyDirVolumeSource().WithSizeLimit(resource.MustParse(size)) // lang checked that it parses
}

func hostPathType(decl configs.Volume) v1.HostPathType {
	switch {
	case decl.Type == "file" && decl.Create:
		return v1.HostPathFileOrCreate
	case decl.Type == "file":
		return v1.HostPathFile
	case decl.Type == "socket":
		return v1.HostPathSocket
	case decl.Type == "device":
		return v1.HostPathCharDev
	case decl.Create:
		return v1.HostPathDirectoryOrCreate
	}
	return v1.HostPathDirectory
}

// volumeMounts are the mounts of the declared volumes in a container.
func (t *podTemplate) volumeMounts() []*corev1.VolumeMountApplyConfiguration {
	var out []*corev1.VolumeMountApplyConfiguration
	for _, v := range t.shared {
		mount := corev1.VolumeMount().WithName(v.name).WithMountPath(v.Path)
		if v.ReadOnly {
			mount.WithReadOnly(true)
		}
		switch v.Propagation {
		case "in":
			mount.WithMountPropagation(v1.MountPropagationHostToContainer)
		case "both":
			// Kubernetes refuses it for a container that is not privileged.
			mount.WithMountPropagation(v1.MountPropagationHostToContainer)
			if t.pod.Privileged {
				mount.WithMountPropagation(v1.MountPropagationBidirectional)
			}
		}
		out = append(out, mount)
	}
	return out
}

// mountsAt reports whether a declared volume is mounted at a path.
func (t *podTemplate) mountsAt(at string) bool {
	return slices.ContainsFunc(t.shared, func(v sharedVolume) bool { return path.Clean(v.Path) == at })
}
