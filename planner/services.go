package planner

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
)

// serviceNames tells which block a service of the cluster is of. What a service is
// called there is for its block to say, so that an address does not tell it: the label
// of its objects does.
type serviceNames struct {
	block    map[string]string // by name in the cluster
	declared map[string]string // the name in the cluster, by block
}

// nameServices reads the labels of what is declared and of what the state knows, and
// finds out which records are of services that have another name now.
func (p *planning) nameServices() {
	p.services = serviceNames{block: map[string]string{}, declared: map[string]string{}}
	for i := range p.Objects {
		o := &p.Objects[i]
		if name := calledIn(o.Address.Block, o.Manifest); name != "" {
			p.services.declared[o.Address.Block] = name
		}
		if name := serviceOf(o.Manifest); name != "" {
			p.services.block[name] = o.Address.Block
		}
	}
	for i := range p.records {
		r := &p.records[i]
		live := p.Snapshot.Get(r.ref)
		if !trust.Same(r.Object, live) {
			continue
		}
		was := calledIn(r.address.Block, live)
		if was == "" {
			continue
		}
		if service := serviceOf(live); service != "" && p.services.block[service] == "" {
			p.services.block[service] = r.recordedAddress().Block
		}
		is := p.services.declared[r.address.Block]
		r.anew = is != "" && is != was && p.desired[r.address] == nil
	}
}

// serviceOf is the name in the cluster of the service that an object is of; empty: of
// none.
func serviceOf(object *unstructured.Unstructured) string {
	if object == nil {
		return ""
	}
	return object.GetLabels()[providers.LabelService]
}

// calledIn is what a service is called in the cluster by one of its objects, or a secret
// block by the only one that it has; empty: the object is of neither.
func calledIn(block string, object *unstructured.Unstructured) string {
	if object != nil && addrs.SplitBlock(block).Type == "secret" {
		return object.GetName()
	}
	return serviceOf(object)
}

// part is what an object of a block is to it, whatever that is called.
type part struct{ block, rest string }

// partOf cuts the name of a service, or secret block, from that of one of its objects.
func partOf(block string, object *unstructured.Unstructured) (of part, ok bool) {
	name := calledIn(block, object)
	rest, ok := strings.CutPrefix(object.GetName(), name)
	return part{block, rest}, ok && name != ""
}

// Heirs are the Secrets in the cluster whose values generated Secrets take over that have
// other names now, by the addresses of these. What of them is selected
// is for the plan to find out. The Secrets have to be in the snapshot.
func Heirs(in Input) map[addrs.Object]providers.Ref {
	p, problems := newPlanning(in)
	if len(problems) > 0 {
		return nil // for the plan to say
	}
	p.nameServices()
	heirs := map[addrs.Object]providers.Ref{}
	p.eachHeir(func(o *providers.Object, source *unstructured.Unstructured) { heirs[o.Address] = secretRef(source) })
	return heirs
}

// carryValues has the generated Secrets of a service that has another name now take
// over the values that they had: their names in the cluster are new, and so they would
// be made anew, while databases and users still have the old ones.
func (p *planning) carryValues() { p.eachHeir(p.carry) }

// eachHeir goes over the generated Secrets to be made, and what each comes after.
func (p *planning) eachHeir(do func(o *providers.Object, source *unstructured.Unstructured)) {
	var left map[part]*unstructured.Unstructured
	for i := range p.Objects {
		o := &p.Objects[i]
		if !o.Generated() || !p.includes(o.Address) || p.Snapshot.Get(o.Ref()) != nil || p.recordOf(o) != nil {
			continue
		}
		if left == nil {
			left = p.leftSecrets()
		}
		of, ok := partOf(o.Address.Block, o.Manifest)
		if source := left[of]; ok && source != nil {
			do(o, source)
		}
	}
}

// inheritance is what becomes of the values of a Secret whose object goes.
type inheritance struct {
	heir addrs.Object // what takes them along
	lost []string     // the keys that it does not have
	anew bool         // it takes none along: they are made anew, as the plan says
}

// carry has a Secret take over the values of another one, which can go then. Those that
// are to be renewed are made anew there and then; a CA keeps its key.
func (p *planning) carry(o *providers.Object, source *unstructured.Unstructured) {
	ref, values := secretRef(source), providers.ValuesOf(source)
	kept := func(key string) bool {
		made, declared := o.Data[key]
		renewed := declared && made.Generate != nil && made.Generate.Renew != ""
		return declared && (!renewed || made.Generate.Former != nil && made.Generate.Former.Key == key)
	}
	data := map[string]providers.SecretData{}
	for key, made := range o.Data {
		data[key] = made
		if _, there := values[key]; there && o.Renews() == "" {
			data[key] = providers.SecretData{Carried: true, Parts: []providers.DataPart{{From: &providers.SecretKey{Namespace: ref.Namespace, Name: ref.Name, Key: key}}}}
		}
	}
	taken := inheritance{heir: o.Address}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if !kept(key) {
			taken.lost = append(taken.lost, key)
		}
	}
	taken.anew = o.Renews() != "" && len(taken.lost) == len(values)
	if len(taken.lost) < len(values) || taken.anew {
		p.carried[ref] = taken
	}
	o.Data = data
}

func secretRef(secret *unstructured.Unstructured) providers.Ref {
	return providers.Ref{GVK: secrets, Namespace: secret.GetNamespace(), Name: secret.GetName()}
}

// leftSecrets are the Secrets that kolla made and nothing declares any more, by what they
// were to the blocks that they would be of now. Only those count that the state knows:
// nothing else may say which values a new Secret gets.
func (p *planning) leftSecrets() map[part]*unstructured.Unstructured {
	left := map[part]*unstructured.Unstructured{}
	for i := range p.records {
		r := &p.records[i]
		live := p.Snapshot.Get(r.ref)
		_, declared := p.byRef[identify(r.ref)]
		if r.ref.GVK != secrets || declared || !trust.Same(r.Object, live) || !p.labelled(live) {
			continue
		}
		if of, ok := partOf(r.address.Block, live); ok && left[of] == nil {
			left[of] = live
		}
	}
	return left
}

// recounted is where a block is to be found that got a count, or lost it: what had no
// key is the first instance, and the other way round. Terraform does the same.
func (p *planning) recounted(block string) string {
	if p.declares(block) {
		return block
	}
	return addrs.Recounted(block, p.declares)
}

// declares reports whether there are objects of a block, or in a module.
func (p *planning) declares(name string) bool {
	if p.declared == nil {
		p.declared = map[string]bool{}
		for i := range p.Objects {
			declared := p.Objects[i].Address.Block
			if p.declared[declared] {
				continue
			}
			p.declared[declared] = true
			for _, module := range addrs.Modules(addrs.SplitBlock(declared).Module) {
				p.declared[module] = true
			}
		}
	}
	return p.declared[name]
}
