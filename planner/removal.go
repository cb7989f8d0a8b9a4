package planner

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/objects"
	"kolla.openstack.org/kolla/planner/order"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// target is an object that is to go.
type target struct {
	address addrs.Object
	ref     providers.Ref
	live    *unstructured.Unstructured // nil: gone already
	uid     string                     // of the object in the state; empty: it has none
	ours    bool                       // live is the object that the state knows, or a volume of one that it knows
	bare    bool                       // a volume of one that gives it no label of kolla's
	partial bool
	holds   string           // what would be lost, as declared
	renamed string           // the block that it is of now, by a moved block
	absence plans.ReasonKind // why it is gone, if it is
	guard   string           // where prevent_destroy was said when it was last applied
}

func targetOf(r *inventory.Record, snapshot *providers.Snapshot) target {
	live := snapshot.Get(r.Ref)
	return target{
		ours:    trust.Same(r.State, live),
		address: r.RecordedAddress(),
		renamed: r.NowIn(),
		absence: r.Absence(),
		guard:   r.State.Protected,
		ref:     r.Ref,
		live:    live,
		uid:     r.State.UID,
		partial: r.State.Partial,
		holds:   r.State.Holds,
	}
}

func (t target) namespace() bool { return t.ref.GVK.GroupKind() == kinds.Namespace }

// remove plans deletions; namespaces last, when it is known what else goes.
func (p *planning) remove(targets []target, reason plans.ReasonKind) {
	for _, t := range targets {
		if !t.namespace() {
			p.removeOne(t, reason)
		}
	}
	for _, t := range targets {
		if t.namespace() {
			p.removeOne(t, reason)
		}
	}
}

// removeOne deletes an object only if state, label and UID agree that it is
// kolla's (a partial one has no label), and if nothing is lost by it that the operator
// did not name.
func (p *planning) removeOne(t target, reason plans.ReasonKind) {
	if p.keepUnread(t) {
		return
	}
	if t.live == nil {
		p.forget(t, plans.Reason{Kind: t.absence})
		return
	}
	if twin, twice := p.removed[t.live.GetUID()]; twice {
		p.forget(t, plans.Reason{Kind: reason, Detail: fmt.Sprintf("the state has it a second time, as %s", twin)})
		return
	}
	p.removed[t.live.GetUID()] = t.address
	if by, ok := inventory.Released(p.Removals, t.address); ok && reason != plans.ReasonSuperseded {
		p.release(t, reason, by)
		return
	}
	if why := p.notOurs(t); why != "" {
		p.forget(t, plans.Reason{Kind: reason, Detail: why})
		p.problems = append(p.problems, plans.Problem{
			Warning: true,
			Address: t.address,
			Summary: fmt.Sprintf("%s is left alone: %s", t.ref, why),
			Detail:  "kolla deletes only what state, label and UID all say is its own. It is dropped from the state.",
		})
		return
	}
	if reason != plans.ReasonSuperseded && p.prevented(t) {
		return
	}
	if why := p.protected(t); why != "" {
		p.protect(t, why)
		return
	}
	switch {
	case reason == plans.ReasonUndeclared && p.external(cmp.Or(t.renamed, t.address.Block)):
		reason = plans.ReasonExternal
	case reason == plans.ReasonUndeclared && t.renamed != "":
		reason = plans.ReasonRenamed
	}
	detail := t.renamed
	if detail == t.address.Block {
		detail = ""
	}
	action := plans.Action{
		Address:  t.address,
		Verb:     plans.Delete,
		Partial:  t.partial,
		Ref:      t.ref,
		Prior:    providers.Precondition{UID: t.live.GetUID(), ResourceVersion: t.live.GetResourceVersion()},
		Reasons:  []plans.Reason{{Kind: reason, Detail: detail}},
		Evidence: plans.Evidence{Kind: plans.Recorded},
	}
	if taken, ok := p.carried[t.ref]; ok {
		if !taken.Anew {
			action.Heir = taken.To
		}
		action.DependsOn = append(action.DependsOn, taken.To)
	} else if !t.partial {
		action.Holds = objects.Holds(t.live, t.holds)
		if t.namespace() {
			p.occupy(&action)
		}
	}
	if t.partial {
		action.Changes = p.givenUp(t.live)
	}
	p.actions = append(p.actions, action)
}

// givenUp are the fields that are gone when kolla owns them no more: what nobody
// else owns. An object that cannot be read that way shows none.
func (p *planning) givenUp(live *unstructured.Unstructured) []plans.Change {
	after, err := p.withoutOurs(live)
	if err != nil {
		return nil
	}
	differences, err := fields.Compare(live, after)
	if err != nil {
		return nil
	}
	return fields.Changes(differences)
}

