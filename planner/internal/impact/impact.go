// Package impact says what a plan means for the users of the cloud: the pods that restart,
// the data that is lost, the nodes that pods leave, and the fields that stay with others. It
// only adds to a plan, and no decision depends on it.
package impact

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/internal/placement"
	"kolla.openstack.org/kolla/planner/internal/removal"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Of returns the effects of the plan by block: the lost data first, then the effects of each
// action. actions are all actions of the plan, in order.
func Of(inv *inventory.Inventory, copied map[providers.Ref]inventory.CopiedValues, outcomes []*outcome.Outcome, actions []plans.Action, losses []plans.Loss) []plans.Impact {
	known := map[addrs.Object]*outcome.Outcome{}
	for _, o := range outcomes {
		known[o.Object.Address] = o
	}
	effects := map[string][]plans.Effect{}
	for _, l := range losses {
		effects[l.Address.Block] = append(effects[l.Address.Block], plans.Effect{
			Kind: plans.EffectLoss, Name: l.Address.Name, Ref: l.Refs[0], Data: l.Holds, Grave: true, Loss: &l,
		})
	}
	nodes := placement.After(inv, outcomes, actions)
	for i := range actions {
		a := &actions[i]
		d := disturbance{inv: inv, nodes: nodes, actions: actions, action: a, outcome: known[a.Address], live: inv.Input.Snapshot.Get(a.Ref)}
		disturbs := d.effects(copied)
		if a.Verb == plans.Delete && a.RunsPodsContinuously() {
			disturbs = append(disturbs, volumesStay(a, removal.StayingVolumes(inv.Input.Snapshot, d.live, actions, losses))...)
		}
		effects[a.Address.Block] = append(effects[a.Address.Block], disturbs...)
	}
	var impact []plans.Impact
	for _, block := range slices.Sorted(maps.Keys(effects)) {
		if len(effects[block]) > 0 {
			impact = append(impact, plans.Impact{Block: block, Service: inventory.ServiceName(inv, block), Effects: effects[block]})
		}
	}
	return impact
}

// disturbance is the effect of one action.
type disturbance struct {
	inv     *inventory.Inventory
	nodes   placement.Nodes
	actions []plans.Action // of the plan
	action  *plans.Action
	outcome *outcome.Outcome           // nil: the object is not declared
	live    *unstructured.Unstructured // nil: the object does not exist
}

// effects returns the effects of the action. Those of a deletion are grave.
func (d *disturbance) effects(copied map[providers.Ref]inventory.CopiedValues) []plans.Effect {
	effects := d.disturbs(copied)
	deletes := d.action.Verb == plans.Delete && !d.action.Partial || d.action.Verb == plans.Replace && !d.action.KeepsPods
	for i := range effects {
		e := &effects[i]
		e.Name, e.Ref = cmp.Or(e.Name, d.action.Address.Name), d.action.Ref
		e.Grave = e.Grave || deletes && d.action.Ref.GVK.GroupKind() != kinds.Job
	}
	return effects
}

func (d *disturbance) disturbs(copied map[providers.Ref]inventory.CopiedValues) []plans.Effect {
	live := d.live
	switch kind := d.action.Ref.GVK.GroupKind(); {
	case kind == kinds.Job:
		return d.job()
	case d.action.RunsPodsContinuously():
		left := placement.Left(d.inv.Input.Snapshot, d.action, d.outcome, d.nodes)
		return slices.Concat(d.workload(), d.leaves(left), d.cutsOff(left))
	case d.action.Ref.GVK == inventory.Nodes:
		return d.joins()
	case d.action.Verb == plans.Replace:
		return d.replacement()
	case d.action.ValuesCopiedTo != (addrs.Object{}):
		if lost := copied[d.action.Ref].Lost; len(lost) > 0 {
			return []plans.Effect{{Kind: plans.EffectValuesDropped, Items: lost, ValuesCopiedTo: d.action.ValuesCopiedTo.Name}}
		}
	case d.action.Verb == plans.Delete && !d.action.Partial && kind != kinds.Namespace:
		recorded := ""
		if r := d.inv.RecordByAddress(d.action.Address); r != nil {
			recorded = r.State.Holds
		}
		if holds := inventory.Holds(live, recorded); holds != "" {
			return []plans.Effect{{Kind: plans.EffectDataDeleted, Data: holds}}
		}
	case kind == kinds.Service && live != nil:
		return d.service()
	}
	return d.addresses()
}

