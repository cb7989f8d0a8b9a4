package trial

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Replace asks whether the server would accept an object in place of the live one: under a
// throw-away name, and without values that only one of the two can have. If nothing can tell,
// the object is not replaced, because it would already be deleted when the server refuses.
// Only -replace and the failure of a Job, with which nothing is lost, justify that risk.
func (a *Asker) Replace(ctx context.Context, object *providers.Object, manifest, live *unstructured.Unstructured, reasons []plans.Reason) (Answer, error) {
	reader := a.inv.Input.Reader
	unique := dryrun.WithoutUnique(manifest, live)
	after, err := reader.DryRun(ctx, unique.Manifest, providers.DryRunOptions{Surrogate: true, Namespace: object.Ref().Namespace})
	if err != nil {
		return a.unproven(object, manifest, reasons, err)
	}
	holder, address, err := dryrun.AddressHolder(ctx, reader, manifest, live)
	if err != nil {
		return a.unproven(object, manifest, reasons, err)
	}
	if address != "" {
		return Answer{Refused: true, Problems: []plans.Problem{notAccepted(object, reasons, fmt.Sprintf("%s is the address of %s.", address, holder))}}, nil
	}
	answer := Answer{After: unique.Complete(after), Evidence: plans.Evidence{Kind: plans.Surrogate}}
	if crd := a.CRD(object.Ref().GVK.GroupKind()); crd != nil {
		foresee(&answer, object, crd, manifest)
	}
	return answer, nil
}

// unproven decides about a replacement that the server did not confirm.
func (a *Asker) unproven(object *providers.Object, manifest *unstructured.Unstructured, reasons []plans.Reason, refused error) (answer Answer, err error) {
	r := dryrun.Classify(refused)
	if answer.After, err = assumed(manifest, refused, r); err != nil {
		return Answer{}, err
	}
	accepted := r.Denied && a.inv.Accepts(object)
	switch {
	case (r.Unasked != "" || accepted) && reasons[0].Kind == plans.ReasonImmutable:
		answer.refuse(plans.ProblemOf(object, fmt.Sprintf("%s cannot be changed in place, and kolla cannot check whether the cluster accepts a new one", object.Ref()),
			fmt.Sprintf("%s cannot change, and %s. So the object might be deleted and then not be created again. Undo the change; or, to take that risk, plan with %s.",
				PathsOf(reasons), r.Unverified().Detail, words.Option("-replace", object.Address.String()))))
	case accepted:
		answer.Evidence = r.Accepted()
	case r.Unasked != "":
		answer.Evidence = r.Unverified()
	case r.Permission != nil:
		answer.refuse(Rejection(object, r))
	default:
		problem := notAccepted(object, reasons, strings.Join(r.Lines(), "\n"))
		if r.Denied {
			problem, answer.Evidence = deniedDryRun(object, problem), r.Refused()
		}
		answer.refuse(problem)
	}
	return answer, nil
}

// Cleaned is why an object with plans.ReasonCleaned is replaced.
const Cleaned = "an earlier apply had its pods clean their nodes, and did not delete it then"

// notAccepted returns the problem of a replacement that the cluster would refuse.
func notAccepted(object *providers.Object, reasons []plans.Reason, objections string) plans.Problem {
	why := "named with -replace"
	switch reasons[0].Kind {
	case plans.ReasonImmutable:
		why = PathsOf(reasons) + " cannot be changed in place"
	case plans.ReasonTriggered:
		why = reasons[0].TriggerWords()
	case plans.ReasonFailedJob:
		why = "its last run failed"
	case plans.ReasonRegistration:
		why = reasons[0].Detail + " does not have what it registered"
	case plans.ReasonCleaned:
		why = Cleaned
	}
	if strings.Contains(objections, "exceeded quota") {
		objections += "\nThe old one counts until it is gone, and kolla deletes nothing before it knows that the new one is accepted: leave room for one more in the quota."
	}
	return plans.ProblemOf(object, fmt.Sprintf("the cluster does not accept a new %s in place of the old one", object.Ref()),
		fmt.Sprintf("%s\nIt was to be replaced (%s). The old one stays as it is.", objections, why))
}

// PathsOf lists the paths of reasons: "spec.selector, spec.serviceName".
func PathsOf(reasons []plans.Reason) string {
	var paths []string
	for _, r := range reasons {
		path := cmp.Or(r.Path, "it")
		paths = append(paths, path)
	}
	return strings.Join(paths, ", ")
}

// UsersOf returns the users that prevent the deletion of a volume or claim. It could not be
// created again while they exist.
func UsersOf(ctx context.Context, reader providers.Reader, live *unstructured.Unstructured) ([]string, error) {
	switch live.GroupVersionKind().GroupKind() {
	case kinds.PersistentVolume:
		claim, bound, _ := unstructured.NestedString(live.Object, "spec", "claimRef", "name")
		namespace, _, _ := unstructured.NestedString(live.Object, "spec", "claimRef", "namespace")
		if phase, _, _ := unstructured.NestedString(live.Object, "status", "phase"); bound && phase == string(corev1.VolumeBound) {
			return []string{providers.Ref{GVK: inventory.Claims, Namespace: namespace, Name: claim}.String()}, nil
		}
	case kinds.PersistentVolumeClaim:
		pods, err := reader.List(ctx, inventory.Pods, live.GetNamespace())
		if err != nil {
			return nil, fmt.Errorf("find the pods that use it: %w", err)
		}
		var users []string
		for _, pod := range pods {
			if mounts(pod, live.GetName()) {
				users = append(users, providers.RefOf(pod).String())
			}
		}
		return users, nil
	}
	return nil, nil
}

// mounts reports whether a pod that has not ended mounts the claim.
func mounts(pod *unstructured.Unstructured, claim string) bool {
	phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
	if phase == string(corev1.PodSucceeded) || phase == string(corev1.PodFailed) {
		return false
	}
	list, _, _ := unstructured.NestedSlice(pod.Object, "spec", "volumes")
	for _, item := range list {
		volume, _ := item.(map[string]any)
		if name, _, _ := unstructured.NestedString(volume, "persistentVolumeClaim", "claimName"); name == claim {
			return true
		}
	}
	return false
}