// withoutOurs is what becomes of an object when kolla gives its fields up.
func (p *planning) withoutOurs(live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	bare := &unstructured.Unstructured{}
	bare.SetGroupVersionKind(live.GroupVersionKind())
	bare.SetName(live.GetName())
	bare.SetNamespace(live.GetNamespace())
	return dryrun.Predict(live, nil, bare, providers.ManagerOf(p.Cloud, true))
}

func (p *planning) forget(t target, reason plans.Reason) {
	p.actions = append(p.actions, plans.Action{
		Address:  t.address,
		Verb:     plans.Forget,
		Ref:      t.ref,
		Reasons:  []plans.Reason{reason},
		Evidence: plans.Evidence{Kind: plans.Recorded},
	})
}

// release lets an object go that a removed block leaves in the cluster, with the
// volumes that it asked for. What marks it as kolla's is taken off it, so that no later
// plan takes it for kolla's own.
func (p *planning) release(t target, reason plans.ReasonKind, by addrs.Removal) {
	p.forget(t, plans.Reason{Kind: reason, Detail: fmt.Sprintf("a removed block (%s) leaves it in the cluster", inventory.Place(by.Range))})
	a := &p.actions[len(p.actions)-1]
	if why := p.notOurs(t); why != "" {
		a.Reasons[0].Detail += " as it is: " + why
		return
	}
	a.Releases, a.Partial = true, t.partial
	a.Prior = providers.Precondition{UID: t.live.GetUID()}
	a.Reasons[0].Detail += ", and kolla's labels and annotations are taken off it"
	if t.ref.GVK.GroupKind() != kinds.StatefulSet {
		return
	}
	for _, ref := range inventory.VolumesOf(p.Snapshot, t.live) {
		if claim := p.Snapshot.Get(ref); p.inv.RecordAs(ref) == nil && inventory.Labelled(claim, p.Cloud) {
			p.release(target{ours: true, address: p.inv.AddressFor(ref, claim.GetAnnotations(), claim.GetLabels()), ref: ref, live: claim}, reason, by)
		}
	}
}

// notOurs says why a live object is not the one that kolla made; empty: it is. An
// object without the label was released by whoever took that away.
func (p *planning) notOurs(t target) string {
	label := t.live.GetLabels()[providers.LabelCloud]
	switch {
	case t.uid != "" && !t.ours:
		return "it was deleted and made again by somebody else"
	case !t.partial && !t.ours:
		return "the state knows its name only, which anybody can have given to it"
	case t.partial, t.bare, label == p.Cloud:
		return ""
	case label != "":
		return fmt.Sprintf("it is labelled as an object of cloud %q", label)
	}
	return "somebody took its label " + providers.LabelCloud + " away"
}

// linkDeletes has each deletion wait for the actions on what depended on it, for
// the deletion of what is in it (a namespace), of its kind (a definition), or may
// still use it (a claim). Where records of different applies contradict each other, so that
// these make a cycle, some of them do not count.
func (p *planning) linkDeletes() {
	acted := map[addrs.Object]*plans.Action{}
	for i := range p.actions {
		a := &p.actions[i]
		if a.Verb != plans.None && a.Verb != plans.Forget {
			acted[a.Address] = a
		}
	}
	dependants := inventory.Dependants(p.inv)
	var edges []order.Edge[addrs.Object]
	link := func(from, to addrs.Object, strength order.Strength) {
		edges = append(edges, order.Edge[addrs.Object]{From: from, To: to, Strength: strength})
	}
	for i := range p.actions {
		a := &p.actions[i]
		if a.Verb != plans.Delete {
			continue
		}
		for _, on := range a.DependsOn {
			link(a.Address, on, order.Fixed)
		}
		for _, dependant := range dependants[a.Address] {
			if acted[dependant] != nil {
				link(a.Address, dependant, order.Reference)
			}
		}
		if contains(a.Ref.GVK.GroupKind()) {
			for j := range p.actions {
				other := &p.actions[j]
				if other.Verb == plans.Delete && i != j && p.outlives(a, other) {
					link(a.Address, other.Address, order.Essential)
				}
			}
		}
		a.DependsOn = nil
	}
	for _, e := range order.Acyclic(edges) {
		acted[e.From].DependsOn = append(acted[e.From].DependsOn, e.To)
	}
	for _, a := range acted {
		if a.Verb == plans.Delete {
			slices.SortFunc(a.DependsOn, addrs.Object.Compare)
		}
	}
	p.linkOperators()
}