// joins returns the effect of the labels that a node gets, or lacks because others removed them.
func (d *disturbance) joins() []plans.Effect {
	if d.live == nil || d.action.Verb == plans.Delete || !slices.ContainsFunc(d.action.Changes, isLabel) {
		return nil
	}
	names := placement.Joining(d.inv.Input.Snapshot, d.live, d.nodes)
	if len(names) == 0 {
		return nil
	}
	taken := slices.ContainsFunc(d.action.Changes, func(c plans.Change) bool { return isLabel(c) && c.Drift })
	return []plans.Effect{{Kind: plans.EffectNodePods, Items: names, Grave: taken}}
}

func isLabel(c plans.Change) bool { return fields.Within(c.Path, "metadata.labels") }

// service returns the effects of another public address, and of other ports of a Service.
func (d *disturbance) service() []plans.Effect {
	effects := d.addresses()
	if slices.ContainsFunc(d.action.Changes, isPort) {
		effects = append(effects, plans.Effect{Kind: plans.EffectPorts})
	}
	return effects
}

// addresses returns the effect of other public addresses that the object brings. Another mode of the
// exposure has other objects, so that the old addresses may be those of objects of the block that the
// plan deletes or closes.
func (d *disturbance) addresses() []plans.Effect {
	before, after := d.publicAddresses(d.action)
	if len(after) == 0 {
		return nil
	}
	if len(before) == 0 {
		for i := range d.actions {
			if a := &d.actions[i]; a.Address.Block == d.action.Address.Block {
				if gone, kept := d.publicAddresses(a); len(kept) == 0 {
					before = append(before, gone...)
				}
			}
		}
	}
	slices.Sort(before)
	before = slices.Compact(before)
	if len(before) == 0 || !slices.ContainsFunc(after, func(address string) bool { return !slices.Contains(before, address) }) {
		return nil
	}
	return []plans.Effect{{Kind: plans.EffectPublicAddress, Items: []string{strings.Join(before, ", "), strings.Join(after, ", ")}, Grave: true}}
}

// publicAddresses returns the public addresses that an action takes away and brings. It returns none
// that stay.
func (d *disturbance) publicAddresses(a *plans.Action) (before, after []string) {
	split := func(text string) []string {
		if text == "" {
			return nil
		}
		return strings.Split(text, ", ")
	}
	switch {
	case a.Verb == plans.Create && a.Object != nil:
		return nil, split(a.Object.Manifest.GetAnnotations()[providers.AnnotationPublic])
	case a.Verb == plans.Delete:
		if live := d.inv.Input.Snapshot.Get(a.Ref); live != nil {
			return split(live.GetAnnotations()[providers.AnnotationPublic]), nil
		}
	}
	if i := slices.IndexFunc(a.Changes, isPublicAddress); i >= 0 && a.Verb != plans.Create {
		old, _ := a.Changes[i].Before.(string)
		fresh, _ := a.Changes[i].After.(string)
		return split(old), split(fresh)
	}
	return nil, nil
}

// isPublicAddress reports whether a change is of the configuration, and of a public address.
func isPublicAddress(c plans.Change) bool {
	return !c.Drift && c.Path == `metadata.annotations["`+providers.AnnotationPublic+`"]`
}

// replacement returns the effects of the replacement of an object without pods.
func (d *disturbance) replacement() []plans.Effect {
	var effects []plans.Effect
	a := d.action
	if a.Ref.GVK.GroupKind() == kinds.Service {
		effects = append(effects, plans.Effect{Kind: plans.EffectUnreachable, Downtime: true})
		effects = append(effects, d.service()...)
	}
	if a.Holds != "" {
		effects = append(effects, plans.Effect{Kind: plans.EffectDataReplaced, Data: a.Holds})
	}
	return effects
}

