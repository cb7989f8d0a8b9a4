// Package approval compares a saved plan with a new plan of the same inputs.
//
// Everybody who can write a plan file can edit it, so nothing in the file is executed. The
// actions of the new plan are executed, if the file shows the same actions. Any difference
// refuses the file. If others have changed objects in the cluster since, the operator may
// decide to carry out the rest: the actions of these objects and their dependants are then
// held back.
package approval

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/order"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Fresh is the new plan, with its inputs.
type Fresh struct {
	Plan     *plans.Plan
	Problems []plans.Problem
	Objects  []providers.Object // all declared objects
	// Live returns the object that the new plan has read from the cluster, or nil if it does
	// not exist.
	Live func(providers.Ref) *unstructured.Unstructured
	// Clean masks secret values in foreign text, such as names of field managers. It is nil if
	// there are no secret values.
	Clean func(string) string
}

// Verdict is the decision about a saved plan.
type Verdict struct {
	// Plan is the plan to carry out: actions of the fresh plan, with the ID of the saved one.
	Plan *plans.Plan
	// Held contains the actions of Plan that must not start if the plan is carried out in spite
	// of its differences. The values are the reasons.
	Held map[addrs.Object]error
	// Differences lists the reasons to refuse the saved plan. If it is empty, the plan may be
	// carried out.
	Differences []Difference
	// Problems lists the problems of the fresh plan that the saved one did not have, and that
	// are not those of a held action. If there is any, the plan must not be carried out.
	Problems []plans.Problem
}

// Difference is a difference between the saved plan and the fresh one.
type Difference struct {
	Address addrs.Object // zero: the difference concerns the whole plan
	Source  string       // where the object is declared, "cloud.hcl:41"; may be empty
	Text    string       // "the file says update, and a new plan says create"
	// Drift: the object was changed in the cluster since the plan was saved. Without its action
	// the rest of the plan may be carried out; see Verdict.Held.
	Drift bool
}

// String returns the text, after the address if there is one.
func (d Difference) String() string {
	if d.Address == (addrs.Object{}) {
		return d.Text
	}
	return d.Address.String() + ": " + d.Text
}

// OnlyDrift reports whether all differences come from changes of objects in the cluster.
func OnlyDrift(differences []Difference) bool {
	return !slices.ContainsFunc(differences, func(d Difference) bool { return !d.Drift })
}

// Check compares a saved plan with a fresh one.
func Check(saved *plans.Plan, fresh Fresh) Verdict {
	c := &check{
		Fresh:   fresh,
		saved:   map[addrs.Object]*plans.Action{},
		fresh:   map[addrs.Object]*plans.Action{},
		objects: map[addrs.Object]*providers.Object{},
		verdict: Verdict{Held: map[addrs.Object]error{}},
	}
	objects := order.Complete(fresh.Objects) // completed like the objects in plans
	for i := range objects {
		c.objects[objects[i].Address] = &objects[i]
	}
	var actions []*plans.Action
	for i := range fresh.Plan.Actions {
		if a := &fresh.Plan.Actions[i]; !a.Evidence.Refused { // Problems has it
			actions = append(actions, a)
			c.fresh[a.Address] = a
		}
	}
	c.head(saved)
	for i := range saved.Actions {
		a := &saved.Actions[i]
		if c.saved[a.Address] != nil {
			c.differ(a.Address, "the file has two actions for it")
		}
		c.saved[a.Address] = a
		c.object(a)
	}
	plan := *fresh.Plan
	plan.ID, plan.Actions = saved.ID, c.stopped()
	for _, a := range actions {
		plan.Actions = append(plan.Actions, c.action(a))
	}
	c.missing(saved)
	c.verdict.Problems = slices.DeleteFunc(c.verdict.Problems, func(p plans.Problem) bool { return c.verdict.Held[p.Address] != nil })
	c.link(plan.Actions)
	c.shown(saved, plan.Actions)
	c.judged(saved)
	c.verdict.Plan = &plan
	return c.verdict
}

// check is the state of a comparison.
type check struct {
	Fresh
	saved, fresh map[addrs.Object]*plans.Action
	objects      map[addrs.Object]*providers.Object
	verdict      Verdict
}

func (c *check) differ(address addrs.Object, format string, args ...any) {
	c.add(address, false, fmt.Sprintf(format, args...))
}

func (c *check) add(address addrs.Object, drift bool, text string) {
	d := Difference{Address: address, Text: text, Drift: drift}
	if o := c.objects[address]; o != nil {
		d.Source = o.Source
	}
	c.verdict.Differences = append(c.verdict.Differences, d)
}

// live returns the object that the new plan has read from the cluster, or nil.
func (c *check) live(ref providers.Ref) *unstructured.Unstructured {
	if c.Live == nil {
		return nil
	}
	return c.Live(ref)
}

