package providers

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Backup has the commands that save the data of a StatefulSet and bring them back. An annotation of
// the StatefulSet contains it.
type Backup struct {
	What      string   `json:"what"`      // the data: "databases"
	Container string   `json:"container"` // name of the container of the commands
	Save      []string `json:"save"`      // writes the data to standard output
	// Stage puts the data from standard input aside. Its last argument, which is added, is their size
	// in bytes.
	Stage   []string `json:"stage"`
	Restore []string `json:"restore"` // puts the staged data into use
	// Offline: the pods are stopped before Restore. Stage and Restore run in pods of their own, with
	// the claims of the stopped pods.
	Offline bool `json:"offline,omitempty"`
	// Mismatch says in sentences what does not fit together after a restore; may be empty.
	Mismatch string `json:"mismatch,omitempty"`
}

// The label of the pods of a CronJob that runs kolla backup, as in examples/backup.
const (
	backupLabel = "app.kubernetes.io/name"
	backupValue = "kolla-backup"
)

// BacksUp reports whether a CronJob makes backups of a cloud: its pods have a label with the name of
// the cloud, or none with a name and the CronJob is in the namespace of the cloud.
func BacksUp(job *unstructured.Unstructured, cloud, namespace string) bool {
	labels, _, _ := unstructured.NestedStringMap(job.Object, "spec", "jobTemplate", "spec", "template", "metadata", "labels")
	named, has := labels[LabelCloud]
	return labels[backupLabel] == backupValue && (named == cloud || !has && job.GetNamespace() == namespace)
}

// BackupOf reads the annotation of a workload. It returns nil if the annotation is missing.
func BackupOf(workload *unstructured.Unstructured) (*Backup, error) {
	text, ok := workload.GetAnnotations()[AnnotationBackup]
	if !ok {
		return nil, nil
	}
	var b Backup
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		return nil, fmt.Errorf("read the annotation %s of %s: %w", AnnotationBackup, RefOf(workload), err)
	}
	if len(b.Save) == 0 || len(b.Stage) == 0 || len(b.Restore) == 0 || b.Container == "" {
		return nil, fmt.Errorf("read the annotation %s of %s: a command or the container is missing", AnnotationBackup, RefOf(workload))
	}
	return &b, nil
}