func isPort(c plans.Change) bool {
	return fields.Within(c.Path, "spec.ports") || fields.Within(c.Path, "spec.type")
}

func (d *disturbance) job() []plans.Effect {
	name := d.action.Address.Name
	if d.outcome != nil && d.outcome.Versioned() {
		name = d.outcome.Object.Family.Name
	}
	if d.outcome != nil && idle(cmp.Or(d.outcome.After, d.outcome.Object.Manifest)) {
		return nil
	}
	switch d.action.Verb {
	case plans.Run:
		return []plans.Effect{{Kind: plans.EffectJob, Name: name}}
	case plans.Replace:
		return []plans.Effect{{Kind: plans.EffectJobAgain, Name: name}}
	}
	return nil
}

// idle reports whether a Job starts no pods: it is suspended, or its parallelism is 0.
func idle(job *unstructured.Unstructured) bool {
	if job == nil {
		return false
	}
	suspended, _, _ := unstructured.NestedBool(job.Object, "spec", "suspend")
	atATime, limited, _ := unstructured.NestedInt64(job.Object, "spec", "parallelism")
	return suspended || limited && atATime == 0
}

// workload returns the effects on the pods of a workload.
func (d *disturbance) workload() []plans.Effect {
	switch d.action.Verb {
	case plans.Create:
		nodes := d.nodes
		if d.action.Evidence.Kind == plans.Rendered {
			nodes = nil // the declarations name only some nodes of a cluster
		}
		n, known := placement.NewPods(cmp.Or(d.outcome.After, d.outcome.Object.Manifest), nodes)
		return []plans.Effect{{Kind: plans.EffectDeploy, Pods: n, EachNode: !known}}
	case plans.Delete:
		n, known := inventory.Replicas(d.live)
		return append([]plans.Effect{{Kind: plans.EffectStop, Pods: n, EachNode: !known, Downtime: true}}, volumesLost(d.action)...)
	case plans.Replace:
		if d.action.KeepsPods {
			return append(d.restart(), d.scale()...)
		}
		n, _ := inventory.Replicas(d.live)
		return append([]plans.Effect{{Kind: plans.EffectRecreate, Pods: n, Strategy: plans.AllAtOnce, Downtime: n > 0, Why: d.action.Reasons}}, volumesLost(d.action)...)
	case plans.Update, plans.Adopt:
		return append(d.restart(), d.scale()...)
	}
	return nil
}

// volumesLost returns the effect on the volumes that are lost with a StatefulSet.
func volumesLost(a *plans.Action) []plans.Effect {
	if a.Holds == "" {
		return nil
	}
	return []plans.Effect{{Kind: plans.EffectDataLost, Data: a.Holds}}
}

// volumesStay returns the effect on the volumes that a deleted StatefulSet leaves behind.
func volumesStay(a *plans.Action, volumes []providers.Ref) []plans.Effect {
	if len(volumes) == 0 {
		return nil
	}
	e := plans.Effect{Kind: plans.EffectVolumesStay, Name: a.Address.Name, Ref: a.Ref}
	for _, ref := range volumes {
		e.Items = append(e.Items, ref.Name)
	}
	return []plans.Effect{e}
}

// restart returns which pods restart because their template changes. A restart of the only pod
// of a database is grave: nothing answers until it is ready again.
func (d *disturbance) restart() []plans.Effect {
	if !slices.ContainsFunc(d.action.Changes, inTemplate) {
		return nil
	}
	n, counted := inventory.Replicas(d.live)
	counted = counted || d.action.Evidence.Kind != plans.Rendered
	if after, known := inventory.Replicas(d.outcome.After); known {
		n = min(n, after)
	}
	if n == 0 && counted {
		return nil
	}
	e := plans.Effect{Kind: plans.EffectRestart, Pods: n, EachNode: !counted, Causes: d.causes(), Data: d.outcome.Object.Loss}
	if !counted {
		e.Strategy, _, _ = pace(d.outcome.After, 0)
		return []plans.Effect{e}
	}
	e.Strategy, e.AtATime, e.Downtime = pace(d.outcome.After, n)
	recreated := e.Strategy == plans.AllAtOnce && d.action.Ref.GVK.GroupKind() == kinds.Deployment
	e.Grave = n == 1 && e.Downtime && (recreated || holdsData(d.outcome.After))
	return []plans.Effect{e}
}

