package planner

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/objects"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// findLosses looks for data that went with what somebody deleted in the cluster, or
// that stays behind under another name.
func (p *planning) findLosses() {
	for _, s := range p.subjects {
		if s.action.Verb != plans.Create {
			continue
		}
		if p.gone(s) {
			p.lose(s)
		}
		if objects.OwnVolumes(s.object.Manifest) != "" {
			p.loseVolumes(s)
		}
	}
	for i := range p.losses {
		p.losses[i].Later = p.RefreshOnly
	}
	slices.SortFunc(p.losses, func(a, b plans.Loss) int { return a.Address.Compare(b.Address) })
}

// gone reports whether kolla made the object, and it was deleted.
func (p *planning) gone(s *subject) bool {
	return slices.ContainsFunc(s.action.Reasons, func(r plans.Reason) bool { return r.Kind == plans.ReasonGone || r.Kind == plans.ReasonUnfinished })
}

// lose names what an object held that is gone.
func (p *planning) lose(s *subject) {
	if s.action.Serves() {
		return // it runs again, and the volumes of a StatefulSet are looked at for themselves
	}
	loss := plans.Loss{
		Address: s.object.Address, Refs: []providers.Ref{s.action.Ref},
		Holds: objects.Holds(s.object.Manifest, s.object.Holds), Means: s.object.Loss,
	}
	if s.action.Ref.GVK == inventory.Claims {
		loss.Jobs = p.ranFor(s.object.Address)
	}
	if loss.Holds != "" {
		p.losses = append(p.losses, loss)
	}
}

// loseVolumes names the volumes that a new StatefulSet would have, if those were
// still there that it had, or that it has under the name that it had before.
func (p *planning) loseVolumes(s *subject) {
	if p.inv.Unread(providers.Ref{GVK: inventory.Claims, Namespace: s.action.Ref.Namespace}) != nil {
		return // nobody knows whether they are there
	}
	if r, left := p.leftVolumes(s); len(left) > 0 && !p.RefreshOnly && len(inventory.VolumesOf(p.Snapshot, s.object.Manifest)) == 0 {
		if r.Recounted {
			p.problems = append(p.problems, p.recountedData(s, r, left))
			return
		}
		p.losses = append(p.losses, plans.Loss{
			Address: s.object.Address, Refs: left, Kept: true, Holds: "the data on its volumes", Jobs: p.ranFor(s.object.Address),
		})
		return
	}
	jobs := p.ranFor(s.object.Address)
	forgotten := p.outlived(s) && len(jobs) > 0
	if !p.gone(s) && !forgotten {
		return
	}
	expected := expectedVolumes(s.object.Manifest)
	missing := slices.DeleteFunc(slices.Clone(expected), func(ref providers.Ref) bool { return p.Snapshot.Get(ref) != nil })
	// Where something else was declared too, the replicas that were never there have
	// lost nothing.
	if len(missing) == 0 || len(missing) < len(expected) && (forgotten || s.record.State.Desired != s.object.Digest()) {
		return
	}
	p.losses = append(p.losses, plans.Loss{
		Address: s.object.Address, Refs: missing, Holds: "the data on its volumes", Jobs: jobs,
	})
}

// outlived reports whether the state does not know the object, but still has what was
// applied after it: it was there, and a refresh forgot it when it was gone.
func (p *planning) outlived(s *subject) bool {
	return s.record == nil && slices.ContainsFunc(p.inv.Records, func(r inventory.Record) bool {
		return slices.Contains(r.State.DependsOn, s.object.Address.String())
	})
}

// expectedVolumes are the claims that each replica of a StatefulSet has.
func expectedVolumes(set *unstructured.Unstructured) []providers.Ref {
	n, _ := objects.Replicas(set)
	var refs []providers.Ref
	for _, template := range objects.ClaimNames(set) {
		for i := range n {
			refs = append(refs, providers.Ref{GVK: inventory.Claims, Namespace: set.GetNamespace(), Name: fmt.Sprintf("%s-%s-%d", template, set.GetName(), i)})
		}
	}
	return refs
}

// leftVolumes are those that a StatefulSet had under the name that it had before its
// service got another one, and the record of it.
func (p *planning) leftVolumes(s *subject) (*inventory.Record, []providers.Ref) {
	for i := range p.inv.Records {
		r := &p.inv.Records[i]
		live := p.Snapshot.Get(r.Ref)
		if live == nil || r.Ref.GVK != s.action.Ref.GVK || r.Ref == s.action.Ref {
			continue
		}
		was, ok := inventory.PartOf(r.Address.Block, live)
		is, _ := inventory.PartOf(s.object.Address.Block, s.object.Manifest)
		if ok && was == is {
			return r, inventory.VolumesOf(p.Snapshot, live)
		}
	}
	return nil, nil
}

// recountedData refuses to leave data behind only because a count came or went: what is
// called otherwise by that is hardly meant to begin anew.
func (p *planning) recountedData(s *subject, r *inventory.Record, left []providers.Ref) plans.Problem {
	was, is := r.RecordedAddress().Block, r.Address.Block
	wasName, isName := inventory.CalledIn(was, p.Snapshot.Get(r.Ref)), inventory.CalledIn(is, s.object.Manifest)
	remedy := fmt.Sprintf("  name = %q", wasName)
	if addrs.SplitBlock(is).Key != nil {
		remedy += fmt.Sprintf("\n\nor, where it has several instances:\n\n  name = count.index == 0 ? %q : \"%s-${count.index}\"", wasName, wasName)
	}
	return plans.ProblemOf(s.object, fmt.Sprintf("%s would begin without its data", s.action.Ref),
		fmt.Sprintf("By a count that came or went, %s is %s now, and is called %s in the cluster, no longer %s. Its data would stay in %s, which nothing takes up. To go on with them, keep the name, in the block of the service:\n\n%s\n\nTo begin without them, say that the move is meant:\n\n  moved {\n    from = %s\n    to   = %s\n  }",
			was, is, isName, wasName, words.Few(namesOf(left), 4), remedy, was, is))
}

// ranFor lists the jobs that depend on the object, whatever is between them, and
// are done.
func (p *planning) ranFor(on addrs.Object) []addrs.Object {
	dependants := map[addrs.Object][]*subject{}
	for _, s := range p.subjects {
		for _, dependency := range s.object.DependsOn {
			dependants[dependency] = append(dependants[dependency], s)
		}
	}
	seen := map[addrs.Object]bool{on: true}
	var jobs []addrs.Object
	for queue := []addrs.Object{on}; len(queue) > 0; queue = queue[1:] {
		for _, s := range dependants[queue[0]] {
			if seen[s.object.Address] {
				continue
			}
			seen[s.object.Address] = true
			queue = append(queue, s.object.Address)
			if s.finished() && s.action.Verb == plans.None {
				jobs = append(jobs, s.replaceable())
			}
		}
	}
	slices.SortFunc(jobs, addrs.Object.Compare)
	return jobs
}

// replaceable is the address that the object keeps when its version changes.
func (s *subject) replaceable() addrs.Object {
	if s.versioned() {
		return s.object.Family
	}
	return s.object.Address
}
