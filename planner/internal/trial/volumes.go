package trial

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// CompareClaims compares the claims of StatefulSets with the templates that they were made from. A
// StatefulSet makes each claim once, and never changes it. So kolla itself makes claims as large as
// declared, where the cluster lets them grow. It reports every other difference: a claim never
// shrinks, and keeps its storage class and its access modes.
//
// It adds to the outcomes of StatefulSets the actions by which their claims grow, and the
// errors about claims that cannot grow or shrink as the configuration now wants. The problems are
// warnings about claims that stay as they are. A refresh-only plan gets nothing but warnings, and
// sends no dry run.
func CompareClaims(ctx context.Context, inv *inventory.Inventory, outcomes []*outcome.Outcome) ([]plans.Problem, error) {
	var warnings []plans.Problem
	for _, o := range outcomes {
		unread := inv.Unread(providers.Ref{GVK: inventory.Claims, Namespace: o.Action.Ref.Namespace})
		switch {
		case hasClaims(o) && unread != nil:
			if o.Live == nil { // it is new, or could not be read either
				continue
			}
			p := plans.ProblemOf(o.Object, fmt.Sprintf("the claims of %s could not be compared", o.Action.Ref), unread.Error())
			p.Warning = true
			warnings = append(warnings, p)
		case hasClaims(o):
			c := &claimComparison{inv: inv, set: o, found: map[string][]string{}}
			if err := c.compare(ctx); err != nil {
				return nil, err
			}
			warnings = append(warnings, c.warnings()...)
		case o.Action.Ref.GVK == inventory.Claims:
			warnings = append(warnings, grownByOthers(o)...)
		}
	}
	return warnings, nil
}

// hasClaims reports whether the object is a StatefulSet that keeps or takes up the claims with
// its name.
func hasClaims(o *outcome.Outcome) bool {
	if o.Object.Ref().GVK.GroupKind() != kinds.StatefulSet || len(o.Object.Deferred) > 0 || len(inventory.ClaimTemplates(o.Object.Manifest)) == 0 {
		return false
	}
	return o.Action.Verb != plans.Replace || !inventory.TakesVolumesAlong(o.Live)
}

// claimComparison compares the claims of one StatefulSet.
type claimComparison struct {
	inv *inventory.Inventory
	set *outcome.Outcome
	// found has the differences that stay, each with the names of its claims, and order
	// their order.
	found map[string][]string
	order []string
}

// stays notes a difference that no apply ends.
func (c *claimComparison) stays(claim, difference string) {
	if c.found[difference] == nil {
		c.order = append(c.order, difference)
	}
	c.found[difference] = append(c.found[difference], claim)
}

// warnings returns the differences that stay as warnings.
func (c *claimComparison) warnings() []plans.Problem {
	var out []plans.Problem
	for _, difference := range c.order {
		names := c.found[difference]
		p := plans.ProblemOf(c.set.Object, fmt.Sprintf("%s %s %s not as %s declares %s", words.Plural(len(names), "the claim", "the claims"),
			words.Few(names, 4), words.Plural(len(names), "is", "are"), c.set.Action.Ref, words.Plural(len(names), "it", "them")), difference)
		p.Warning, p.Stays = true, true
		out = append(out, p)
	}
	return out
}

