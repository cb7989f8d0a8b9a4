package planner

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/ini"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/objects"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// impact says what the actions disturb, block by block: the data that is lost first, then
// the effects of each action.
func (p *planning) impact(actions []plans.Action) []plans.Impact {
	subjects := map[addrs.Object]*subject{}
	for _, s := range p.subjects {
		subjects[s.object.Address] = s
	}
	effects := map[string][]plans.Effect{}
	for _, l := range p.losses {
		effects[l.Address.Block] = append(effects[l.Address.Block], plans.Effect{
			Kind: plans.EffectLoss, Name: l.Address.Name, Ref: l.Refs[0], Data: l.Holds, Grave: true, Loss: &l,
		})
	}
	nodes := p.nodeLabels()
	for i := range actions {
		d := disturbance{planning: p, action: &actions[i], subject: subjects[actions[i].Address], nodes: nodes}
		block := actions[i].Address.Block
		effects[block] = append(effects[block], d.effects()...)
	}
	var impact []plans.Impact
	for _, block := range slices.Sorted(maps.Keys(effects)) {
		if len(effects[block]) > 0 {
			impact = append(impact, plans.Impact{Block: block, Service: p.inv.ServiceName(block), Effects: effects[block]})
		}
	}
	return impact
}

// disturbance is what one action means to those who use what it is about.
type disturbance struct {
	*planning
	action  *plans.Action
	subject *subject                     // nil for what is not desired
	nodes   map[string]map[string]string // labels of nodes after the plan
}

// effects are those of the action. What stops or is lost by a deletion is grave.
func (d *disturbance) effects() []plans.Effect {
	effects := d.disturbs()
	deletes := d.action.Verb == plans.Delete && !d.action.Partial || d.action.Verb == plans.Replace
	for i := range effects {
		e := &effects[i]
		e.Name, e.Ref = cmp.Or(e.Name, d.action.Address.Name), d.action.Ref
		e.Grave = e.Grave || deletes && d.action.Ref.GVK.GroupKind() != kinds.Job
	}
	if names := d.volumesStay(); len(names) > 0 {
		effects = append(effects, plans.Effect{Kind: plans.EffectVolumesStay, Name: d.action.Address.Name, Ref: d.action.Ref, Items: names})
	}
	return effects
}

func (d *disturbance) disturbs() []plans.Effect {
	live := d.Snapshot.Get(d.action.Ref)
	switch kind := d.action.Ref.GVK.GroupKind(); {
	case kind == kinds.Job:
		return d.job()
	case d.action.Serves():
		return slices.Concat(d.workload(live), d.leaves(), d.cutsOff())
	case d.action.Verb == plans.Replace:
		return d.replacement()
	case d.action.Heir != (addrs.Object{}):
		if lost := d.carried[d.action.Ref].Lost; len(lost) > 0 {
			return []plans.Effect{{Kind: plans.EffectValuesDropped, Items: lost, Heir: d.action.Heir.Name}}
		}
	case d.action.Verb == plans.Delete && !d.action.Partial && kind != kinds.Namespace:
		recorded := ""
		if r := d.inv.RecordAt(d.action.Address); r != nil {
			recorded = r.State.Holds
		}
		if holds := objects.Holds(live, recorded); holds != "" {
			return []plans.Effect{{Kind: plans.EffectDataDeleted, Data: holds}}
		}
	case kind == kinds.Service && slices.ContainsFunc(d.action.Changes, isPort) && live != nil:
		return []plans.Effect{{Kind: plans.EffectPorts}}
	}
	return nil
}

// replacement says what becomes of an object without pods that is made again.
func (d *disturbance) replacement() []plans.Effect {
	var effects []plans.Effect
	if d.action.Ref.GVK.GroupKind() == kinds.Service {
		effects = append(effects, plans.Effect{Kind: plans.EffectUnreachable, Downtime: true})
		if slices.ContainsFunc(d.action.Changes, isPort) {
			effects = append(effects, plans.Effect{Kind: plans.EffectPorts})
		}
	}
	if d.action.Holds != "" {
		effects = append(effects, plans.Effect{Kind: plans.EffectDataReplaced, Data: d.action.Holds})
	}
	return effects
}

func isPort(c plans.Change) bool {
	return fields.Within(c.Path, "spec.ports") || fields.Within(c.Path, "spec.type")
}

