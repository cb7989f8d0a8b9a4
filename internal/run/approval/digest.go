package approval

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// deed is the part of an action that a person approves: what it does to which object. It lacks what
// changes without a change of the plan, such as resource versions, reasons and times.
type deed struct {
	Verb       plans.Verb
	Ref        providers.Ref
	Force      bool
	Removes    string
	Scaled     bool
	Changes    []plans.Change
	Supersedes addrs.Object
	Grows      string
	KeepsPods  bool
	plans.Removal
	DependsOn []addrs.Object
}

// deeds returns the deeds of a plan by their addresses. Actions that write nothing to the cluster are
// none.
func deeds(plan *plans.Plan) map[string]deed {
	out := map[string]deed{}
	for i := range plan.Actions {
		a := &plan.Actions[i]
		if a.Verb == plans.None || a.Verb == plans.Refresh {
			continue
		}
		d := deed{
			Verb: a.Verb, Ref: a.Ref, Force: a.Force, Removes: a.Removes, Scaled: a.Scaled, Supersedes: a.Supersedes,
			Grows: a.Grows, KeepsPods: a.KeepsPods, Removal: a.Removal, DependsOn: a.DependsOn,
		}
		for _, c := range a.Changes {
			c.Time = time.Time{}
			d.Changes = append(d.Changes, c)
		}
		out[a.Address.String()] = d
	}
	return out
}

// Digest returns a hash of what a plan does, "sha256:0a1b...". Two plans have the same one if they do the
// same to the same cloud from the same state and the same configuration. So a plan that is made again keeps
// its digest, and an apply ends it: the state is another one afterwards. A plan does not show values of
// sensitive variables; origins identifies what they come from.
func Digest(plan *plans.Plan, origins ...string) string {
	return hash(struct {
		Cloud, Namespace, Cluster string
		Config                    string
		Origins                   []string
		State                     plans.StateRef
		Destroy                   bool
		Options                   []string
		Selection                 plans.Selection
		Deeds                     map[string]deed
	}{plan.Cloud, plan.Namespace, plan.Cluster.UID, plan.Config, origins, plan.State, plan.Destroy, plan.Options, plan.Selection, deeds(plan)})
}

// Covers reports whether a plan that was allowed covers another one of the same configuration, which was
// made after a part of the first was applied: each of its actions is one of the first plan.
func Covers(allowed, rest *plans.Plan) bool {
	if allowed.Cloud != rest.Cloud || allowed.Cluster.UID != rest.Cluster.UID || allowed.Config != rest.Config || allowed.Destroy != rest.Destroy ||
		allowed.State.Lineage != "" && allowed.State.Lineage != rest.State.Lineage || !equal(allowed.Selection, rest.Selection) {
		return false
	}
	first := deeds(allowed)
	for address, d := range deeds(rest) {
		before, ok := first[address]
		before.DependsOn, d.DependsOn = nil, nil // done by now
		if !ok || hash(before) != hash(d) {
			return false
		}
	}
	return true
}

func hash(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("encode a plan: %v", err)) // plans are data
	}
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}