func (c *claimComparison) compare(ctx context.Context) error {
	for _, item := range inventory.ClaimTemplates(c.set.Object.Manifest) {
		template, _ := item.(map[string]any)
		single := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"volumeClaimTemplates": []any{item}}}}
		single.SetName(c.set.Action.Ref.Name)
		single.SetNamespace(c.set.Action.Ref.Namespace)
		for _, ref := range inventory.VolumesOf(c.inv.Input.Snapshot, single) {
			live := c.inv.Input.Snapshot.Get(ref)
			// Claims with a declaration of their own are compared with that.
			if live.GetDeletionTimestamp() != nil || c.inv.DeclarationByRef(ref) != nil || c.inv.RecordByRef(ref) != nil {
				continue
			}
			c.compareKind(live, template)
			if err := c.compareSize(ctx, live, template); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareKind compares the immutable fields of a claim.
func (c *claimComparison) compareKind(live *unstructured.Unstructured, template map[string]any) {
	const remedy = "A claim keeps it for ever. To have it as declared, copy the data to a new claim; or declare what the claim has."
	for _, field := range []struct{ name, words string }{
		{"storageClassName", "the storage class"},
		{"accessModes", "the access modes"},
		{"volumeMode", "the volume mode"},
	} {
		want, declared, _ := unstructured.NestedFieldNoCopy(template, "spec", field.name)
		has, there, _ := unstructured.NestedFieldNoCopy(live.Object, "spec", field.name)
		if declared && there && inOrder(want) != inOrder(has) {
			c.stays(live.GetName(), fmt.Sprintf("It has %s %s, and %s is declared. %s", field.words, inOrder(has), inOrder(want), remedy))
		}
	}
}

// inOrder formats a value, or the elements of a list in order.
func inOrder(value any) string {
	list, isList := value.([]any)
	if !isList {
		return fmt.Sprintf("%q", fmt.Sprint(value))
	}
	var texts []string
	for _, item := range list {
		texts = append(texts, fmt.Sprint(item))
	}
	slices.Sort(texts)
	return strings.Join(texts, ", ")
}

// compareSize compares the size of a claim. A smaller claim grows.
func (c *claimComparison) compareSize(ctx context.Context, live *unstructured.Unstructured, template map[string]any) error {
	want, ok := inventory.ClaimSize(template)
	has, known := inventory.ClaimSize(live.Object)
	if !ok || !known {
		return nil
	}
	bound := inventory.Phase(live) == string(corev1.ClaimBound)
	switch order := want.Cmp(has); {
	case order < 0:
		c.larger(live, template, has, want)
	case order == 0 && bound:
		c.growing(live, has)
	case order > 0 && inventory.Phase(live) == string(corev1.ClaimLost):
		c.stays(live.GetName(), fmt.Sprintf("It asks for %s, and %s is declared. It cannot change, because its volume no longer exists in the cluster.", &has, &want))
	case order > 0 && !bound:
		c.stays(live.GetName(), fmt.Sprintf(`It asks for %s, and %s is declared. It has no volume yet, and cannot change before it has one. `+
			`There is no data yet: delete it (kubectl delete -n %s persistentvolumeclaim NAME) and its pod, and the StatefulSet makes both again.`, &has, &want, live.GetNamespace()))
	case order > 0:
		if c.inv.Input.RefreshOnly {
			c.smaller(live, template, has, want)
			return nil
		}
		return c.grow(ctx, live, template, has, want)
	}
	return nil
}

// refused reports a claim that the server does not let grow. If the StatefulSet in the cluster still
// declares less, the configuration wants to make the claim grow, which is an error. Otherwise the
// claim is older than the declaration.
func (c *claimComparison) refused(live *unstructured.Unstructured, template map[string]any, has, want resource.Quantity, remedy string) {
	if before := liveSize(c.set.Live, template); before == nil || before.Cmp(want) >= 0 {
		c.stays(live.GetName(), fmt.Sprintf("It has %s, and %s is declared. %s", &has, &want, remedy))
		return
	}
	c.refuse(template, fmt.Sprintf("%s cannot make the volume of claim %s grow from %s to %s", c.set.Action.Ref, live.GetName(), &has, &want), remedy)
}

// refuse reports an error about the declared size of a claim.
func (c *claimComparison) refuse(template map[string]any, summary, detail string) {
	p := plans.ProblemOf(c.set.Object, summary, detail)
	name, _, _ := unstructured.NestedString(template, "metadata", "name")
	if place := c.set.Object.Places[providers.ClaimPlace(name)]; place != "" {
		p.Source = place
	}
	c.set.Refuse(p)
}

// smaller reports a claim that is smaller than the StatefulSet in the cluster declares already: an
// earlier apply did not make it grow. Otherwise the configuration wants to make it grow, which is
// no drift.
func (c *claimComparison) smaller(live *unstructured.Unstructured, template map[string]any, has, want resource.Quantity) {
	if before := liveSize(c.set.Live, template); before != nil && before.Cmp(want) >= 0 {
		c.stays(live.GetName(), fmt.Sprintf("It has %s, and %s is declared. kolla plan says whether it can grow.", &has, &want))
	}
}

// larger reports a claim that is larger than declared. If the StatefulSet in the cluster still
// declares more, the configuration wants to shrink it, which is an error. Otherwise somebody else
// made the claim grow.
func (c *claimComparison) larger(live *unstructured.Unstructured, template map[string]any, has, want resource.Quantity) {
	before := liveSize(c.set.Live, template)
	switch {
	case before == nil || before.Cmp(want) <= 0:
		c.stays(live.GetName(), tooLarge(has, want))
		return
	case c.inv.Input.RefreshOnly:
		c.stays(live.GetName(), fmt.Sprintf("It has %s, and %s is declared. %s", &has, &want, unshrinkable(has)))
		return
	}
	c.refuse(template, fmt.Sprintf("%s cannot shrink the volume of claim %s from %s to %s", c.set.Action.Ref, live.GetName(), &has, &want), unshrinkable(has))
}

// unshrinkable says why the configuration cannot make a claim smaller, and how to go on.
func unshrinkable(has resource.Quantity) string {
	return fmt.Sprintf("Kubernetes makes no volume smaller. Declare %s; or copy the data to a new, smaller claim.", &has)
}

// tooLarge says that a claim is larger than declared, and how to go on.
func tooLarge(has, want resource.Quantity) string {
	return fmt.Sprintf("It has %s, and %s is declared. A volume cannot shrink, so no apply changes that. Declare %s.", &has, &want, &has)
}

// liveSize returns the size that the StatefulSet in the cluster declares in a template; nil: none.
func liveSize(set *unstructured.Unstructured, template map[string]any) *resource.Quantity {
	if set == nil {
		return nil
	}
	name, _, _ := unstructured.NestedString(template, "metadata", "name")
	for _, item := range inventory.ClaimTemplates(set) {
		other, _ := item.(map[string]any)
		if of, _, _ := unstructured.NestedString(other, "metadata", "name"); of == name {
			if size, ok := inventory.ClaimSize(other); ok {
				return &size
			}
		}
	}
	return nil
}

// growing reports a claim whose volume has not grown to its size yet.
func (c *claimComparison) growing(live *unstructured.Unstructured, has resource.Quantity) {
	text, ok, _ := unstructured.NestedString(live.Object, "status", "capacity", "storage")
	capacity, err := resource.ParseQuantity(text)
	if !ok || err != nil || capacity.Cmp(has) >= 0 || !providers.VolumeGrows(live) {
		return
	}
	state := "The storage driver makes it grow. The events of the claim say what keeps it from that."
	if inventory.Condition(live, string(corev1.PersistentVolumeClaimFileSystemResizePending)) {
		state = "The volume has grown. Its file system grows while its pod runs, or when the pod starts again."
	}
	c.stays(live.GetName(), fmt.Sprintf("It asks for %s, and has %s. %s", &has, &capacity, state))
}

// grow decides to make a claim grow, if the server would let it.
func (c *claimComparison) grow(ctx context.Context, live *unstructured.Unstructured, template map[string]any, has, want resource.Quantity) error {
	evidence := plans.Evidence{Kind: plans.DryRun}
	_, err := c.inv.Input.Reader.DryRun(ctx, plans.Grown(providers.RefOf(live), want.String()), providers.DryRunOptions{
		Manager: providers.ManagerOf(c.inv.Input.Cloud, true), Force: true,
	})
	if err != nil {
		r := dryrun.Classify(err)
		switch {
		case r.World:
			return fmt.Errorf("ask whether claim %s may grow: %w", live.GetName(), err)
		case r.Permission != nil:
			evidence = r.Forbidden()
		case r.Denied && c.inv.Accepts(c.set.Object):
			evidence = r.Accepted()
		case r.Denied, r.Unasked != "":
			evidence = r.Unverified()
		default:
			c.refused(live, template, has, want, GrowthRemedy(live, r, has))
			return nil
		}
	}
	if c.set.Withheld {
		return nil
	}
	ref := providers.RefOf(live)
	action := plans.Action{
		Address: c.inv.AddressFor(ref, live.GetAnnotations(), live.GetLabels()), Verb: plans.Update, Ref: ref,
		Prior: providers.Precondition{UID: live.GetUID()}, Grows: want.String(), Evidence: evidence,
		Reasons: []plans.Reason{{Kind: plans.ReasonGrows, Detail: c.set.Action.Ref.String()}},
		Changes: []plans.Change{{Path: inventory.ClaimSizePath, Before: has.String(), After: want.String()}},
	}
	c.set.Volumes = append(c.set.Volumes, action)
	switch c.set.Action.Verb {
	case plans.Create, plans.Update, plans.Replace, plans.Adopt:
		c.set.Action.DependsOn = append(slices.Clip(c.set.Action.DependsOn), action.Address)
	}
	return nil
}

// GrowthRemedy says why the server does not let a claim grow, and how to go on.
func GrowthRemedy(live *unstructured.Unstructured, r dryrun.Refusal, has resource.Quantity) string {
	class, _, _ := unstructured.NestedString(live.Object, "spec", "storageClassName")
	if class == "" {
		return fmt.Sprintf("The cluster does not let it grow: %s. It has no storage class, so nothing makes its volume grow. Copy the data to a new claim, or declare %s.", r.Text(), &has)
	}
	return fmt.Sprintf("The cluster does not let it grow: %s. If its driver can make volumes grow, allow it in the storage class, and apply again:\n\n"+
		`  kubectl patch storageclass %s -p '{"allowVolumeExpansion": true}'`+
		"\n\nOtherwise copy the data to a new claim, or declare %s.", r.Text(), class, &has)
}

// grownByOthers warns of a declared claim that is larger than declared. kolla leaves its size as it
// is (package ownership).
func grownByOthers(o *outcome.Outcome) []plans.Problem {
	want, _ := inventory.ClaimSize(o.Object.Manifest.Object)
	for _, y := range o.Action.Yields {
		if y.Path != inventory.ClaimSizePath || y.Declared || o.Live == nil {
			continue
		}
		if has, ok := inventory.ClaimSize(o.Live.Object); ok && has.Cmp(want) > 0 {
			p := plans.ProblemOf(o.Object, fmt.Sprintf("%s is larger than declared", o.Action.Ref), tooLarge(has, want))
			p.Warning, p.Stays = true, true
			return []plans.Problem{p}
		}
	}
	return nil
}
