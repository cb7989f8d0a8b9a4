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
