package watch

import (
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestNotify checks that an event wakes the waits that it concerns, and no others.
func TestNotify(t *testing.T) {
	known := &unstructured.Unstructured{}
	shared := &sharedWatch{subscribers: map[*Subscriber]bool{}, objects: map[string]*unstructured.Unstructured{"changed": known, "other": known}}
	waits := map[string]*Subscriber{"changed": {name: "changed"}, "other": {name: "other"}, "absent": {name: "absent"}, "all": {}}
	for _, s := range waits {
		s.Changed = make(chan struct{}, 1)
		shared.subscribers[s] = true
	}
	for event, want := range map[string][]string{
		"changed": {"absent", "all", "changed"},
		"":        {"absent", "all", "changed", "other"}, // a new list
	} {
		shared.notify(event, func() {})
		var woken []string
		for _, name := range slices.Sorted(maps.Keys(waits)) {
			select {
			case <-waits[name].Changed:
				woken = append(woken, name)
			default:
			}
		}
		if !slices.Equal(woken, want) {
			t.Errorf("an event of %q wakes %v, want %v", event, woken, want)
		}
	}
}
