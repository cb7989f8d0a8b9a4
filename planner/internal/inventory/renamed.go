package inventory

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
)

// RenamedSecrets maps the address of each generated Secret whose name changed to the Secret
// in the cluster that holds its current values. Both Secrets must be in the snapshot. Input.Objects
// need not have more than the Secrets, without their values. The plan names the problems of the input.
func RenamedSecrets(in Input) map[addrs.Object]providers.Ref {
	inv := newInventory(in)
	indexRecords(inv)
	indexDeclared(inv)
	sources := map[addrs.Object]providers.Ref{}
	eachRenamed(inv, func(addrs.Object) bool { return true }, func(o *providers.Object, source *unstructured.Unstructured) {
		sources[o.Address] = secretRef(source)
	})
	return sources
}

// CopiedValues is the fate of the values of a Secret that will be deleted because its
// service has another name now.
type CopiedValues struct {
	To   addrs.Object // the Secret that gets the values
	Lost []string     // keys that the new Secret does not have
	Anew bool         // nothing is copied: the new Secret gets new values, as the plan shows
}

// CopyValues lets the selected generated Secrets of renamed services copy their former
// values. Without that they would get new ones, while databases and users still have the
// former. The result is by the former Secret.
func CopyValues(inv *Inventory, selected func(addrs.Object) bool) map[providers.Ref]CopiedValues {
	copied := map[providers.Ref]CopiedValues{}
	eachRenamed(inv, selected, func(o *providers.Object, source *unstructured.Unstructured) {
		if values, any := copyFrom(o, source); any {
			copied[secretRef(source)] = values
		}
	})
	return copied
}

// eachRenamed calls do for the generated Secrets that do not exist yet and have a former
// Secret.
func eachRenamed(inv *Inventory, selected func(addrs.Object) bool, do func(o *providers.Object, source *unstructured.Unstructured)) {
	var former map[Part]*unstructured.Unstructured
	for i := range inv.Input.Objects {
		o := &inv.Input.Objects[i]
		if !o.Generated() || !selected(o.Address) || inv.Input.Snapshot.Get(o.Ref()) != nil || inv.RecordForObject(o) != nil {
			continue
		}
		if former == nil {
			former = formerSecrets(inv)
		}
		of, ok := PartOf(o.Address.Block, o.Manifest)
		if source := former[of]; ok && source != nil {
			do(o, source)
		}
	}
}

// copyFrom makes the data of a Secret come from the former one, which can be deleted then.
// Values that must be renewed are generated at once; a CA keeps its key.
func copyFrom(o *providers.Object, source *unstructured.Unstructured) (copied CopiedValues, any bool) {
	ref, values := secretRef(source), providers.ValuesOf(source)
	kept := func(key string) bool {
		made, declared := o.Data[key]
		renewed := declared && made.Generate != nil && made.Generate.Renew != ""
		return declared && (!renewed || made.Generate.Former != nil && made.Generate.Former.Key == key)
	}
	data := map[string]providers.SecretData{}
	for key, made := range o.Data {
		data[key] = made
		if _, there := values[key]; there && o.RenewalReason() == "" {
			data[key] = providers.SecretData{Carried: true, Parts: []providers.DataPart{{From: &providers.SecretKey{Namespace: ref.Namespace, Name: ref.Name, Key: key}}}}
		}
	}
	copied = CopiedValues{To: o.Address}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !kept(key) {
			copied.Lost = append(copied.Lost, key)
		}
	}
	copied.Anew = o.RenewalReason() != "" && len(copied.Lost) == len(values)
	o.Data = data
	return copied, len(copied.Lost) < len(values) || copied.Anew
}

func secretRef(secret *unstructured.Unstructured) providers.Ref {
	return providers.Ref{GVK: Secrets, Namespace: secret.GetNamespace(), Name: secret.GetName()}
}

// formerSecrets returns the recorded Secrets without a declaration, by their parts of the
// blocks that they would belong to now. Only a Secret that the state knows may give its
// values to a new one.
func formerSecrets(inv *Inventory) map[Part]*unstructured.Unstructured {
	former := map[Part]*unstructured.Unstructured{}
	for i := range inv.Records {
		r := &inv.Records[i]
		live := inv.Input.Snapshot.Get(r.Ref)
		if r.Ref.GVK != Secrets || inv.DeclarationByRef(r.Ref) != nil || !trust.Same(r.State, live) || !Labelled(live, inv.Input.Cloud) {
			continue
		}
		if of, ok := PartOf(r.Address.Block, live); ok && former[of] == nil {
			former[of] = live
		}
	}
	return former
}

// serviceNames joins blocks and the names of their services in the cluster. A block chooses
// the name, so an address does not contain it. The label of the objects does.
type serviceNames struct {
	block    map[string]string // by the name in the cluster
	declared map[string]string // the name in the cluster, by block
}

// nameServices reads the labels of declared and recorded objects, and marks the records of
// services that have another name now.
func nameServices(inv *Inventory) {
	inv.services = serviceNames{block: map[string]string{}, declared: map[string]string{}}
	for i := range inv.Input.Objects {
		o := &inv.Input.Objects[i]
		if name := calledIn(o.Address.Block, o.Manifest); name != "" {
			inv.services.declared[o.Address.Block] = name
		}
		if name := ServiceOf(o.Manifest); name != "" {
			inv.services.block[name] = o.Address.Block
		}
	}
	for i := range inv.Records {
		r := &inv.Records[i]
		live := inv.Input.Snapshot.Get(r.Ref)
		if !trust.Same(r.State, live) {
			continue
		}
		was := calledIn(r.Address.Block, live)
		if was == "" {
			continue
		}
		if service := ServiceOf(live); service != "" && inv.services.block[service] == "" {
			inv.services.block[service] = r.RecordedAddress().Block
		}
		is := inv.services.declared[r.Address.Block]
		r.Renamed = is != "" && is != was && inv.Declared[r.Address] == nil
	}
}

// ServiceOf returns the name in the cluster of the object's service; empty: it has none. The
// object may be nil.
func ServiceOf(object *unstructured.Unstructured) string {
	if object == nil {
		return ""
	}
	labels, _, _ := unstructured.NestedFieldNoCopy(object.Object, "metadata", "labels")
	values, _ := labels.(map[string]any)
	name, _ := values[providers.LabelService].(string)
	return name
}

// calledIn returns the name in the cluster of the service of an object, or the name of the
// only object of a secret block; empty: the object belongs to neither.
func calledIn(block string, object *unstructured.Unstructured) string {
	const secret = "secret"
	if object != nil && strings.Contains(block, secret) && addrs.TypeOf(block) == secret {
		return object.GetName()
	}
	return ServiceOf(object)
}

// Part identifies an object within its block, whatever the name of the service is.
type Part struct{ Block, Rest string }

// PartOf removes the name of the service, or secret block, from the name of one of its
// objects.
func PartOf(block string, object *unstructured.Unstructured) (of Part, ok bool) {
	name := calledIn(block, object)
	rest, ok := strings.CutPrefix(object.GetName(), name)
	return Part{block, rest}, ok && name != ""
}