// holdsData reports whether the pods of a workload have lasting volumes, as databases and queues
// have.
func holdsData(workload *unstructured.Unstructured) bool {
	if len(inventory.ClaimTemplates(workload)) > 0 {
		return true
	}
	volumes, _, _ := unstructured.NestedSlice(workload.Object, "spec", "template", "spec", "volumes")
	return slices.ContainsFunc(volumes, func(item any) bool {
		volume, _ := item.(map[string]any)
		return volume["persistentVolumeClaim"] != nil
	})
}

func inTemplate(c plans.Change) bool { return fields.Within(c.Path, "spec.template") }

// scale returns how many pods start or stop.
func (d *disturbance) scale() []plans.Effect {
	before, known := inventory.Replicas(d.live)
	after, alsoKnown := inventory.Replicas(d.outcome.After)
	switch {
	case !known || !alsoKnown || before == after:
		return nil
	case before < after:
		return []plans.Effect{{Kind: plans.EffectScaleUp, Pods: after - before}}
	}
	return []plans.Effect{{Kind: plans.EffectScaleDown, Pods: before - after, Downtime: after == 0}}
}

// pace returns how a rollout replaces n pods, how many at a time, and whether at some time
// none of them is ready.
func pace(workload *unstructured.Unstructured, n int) (strategy plans.Strategy, at int, downtime bool) {
	kind := workload.GroupVersionKind().GroupKind()
	field := "updateStrategy"
	if kind == kinds.Deployment {
		field = "strategy"
	}
	switch chosen, _, _ := unstructured.NestedString(workload.Object, "spec", field, "type"); chosen {
	case "OnDelete":
		return plans.OnRequest, 0, false
	case "Recreate":
		return plans.AllAtOnce, n, true
	}
	surge := share(workload, n, true, "spec", field, "rollingUpdate", "maxSurge")
	unavailable := share(workload, n, false, "spec", field, "rollingUpdate", "maxUnavailable")
	if kind != kinds.Deployment && surge == 0 { // then a pod stops before a new one starts
		unavailable = max(1, unavailable)
	}
	at = min(n, max(1, surge+unavailable))
	strategy = plans.Rolling
	if at == n && n > 1 {
		strategy = plans.AllAtOnce
	}
	return strategy, at, unavailable >= n
}

// share returns a number or a percentage of n pods. It rounds as Kubernetes does: the surge
// up, everything else down.
func share(workload *unstructured.Unstructured, n int, up bool, path ...string) int {
	raw, ok, _ := unstructured.NestedFieldNoCopy(workload.Object, path...)
	if !ok {
		return 0
	}
	value := intstr.Parse(fmt.Sprint(raw))
	scaled, err := intstr.GetScaledValueFromIntOrPercent(&value, n, up)
	if err != nil {
		return 0
	}
	return scaled
}

// leaves returns the effect of leaving nodes. It is grave if others need the pods there.
func (d *disturbance) leaves(nodes []string) []plans.Effect {
	if len(nodes) == 0 {
		return nil
	}
	loss := d.outcome.Object.Loss
	return []plans.Effect{{Kind: plans.EffectLeave, Pods: len(nodes), Items: nodes, Data: loss, Grave: loss != ""}}
}

// cutsOff returns the effect on the users of the pods that leave the nodes, or all nodes. Only an
// apply asks the pods which items they carry.
func (d *disturbance) cutsOff(nodes []string) []plans.Effect {
	deletes := d.action.Verb == plans.Delete && !d.action.Partial
	if d.live == nil || !deletes && (len(nodes) == 0 || !d.inv.Owns(d.live)) {
		return nil
	}
	command, err := providers.PodCommandOf(d.live, providers.AnnotationCarries)
	what := "what it carries"
	switch {
	case err == nil && command == nil:
		return nil
	case err == nil:
		what = command.What
	}
	return []plans.Effect{{Kind: plans.EffectCutOff, Data: what, Items: nodes, Grave: true}}
}
