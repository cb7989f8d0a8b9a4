package planner

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// retire decides about what the state knows and nothing declares: objects that
// are now declared under another address are only forgotten under the old one;
// older members of a family are kept for one generation; the rest goes.
func (p *planning) retire() error {
	current := map[addrs.Object]*subject{}
	for _, s := range p.subjects {
		if s.object.Family != (addrs.Object{}) {
			current[s.object.Family] = s
		}
	}
	older := map[addrs.Object][]*record{}
	var undeclared []target
	var elsewhere []*record
	for i := range p.records {
		r := &p.records[i]
		if !p.includes(p.successor(r)) {
			continue
		}
		address, declared := p.byRef[identify(r.ref)]
		switch {
		case declared && p.desired[r.recordedAddress()] != nil: // an action on that is recorded there
		case declared:
			p.forget(r.target(p.Snapshot), plans.Reason{Kind: plans.ReasonMoved, Detail: address.String()})
		case p.desired[r.recordedAddress()] != nil:
			elsewhere = append(elsewhere, r)
		case current[r.family] != nil:
			older[r.family] = append(older[r.family], r)
		default:
			undeclared = append(undeclared, r.target(p.Snapshot))
		}
	}
	p.refuseElsewhere(elsewhere)
	blocks, used := p.blocks(), p.used()
	for _, s := range p.subjects {
		if members := older[s.object.Family]; len(members) > 0 {
			if err := p.retireFamily(s, members, blocks[s.object.Address.Block], used); err != nil {
				return err
			}
		}
	}
	p.hintRenames(undeclared)
	p.remove(undeclared, plans.ReasonUndeclared)
	return nil
}

// refuseElsewhere stops a plan that would lose sight of objects whose address now
// belongs to others, which those are that have the same name in another namespace.
func (p *planning) refuseElsewhere(records []*record) {
	var names []string
	var first *providers.Object
	for _, r := range records {
		if live := p.Snapshot.Get(r.ref); live != nil && string(live.GetUID()) == r.UID {
			names = append(names, r.ref.String())
			first = cmp.Or(first, p.desired[r.recordedAddress()])
		}
	}
	if first == nil {
		return
	}
	p.problems = append(p.problems, problemOf(first,
		fmt.Sprintf("%d applied objects are declared in another namespace now, such as %s", len(names), first.Ref()),
		fmt.Sprintf("In the cluster there is %s. kolla does not move objects between namespaces: put the namespace back, or destroy what is there first, with the configuration that it was applied from.", words.Few(names, 4))))
}

// retireFamily keeps one of the members that are no longer declared, the one that
// is in use until this plan is carried out or else the newest, in case the one that
// took its place has to be taken back. It deletes the others once everything in
// their block is done; unless pods in it may still mount them, also because what runs
// them is not selected. Of jobs none is kept: a state that still knew an old run
// would take it for done when its inputs come back. Nothing goes as long as it is not
// known which version comes.
func (p *planning) retireFamily(current *subject, members []*record, of *block, used map[providers.Ref]bool) error {
	slices.SortFunc(members, func(a, b *record) int {
		if used[a.ref] != used[b.ref] {
			return cmp.Compare(rank(used[a.ref]), rank(used[b.ref]))
		}
		return p.newerFirst(a, b)
	})
	previous := slices.IndexFunc(members, func(r *record) bool {
		return trust.Same(r.Object, p.Snapshot.Get(r.ref))
	})
	mounted := !current.object.Run() && (of.keepsOldPods || !p.includesBlock(current.object.Address.Block))
	var outdated []target
	for i, r := range members {
		if current.isDeferred() || mounted && p.Snapshot.Get(r.ref) != nil {
			continue
		}
		if i != previous || current.object.Run() {
			outdated = append(outdated, r.target(p.Snapshot))
		}
	}
	first := len(p.actions)
	p.remove(outdated, plans.ReasonSuperseded)
	for i := first; i < len(p.actions); i++ {
		if p.actions[i].Verb == plans.Delete {
			p.actions[i].DependsOn = slices.Clone(of.busy)
		}
	}
	if previous < 0 || !current.comes(used, members[previous].ref) {
		return nil
	}
	return current.supersede(members[previous].address, p.Snapshot.Get(members[previous].ref))
}

// comes reports whether the member takes the place of another one by this plan:
// because it is new, or because it is there already and only the other is in use.
func (s *subject) comes(used map[providers.Ref]bool, previous providers.Ref) bool {
	switch s.action.Verb {
	case plans.Create, plans.Run:
		return true
	case plans.None:
		return !s.object.Run() && used[previous] && !used[s.action.Ref]
	}
	return false
}

// rank puts what is in use first.
func rank(used bool) int {
	if used {
		return 0
	}
	return 1
}

// used are the ConfigMaps and Secrets that the workloads in the cluster show as
// files to the pods that they make now.
func (p *planning) used() map[providers.Ref]bool {
	used := map[providers.Ref]bool{}
	for _, kind := range []schema.GroupKind{kinds.Deployment, kinds.StatefulSet, kinds.DaemonSet} {
		for _, workload := range p.Snapshot.All(kind.WithVersion("v1")) {
			for _, ref := range fileVolumes(workload).refs {
				used[ref] = true
			}
		}
	}
	return used
}

// block is what matters of a block to the old versions in it.
type block struct {
	// keepsOldPods: a workload leaves its pods as they are until somebody deletes
	// them. Any earlier version may be mounted by one of them, and it could not start
	// again without.
	keepsOldPods bool
	// busy are the objects that an apply writes or waits for.
	busy []addrs.Object
}

// blocks are those that something is declared in.
func (p *planning) blocks() map[string]*block {
	blocks := map[string]*block{}
	for _, s := range p.subjects {
		of := blocks[s.object.Address.Block]
		if of == nil {
			of = &block{}
			blocks[s.object.Address.Block] = of
		}
		strategy, _, _ := unstructured.NestedString(s.object.Manifest.Object, "spec", "updateStrategy", "type")
		if kinds.RunsPods(s.object.Ref().GVK.GroupKind()) && strategy == string(appsv1.OnDeleteDaemonSetStrategyType) {
			of.keepsOldPods = true
		}
		if s.action.Verb != "" && (s.action.Verb != plans.None || s.action.Pending) {
			of.busy = append(of.busy, s.object.Address)
		}
	}
	return blocks
}

// newerFirst orders members by when they were last applied, then by when they
// were created.
func (p *planning) newerFirst(a, b *record) int {
	created := func(r *record) time.Time {
		if live := p.Snapshot.Get(r.ref); live != nil {
			return live.GetCreationTimestamp().Time
		}
		return time.Time{}
	}
	return cmp.Or(
		b.Applied.Compare(a.Applied),
		created(b).Compare(created(a)),
		a.address.Compare(b.address),
	)
}

// supersede makes the changes of a new member relative to the one whose place it
// takes.
func (s *subject) supersede(address addrs.Object, previous *unstructured.Unstructured) error {
	next := s.after
	if next == nil {
		next = s.live
	}
	differences, err := fields.Compare(previous, next)
	if err != nil {
		return err
	}
	differences = fields.Declared(differences, fields.OwnersOf(previous, s.manager), fields.OwnersOf(next, s.manager))
	differences = slices.DeleteFunc(differences, func(d fields.Difference) bool {
		return d.Path == fields.Annotation(providers.AnnotationAddress)
	})
	s.action.Supersedes = address
	s.action.Changes = fields.Changes(s.withUnknown(differences))
	s.action.Reasons = []plans.Reason{{Kind: plans.ReasonConfig}}
	return nil
}
