package dryrun

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Trial is a manifest for a dry run under a throw-away name, while the object that it
// replaces still exists. It lacks values that only one object of the cluster can have and
// that the old object still has, because the server would refuse them.
type Trial struct {
	Manifest *unstructured.Unstructured
	held     []uniqueValue
}

// uniqueValue is a value that was left out. Its place consists of names of fields and
// indexes of ports.
type uniqueValue struct {
	place []any
	value any
}

// WithoutUnique copies the manifest without the unique values that the live object has and
// gives up when it is deleted: addresses and ports of a Service, or being the default of
// all PriorityClasses. If others have such a value, the dry run has to show it, so it
// stays. Values that are not valid in the object stay too, such as a node port of a Service
// of type ClusterIP.
func WithoutUnique(manifest, live *unstructured.Unstructured) Trial {
	t := Trial{Manifest: manifest.DeepCopy()}
	switch manifest.GroupVersionKind().GroupKind() {
	case kinds.PriorityClass:
		if isDefault, _, _ := unstructured.NestedBool(live.Object, "globalDefault"); isDefault {
			t.leaveOut("globalDefault")
		}
	case kinds.Service:
		t.leaveOutAddresses(live)
		t.leaveOutPorts(live)
	}
	return t
}

// WithoutAllocated copies the server's answer to a dry run without the addresses and ports of a
// Service that the live object lacks. A dry run allocates none: the answer has placeholders,
// which the server refuses if they come back to it.
func WithoutAllocated(answer, live *unstructured.Unstructured) Trial {
	t := Trial{Manifest: answer.DeepCopy()}
	if answer.GroupVersionKind().GroupKind() != kinds.Service {
		return t
	}
	if before := addressesOf(live); slices.ContainsFunc(addressesOf(answer), func(a string) bool { return !slices.Contains(before, a) }) {
		t.leaveOut("spec", "clusterIP")
		t.leaveOut("spec", "clusterIPs")
	}
	before := NodePorts(live)
	fresh := func(from map[string]any, field string) bool {
		number, there, _ := unstructured.NestedInt64(from, field)
		return there && !slices.Contains(before, number)
	}
	if spec, _ := answer.Object["spec"].(map[string]any); fresh(spec, "healthCheckNodePort") {
		t.leaveOut("spec", "healthCheckNodePort")
	}
	for i, port := range portsOf(answer) {
		if fresh(port, "nodePort") {
			t.leaveOut("spec", "ports", i, "nodePort")
		}
	}
	return t
}

func (t *Trial) leaveOutAddresses(live *unstructured.Unstructured) {
	held := addressesOf(live)
	isHeld := func(address string) bool { return slices.Contains(held, address) }
	if t.kind() != corev1.ServiceTypeExternalName && slices.ContainsFunc(addressesOf(t.Manifest), isHeld) {
		t.leaveOut("spec", "clusterIP")
		t.leaveOut("spec", "clusterIPs")
	}
}

// addressesOf returns the cluster addresses that a Service has or asks for.
func addressesOf(service *unstructured.Unstructured) []string {
	addresses, _, _ := unstructured.NestedStringSlice(service.Object, "spec", "clusterIPs")
	one, _, _ := unstructured.NestedString(service.Object, "spec", "clusterIP")
	addresses = append(addresses, one)
	slices.Sort(addresses)
	return slices.DeleteFunc(slices.Compact(addresses), func(a string) bool { return a == "" || a == corev1.ClusterIPNone })
}

// AddressHolder returns the Service with an address that the manifest asks for and the live
// object does not have; zero: there is none. A dry run does not check this.
func AddressHolder(ctx context.Context, reader providers.Reader, manifest, live *unstructured.Unstructured) (holder providers.Ref, address string, err error) {
	if manifest.GroupVersionKind().GroupKind() != kinds.Service {
		return holder, "", nil
	}
	held := addressesOf(live)
	wanted := slices.DeleteFunc(addressesOf(manifest), func(a string) bool { return slices.Contains(held, a) })
	if len(wanted) == 0 {
		return holder, "", nil
	}
	services, err := reader.List(ctx, live.GroupVersionKind(), "")
	if err != nil {
		return holder, "", fmt.Errorf("find out whether %s is free: %w", strings.Join(wanted, ", "), err)
	}
	for _, other := range services {
		for _, address := range addressesOf(other) {
			if slices.Contains(wanted, address) {
				return providers.RefOf(other), address, nil
			}
		}
	}
	return holder, "", nil
}