// linkOperators has the workloads of a block wait for the deletion of the custom objects that
// the block defines: a controller takes its finalizers off them, and would leave them, and
// their namespace, for ever if it went first. The workloads also wait for the deletion of the
// block's webhooks and APIServices: without a backend these refuse requests of everybody.
func (p *planning) linkOperators() {
	defined := map[schema.GroupKind]string{} // the block of the definition, by the kind
	deletes := map[addrs.Object]*plans.Action{}
	for i := range p.actions {
		a := &p.actions[i]
		if a.Verb != plans.Delete || a.Partial {
			continue
		}
		deletes[a.Address] = a
	}
	for i := range p.inv.Records {
		r := &p.inv.Records[i]
		if live := p.Snapshot.Get(r.Ref); live != nil {
			if kind, ok := dryrun.KindOf(live); ok {
				defined[kind] = r.RecordedAddress().Block
			}
		}
	}
	before := map[string][]*plans.Action{} // deletions that come before those of the workloads, by the block of these
	for i := range p.actions {
		a := &p.actions[i]
		kind := a.Ref.GVK.GroupKind()
		block := defined[kind]
		if kind == kinds.APIService || kind == kinds.MutatingWebhookConfiguration || kind == kinds.ValidatingWebhookConfiguration {
			block = a.Address.Block
		}
		if block != "" && deletes[a.Address] == a {
			before[block] = append(before[block], a)
		}
	}
	for i := range p.actions {
		operator := &p.actions[i]
		if deletes[operator.Address] != operator || !kinds.RunsPods(operator.Ref.GVK.GroupKind()) {
			continue
		}
		for _, object := range before[operator.Address.Block] {
			if !slices.Contains(operator.DependsOn, object.Address) && !waitsFor(deletes, object, operator.Address) {
				operator.DependsOn = append(operator.DependsOn, object.Address)
			}
		}
		slices.SortFunc(operator.DependsOn, addrs.Object.Compare)
	}
}

// waitsFor reports whether a deletion waits for another one, directly or through others.
func waitsFor(deletes map[addrs.Object]*plans.Action, a *plans.Action, other addrs.Object) bool {
	seen := map[addrs.Object]bool{}
	var waits func(a *plans.Action) bool
	waits = func(a *plans.Action) bool {
		if a == nil || seen[a.Address] {
			return false
		}
		seen[a.Address] = true
		return slices.ContainsFunc(a.DependsOn, func(on addrs.Object) bool { return on == other || waits(deletes[on]) })
	}
	return waits(a)
}

// contains reports whether objects of the kind may outlive others by what they are.
func contains(kind schema.GroupKind) bool {
	switch kind {
	case kinds.Namespace, kinds.PersistentVolumeClaim, kinds.CustomResourceDefinition:
		return true
	}
	return false
}

// outlives reports whether a must be deleted after b by what they are.
func (p *planning) outlives(a, b *plans.Action) bool {
	switch a.Ref.GVK.GroupKind() {
	case kinds.Namespace: // whose deletion waits for the servers of all kinds
		return b.Ref.Namespace == a.Ref.Name || b.Ref.GVK.GroupKind() == kinds.APIService
	case kinds.PersistentVolumeClaim:
		return b.Ref.Namespace == a.Ref.Namespace && kinds.RunsPods(b.Ref.GVK.GroupKind())
	case kinds.CustomResourceDefinition:
		kind, _ := dryrun.KindOf(p.Snapshot.Get(a.Ref))
		return b.Ref.GVK.GroupKind() == kind
	}
	return false
}

// warnOrphans names objects that are labelled as this cloud's, and that neither
// the state nor the configuration knows.
func (p *planning) warnOrphans() {
	orphans := slices.DeleteFunc(p.unrecorded(), func(t target) bool {
		return p.inv.DeclaredAs(t.ref) != nil || t.live.GetAnnotations()[providers.AnnotationAddress] == ""
	})
	if len(orphans) > mostStrangers { // the state was lost, most likely
		var names []string
		for _, t := range orphans {
			names = append(names, t.ref.String())
		}
		p.problems = append(p.problems, plans.Problem{
			Warning: true,
			Summary: fmt.Sprintf("%d objects are labelled as objects of this cloud, but neither the state nor the configuration knows them", len(orphans)),
			Detail: fmt.Sprintf("They are %s. They are left alone. "+rebuildAdvice+" Otherwise, if nothing needs them, delete them with kubectl.",
				words.Few(names, 6), "them"),
		})
		return
	}
	for _, t := range orphans {
		p.problems = append(p.problems, plans.Problem{
			Warning: true,
			Address: t.address,
			Summary: fmt.Sprintf("%s is labelled as an object of this cloud, but neither the state nor the configuration knows it", t.ref),
			Detail:  "It is left alone. " + fmt.Sprintf(rebuildAdvice, "it") + " Otherwise, if nothing needs it, delete it with kubectl.",
		})
	}
}