// lastWriter names the last writer of an object.
func (c *check) lastWriter(ref providers.Ref) string {
	if c.Clean == nil {
		return LastWriter(c.live(ref), strings.Clone)
	}
	return LastWriter(c.live(ref), c.Clean)
}

// head compares the fields that concern the whole plan.
func (c *check) head(saved *plans.Plan) {
	fresh := c.Plan
	for _, field := range []struct {
		name         string
		saved, fresh any
	}{
		{"cloud", saved.Cloud, fresh.Cloud},
		{"namespace", saved.Namespace, fresh.Namespace},
		{"configuration", saved.Config, fresh.Config},
		{"set of values of variables", saved.Variables, fresh.Variables},
		{"cluster", saved.Cluster.UID, fresh.Cluster.UID},
		{"state", saved.State, fresh.State},
		{"word on destroying the cloud", saved.Destroy, fresh.Destroy},
		{"word on changing only the state", saved.RefreshOnly, fresh.RefreshOnly},
		{"list of options", saved.Options, fresh.Options},
		{"selection", saved.Selection, fresh.Selection},
		{"upgrade", withoutBackup(saved.Upgrade), withoutBackup(fresh.Upgrade)},
	} {
		if !equal(field.saved, field.fresh) {
			c.differ(addrs.Object{}, "the file has another %s than a new plan", field.name)
		}
	}
}

// withoutBackup returns an upgrade without the newest backup, as another one may have been made since.
func withoutBackup(u *plans.Upgrade) *plans.Upgrade {
	if u == nil {
		return nil
	}
	rest := *u
	rest.Backup = nil
	return &rest
}

// object compares the object in an action of the file with the declared object. A change in the
// cluster cannot explain a difference: other declared objects mean another plan.
func (c *check) object(a *plans.Action) {
	declared := c.objects[a.Address]
	switch {
	case a.Object == nil:
		return
	case declared == nil && a.Object.OnlyRemoves(): // see missing
		return
	case declared == nil:
		c.differ(a.Address, "the configuration declares no such object")
		return
	}
	saved, fresh := plain(declaration(a.Object)), plain(declaration(declared))
	switch {
	case reflect.DeepEqual(saved, fresh):
		if a.Ref != declared.Ref() {
			c.differ(a.Address, "the file says that it is %q, and it is %s", a.Ref, declared.Ref())
		}
	case len(a.Object.Deferred) > 0 && len(declared.Deferred) == 0:
		c.differ(a.Address, "it was not known when the plan was made, because it depends on %q, and is known by now", a.Object.Deferred)
	default:
		drift := reflect.DeepEqual(saved, plain(declaration(withLabelsOf(declared, a.Object))))
		c.add(a.Address, drift, fmt.Sprintf("the file has another %s than the configuration makes", describe(differing(saved, fresh))))
	}
}

// withLabelsOf returns a declared node with the labels of a node in the file. Labels that both have
// keep the declared values, so only these values can differ. Running pods decide how long a node
// keeps the former label of a role.
func withLabelsOf(declared, saved *providers.Object) *providers.Object {
	if !declared.Partial || saved.Manifest == nil || declared.Ref().GVK.GroupKind() != kinds.Node {
		return declared
	}
	out, labels := *declared, saved.Manifest.GetLabels()
	for key, value := range declared.Manifest.GetLabels() {
		if _, both := labels[key]; both {
			labels[key] = value
		}
	}
	out.Manifest = declared.Manifest.DeepCopy()
	out.Manifest.SetLabels(labels)
	return &out
}

// declaration returns an object as the configuration declares it. It omits the labels of others
// that an apply removes: they depend on the cluster, and are compared with the changes.
func declaration(o *providers.Object) *providers.Object {
	out := *o
	out.Unwanted = nil
	return &out
}

// action returns the action to carry out for an action of the fresh plan.
func (c *check) action(fresh *plans.Action) plans.Action {
	saved, out := c.saved[fresh.Address], *fresh
	switch {
	case saved == nil && fresh.Object != nil && fresh.Object.OnlyRemoves():
		for _, text := range changed(&plans.Action{}, fresh, c.lastWriter(fresh.Ref)) {
			c.add(fresh.Address, true, text)
			c.verdict.Held[fresh.Address] = movedSince(fresh.Ref, "the plan does not remove what others added to it")
		}
	case saved == nil:
		if fresh.Verb != plans.None {
			c.differ(fresh.Address, "the file does not have it, and a new plan says %s", fresh.Verb)
		}
	case !moved(saved, fresh) && !saved.Has(plans.ReasonRegistration) && !fresh.Has(plans.ReasonRegistration):
		for _, text := range unlike(saved, fresh) {
			c.differ(fresh.Address, "%s", text)
		}
	default:
		c.moved(saved, &out)
	}
	return out
}

