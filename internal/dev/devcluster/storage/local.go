package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"kolla.openstack.org/kolla/internal/dev/devcluster/machine"
)

// local makes the folders behind volumes on real nodes.
type local struct {
	machines string
}

// place puts a volume on the node, if that is a real one.
func (l local) place(volume *corev1.PersistentVolume, node string) error {
	home := filepath.Join(l.machines, node)
	if _, err := os.Stat(home); node == "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if err := os.MkdirAll(outside(home, volume), 0o755); err != nil {
		return fmt.Errorf("make folder for volume: %w", err)
	}
	// Unlike a hostPath, it is given to the group of the pod's file system.
	volume.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{
		Local: &corev1.LocalVolumeSource{Path: folder(volume)},
	}
	volume.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{
				Key: corev1.LabelHostname, Operator: corev1.NodeSelectorOpIn, Values: []string{node},
			}},
		}},
	}}
	return nil
}

// remove deletes the data of a volume.
func (l local) remove(volume *corev1.PersistentVolume) error {
	if volume.Spec.Local == nil {
		return nil
	}
	// Only one machine has it. Its name is not taken from the volume, which
	// others can write to.
	machines, err := os.ReadDir(l.machines)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, m := range machines {
		if err := os.RemoveAll(outside(filepath.Join(l.machines, m.Name()), volume)); err != nil {
			return err
		}
	}
	return nil
}

// folder returns the path of a volume on its node.
func folder(volume *corev1.PersistentVolume) string {
	return machine.VolumesFolder + "/" + volume.Name
}

// outside returns the path of the same folder outside of the machine.
func outside(home string, volume *corev1.PersistentVolume) string {
	return filepath.Join(home, machine.VarFolder, strings.TrimPrefix(folder(volume), "/var/"))
}
