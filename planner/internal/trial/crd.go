package trial

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// createUnserved decides about a new object whose kind, or version, the cluster does not
// have.
func (a *Asker) createUnserved(object *providers.Object, manifest *unstructured.Unstructured) (answer Answer, err error) {
	if answer.After, err = dryrun.AsApplied(manifest); err != nil {
		return Answer{}, err
	}
	gvk := object.Ref().GVK
	crd := a.CRD(gvk.GroupKind())
	switch {
	case crd == nil:
		a.createUndefined(&answer, object)
		return answer, nil
	case crd.Refused:
		answer.Evidence = plans.Evidence{Kind: plans.Unverified, Detail: fmt.Sprintf("the cluster does not accept %s, which defines its kind", crd)}
		return answer, nil
	}
	foresee(&answer, object, crd, manifest)
	if answer.Evidence.Kind == plans.Schema && a.inv.Rules.Meets(gvk) {
		answer.Evidence.Detail += "; the webhooks and policies that may change it are not asked before"
	}
	return answer, nil
}

// createUndefined decides about a new object whose kind neither the cluster nor the plan
// defines. An object that it depends on may bring the kind.
func (a *Asker) createUndefined(answer *Answer, object *providers.Object) {
	gvk := object.Ref().GVK
	reason := fmt.Sprintf("the cluster has no kind %s in %s", gvk.Kind, gvk.GroupVersion())
	mayBring := func(address addrs.Object) bool {
		needed := a.inv.Declared[address]
		return needed != nil && needed.Ref().GVK.GroupKind() != kinds.Namespace
	}
	if !slices.ContainsFunc(object.DependsOn, mayBring) {
		answer.refuse(plans.ProblemOf(object, reason, "Nothing in this configuration defines it either. Install the software that defines it first. If a block here installs it, such as the manifest of an operator, name that block in depends_on. Otherwise correct apiVersion and kind."))
		return
	}
	answer.Evidence = plans.Evidence{
		Kind: plans.Unverified, Detail: reason,
		Advice: "Nothing in this configuration defines it either. The object can only be created if something that it depends on brings its kind, such as an operator. Otherwise correct apiVersion and kind.",
	}
}

// foresee checks a new object against the CRD that the plan brings. The answer already has the
// object as the server's version makes it, or as declared.
func foresee(answer *Answer, object *providers.Object, crd *dryrun.CRD, manifest *unstructured.Unstructured) {
	f, err := crd.Check(manifest, manifest)
	if err != nil {
		answer.Evidence = plans.Evidence{Kind: plans.Unverified, Detail: err.Error()}
		return
	}
	if len(f.Faults) > 0 {
		answer.refuse(rejectionBy(crd.String(), object, f.Objection()))
		return
	}
	answer.Evidence = f.Evidence
	answer.Problems = append(answer.Problems, dropped(object, crd, f)...)
	// Fields that the schema adds have no owner.
	f.After.SetManagedFields(answer.After.GetManagedFields())
	answer.After = f.After
}

// dropped warns of declared fields that the schema does not keep.
func dropped(object *providers.Object, crd *dryrun.CRD, f dryrun.Forecast) []plans.Problem {
	if len(f.Dropped) == 0 {
		return nil
	}
	warning := plans.ProblemOf(object, fmt.Sprintf("%s does not keep %s of %s", crd, words.Few(f.Dropped, 4), object.Ref()),
		"The schema does not have such a field there. Correct its name, or remove it.")
	warning.Warning = true
	return []plans.Problem{warning}
}

// refusedNow introduces the objection of a CRD that this plan changes.
const refusedNow = "; the definition that the cluster has now does not accept the object: "

// Update re-evaluates an object against the version of its CRD that this plan installs. base
// is the object as the server's version makes it from the manifest. refusal is why that
// version rejects it; empty: it accepts it.
func (a *Asker) Update(object *providers.Object, manifest, base *unstructured.Unstructured, refusal string) Answer {
	gvk := object.Ref().GVK
	crd := a.CRD(gvk.GroupKind())
	if crd.ConvertsByWebhook() && a.inv.Input.Snapshot.Missing(gvk) {
		return Answer{After: base, Evidence: plans.Evidence{Kind: plans.Unverified, Detail: fmt.Sprintf("the cluster does not serve its version yet, and a webhook of %s has to convert it", crd)}}
	}
	f, err := crd.Check(manifest, base)
	if err != nil {
		return Answer{After: base, Evidence: plans.Evidence{Kind: plans.Unverified, Detail: err.Error()}}
	}
	if len(f.Faults) > 0 {
		return Answer{Refused: true, Problems: []plans.Problem{rejectionBy(crd.String(), object, f.Objection())}}
	}
	if refusal != "" {
		f.Evidence.Detail += refusedNow + refusal
	}
	return Answer{After: f.After, Evidence: f.Evidence, Problems: dropped(object, crd, f)}
}
