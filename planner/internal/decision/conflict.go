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

// conflictPolicy says what becomes of declared fields that another manager owns.
type conflictPolicy struct {
	force bool // take everything
	// scaled are the objects whose replicas an autoscaler looks after, in no version.
	scaled map[providers.Ref]bool
}

// verdict is what becomes of one field.
type verdict int

const (
	_      verdict = iota
	take           // kolla sets it, and says so
	leave          // it is not sent any more
	refuse         // no plan until the operator decides
)

// people matches the field managers of tools that somebody works with by hand. Fields
// that such a tool left on an adopted object are overwritten. A name is whatever the
// writer says, so that no field is left to others because of it: see mayHave.
var people = regexp.MustCompile(`^(kubectl(-.*)?|k9s|rancher|[Ll]ens|OpenLens|freelens|headlamp|node-fetch|Mozilla|dashboard|before-first-apply)$`)

// verdict decides about one field that somebody else owns. What is said of the object
// counts more than what was said on the command line, and that more than which field it
// is. In objects that kolla made, it takes back every field but those that a controller
// has by its kind; in objects of others, it takes none without being told.
//
// idle is set where a field is taken because the autoscaler that had it is gone.
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

// mayHave reports whether a field is one that a controller looks after, by its kind: the
// replicas of what an autoscaler is there for, and the certificates that the API server
// calls webhooks and converters with.
func (c conflictPolicy) mayHave(s *subject, path fieldpath.Path) bool {
	if path[len(path)-1].FieldName != nil && *path[len(path)-1].FieldName == "caBundle" {
		return proof.KeeperOf(s.out.Live, fields.Names(path)) == proof.Others
	}
	return fields.Text(path) == replicasPath && s.out.Action.Scaled
}

// contend asks the server once more, after it has named fields that others own:
// without those that are left to them, and taking the others. It returns the
// manifest that was sent. Where somebody has to decide first, the problem is named,
// and there is no manifest.
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

// settlement is what becomes of the conflicts that the server named.
type settlement struct {
	yields  []plans.Yield
	refused []providers.Conflict
	takes   bool
}

// arbitrate decides about the conflicts of a subject.
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

// mostConflicts are shown of one object.
const mostConflicts = 10

// conflictProblem says who owns what, since when, and how to go on.
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
