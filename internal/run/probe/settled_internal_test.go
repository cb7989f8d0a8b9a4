package probe

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// TestLastWarning checks which event explains a pod: the scheduler writes its time into another field.
func TestLastWarning(t *testing.T) {
	var events []*unstructured.Unstructured
	for _, text := range []string{
		`{type: Warning, involvedObject: {name: job-1}, message: quota, lastTimestamp: "2026-11-28T12:00:01Z"}`,
		`{type: Warning, involvedObject: {name: job-1-x}, message: no node, eventTime: "2026-11-28T12:00:03.000000Z"}`,
		`{type: Warning, involvedObject: {name: job-1-x}, message: earlier, lastTimestamp: "2026-11-28T12:00:02Z"}`,
		`{type: Normal, involvedObject: {name: job-1-x}, message: pulled, lastTimestamp: "2026-11-28T12:00:04Z"}`,
		`{type: Warning, involvedObject: {name: job-10-x}, message: of another, lastTimestamp: "2026-11-28T12:00:05Z"}`,
	} {
		event := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &event.Object); err != nil {
			t.Fatal(err)
		}
		events = append(events, event)
	}
	for job, want := range map[string]string{"job-1": "no node", "job-10": "of another", "job-2": ""} {
		if got := lastWarning(events, job); got != want {
			t.Errorf("%s: %q, want %q", job, got, want)
		}
	}
}
