package planner

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// steps are those that decide about an object.
func (p *planning) steps(s *subject) []step {
	switch {
	case len(s.object.Deferred) == 0:
		return []step{p.unread, p.absent, p.leaving, p.foreign, p.requested, p.ran, p.proven, p.verified}
	case s.live == nil:
		return []step{p.deferred}
	}
	return []step{p.leaving, p.foreign, p.deferred}
}

// deferred decides about objects of which not all is known yet. The server cannot be
// asked about them; what is known of them is compared.
func (p *planning) deferred(ctx context.Context, s *subject) (bool, error) {
	waits := strings.Join(s.object.Deferred, ", ")
	if p.replaces(s.object) {
		s.refuse(fmt.Sprintf("%s cannot be replaced by this plan", s.action.Ref),
			fmt.Sprintf("It depends on %s, which is known only after the apply. Apply without -replace first.", waits))
		return true, nil
	}
	s.action.Evidence = plans.Evidence{Kind: plans.Unverified, Detail: fmt.Sprintf("it depends on %s, which is known after the apply", waits)}
	if why, ok := p.demanded(s.object); ok && s.live != nil && !s.adopts() {
		return true, p.replaceLater(ctx, s, why)
	}
	if s.live != nil {
		return true, p.updateLater(s)
	}
	manifest, err := p.resolve(s)
	if err != nil {
		return false, err
	}
	s.pending = append(s.pending, s.laterKeys()...)
	known := s.record != nil && s.record.UID != ""
	switch {
	case known && p.whyUnread(s.action.Ref) != nil:
		s.action.Verb, s.action.Reasons = plans.Update, []plans.Reason{{Kind: plans.ReasonConfig}}
		s.action.Prior = providers.Precondition{UID: types.UID(s.record.UID)}
		return true, nil
	case known:
		s.action.Reasons = []plans.Reason{{Kind: s.record.absence()}}
	default:
		s.action.Reasons = []plans.Reason{{Kind: plans.ReasonNew}}
	}
	s.action.Verb = plans.Create
	if s.object.Run() {
		s.action.Verb = plans.Run
	}
	if err := s.assume(manifest); err != nil {
		return false, err
	}
	differences, err := fields.Compare(nil, manifest)
	s.action.Changes = fields.Changes(s.withUnknown(differences))
	return true, err
}

// replaceLater plans to make an object again that is there. Whether the server would take
// the new one is asked when all of it is known.
func (p *planning) replaceLater(ctx context.Context, s *subject, why plans.Reason) error {
	o, err := p.obstacle(ctx, s, why.Kind)
	if err != nil {
		return err
	}
	if o.stands() {
		s.refuse(o.about(s, []plans.Reason{why}))
		return nil
	}
	if err := p.updateLater(s); err != nil {
		return err
	}
	s.action.Verb, s.action.Reasons, s.action.Holds = plans.Replace, []plans.Reason{why}, s.loses()
	s.action.Force, s.action.Yields = false, nil
	return nil
}

// updateLater plans to change an object that is there.
func (p *planning) updateLater(s *subject) error {
	manifest, err := p.sent(s)
	if err != nil {
		return err
	}
	s.pending = append(s.pending, s.laterKeys()...)
	if s.after, err = dryrun.Predict(s.live, nil, manifest, s.manager); err != nil {
		return err
	}
	differences, err := fields.Compare(s.live, s.after)
	if err != nil {
		return err
	}
	differences = s.withUnknown(differences)
	s.action.Verb = plans.Update
	if s.adopts() {
		s.action.Verb = plans.Adopt
	}
	s.action.Changes = fields.Changes(differences)
	s.action.Reasons = p.originOf(s, s.after).blame(differences)
	return nil
}

// laterKeys are the keys of a Secret whose values are not known yet.
func (s *subject) laterKeys() []string {
	var out []string
	for key, data := range s.object.Data {
		if slices.ContainsFunc(data.Parts, func(p providers.DataPart) bool {
			return strings.Contains(p.Literal+p.Sensitive, configs.KnownAfterApply)
		}) {
			out = append(out, key)
		}
	}
	return out
}

// isDeferred reports whether a version of something is not known yet.
func (s *subject) isDeferred() bool { return len(s.object.Deferred) > 0 }

// keys are the keys in the address of a block.
var keys = regexp.MustCompile(`\[("(\\.|[^"\\])*"|\d+)\]`)

// isUndecided reports whether it depends on what is known only after the apply what the
// block is; see Input.Undecided.
func (p *planning) isUndecided(block string) bool {
	if len(p.Undecided) == 0 {
		return false
	}
	bare := keys.ReplaceAllString(block, "")
	return slices.ContainsFunc(p.Undecided, func(u string) bool {
		module, all := strings.CutSuffix(u, "*")
		return bare == u || all && strings.HasPrefix(bare, module)
	})
}

// undecided are the candidates that a restricted plan leaves out. To a destroy it does
// not matter what is declared.
func (p *planning) undecided(candidates []candidate) []addrs.Object {
	if p.Destroy {
		return nil
	}
	var out []addrs.Object
	open := p.undecidedRoles()
	for _, c := range candidates {
		if p.isUndecided(c.address.Block) || open && p.desired[c.address] == nil && isLabelledNode(c.address) {
			out = append(out, c.address)
		}
	}
	return out
}

// undecidedRoles reports whether there may be roles that nobody can tell yet: which nodes
// have them, and with which labels.
func (p *planning) undecidedRoles() bool {
	return slices.ContainsFunc(p.Undecided, func(u string) bool {
		return strings.HasSuffix(u, "*") || addrs.SplitBlock(u).Type == "role"
	})
}

// isLabelledNode reports whether an address is that of a node with the labels of all
// roles that it has. Such objects are of the cloud, and of no role.
func isLabelledNode(address addrs.Object) bool {
	return address.Kind == nodeKind.Kind && addrs.SplitBlock(address.Block).Type == "cloud"
}

// keepRoles has nodes keep the labels that they have of roles as long as there are roles
// that nobody can tell yet, which they may be of. Labels of other roles are still added:
// what an apply waits for may need them.
func (p *planning) keepRoles() {
	if p.Destroy || !p.Selection.Restricts() || !p.undecidedRoles() {
		return
	}
	manager := providers.ManagerOf(p.Cloud, true)
	for i := range p.Objects {
		o := &p.Objects[i]
		live := p.Snapshot.Get(o.Ref())
		if live == nil || !o.Partial || !isLabelledNode(o.Address) {
			continue
		}
		o.Manifest = o.Manifest.DeepCopy()
		labels, owned := o.Manifest.GetLabels(), fields.OwnersOf(live, manager).Own
		if labels == nil {
			labels = map[string]string{}
		}
		for key, value := range live.GetLabels() {
			if _, declared := labels[key]; !declared && owned.Has(fieldpath.MakePathOrDie("metadata", "labels", key)) {
				labels[key] = value
			}
		}
		o.Manifest.SetLabels(labels)
		providers.KeepTaints(o.Manifest, live, p.Cloud)
	}
}
