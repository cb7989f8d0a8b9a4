package planner_test

import (
	"strings"
	"testing"
)

// TestWaysOnFromUndeclaredData checks that the problem of undeclared data lists all options of the
// operator.
func TestWaysOnFromUndeclaredData(t *testing.T) {
	w := &world{}
	w.add("manifest.data/PersistentVolumeClaim/data", thing("v1", "PersistentVolumeClaim", "data"))
	text := mustNotPlan(t, w.input())
	for _, part := range []string{
		"put its declaration back", "declare its new name in a moved block", "-delete-data=manifest.data/PersistentVolumeClaim/data",
		"removed {\n    from = \"manifest.data/PersistentVolumeClaim/data\"\n    lifecycle {\n      destroy = false\n",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in:\n%s", part, text)
		}
	}
}