func (d *disturbance) job() []plans.Effect {
	name := d.action.Address.Name
	if d.subject != nil && d.subject.versioned() {
		name = d.subject.object.Family.Name
	}
	switch d.action.Verb {
	case plans.Run:
		return []plans.Effect{{Kind: plans.EffectJob, Name: name}}
	case plans.Replace:
		return []plans.Effect{{Kind: plans.EffectJobAgain, Name: name}}
	}
	return nil
}

// workload says what becomes of the pods.
func (d *disturbance) workload(live *unstructured.Unstructured) []plans.Effect {
	switch d.action.Verb {
	case plans.Create:
		n, known := objects.Replicas(d.subject.after)
		return []plans.Effect{{Kind: plans.EffectDeploy, Pods: n, EachNode: !known}}
	case plans.Delete:
		n, _ := objects.Replicas(live)
		return append([]plans.Effect{{Kind: plans.EffectStop, Pods: n, Downtime: true}}, d.volumesLost()...)
	case plans.Replace:
		n, _ := objects.Replicas(live)
		return append([]plans.Effect{{Kind: plans.EffectRecreate, Pods: n, Strategy: plans.AllAtOnce, Downtime: n > 0, Why: d.action.Reasons}}, d.volumesLost()...)
	case plans.Update, plans.Adopt:
		return append(d.restart(live), d.scale(live)...)
	}
	return nil
}

// volumesLost says that the volumes of a StatefulSet are lost with it.
func (d *disturbance) volumesLost() []plans.Effect {
	if d.action.Holds == "" {
		return nil
	}
	return []plans.Effect{{Kind: plans.EffectDataLost, Data: d.action.Holds}}
}

// volumesStay names the volumes that a StatefulSet leaves that goes.
func (d *disturbance) volumesStay() []string {
	if d.action.Verb != plans.Delete || !d.action.Serves() {
		return nil
	}
	return namesOf(d.unmentioned(d.staying(d.Snapshot.Get(d.action.Ref))))
}

// restart says which pods are made anew because their template changes. That the only
// pod of a database restarts is grave: nothing answers until it is ready again.
func (d *disturbance) restart(live *unstructured.Unstructured) []plans.Effect {
	if !slices.ContainsFunc(d.action.Changes, inTemplate) {
		return nil
	}
	n, _ := objects.Replicas(live)
	if after, known := objects.Replicas(d.subject.after); known {
		n = min(n, after)
	}
	if n == 0 {
		return nil
	}
	e := plans.Effect{Kind: plans.EffectRestart, Pods: n, Causes: d.causes(live), Data: d.subject.object.Loss}
	e.Strategy, e.AtATime, e.Downtime = pace(d.subject.after, n)
	recreated := e.Strategy == plans.AllAtOnce && d.action.Ref.GVK.GroupKind() == kinds.Deployment
	e.Grave = n == 1 && e.Downtime && (recreated || holdsData(d.subject.after))
	return []plans.Effect{e}
}

// holdsData reports whether the pods of a workload have volumes whose data outlives them,
// as those of databases and queues have.
func holdsData(workload *unstructured.Unstructured) bool {
	if len(objects.ClaimTemplates(workload)) > 0 {
		return true
	}
	volumes, _, _ := unstructured.NestedSlice(workload.Object, "spec", "template", "spec", "volumes")
	return slices.ContainsFunc(volumes, func(item any) bool {
		volume, _ := item.(map[string]any)
		return volume["persistentVolumeClaim"] != nil
	})
}

func inTemplate(c plans.Change) bool { return fields.Within(c.Path, "spec.template") }

// scale says how many pods come or go.
func (d *disturbance) scale(live *unstructured.Unstructured) []plans.Effect {
	before, known := objects.Replicas(live)
	after, alsoKnown := objects.Replicas(d.subject.after)
	switch {
	case !known || !alsoKnown || before == after:
		return nil
	case before < after:
		return []plans.Effect{{Kind: plans.EffectScaleUp, Pods: after - before}}
	}
	return []plans.Effect{{Kind: plans.EffectScaleDown, Pods: before - after, Downtime: after == 0}}
}

