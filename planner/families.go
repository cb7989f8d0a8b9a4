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
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/objects"
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
	older := map[addrs.Object][]*inventory.Record{}
	var undeclared []target
	var elsewhere []*inventory.Record
	for i := range p.inv.Records {
		r := &p.inv.Records[i]
		if !p.chosen.Has(p.inv.Successor(r)) {
			continue
		}
		object := p.inv.DeclaredAs(r.Ref)
		switch {
		case object != nil && p.inv.Declared[r.RecordedAddress()] != nil: // an action on that is recorded there
		case object != nil:
			p.forget(targetOf(r, p.Snapshot), plans.Reason{Kind: plans.ReasonMoved, Detail: object.Address.String()})
		case p.inv.Declared[r.RecordedAddress()] != nil:
			elsewhere = append(elsewhere, r)
		case current[r.Family] != nil:
			older[r.Family] = append(older[r.Family], r)
		default:
			undeclared = append(undeclared, targetOf(r, p.Snapshot))
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
func (p *planning) refuseElsewhere(records []*inventory.Record) {
	var names []string
	var first *providers.Object
	for _, r := range records {
		if live := p.Snapshot.Get(r.Ref); live != nil && string(live.GetUID()) == r.State.UID {
			names = append(names, r.Ref.String())
			first = cmp.Or(first, p.inv.Declared[r.RecordedAddress()])
		}
	}
	if first == nil {
		return
	}
	p.problems = append(p.problems, plans.ProblemOf(first,
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
func (p *planning) retireFamily(current *subject, members []*inventory.Record, of *block, used map[providers.Ref]bool) error {
	slices.SortFunc(members, func(a, b *inventory.Record) int {
		if used[a.Ref] != used[b.Ref] {
			return cmp.Compare(rank(used[a.Ref]), rank(used[b.Ref]))
		}
		return p.newerFirst(a, b)
	})
	previous := slices.IndexFunc(members, func(r *inventory.Record) bool {
		return trust.Same(r.State, p.Snapshot.Get(r.Ref))
	})
	mounted := !current.object.Run() && (of.keepsOldPods || !p.chosen.HasBlock(p.Objects, current.object.Address.Block))
	var outdated []target
	for i, r := range members {
		if current.isDeferred() || mounted && p.Snapshot.Get(r.Ref) != nil {
			continue
		}
		if i != previous || current.object.Run() {
			outdated = append(outdated, targetOf(r, p.Snapshot))
		}
	}
	first := len(p.actions)
	p.remove(outdated, plans.ReasonSuperseded)
	for i := first; i < len(p.actions); i++ {
		if p.actions[i].Verb == plans.Delete {
			p.actions[i].DependsOn = slices.Clone(of.busy)
		}
	}
	if previous < 0 || !current.comes(used, members[previous].Ref) {
		return nil
	}
	return current.supersede(members[previous].Address, p.Snapshot.Get(members[previous].Ref))
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
			for _, ref := range objects.FilesOf(workload).Refs {
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
func (p *planning) newerFirst(a, b *inventory.Record) int {
	created := func(r *inventory.Record) time.Time {
		if live := p.Snapshot.Get(r.Ref); live != nil {
			return live.GetCreationTimestamp().Time
		}
		return time.Time{}
	}
	return cmp.Or(
		b.State.Applied.Compare(a.State.Applied),
		created(b).Compare(created(a)),
		a.Address.Compare(b.Address),
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
