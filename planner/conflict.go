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

	"kolla.openstack.org/kolla/providers"
)

// conflictPolicy says what becomes of declared fields that another manager owns.
type conflictPolicy struct {
	force bool // take everything
	// scaled are the objects whose replicas an autoscaler looks after, in no version;
	// nil: nobody could be asked.
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

var (
	// people matches the field managers of tools that somebody works with by hand.
	// What they leave behind is no decision that has to be respected, unlike the
	// fields that a controller or another deployment tool looks after.
	people = regexp.MustCompile(`^(kubectl(-.*)?|k9s|rancher|[Ll]ens|OpenLens|freelens|headlamp|node-fetch|Mozilla|dashboard|before-first-apply)$`)
	// byHand matches names that speak of what somebody did once, as programs with a
	// verb for each of their commands have them. Only updates count: who applies
	// means to keep the field.
	byHand = regexp.MustCompile(`(^|[-_.])(edit|apply|scale|label|annotate|patch)$`)
	// deployers matches tools that put whole objects into the cluster, as kolla does.
	// Two of them on one field is somebody's mistake, whichever of them gives in.
	deployers = regexp.MustCompile(`(?i)^(helm|flux|kustomize|argo-?cd|terraform|opentofu|pulumi|kapp|kluctl|ansible|crossplane|rancher|fleet)([-_:.].*)?$|^kolla(:.*)?$`)
	// controllers matches what runs in the cluster and looks after single fields of
	// other people's objects: Kubernetes' own, autoscalers, and what calls itself a
	// controller or operator.
	controllers = regexp.MustCompile(`^(kube-.*|cloud-controller-manager|vpa|keda|cluster-autoscaler|.*([-_.]|^)(controller(-manager)?|operator|(auto)?scaler|recommender|updater|admission|webhook|injector))$`)
)

// builtinControllers are the names that Kubernetes' own controllers write under:
// those of the program that they are part of, which some distributions, and the
// local cluster that comes with kolla, have for all of Kubernetes.
var builtinControllers = []string{"kube-controller-manager", "k3s", "kubelite", "kolla-devcluster"}

// scaleSubresource is where replicas are set without the rest of the object.
const scaleSubresource = "scale"

// outcome is what becomes of a field of this owner that kolla had, as long as nobody
// has said anything about it.
func (o owner) outcome() outcome {
	switch {
	case people.MatchString(o.manager):
		return take
	case deployers.MatchString(o.manager):
		return refuse
	case o.updates && o.subresource == "" && byHand.MatchString(o.manager):
		return take
	case controllers.MatchString(o.manager), slices.Contains(builtinControllers, o.manager), o.subresource == scaleSubresource:
		return leave
	}
	return refuse
}

// outcome decides about one field. What is said of the object counts more than
// what was said on the command line, and that more than who the owner is. Without
// a word from anybody only what kolla has made, or is told to adopt, is given or
// taken: of fields that it never had it knows nothing.
//
// idle is set where a field is taken because the controller that has it does not
// look after it any more.
func (c conflictPolicy) outcome(s *subject, by owner, path fieldpath.Path) (what outcome, idle bool) {
	lifecycle := s.lifecycle()
	what = by.outcome()
	switch {
	case covered(fieldPaths(lifecycle.IgnoreFields), path):
		return leave, false
	case lifecycle.forces(by.manager, path):
		return take, false
	case lifecycle.yieldsTo(by.manager):
		return leave, false
	case c.force:
		return take, false
	case what == take && (s.ours || s.adopts()):
		return take, false
	case what == leave && s.ours:
		if c.scaled != nil && by.scales(path) && !c.scaled[versionless(s.action.Ref)] {
			return take, true
		}
		return leave, false
	}
	return refuse, false
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
func (p *planning) contend(ctx context.Context, s *subject, manifest *unstructured.Unstructured, conflicts []providers.Conflict) (answer, sent *unstructured.Unstructured, err error) {
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
	answer, err = p.Reader.DryRun(ctx, sent, providers.DryRunOptions{Manager: s.manager, Force: settled.takes})
	return answer, sent, err
}

// settlement is what becomes of the conflicts that the server named.
type settlement struct {
	yields  []Yield
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
			y.News = !y.Declared && !s.knows(y)
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

// conflictProblem says who owns what, since when, and how to go on.
func conflictProblem(s *subject, conflicts []providers.Conflict) Problem {
	owners := ownershipOf(s.live, s.manager)
	var lines []string
	var fields []string
	for _, conflict := range conflicts {
		by, path := owners.found(conflict)
		line := fmt.Sprintf("%s is owned by %s", pathText(path), conflict.Manager)
		if !by.time.IsZero() {
			line += by.time.Format(", last written 2006-01-02 15:04 UTC")
		}
		lines = append(lines, line)
		fields = append(fields, fmt.Sprintf("%q", pathText(path)))
	}
	summary := fmt.Sprintf("fields of %s belong to others", s.action.Ref)
	if len(conflicts) == 1 {
		summary = fmt.Sprintf("a field of %s belongs to %s", s.action.Ref, conflicts[0].Manager)
	}
	return problemOf(s.object, summary, strings.Join(lines, "\n")+fmt.Sprintf(
		"\nDo not declare what another tool looks after; or say in its lifecycle block who is to have it: ignore_fields = [%s] or yield_to = [%q] leaves it there, force_conflicts takes it. To take it once, plan with -force-conflicts; the least that may take with it is this object and what it depends on: -force-conflicts -target='%s'",
		strings.Join(slices.Compact(slices.Sorted(slices.Values(fields))), ", "), conflicts[0].Manager, s.object.Address))
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

// findAutoscalers lists the autoscalers of those namespaces where one has its name
// on a field: whether it is still there is not written on the object. Where they
// cannot be read, the fields are left alone.
func (p *planning) findAutoscalers(ctx context.Context) error {
	replicas := fieldpath.MakePathOrDie("spec", "replicas")
	var scopes []providers.Scope
	for i := range p.Objects {
		live := p.Snapshot.Get(p.Objects[i].Ref())
		if !writtenThrough(live, func(subresource string) bool { return subresource == scaleSubresource }) {
			continue
		}
		for _, other := range ownershipOf(live, providers.FieldManager).others {
			if other.scales(replicas) && other.fields.Has(replicas) {
				scopes = append(scopes, providers.Scope{GVK: autoscalers, Namespace: live.GetNamespace()})
			}
		}
	}
	if len(scopes) == 0 {
		return nil
	}
	var unreadable *providers.UnreadableError
	switch err := p.Snapshot.Load(ctx, scopes...); {
	case errors.As(err, &unreadable):
		p.problems = append(p.problems, Problem{
			Warning: true,
			Summary: "HorizontalPodAutoscalers cannot be read",
			Detail:  fmt.Sprintf("One of them has set replicas that are declared here. They are left as they are, as if it still was there: %v.", unreadable.Err),
		})
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

// versionless is the same in whatever version of its kind an object is meant: to an
// autoscaler that makes no difference.
func versionless(ref providers.Ref) providers.Ref {
	ref.GVK.Version = ""
	return ref
}
