package planner

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/internal/foreign"
	"kolla.openstack.org/kolla/internal/words"
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

// outcome is what becomes of one field.
type outcome int

const (
	_      outcome = iota
	take           // kolla sets it, and says so
	leave          // it is not sent any more
	refuse         // no plan until the operator decides
)

// people matches the field managers of tools that somebody works with by hand. Fields
// that such a tool left on an adopted object are overwritten. A name is whatever the
// writer says, so that no field is left to others because of it: see mayHave.
var people = regexp.MustCompile(`^(kubectl(-.*)?|k9s|rancher|[Ll]ens|OpenLens|freelens|headlamp|node-fetch|Mozilla|dashboard|before-first-apply)$`)

// builtinControllers are the names that Kubernetes' own controllers write under:
// those of the program that they are part of, which some distributions, and the
// local cluster that comes with kolla, have for all of Kubernetes.
var builtinControllers = []string{"kube-controller-manager", "k3s", "kubelite", "kolla-devcluster"}

// scaleSubresource is where replicas are set without the rest of the object.
const scaleSubresource = "scale"

// outcome decides about one field that somebody else owns. What is said of the object
// counts more than what was said on the command line, and that more than which field it
// is. In objects that kolla made, it takes back every field but those that a controller
// has by its kind; in objects of others, it takes none without being told.
//
// idle is set where a field is taken because the autoscaler that had it is gone.
func (c conflictPolicy) outcome(s *subject, by owner, path fieldpath.Path) (what outcome, idle bool) {
	lifecycle := s.lifecycle()
	switch {
	case covered(fieldPaths(lifecycle.IgnoreFields), path):
		return leave, false
	case lifecycle.forces(by.manager, path):
		return take, false
	case lifecycle.yieldsTo(by.manager):
		return leave, false
	case c.force:
		return take, false
	case c.mayHave(s, path):
		return leave, false
	case s.ours:
		return take, by.scales(path)
	case s.adopts() && people.MatchString(by.manager):
		return take, false
	}
	return refuse, false
}

// mayHave reports whether a field is one that a controller looks after, by its kind: the
// replicas of what an autoscaler is there for, and the certificates that the API server
// calls webhooks and converters with.
func (c conflictPolicy) mayHave(s *subject, path fieldpath.Path) bool {
	if path[len(path)-1].FieldName != nil && *path[len(path)-1].FieldName == "caBundle" {
		return proof.KeeperOf(s.live, stepNames(path)) == proof.Others
	}
	return pathText(path) == replicasPath && s.action.Scaled
}

// scales reports whether the owner's hold of a field is that of the autoscaler that
// Kubernetes has. It leaves its name on the object when it goes.
func (o owner) scales(path fieldpath.Path) bool {
	return slices.Contains(builtinControllers, o.manager) && o.subresource == scaleSubresource && pathText(path) == "spec.replicas"
}

// contend asks the server once more, after it has named fields that others own:
// without those that are left to them, and taking the others. It returns the
// manifest that was sent. Where somebody has to decide first, the problem is named,
// and there is no manifest.
func (p *planning) contend(ctx context.Context, s *subject, x *prospect, manifest *unstructured.Unstructured, conflicts []providers.Conflict) (answer, sent *unstructured.Unstructured, err error) {
	settled, err := p.arbitrate(s, manifest, conflicts)
	if err != nil {
		return nil, nil, err
	}
	if len(settled.refused) > 0 {
		s.problems = append(s.problems, conflictProblem(s, settled.refused))
		return nil, nil, nil
	}
	s.action.Force = settled.takes
	s.action.Yields = append(s.action.Yields, settled.yields...)
	if sent, err = Trim(manifest, settled.yields); err != nil {
		return nil, nil, err
	}
	answer, err = p.Reader.DryRun(ctx, sent, providers.DryRunOptions{Manager: s.manager, Force: settled.takes, Warn: collect(&x.warned)})
	return answer, sent, err
}

// settlement is what becomes of the conflicts that the server named.
type settlement struct {
	yields  []plans.Yield
	refused []providers.Conflict
	takes   bool
}

// arbitrate decides about the conflicts of a subject.
func (p *planning) arbitrate(s *subject, manifest *unstructured.Unstructured, conflicts []providers.Conflict) (settlement, error) {
	owners := ownershipOf(s.live, s.manager)
	var out settlement
	for _, conflict := range conflicts {
		by, path := owners.found(conflict)
		switch what, _ := p.policy.outcome(s, by, path); what {
		case take:
			out.takes = true
		case leave:
			y, err := s.newYield(manifest, path, by)
			if err != nil {
				return out, err
			}
			y.Declared = s.lifecycle().yieldsTo(by.manager) || covered(fieldPaths(s.lifecycle().IgnoreFields), path)
			out.yields = append(out.yields, y)
		default:
			out.refused = append(out.refused, conflict)
		}
	}
	return out, nil
}

// found is the owner and the field that a conflict names. Of one that cannot be
// found among the object's managedFields only the name is known.
func (o ownership) found(conflict providers.Conflict) (owner, fieldpath.Path) {
	path, ok := o.path(conflict.Manager, conflict.Path)
	if !ok {
		name := strings.TrimPrefix(conflict.Path, ".")
		return owner{manager: conflict.Manager}, fieldpath.Path{{FieldName: &name}}
	}
	for _, other := range o.others {
		if other.manager == conflict.Manager && touches(other.fields, path) {
			return other, path
		}
	}
	return owner{manager: conflict.Manager}, path
}

// mostConflicts are shown of one object.
const mostConflicts = 10

