package kinds_test

import (
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"kolla.openstack.org/kolla/providers/kinds"
)

// TestPods checks that the table has the path of the pod template for each kind of Kubernetes that
// has pods, and for no other kind.
func TestPods(t *testing.T) {
	seen := 0
	for gvk, typ := range scheme.Scheme.AllKnownTypes() {
		if gvk.Version != "v1" || gvk.Kind == "PodTemplate" {
			continue
		}
		want, has := templateIn(typ, nil)
		if gvk.GroupKind() == kinds.Pod {
			want, has = []string{}, true
		}
		got, ok := kinds.Pods(gvk.GroupKind())
		if ok != has || strings.Join(got, ".") != strings.Join(want, ".") {
			t.Errorf("%s: pods at %q, %t; want %q, %t", gvk, got, ok, want, has)
		}
		if has {
			seen++
		}
	}
	if seen < 8 {
		t.Errorf("only %d kinds with pods are known", seen)
	}
}

// templateIn returns the path of the pod template within the spec of a type.
func templateIn(typ reflect.Type, path []string) ([]string, bool) {
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if typ == reflect.TypeFor[corev1.PodTemplateSpec]() {
		return path, true
	}
	if typ.Kind() != reflect.Struct || len(path) > 3 {
		return nil, false
	}
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		if len(path) == 0 && name != "spec" || name == "" {
			continue
		}
		if found, ok := templateIn(typ.Field(i).Type, append(path[:len(path):len(path)], name)); ok {
			return found, true
		}
	}
	return nil, false
}

// TestSwept checks that Swept returns only namespaced kinds, in a fixed order.
func TestSwept(t *testing.T) {
	for i, kind := range kinds.Swept() {
		if kinds.ClusterScoped(kind.GroupKind()) {
			t.Errorf("%s lives in no namespace", kind)
		}
		if before := kinds.Swept()[max(i-1, 0)]; before.Group+before.Kind > kind.Group+kind.Kind {
			t.Errorf("%s comes after %s", kind, before)
		}
	}
}
