package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"kolla.openstack.org/kolla/internal/devcluster/machine"
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
	path := machine.VolumesFolder + "/" + volume.Name
	if err := os.MkdirAll(inside(home, path), 0o755); err != nil {
		return fmt.Errorf("make folder for volume: %w", err)
	}
	// Unlike a hostPath, it is given to the group of the pod's file system.
	volume.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{
		Local: &corev1.LocalVolumeSource{Path: path},
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

// remove deletes what a volume held.
func (l local) remove(volume *corev1.PersistentVolume) error {
	affinity := volume.Spec.NodeAffinity
	if volume.Spec.Local == nil || affinity == nil || affinity.Required == nil {
		return nil
	}
	node := affinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Values[0]
	return os.RemoveAll(inside(filepath.Join(l.machines, node), volume.Spec.Local.Path))
}

// inside is where a path of a machine's /var is found from outside.
func inside(home, path string) string {
	return filepath.Join(home, machine.VarFolder, strings.TrimPrefix(path, "/var/"))
}
