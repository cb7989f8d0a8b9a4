package decision

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/internal/foreign"
	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/lifecycle"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
)

// conflictPolicy decides about declared fields that another manager owns.
type conflictPolicy struct {
	force bool // take everything
}

// verdict is the decision about one field.
type verdict int

const (
	_      verdict = iota
	take           // kolla sets it, and says so
	leave          // it is not sent any more
	refuse         // no plan until the operator decides
)

// people matches the field managers of tools that people use by hand. kolla overwrites fields
// that such a tool left on an adopted object. A client can choose any name, so the name never
// leaves a field to others; see mayHave.
var people = regexp.MustCompile(`^(kubectl(-.*)?|k9s|rancher|[Ll]ens|OpenLens|freelens|headlamp|node-fetch|Mozilla|dashboard|before-first-apply)$`)

// verdict decides about one field that somebody else owns. The lifecycle of the object counts
// more than the options of the command, and these count more than the kind of the field. In
// its own objects kolla takes back every field except those that a controller has by its
// kind. In objects of others it takes none without permission.
//
// idle: the field is taken because the autoscaler that set it no longer exists.
func (c conflictPolicy) verdict(s *subject, by fields.Owner, path fieldpath.Path) (what verdict, idle bool) {
	rules := lifecycle.Of(s.out.Object)
	switch {
	case fields.Covered(rules.Ignored(), path):
		return leave, false
	case rules.Forces(by.Manager, path):
		return take, false
	case rules.YieldsTo(by.Manager):
		return leave, false
	case c.force:
		return take, false
	case c.mayHave(s, path):
		return leave, false
	case s.out.Ours:
		return take, by.Scales(path)
	case s.out.Adopts() && people.MatchString(by.Manager):
		return take, false
	}
	return refuse, false
}

// mayHave reports whether a controller sets the field because of its kind: the replicas of an
// object with an autoscaler, and the certificates for calls to webhooks and converters.
func (c conflictPolicy) mayHave(s *subject, path fieldpath.Path) bool {
	if path[len(path)-1].FieldName != nil && *path[len(path)-1].FieldName == "caBundle" {
		return proof.KeeperOf(s.out.Live, fields.Names(path)) == proof.Others
	}
	return fields.Text(path) == replicasPath && s.out.Action.Scaled
}

// contend asks the server again after it reported conflicts: without the fields that are left
// to others, and taking the rest. It returns the manifest that was sent. If the operator has
// to decide first, it adds a problem and returns no manifest.
func (p *decider) contend(ctx context.Context, s *subject, x *prospect, manifest *unstructured.Unstructured, conflicts []providers.Conflict) (answer, sent *unstructured.Unstructured, err error) {
	settled, err := p.arbitrate(s, manifest, conflicts)
	if err != nil {
		return nil, nil, err
	}
	if len(settled.refused) > 0 {
		s.out.Problems = append(s.out.Problems, conflictProblem(s, settled.refused))
		return nil, nil, nil
	}
	s.out.Action.Force = settled.takes
	s.out.Action.Yields = append(s.out.Action.Yields, settled.yields...)
	if sent, err = fields.Trim(manifest, settled.yields); err != nil {
		return nil, nil, err
	}
	answer, err = p.inv.Input.Reader.DryRun(ctx, sent, providers.DryRunOptions{Manager: s.out.Manager, Force: settled.takes, Warn: collect(&x.warned)})
	return answer, sent, err
}

// settlement is the decision about all conflicts of an object.
type settlement struct {
	yields  []plans.Yield
	refused []providers.Conflict
	takes   bool
}

// arbitrate decides about the conflicts of an object.
func (p *decider) arbitrate(s *subject, manifest *unstructured.Unstructured, conflicts []providers.Conflict) (settlement, error) {
	owners := fields.OwnersOf(s.out.Live, s.out.Manager)
	var out settlement
	for _, conflict := range conflicts {
		by, path := owners.Found(conflict)
		switch what, _ := p.policy.verdict(s, by, path); what {
		case take:
			out.takes = true
		case leave:
			y, err := s.newYield(manifest, path, by)
			if err != nil {
				return out, err
			}
			y.Declared = lifecycle.Of(s.out.Object).YieldsTo(by.Manager) || fields.Covered(lifecycle.Of(s.out.Object).Ignored(), path)
			out.yields = append(out.yields, y)
		default:
			out.refused = append(out.refused, conflict)
		}
	}
	return out, nil
}

// mostConflicts limits how many conflicts of one object are shown.
const mostConflicts = 10

// conflictProblem says who owns which field, since when, and how to go on.
func conflictProblem(s *subject, conflicts []providers.Conflict) plans.Problem {
	owners := fields.OwnersOf(s.out.Live, s.out.Manager)
	var lines []string
	var names []string
	for _, conflict := range conflicts {
		by, path := owners.Found(conflict)
		line := fmt.Sprintf("%s is owned by %s", fields.Text(path), foreign.Name(conflict.Manager))
		if !by.Time.IsZero() {
			line += by.Time.Format(", last written 2006-01-02 15:04 UTC")
		}
		lines = append(lines, line)
		names = append(names, fmt.Sprintf("%q", fields.Text(path)))
	}
	summary := fmt.Sprintf("fields of %s belong to others", s.out.Action.Ref)
	if len(conflicts) == 1 {
		summary = fmt.Sprintf("a field of %s belongs to %s", s.out.Action.Ref, foreign.Name(conflicts[0].Manager))
	}
	if more := len(lines) - mostConflicts; more > 0 {
		lines = append(lines[:mostConflicts], fmt.Sprintf("and %d more fields", more))
	}
	return plans.ProblemOf(s.out.Object, summary, strings.Join(lines, "\n")+fmt.Sprintf(
		"\nDo not declare what another tool looks after; or say in its lifecycle block who is to have it: ignore_fields = [%s] or yield_to = [%q] leaves it there, force_conflicts takes it. To take it once, plan with -force-conflicts; the least that may take with it is this object and what it depends on: -force-conflicts -target='%s'",
		words.Few(slices.Compact(slices.Sorted(slices.Values(names))), mostConflicts), conflicts[0].Manager, s.out.Object.Address))
}