// moved compares the actions of an object that was written, created or deleted since the plan was
// saved, or of a Job whose entries on servers may have been. It restricts the fresh action to the part that the saved plan allows.
func (c *check) moved(saved, fresh *plans.Action) {
	differences := drifted(saved, fresh, c.lastWriter(fresh.Ref))
	for _, text := range differences {
		c.add(fresh.Address, true, text)
	}
	if saved.Verb == plans.None && !creates(fresh.Verb) {
		// The plan does not change the object. So the apply does not either, whatever others wrote
		// to it. Actions that depend on it were planned for the object as it was.
		if len(differences) > 0 {
			c.verdict.Held[fresh.Address] = movedSince(fresh.Ref, "it was right, and others changed it")
		}
		if fresh.Verb != plans.None {
			fresh.Verb, fresh.Changes, fresh.Force, fresh.Pending = plans.None, nil, false, false
			fresh.Fingerprint = plans.Action{}.Fingerprint
		}
		return
	}
	why := exceeds(saved, fresh)
	if why == nil {
		return
	}
	c.verdict.Held[fresh.Address] = why
	if len(differences) == 0 {
		c.add(fresh.Address, true, why.Error())
	}
}

// stopped returns the saved actions that have no fresh action because of a new problem with an
// object that changed since the plan was made. It adds them to Held, and the problems to the
// differences. All other problems are added to the Problems of the verdict.
func (c *check) stopped() []plans.Action {
	var out []plans.Action
	for _, p := range c.Problems {
		if p.Warning {
			continue
		}
		saved, declared := c.saved[p.Address], c.objects[p.Address]
		if saved == nil || declared == nil || c.fresh[p.Address] != nil {
			c.verdict.Problems = append(c.verdict.Problems, p)
			continue
		}
		var now plans.Action
		if live := c.live(declared.Ref()); live != nil {
			now.Prior = providers.Precondition{UID: live.GetUID(), ResourceVersion: live.GetResourceVersion()}
		}
		if !moved(saved, &now) {
			c.verdict.Problems = append(c.verdict.Problems, p)
			continue
		}
		text, why := stoppedBy(saved, declared.Ref(), now.Prior, p)
		c.add(p.Address, true, text+c.lastWriter(declared.Ref()))
		if c.verdict.Held[p.Address] == nil {
			c.verdict.Held[p.Address] = why
			out = append(out, plans.Action{
				Address: p.Address, Verb: saved.Verb, Object: declared, Ref: declared.Ref(), Prior: saved.Prior, Evidence: saved.Evidence,
			})
		}
	}
	return out
}

// stoppedBy returns the difference because of which an action can no longer be carried out, and the
// reason.
func stoppedBy(saved *plans.Action, ref providers.Ref, now providers.Precondition, p plans.Problem) (text string, why error) {
	text = fmt.Sprintf("the file says %q, and a new plan cannot: %s", saved.Verb, p.Summary)
	switch {
	case saved.Prior.UID == "":
		return fmt.Sprintf("the file says %q, and it exists by now", saved.Verb), &providers.PreconditionError{Ref: ref, Exists: true}
	case now.UID != saved.Prior.UID:
		return text, &providers.PreconditionError{Ref: ref, Gone: true}
	}
	return text, movedSince(ref, p.Summary)
}

// missing reports actions of the file that the fresh plan does not have.
func (c *check) missing(saved *plans.Plan) {
	for i := range saved.Actions {
		a := &saved.Actions[i]
		switch {
		case c.fresh[a.Address] != nil || c.verdict.Held[a.Address] != nil:
		case a.Object != nil && a.Object.OnlyRemoves() && c.objects[a.Address] == nil:
			for _, text := range changed(a, &plans.Action{}, c.lastWriter(a.Ref)) {
				c.add(a.Address, true, text)
			}
		case a.Verb != plans.None || a.Object == nil:
			c.differ(a.Address, "the file says %q, and a new plan does not have it", a.Verb)
		}
	}
}

// link makes actions depend on the held actions that they depended on in the saved plan, so
// that they are skipped. The fresh plan does not have these dependencies, because a plan drops
// dependencies on objects without an action.
func (c *check) link(actions []plans.Action) {
	for i := range actions {
		a := &actions[i]
		saved := c.saved[a.Address]
		if saved == nil || c.verdict.Held[a.Address] != nil {
			continue
		}
		for _, on := range saved.DependsOn {
			if c.verdict.Held[on] != nil && c.fresh[on] == nil && !slices.Contains(a.DependsOn, on) {
				a.DependsOn = append(slices.Clone(a.DependsOn), on)
			}
		}
	}
}