// causes says what made the pod template change.
func (d *disturbance) causes(live *unstructured.Unstructured) []plans.Cause {
	causes := d.fileCauses(live)
	for _, c := range d.action.Changes {
		if inTemplate(c) && !isFileReference(c.Path) {
			if cause := templateCause(c); !slices.ContainsFunc(causes, func(other plans.Cause) bool { return reflect.DeepEqual(cause, other) }) {
				causes = append(causes, cause)
			}
		}
	}
	return causes
}

// secretNote is how the path begins of the annotation by which a pod template
// carries the revision of a Secret that it mounts.
const secretNote = `metadata.annotations["kolla.openstack.org/secret-`

// templateCause says what one change of a pod template is.
func templateCause(c plans.Change) plans.Cause {
	path := strings.TrimPrefix(strings.TrimPrefix(c.Path, "spec.template."), "spec.")
	image, isImage := c.After.(string)
	switch {
	case isImage && strings.HasSuffix(path, ".image"):
		before, _ := c.Before.(string)
		return plans.Cause{Kind: plans.CauseImage, Before: before, After: image}
	case strings.Contains(path, ".env["):
		_, rest, _ := strings.Cut(path, `.env["`)
		name, _, _ := strings.Cut(rest, `"]`)
		cause := plans.Cause{Kind: plans.CauseEnvironment, Name: name}
		if strings.HasSuffix(path, `.env["`+name+`"]`) {
			cause.Added, cause.Removed = c.Before == nil, c.After == nil
		}
		return cause
	case strings.HasPrefix(path, secretNote):
		return plans.Cause{Kind: plans.CauseSecret, Name: strings.TrimSuffix(strings.TrimPrefix(path, secretNote), `"]`)}
	case strings.Contains(path, "].resources"):
		return plans.Cause{Kind: plans.CauseResources}
	}
	return plans.Cause{Kind: plans.CauseField, Name: path, Added: c.Before == nil, Removed: c.After == nil}
}

// isFileReference reports whether the path says which ConfigMap or Secret a volume
// shows; fileCauses puts those into words.
func isFileReference(path string) bool {
	return fields.Within(path, "spec.template.spec.volumes") &&
		(strings.HasSuffix(path, ".configMap.name") || strings.HasSuffix(path, ".secret.secretName"))
}

// fileCauses says what changed in the files that the pods see: in those volumes
// that come from another ConfigMap or Secret than before.
func (d *disturbance) fileCauses(live *unstructured.Unstructured) []plans.Cause {
	before, after := objects.FilesOf(live), objects.FilesOf(d.subject.after)
	var causes []plans.Cause
	for _, volume := range after.Names {
		was, is := before.Refs[volume], after.Refs[volume]
		if was != (providers.Ref{}) && was != is {
			causes = append(causes, d.contentCauses(was, is)...)
		}
	}
	return causes
}

// contentCauses says what differs between two objects that hold files.
func (d *disturbance) contentCauses(was, is providers.Ref) []plans.Cause {
	object := d.inv.DeclaredAs(is)
	if object == nil {
		return []plans.Cause{{Kind: plans.CauseSource, Before: was.String(), After: is.Name}}
	}
	var causes []plans.Cause
	if is.GVK == inventory.Secrets {
		for _, key := range slices.Sorted(maps.Keys(object.Data)) {
			causes = append(causes, plans.Cause{Kind: plans.CauseSecretFile, Name: key})
		}
		return causes
	}
	before := map[string]string{}
	if live := d.Snapshot.Get(was); live != nil {
		before, _, _ = unstructured.NestedStringMap(live.Object, "data")
	}
	after, _, _ := unstructured.NestedStringMap(object.Manifest.Object, "data")
	for _, key := range slices.Sorted(maps.Keys(after)) {
		if after[key] != before[key] {
			causes = append(causes, plans.Cause{Kind: plans.CauseFile, Name: key, Settings: ini.Changed(before[key], after[key])})
		}
	}
	return causes
}

// pace says how a rollout replaces n pods, how many at a time, and whether there is a time
// at which none of them is ready.
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
	if kind != kinds.Deployment && surge == 0 { // there, one has to go before one comes
		unavailable = max(1, unavailable)
	}
	at = min(n, max(1, surge+unavailable))
	strategy = plans.Rolling
	if at == n && n > 1 {
		strategy = plans.AllAtOnce
	}
	return strategy, at, unavailable >= n
}

// share is a number of n pods, or a percentage of them, rounded as Kubernetes
// does: the surge up, the rest down.
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
