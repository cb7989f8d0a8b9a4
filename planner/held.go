package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/providers"
)

// trial is a manifest that is tried out while the object that it is to replace is
// still there, without what that one holds and only one object in the cluster can
// have: the server would find it taken.
type trial struct {
	manifest *unstructured.Unstructured
	held     []heldValue
}

// heldValue is a value that was left out. Its place is made of names of fields and
// of the index of a port.
type heldValue struct {
	place []any
	value any
}

var (
	priorityClassKind = schema.GroupKind{Group: "scheduling.k8s.io", Kind: "PriorityClass"}
)

// withoutHeld leaves out of a copy of the manifest what the live object holds, and
// will have let go of when its successor is made: addresses and ports of a Service,
// being the default of all PriorityClasses. Anything else that is taken is taken by
// others, which the server is to say; and what has no place in the object, such as
// the node port of a Service of type ClusterIP, stays for the server to refuse.
func withoutHeld(manifest, live *unstructured.Unstructured) trial {
	t := trial{manifest: manifest.DeepCopy()}
	switch manifest.GroupVersionKind().GroupKind() {
	case priorityClassKind:
		if isDefault, _, _ := unstructured.NestedBool(live.Object, "globalDefault"); isDefault {
			t.leaveOut("globalDefault")
		}
	case providers.ServiceKind:
		t.leaveOutAddresses(live)
		t.leaveOutPorts(live)
	}
	return t
}

func (t *trial) leaveOutAddresses(live *unstructured.Unstructured) {
	held := addressesOf(live)
	isHeld := func(address string) bool { return slices.Contains(held, address) }
	if t.kind() != corev1.ServiceTypeExternalName && slices.ContainsFunc(addressesOf(t.manifest), isHeld) {
		t.leaveOut("spec", "clusterIP")
		t.leaveOut("spec", "clusterIPs")
	}
}

// addressesOf are the addresses in the cluster that a Service has or asks for.
func addressesOf(service *unstructured.Unstructured) []string {
	addresses, _, _ := unstructured.NestedStringSlice(service.Object, "spec", "clusterIPs")
	one, _, _ := unstructured.NestedString(service.Object, "spec", "clusterIP")
	addresses = append(addresses, one)
	slices.Sort(addresses)
	return slices.DeleteFunc(slices.Compact(addresses), func(a string) bool { return a == "" || a == corev1.ClusterIPNone })
}

// addressHolder finds the Service that has an address that a manifest asks for and
// the live object does not have; zero: none. A dry run does not look.
func addressHolder(ctx context.Context, reader providers.Reader, manifest, live *unstructured.Unstructured) (holder providers.Ref, address string, err error) {
	if manifest.GroupVersionKind().GroupKind() != providers.ServiceKind {
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

func (t *trial) leaveOutPorts(live *unstructured.Unstructured) {
	held := nodePorts(live)
	balanced := t.kind() == corev1.ServiceTypeLoadBalancer
	if !balanced && t.kind() != corev1.ServiceTypeNodePort {
		return
	}
	policy, _, _ := unstructured.NestedString(t.manifest.Object, "spec", "externalTrafficPolicy")
	health, _, _ := unstructured.NestedInt64(t.manifest.Object, "spec", "healthCheckNodePort")
	if balanced && policy == string(corev1.ServiceExternalTrafficPolicyLocal) && slices.Contains(held, health) {
		t.leaveOut("spec", "healthCheckNodePort")
	}
	type socket struct {
		protocol any
		port     int64
	}
	seen := map[socket]bool{}
	for i, port := range portsOf(t.manifest) {
		number, _, _ := unstructured.NestedInt64(port, "nodePort")
		s := socket{port["protocol"], number}
		if slices.Contains(held, number) && !seen[s] { // that it is there twice is for the server to refuse
			seen[s] = true
			t.leaveOut("spec", "ports", i, "nodePort")
		}
	}
}

// portTaken is how the API server words that another Service has a node port.
const portTaken = "provided port is already allocated"

// portAdvice says how to go on where a new Service has a node port of another one. If this
// plan deletes that one: what depends on that one changes, or goes, before it does, and needs
// the new one by then. Empty: it is not about node ports.
func (p *planning) portAdvice(s *subject, r rejection) string {
	kind := s.action.Ref.GVK
	if kind.GroupKind() != providers.ServiceKind || !strings.Contains(r.text(), portTaken) {
		return ""
	}
	wanted := nodePorts(s.object.Manifest)
	for i := range p.records {
		old := &p.records[i]
		live := p.Snapshot.Get(old.ref)
		if old.ref.GVK != kind || !p.owns(live) || !p.includes(p.successor(old)) {
			continue
		}
		_, declared := p.byRef[identify(old.ref)]
		_, released := p.released(old.recordedAddress())
		ports := slices.DeleteFunc(nodePorts(live), func(port int64) bool { return !slices.Contains(wanted, port) })
		if declared || released || len(ports) == 0 {
			continue
		}
		advice := fmt.Sprintf("%s has node port %d, and this plan deletes it only when the new one is there.", old.ref, ports[0])
		if was, is := serviceOf(live), serviceOf(s.object.Manifest); was != "" && is != "" && was != is {
			advice += fmt.Sprintf(" To keep the name that the service has in the cluster, say in its block:\n\n  name = %q\n\nOtherwise delete", was)
		} else {
			advice += " Delete"
		}
		advice += fmt.Sprintf(" the old one first; nothing answers on that port from then on until the apply:\n\n  kubectl delete service --namespace %s %s", old.ref.Namespace, old.ref.Name)
		return advice
	}
	return "Another Service of the cluster has that node port. Choose another one, or find out whose it is:\n\n  kubectl get services --all-namespaces"
}

// kind is the type of the Service that is tried out.
func (t *trial) kind() corev1.ServiceType {
	kind, _, _ := unstructured.NestedString(t.manifest.Object, "spec", "type")
	return corev1.ServiceType(kind)
}

// portsOf are the ports of a Service, which belong to it.
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

// nodePorts are all ports that a Service holds on the nodes.
func nodePorts(service *unstructured.Unstructured) []int64 {
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

// leaveOut takes the value at a place out of the manifest, if there is one.
func (t *trial) leaveOut(place ...any) {
	container, last := at(t.manifest.Object, place)
	if value, ok := container[last]; ok {
		delete(container, last)
		t.held = append(t.held, heldValue{place, value})
	}
}

// complete gives the server's answer what was left out.
func (t *trial) complete(answer *unstructured.Unstructured) *unstructured.Unstructured {
	answer = answer.DeepCopy()
	for _, h := range t.held {
		if container, last := at(answer.Object, h.place); container != nil {
			container[last] = h.value
		}
	}
	return answer
}

// at finds the map that a place is in, and its key there; nil: there is none.
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
