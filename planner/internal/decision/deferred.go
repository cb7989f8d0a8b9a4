package decision

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// steps returns the steps for an object.
func (p *decider) steps(s *subject) []step {
	switch {
	case len(s.out.Object.Deferred) == 0:
		return []step{p.unread, p.absent, p.leaving, p.foreign, p.requested, p.ran, p.proven, p.verified}
	case s.out.Live == nil:
		return []step{p.deferred}
	}
	return []step{p.leaving, p.foreign, p.deferred}
}

// deferred decides about objects with values that are not known yet. The server cannot be
// asked about them. The known part is compared.
func (p *decider) deferred(ctx context.Context, s *subject) (bool, error) {
	waits := strings.Join(s.out.Object.Deferred, ", ")
	if inventory.CandidateOf(s.out.Object).NamedBy(p.replaced...) {
		s.out.Refuse(fmt.Sprintf("%s cannot be replaced by this plan", s.out.Action.Ref),
			fmt.Sprintf("It depends on %s, which is known only after the apply. Apply without -replace first.", waits))
		return true, nil
	}
	s.out.Action.Evidence = plans.Evidence{Kind: plans.Unverified, Detail: fmt.Sprintf("it depends on %s, which is known after the apply", waits)}
	if why, ok := p.demanded(s.out.Object); ok && s.out.Live != nil && !s.out.Adopts() {
		return true, p.replaceLater(ctx, s, why)
	}
	if s.out.Live != nil {
		return true, p.updateLater(s)
	}
	manifest, err := p.resolve(s)
	if err != nil {
		return false, err
	}
	s.out.Pending = append(s.out.Pending, s.laterKeys()...)
	known := s.out.Record != nil && s.out.Record.State.UID != ""
	switch {
	case known && p.inv.Unread(s.out.Action.Ref) != nil:
		s.out.Action.Verb, s.out.Action.Reasons = plans.Update, []plans.Reason{{Kind: plans.ReasonConfig}}
		s.out.Action.Prior = providers.Precondition{UID: types.UID(s.out.Record.State.UID)}
		return true, nil
	case known:
		s.out.Action.Reasons = []plans.Reason{{Kind: s.out.Record.Absence()}}
	default:
		s.out.Action.Reasons = []plans.Reason{{Kind: plans.ReasonNew}}
	}
	s.out.Action.Verb = plans.Create
	if s.out.Object.Run() {
		s.out.Action.Verb = plans.Run
	}
	if err := s.out.Assume(manifest); err != nil {
		return false, err
	}
	differences, err := fields.Compare(nil, manifest)
	s.out.Action.Changes = fields.Changes(s.out.WithUnknown(differences))
	return true, err
}

// replaceLater plans to replace a live object. The server is asked when all of the object is
// known.
func (p *decider) replaceLater(ctx context.Context, s *subject, why plans.Reason) error {
	o, err := p.obstacle(ctx, s, why.Kind)
	if err != nil {
		return err
	}
	if o.stands() {
		s.out.Refuse(o.about(s, []plans.Reason{why}))
		return nil
	}
	if err := p.updateLater(s); err != nil {
		return err
	}
	s.out.Action.Verb, s.out.Action.Reasons, s.out.Action.Holds = plans.Replace, []plans.Reason{why}, s.loses()
	s.out.Action.Force, s.out.Action.Yields = false, nil
	return nil
}

// updateLater plans to change a live object.
func (p *decider) updateLater(s *subject) error {
	manifest, err := p.sent(s)
	if err != nil {
		return err
	}
	s.out.Pending = append(s.out.Pending, s.laterKeys()...)
	if s.out.After, err = dryrun.Predict(s.out.Live, nil, manifest, s.out.Manager); err != nil {
		return err
	}
	differences, err := fields.Compare(s.out.Live, s.out.After)
	if err != nil {
		return err
	}
	differences = s.out.WithUnknown(differences)
	s.out.Action.Verb = plans.Update
	if s.out.Adopts() {
		s.out.Action.Verb = plans.Adopt
	}
	s.out.Action.Changes = fields.Changes(differences)
	s.out.Action.Reasons = p.originOf(s, s.out.After).Differences(differences)
	return nil
}

// laterKeys returns the keys of a Secret with unknown values.
func (s *subject) laterKeys() []string {
	var out []string
	for key, data := range s.out.Object.Data {
		if slices.ContainsFunc(data.Parts, func(p providers.DataPart) bool {
			return strings.Contains(p.Literal+p.Sensitive, configs.KnownAfterApply)
		}) {
			out = append(out, key)
		}
	}
	return out
}
