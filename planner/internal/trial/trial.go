// Package trial finds out whether the server would accept a new object: by a dry run, under a
// throw-away name if the old object still exists, or by the schema of a CRD that the plan
// installs first. It also finds out which claims of a StatefulSet may grow.
package trial

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/podsecurity"
)

// Asker asks about the objects of one plan.
type Asker struct {
	inv      *inventory.Inventory
	selected func(addrs.Object) bool
	crds     map[schema.GroupKind]*dryrun.CRD // CRDs that the plan creates or changes
	limits   map[string][]string              // declared limits of the objects in a namespace
}

// New returns an Asker that knows of no CRD yet.
func New(inv *inventory.Inventory, selected func(addrs.Object) bool) *Asker {
	a := &Asker{inv: inv, selected: selected, crds: map[schema.GroupKind]*dryrun.CRD{}, limits: map[string][]string{}}
	for i := range inv.Input.Objects {
		namespace, limit := limitOf(&inv.Input.Objects[i])
		if limit != "" {
			a.limits[namespace] = append(a.limits[namespace], limit)
		}
	}
	return a
}

// Expect notes a CRD that the plan creates or changes. It must not run at the same time as
// questions.
func (a *Asker) Expect(kind schema.GroupKind, crd *dryrun.CRD) { a.crds[kind] = crd }

// CRD returns the CRD that the plan brings for a kind; nil: it brings none.
func (a *Asker) CRD(kind schema.GroupKind) *dryrun.CRD { return a.crds[kind] }

// Answer is the result of a question about an object.
type Answer struct {
	// After is the object as it would be: as the server or a schema answers, or as declared
	// if there is no answer.
	After    *unstructured.Unstructured
	Evidence plans.Evidence
	// Refused: the object would not be accepted. Problems says why.
	Refused  bool
	Problems []plans.Problem // including warnings
}

func (a *Answer) refuse(problem plans.Problem) {
	a.Refused = true
	a.Problems = append(a.Problems, problem)
}

// Create asks about an object that does not exist.
func (a *Asker) Create(ctx context.Context, object *providers.Object, manifest *unstructured.Unstructured) (Answer, error) {
	in, ref := &a.inv.Input, object.Ref()
	if in.Snapshot.Missing(ref.GVK) {
		return a.createUnserved(object, manifest)
	}
	if problem := withoutNamespace(a.inv, object); problem != nil {
		return Answer{Refused: true, Problems: []plans.Problem{*problem}}, nil
	}
	live := inventory.NamespaceLive(in.Snapshot, ref.Namespace)
	options := providers.DryRunOptions{Surrogate: !live}
	if live {
		options.Namespace = ref.Namespace
	}
	after, err := in.Reader.DryRun(ctx, manifest, options)
	if meta.IsNoMatchError(err) {
		return a.createUnserved(object, manifest)
	}
	crd := a.CRD(ref.GVK.GroupKind())
	if err == nil {
		answer := Answer{After: after, Evidence: plans.Evidence{Kind: plans.DryRun}}
		if !live {
			answer.Evidence = a.elsewhere(ref.Namespace)
		}
		if crd != nil {
			foresee(&answer, object, crd, manifest)
		}
		return answer, nil
	}
	r := dryrun.Classify(err)
	var answer Answer
	if answer.After, err = assumed(manifest, err, r); err != nil {
		return Answer{}, err
	}
	if r.Shape && crd != nil {
		if foresee(&answer, object, crd, manifest); !answer.Refused {
			answer.Evidence.Detail += refusedNow + r.Text()
		}
		return answer, nil
	}
	a.unanswered(&answer, object, r, live)
	return answer, nil
}

// assumed returns the object as declared. A refusal that says nothing about the object is an
// error.
func assumed(manifest *unstructured.Unstructured, refused error, r dryrun.Refusal) (*unstructured.Unstructured, error) {
	after, err := dryrun.AsApplied(manifest)
	if err == nil && r.World {
		err = refused
	}
	return after, err
}

// unanswered decides about a new object for which the server gave no answer. live: its
// namespace exists.
func (a *Asker) unanswered(answer *Answer, object *providers.Object, r dryrun.Refusal, live bool) {
	switch {
	case r.Unasked != "":
		answer.Evidence = r.Unverified()
	case r.Denied && a.inv.Accepts(object):
		answer.Evidence = r.Accepted()
	case r.Permission != nil:
		answer.Evidence = r.Forbidden()
	case strings.Contains(r.Message, "violates PodSecurity") && letsIn(a.inv, object):
		answer.Evidence = plans.Evidence{Kind: plans.Unverified, Detail: "its namespace does not admit it yet: this plan changes the Pod Security level of the namespace first"}
	case !live && r.Local:
		answer.Evidence = plans.Evidence{Kind: plans.Unverified, Detail: fmt.Sprintf("its namespace does not exist yet, and the namespace %q, in which it was tried instead, does not admit it: %s", providers.SurrogateNamespace, r.Text())}
	default:
		problem := Rejection(object, r)
		if advice := portAdvice(a.inv, a.selected, object, r); advice != "" {
			problem.Detail += "\n" + advice
		}
		if r.Denied {
			answer.Evidence = r.Refused()
		}
		answer.refuse(problem)
	}
}

