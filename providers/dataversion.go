package providers

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// DataVersion is the version of a program that converts its data when it starts, and does not start with the data
// of a newer one. An annotation of the workload contains it as JSON.
type DataVersion struct {
	Program string   `json:"program"`        // "MariaDB"
	Version string   `json:"version"`        // "11.4"
	From    []string `json:"from,omitempty"` // other versions whose data it takes over; nil: all
	// Detail says how to get there from other versions; may be empty.
	Detail string `json:"detail,omitempty"`
}

// DataVersionOf reads the annotation of a workload. The result is zero if the annotation is missing or does not
// contain a version: others can write it.
func DataVersionOf(workload *unstructured.Unstructured) DataVersion {
	var v DataVersion
	if json.Unmarshal([]byte(workload.GetAnnotations()[AnnotationDataVersion]), &v) != nil {
		return DataVersion{}
	}
	return v
}
