package write

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestOnlyEmpties checks that a second apply may add only empty maps and lists.
func TestOnlyEmpties(t *testing.T) {
	const before = `{"metadata": {"resourceVersion": "1", "generation": 1, "managedFields": [], "annotations": {"deprecated.daemonset.template.generation": "3"}}, "spec": {"a": 1, "l": [{"x": 1}]}}`
	for after, want := range map[string]bool{
		before: false,
		`{"metadata": {"resourceVersion": "1", "annotations": {"deprecated.daemonset.template.generation": "4"}, "generation": 2}, "spec": {"a": 1, "l": [{"x": 1}]}}`:                                       false,
		`{"metadata": {"resourceVersion": "1", "annotations": {"deprecated.daemonset.template.generation": "4"}}, "spec": {"a": 1, "l": [{"x": 1}], "m": {}}}`:                                               true,
		`{"metadata": {"resourceVersion": "1", "annotations": {"deprecated.daemonset.template.generation": "4"}}, "spec": {"a": 1, "l": [{"x": 1, "y": []}]}}`:                                               true,
		`{"metadata": {"resourceVersion": "1", "annotations": {"deprecated.daemonset.template.generation": "4"}}, "spec": {"a": 1, "l": [{"x": 1}], "m": {"n": {}}}}`:                                        true,
		`{"metadata": {"resourceVersion": "1", "annotations": {"deprecated.daemonset.template.generation": "4"}}, "spec": {"a": 2, "l": [{"x": 1}], "m": {}}}`:                                               false,
		`{"metadata": {"resourceVersion": "1", "annotations": {"deprecated.daemonset.template.generation": "4"}}, "spec": {"a": 1, "m": {}}}`:                                                                false,
		`{"metadata": {"resourceVersion": "1", "annotations": {"deprecated.daemonset.template.generation": "4"}}, "spec": {"a": 1, "l": [{"x": 1}, {}], "m": {}}}`:                                           false,
		`{"metadata": {"resourceVersion": "1", "annotations": {"deprecated.daemonset.template.generation": "4"}, "labels": {"theirs": "x"}}, "spec": {"a": 1, "l": [{"x": 1}], "m": {}}}`:                    false,
		`{"metadata": {"resourceVersion": "1", "annotations": {"deprecated.daemonset.template.generation": "4"}}, "spec": {"a": 1, "l": [{"x": 1}], "e": null}}`:                                             true,
		`{"metadata": {"resourceVersion": "1", "annotations": {"deprecated.daemonset.template.generation": "4"}}, "spec": {"a": 1, "l": [{"x": 1}]}, "status": {"conditions": []}}`:                          true,
		`{"metadata": {"resourceVersion": "1", "annotations": {"deprecated.daemonset.template.generation": "4"}}, "spec": {"a": 1, "l": [{"x": 1}]}, "status": {"conditions": [{"type": "x", "at": null}]}}`: false,
	} {
		read := func(text string) *unstructured.Unstructured {
			u := &unstructured.Unstructured{}
			if err := json.Unmarshal([]byte(text), &u.Object); err != nil {
				t.Fatal(err)
			}
			return u
		}
		if got := onlyEmptyFields(read(before), read(after)); got != want {
			t.Errorf("%s: %t", after, got)
		}
	}
}