// Rejection says why the server rejects an object. The wording of a missing permission is the same
// for all objects, so that it is one problem.
func Rejection(object *providers.Object, r dryrun.Refusal) plans.Problem {
	if r.Permission != nil {
		return plans.ProblemOf(object, r.Permission.Error(), "A dry run needs this right; nothing is written by it.\n"+r.Permission.Advice())
	}
	if r.Denied {
		return deniedDryRun(object, plans.ProblemOf(object, "admission denies the dry run of "+object.Ref().String(), strings.Join(r.Lines(), "\n")))
	}
	return rejectionBy("the cluster", object, r)
}

// deniedDryRun marks a problem as that of a denied dry run, and adds how to go on. Nobody can
// tell whether the denial is about the object.
func deniedDryRun(object *providers.Object, problem plans.Problem) plans.Problem {
	problem.DryRun = true
	problem.Detail += "\nIf that is about the object, correct its declaration. " + WithoutDryRun(object)
	return problem
}

// WithoutDryRun says how to write an object whose dry runs are denied.
func WithoutDryRun(object *providers.Object) string {
	advice := "If only dry runs are denied, let kolla write the object without one: plan and apply with -allow-unverified"
	switch block := object.Address.Block; addrs.TypeOf(block) {
	case "service", "manifest", "secret":
		return advice + fmt.Sprintf(", or add this to the lifecycle block of %s:\n\n  allow_unverified = true", block)
	}
	return advice + "." // a block without a lifecycle
}

// rejectionBy returns the causes of a rejection, or its message if it has none.
func rejectionBy(who string, object *providers.Object, r dryrun.Refusal) plans.Problem {
	return plans.ProblemOf(object, fmt.Sprintf("%s does not accept %s", who, object.Ref()), strings.Join(r.Lines(), "\n"))
}

// elsewhere returns the evidence of a dry run under a throw-away name in another namespace. It
// names the limits of the object's own namespace, which did not apply there.
func (a *Asker) elsewhere(namespace string) plans.Evidence {
	evidence := plans.Evidence{Kind: plans.Surrogate, Detail: fmt.Sprintf("tried in the namespace %q", providers.SurrogateNamespace)}
	if limits := a.limits[namespace]; len(limits) > 0 {
		evidence.Detail += ", without " + words.Few(limits, 4)
	}
	return evidence
}

// limitOf returns how a declared object limits the objects of a namespace; empty: it does
// not.
func limitOf(object *providers.Object) (namespace, limit string) {
	ref := object.Ref()
	level := object.Manifest.GetLabels()[podsecurity.Label]
	switch {
	case ref.GVK.GroupKind() == kinds.ResourceQuota, ref.GVK.GroupKind() == kinds.LimitRange:
		return ref.Namespace, ref.String()
	case ref.GVK.GroupKind() == kinds.Namespace && level != "":
		return ref.Name, fmt.Sprintf("the Pod Security level %q", level)
	}
	return "", ""
}

// letsIn reports whether the plan changes the Pod Security level of the object's namespace to
// a level that accepts its pods.
func letsIn(inv *inventory.Inventory, object *providers.Object) bool {
	ref := providers.Ref{GVK: inventory.Namespaces, Name: object.Ref().Namespace}
	namespace := inv.DeclarationByRef(ref)
	return namespace != nil && podsecurity.Changes(namespace.Manifest, inv.Input.Snapshot.Get(ref)) &&
		podsecurity.Refusal(object.Manifest, podsecurity.LevelOf(namespace.Manifest, inv.Input.Cluster.Version)) == ""
}

// withoutNamespace returns the problem of an object whose namespace neither exists nor is
// declared; nil: there is none.
func withoutNamespace(inv *inventory.Inventory, object *providers.Object) *plans.Problem {
	name := object.Ref().Namespace
	ref := providers.Ref{GVK: inventory.Namespaces, Name: name}
	if inventory.NamespaceLive(inv.Input.Snapshot, name) || inv.DeclarationByRef(ref) != nil {
		return nil
	}
	problem := plans.ProblemOf(object, fmt.Sprintf("namespace %q does not exist", name), "Declare it in a manifest, or create it first.")
	if inv.Input.Snapshot.Get(ref) != nil {
		problem = plans.ProblemOf(object, fmt.Sprintf("namespace %q is being deleted", name),
			"Nothing can be created in it. Plan again when it is gone; then declare it, or create it first.")
	}
	return &problem
}