func (t *Trial) leaveOutPorts(live *unstructured.Unstructured) {
	held := NodePorts(live)
	balanced := t.kind() == corev1.ServiceTypeLoadBalancer
	if !balanced && t.kind() != corev1.ServiceTypeNodePort {
		return
	}
	policy, _, _ := unstructured.NestedString(t.Manifest.Object, "spec", "externalTrafficPolicy")
	health, _, _ := unstructured.NestedInt64(t.Manifest.Object, "spec", "healthCheckNodePort")
	if balanced && policy == string(corev1.ServiceExternalTrafficPolicyLocal) && slices.Contains(held, health) {
		t.leaveOut("spec", "healthCheckNodePort")
	}
	type socket struct {
		protocol any
		port     int64
	}
	seen := map[socket]bool{}
	for i, port := range portsOf(t.Manifest) {
		number, _, _ := unstructured.NestedInt64(port, "nodePort")
		s := socket{port["protocol"], number}
		if slices.Contains(held, number) && !seen[s] { // a duplicate stays, so that the server refuses it
			seen[s] = true
			t.leaveOut("spec", "ports", i, "nodePort")
		}
	}
}

// kind returns the type of the Service.
func (t *Trial) kind() corev1.ServiceType {
	kind, _, _ := unstructured.NestedString(t.Manifest.Object, "spec", "type")
	return corev1.ServiceType(kind)
}

// portsOf returns the ports of a Service. They are not copies.
func portsOf(service *unstructured.Unstructured) []map[string]any {
	list, _, _ := unstructured.NestedFieldNoCopy(service.Object, "spec", "ports")
	items, _ := list.([]any)
	var ports []map[string]any
	for _, item := range items {
		if port, ok := item.(map[string]any); ok {
			ports = append(ports, port)
		}
	}
	return ports
}

// NodePorts returns all ports that a Service has on the nodes.
func NodePorts(service *unstructured.Unstructured) []int64 {
	var held []int64
	if health, ok, _ := unstructured.NestedInt64(service.Object, "spec", "healthCheckNodePort"); ok {
		held = append(held, health)
	}
	for _, port := range portsOf(service) {
		if number, ok, _ := unstructured.NestedInt64(port, "nodePort"); ok {
			held = append(held, number)
		}
	}
	return held
}

// leaveOut removes the value at a place from the manifest, if there is one.
func (t *Trial) leaveOut(place ...any) {
	container, last := at(t.Manifest.Object, place)
	if value, ok := container[last]; ok {
		delete(container, last)
		t.held = append(t.held, uniqueValue{place, value})
	}
}

// Complete puts the values that were left out into the server's answer.
func (t *Trial) Complete(answer *unstructured.Unstructured) *unstructured.Unstructured {
	answer = answer.DeepCopy()
	for _, h := range t.held {
		if container, last := at(answer.Object, h.place); container != nil {
			container[last] = h.value
		}
	}
	return answer
}

// at returns the map that contains a place, and its key there; nil: there is none.
func at(object map[string]any, place []any) (container map[string]any, last string) {
	var current any = object
	for _, step := range place[:len(place)-1] {
		switch step := step.(type) {
		case string:
			fields, _ := current.(map[string]any)
			current = fields[step]
		case int:
			list, _ := current.([]any)
			if step >= len(list) {
				return nil, ""
			}
			current = list[step]
		}
	}
	container, _ = current.(map[string]any)
	last, _ = place[len(place)-1].(string)
	return container, last
}