// conflictProblem says who owns what, since when, and how to go on.
func conflictProblem(s *subject, conflicts []providers.Conflict) plans.Problem {
	owners := ownershipOf(s.live, s.manager)
	var lines []string
	var fields []string
	for _, conflict := range conflicts {
		by, path := owners.found(conflict)
		line := fmt.Sprintf("%s is owned by %s", pathText(path), foreign.Name(conflict.Manager))
		if !by.time.IsZero() {
			line += by.time.Format(", last written 2006-01-02 15:04 UTC")
		}
		lines = append(lines, line)
		fields = append(fields, fmt.Sprintf("%q", pathText(path)))
	}
	summary := fmt.Sprintf("fields of %s belong to others", s.action.Ref)
	if len(conflicts) == 1 {
		summary = fmt.Sprintf("a field of %s belongs to %s", s.action.Ref, foreign.Name(conflicts[0].Manager))
	}
	if more := len(lines) - mostConflicts; more > 0 {
		lines = append(lines[:mostConflicts], fmt.Sprintf("and %d more fields", more))
	}
	return problemOf(s.object, summary, strings.Join(lines, "\n")+fmt.Sprintf(
		"\nDo not declare what another tool looks after; or say in its lifecycle block who is to have it: ignore_fields = [%s] or yield_to = [%q] leaves it there, force_conflicts takes it. To take it once, plan with -force-conflicts; the least that may take with it is this object and what it depends on: -force-conflicts -target='%s'",
		words.Few(slices.Compact(slices.Sorted(slices.Values(fields))), mostConflicts), conflicts[0].Manager, s.object.Address))
}

// writtenThrough reports whether an object has an entry among its managedFields of
// somebody else than kolla whose subresource is meant. It reads no more than that.
func writtenThrough(live *unstructured.Unstructured, meant func(subresource string) bool) bool {
	if live == nil {
		return false
	}
	entries, _, _ := unstructured.NestedFieldNoCopy(live.Object, "metadata", "managedFields")
	list, _ := entries.([]any)
	return slices.ContainsFunc(list, func(item any) bool {
		entry, _ := item.(map[string]any)
		manager, _ := entry["manager"].(string)
		subresource, _ := entry["subresource"].(string)
		applies := entry["operation"] == "Apply" && subresource == ""
		ours := applies && (manager == providers.FieldManager || strings.HasPrefix(manager, providers.FieldManager+":"))
		return !ours && meant(subresource)
	})
}

var autoscalers = schema.GroupVersionKind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}

// findAutoscalers lists the autoscalers of those namespaces where somebody but kolla has
// set replicas: whether one is there is not written on the object. Where they cannot be
// read, replicas that one may have set are left alone.
func (p *planning) findAutoscalers(ctx context.Context) error {
	replicas := fieldpath.MakePathOrDie("spec", "replicas")
	var scopes []providers.Scope
	scaled := map[providers.Ref]bool{}
	for i := range p.Objects {
		live := p.Snapshot.Get(p.Objects[i].Ref())
		if unlikeScaled(p.Objects[i].Manifest, live) {
			scopes = append(scopes, providers.Scope{GVK: autoscalers, Namespace: live.GetNamespace()})
		}
		if !writtenThrough(live, func(subresource string) bool { return subresource != "status" }) {
			continue
		}
		for _, other := range ownershipOf(live, providers.FieldManager).others {
			if other.fields.Has(replicas) {
				scopes = append(scopes, providers.Scope{GVK: autoscalers, Namespace: live.GetNamespace()})
				scaled[versionless(providers.RefOf(live))] = other.scales(replicas)
			}
		}
	}
	if len(scopes) == 0 {
		return nil
	}
	var unreadable *providers.UnreadableError
	switch err := p.Snapshot.Load(ctx, scopes...); {
	case errors.As(err, &unreadable):
		p.problems = append(p.problems, plans.Problem{
			Warning: true,
			Summary: "HorizontalPodAutoscalers cannot be read",
			Detail:  fmt.Sprintf("Replicas that are declared here were set by others. Where an autoscaler may have set them, they are left as they are: %v.", unreadable.Err),
		})
		p.policy.scaled = scaled
		return nil
	case err != nil:
		return fmt.Errorf("find out what autoscalers look after: %w", err)
	case p.Snapshot.Missing(autoscalers):
		return nil
	}
	p.policy.scaled = map[providers.Ref]bool{}
	for _, scaler := range p.Snapshot.All(autoscalers) {
		target := func(field string) string {
			text, _, _ := unstructured.NestedString(scaler.Object, "spec", "scaleTargetRef", field)
			return text
		}
		p.policy.scaled[versionless(providers.Ref{
			GVK:       schema.FromAPIVersionAndKind(target("apiVersion"), target("kind")),
			Namespace: scaler.GetNamespace(),
			Name:      target("name"),
		})] = true
	}
	return nil
}

// unlikeScaled reports whether a live object has other replicas than are declared, or than
// is the default. Of a scale to 0 the API server does not write down who did it.
func unlikeScaled(manifest, live *unstructured.Unstructured) bool {
	if live == nil {
		return false
	}
	is, there, _ := unstructured.NestedFieldNoCopy(live.Object, "spec", "replicas")
	want, declared, _ := unstructured.NestedFieldNoCopy(manifest.Object, "spec", "replicas")
	if !declared {
		want = int64(1)
	}
	return there && fmt.Sprint(is) != fmt.Sprint(want)
}

// versionless is the same in whatever version of its kind an object is meant: to an
// autoscaler that makes no difference.
func versionless(ref providers.Ref) providers.Ref {
	ref.GVK.Version = ""
	return ref
}
