package watch

import (
	"maps"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers/kubernetes/internal/resources"
)

// TestNotify checks that an event wakes the waits that it concerns, and no others.
func TestNotify(t *testing.T) {
	shared := newSharedWatch(nil, resources.Place{})
	shared.closing = time.AfterFunc(time.Hour, func() {})
	known := &unstructured.Unstructured{}
	exist := func(names ...string) {
		shared.objects = map[string]*unstructured.Unstructured{}
		for _, name := range names {
			shared.objects[name] = known
		}
	}
	waits := map[string]*Subscriber{"changed": {name: "changed"}, "other": {name: "other"}, "absent": {name: "absent"}, "all": {}}
	for _, s := range waits {
		s.watch, s.Changed = shared, make(chan struct{}, 1)
		shared.join(s)
	}
	for i, event := range []struct {
		name   string // of the object; empty: a new list
		change func()
		wakes  []string
	}{
		{"", func() { exist("changed", "other") }, []string{"absent", "all", "changed", "other"}},
		{"changed", func() {}, []string{"absent", "all", "changed"}},
		{"nobody's", func() {}, []string{"absent", "all"}},
		{"absent", func() { shared.objects["absent"] = known }, []string{"absent", "all"}},
		{"nobody's", func() {}, []string{"all"}},
		{"other", func() { delete(shared.objects, "other") }, []string{"all", "other"}},
		{"nobody's", func() {}, []string{"all", "other"}},
	} {
		shared.notify(event.name, event.change)
		var woken []string
		for _, name := range slices.Sorted(maps.Keys(waits)) {
			select {
			case <-waits[name].Changed:
				woken = append(woken, name)
			default:
			}
		}
		if !slices.Equal(woken, event.wakes) {
			t.Errorf("event %d, of %q, wakes %v, want %v", i, event.name, woken, event.wakes)
		}
	}
	second := &Subscriber{name: "other", watch: shared, Changed: make(chan struct{}, 1)}
	shared.join(second)
	waits["other"].Unsubscribe()
	shared.notify("nobody's", func() {})
	if len(waits["other"].Changed) > 0 || len(second.Changed) == 0 {
		t.Error("after one of two waits for an absent object has left, the other one is not told of an event, or both are")
	}
	second.Unsubscribe()
	if len(shared.absent) > 0 {
		t.Errorf("nobody waits for an absent object, but these are noted: %v", shared.absent)
	}
	late := &Subscriber{name: "changed", watch: shared, Changed: make(chan struct{}, 1)}
	shared.join(late)
	if shared.notify("nobody's", func() {}); len(late.Changed) > 0 {
		t.Error("a wait that joins for a known object is told of an event of another one")
	}
	if shared.notify("changed", func() {}); len(late.Changed) == 0 {
		t.Error("a wait that joins for a known object is not told of its event")
	}
}
