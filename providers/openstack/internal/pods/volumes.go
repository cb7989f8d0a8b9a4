package pods

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/openstack/internal/files"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
)

// volumes collects the volumes of one pod.
type volumes struct {
	list  []*corev1.VolumeApplyConfiguration
	taken []string // names
	// places are the names of volumes that several containers may mount, by their content.
	places map[string]string
}

// sharedVolume is a declared volume with its name in the pod.
type sharedVolume struct {
	decl configs.Volume
	name string
}

// declare adds declared volumes to the pod, and returns them after earlier ones.
func (v *volumes) declare(earlier []sharedVolume, decls []configs.Volume) []sharedVolume {
	shared := slices.Clone(earlier)
	for _, decl := range decls {
		if decl.Secret != "" {
			shared = append(shared, sharedVolume{decl, v.secretOf(decl)})
			continue
		}
		name := v.name(decl.Name)
		shared = append(shared, sharedVolume{decl, name})
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
		v.list = append(v.list, volume)
	}
	return shared
}

// file returns the volume for a key of a ConfigMap or Secret.
func (v *volumes) file(m files.Mounted) string {
	place := m.Object.String() + " " + m.Key
	if name, there := v.places[place]; there {
		return name
	}
	name := object.Label(m.Key, false)
	if m.Secret {
		name += "-secret"
	}
	name = v.name(name)
	v.remember(place, name)
	volume := corev1.Volume().WithName(name)
	if m.Secret {
		volume.WithSecret(corev1.SecretVolumeSource().WithSecretName(m.Object.Name).WithDefaultMode(int32(cmp.Or(m.Mode, 0o440))))
	} else {
		volume.WithConfigMap(corev1.ConfigMapVolumeSource().WithName(m.Object.Name))
		if m.Mode != 0 {
			volume.ConfigMap.WithDefaultMode(int32(m.Mode))
		}
	}
	v.list = append(v.list, volume)
	return name
}

// secret returns a volume with all keys of a Secret.
func (v *volumes) secret(base, name string) string {
	volume := v.name(base)
	v.list = append(v.list, corev1.Volume().WithName(volume).
		WithSecret(corev1.SecretVolumeSource().WithSecretName(name).WithDefaultMode(0o440)))
	return volume
}

// secretOf returns the volume with the Secret of a declared volume. Containers share it.
func (v *volumes) secretOf(decl configs.Volume) string {
	place := "Secret " + decl.Secret
	if name, there := v.places[place]; there {
		return name
	}
	name := v.secret(decl.Name, decl.Secret)
	v.remember(place, name)
	return name
}

// writableSize is the default size limit of a writable directory, so that a pod cannot fill the
// disk of its node. Images of servers, which some services convert there, fit in it.
const writableSize = "50Gi"

// directory returns the volume for a writable path. Containers that list the same path share
// the volume, except /tmp. An empty size is the default.
func (v *volumes) directory(path, size string) string {
	if name, there := v.places[path]; there {
		return name
	}
	name := v.name("writable-" + object.Label(path, false))
	v.list = append(v.list, corev1.Volume().WithName(name).WithEmptyDir(sized(cmp.Or(size, writableSize))))
	if path != "/tmp" {
		v.remember(path, name)
	}
	return name
}

// remember records the volume with some content.
func (v *volumes) remember(place, name string) {
	if v.places == nil {
		v.places = map[string]string{}
	}
	v.places[place] = name
}

// name returns a valid name that no other volume of the pod has.
func (v *volumes) name(base string) string {
	const maxLength = 63 - len("-00")
	base = strings.TrimRight(base[:min(len(base), maxLength)], "-")
	name := base
	for n := 2; slices.Contains(v.taken, name); n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	v.taken = append(v.taken, name)
	return name
}

func sized(size string) *corev1.EmptyDirVolumeSourceApplyConfiguration {
	return corev1.EmptyDirVolumeSource().WithSizeLimit(resource.MustParse(size)) // lang has checked the syntax
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
