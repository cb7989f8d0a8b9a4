package plans

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Loss is data that a declared object had and that is gone. An apply creates the object
// again, without the data.
type Loss struct {
	// Address is the object that is gone. For lost volumes, it is the workload that starts
	// without them.
	Address addrs.Object `json:"address"`
	// Refs are the objects that contained the data.
	Refs []providers.Ref `json:"refs"`
	// Holds names the data: "generated values", "the data on its volume".
	Holds string `json:"holds"`
	// Kept: nothing is gone. Refs still contain the data, and no object uses it.
	Kept bool `json:"kept,omitempty"`
	// Means is the consequence, if the declaration has one: "tokens become invalid".
	Means string `json:"means,omitempty"`
	// Jobs are finished jobs that may have written the data, and that do not run again by
	// themselves. The addresses are in the form for -replace.
	Jobs []addrs.Object `json:"jobs,omitempty"`
	// Later: not this plan creates the object again, but the next apply.
	Later bool `json:"later,omitempty"`
}

// Consequence says in a few words what happens to the object at Address: "starts with an
// EMPTY volume: data-mariadb-server-0 is gone".
func (l Loss) Consequence() string {
	if l.Later {
		return l.consequence() + " (at the next apply)"
	}
	return l.consequence()
}

func (l Loss) consequence() string {
	switch kind := l.Refs[0].GVK.GroupKind(); {
	case kind == kinds.Secret && l.Means != "":
		return "new values are made; " + l.Means
	case kind == kinds.Secret:
		return "new values are made"
	case kind != kinds.PersistentVolumeClaim:
		return "lost: " + l.Holds
	case l.Address.Kind == kinds.PersistentVolumeClaim.Kind:
		return "the new one is EMPTY"
	}
	var names []string
	for _, ref := range l.Refs {
		names = append(names, ref.Name)
	}
	volumes, are := "EMPTY volumes", "are"
	if len(names) == 1 {
		volumes, are = "an EMPTY volume", "is"
	}
	if l.Kept {
		return fmt.Sprintf("starts with %s; its data stay in %s", volumes, words.Few(names, 4))
	}
	return fmt.Sprintf("starts with %s: %s %s gone", volumes, words.Few(names, 4), are)
}

// Kept is an object with data that stays.
type Kept struct {
	Address addrs.Object  `json:"address"`
	Ref     providers.Ref `json:"ref"`
	Holds   string        `json:"holds"`
	// Alone: a destroy deletes it only if its own address is given; "*" is not enough.
	Alone bool `json:"alone,omitempty"`
	// UID, of a volume claim of one of kolla's StatefulSets: an apply records it, so that a
	// later destroy recognizes the claim. Empty for other objects.
	UID types.UID `json:"uid,omitempty"`
}

// ForeignPolicy says what happens to fields that others add to kolla's objects although
// only kolla should set them.
type ForeignPolicy string

// The policies. The zero value stands for RevertForeign.
const (
	RevertForeign ForeignPolicy = "revert" // an apply removes them
	ReportForeign ForeignPolicy = "report" // the plan shows them, and they stay
	IgnoreForeign ForeignPolicy = "ignore" // the planner does not look for them
)

// Foreign has the fields that others set in one of kolla's objects and that stay there.
type Foreign struct {
	Address addrs.Object  `json:"address"`
	Ref     providers.Ref `json:"ref"`
	// Fields have the live value in Before, and the last writer in Manager.
	Fields []Change `json:"fields"`
	// Reported: only kolla should set these fields. They count as drift. They stay because
	// of the policy, because the server does not accept the object without them, or because
	// no update can remove them: then they are Stuck.
	Reported bool `json:"reported,omitempty"`
	Stuck    bool `json:"stuck,omitempty"`
}

// PolicyResult says whether the plan meets a policy.
type PolicyResult struct {
	Name   string       `json:"name"`
	Source string       `json:"source"` // "policies.hcl:3"
	Status PolicyStatus `json:"status"`
	// Message says what is wrong; empty if the plan meets the policy.
	Message string `json:"message,omitempty"`
}

// PolicyStatus is the result of a policy. The zero value is invalid.
type PolicyStatus string

// The results.
const (
	PolicyPassed     PolicyStatus = "passed"
	PolicyWarned     PolicyStatus = "warned"
	PolicyDenied     PolicyStatus = "denied"
	PolicyOverridden PolicyStatus = "overridden" // it would deny the plan, and the operator overrides it
)

// Denied reports whether a policy denies the plan. Such a plan is not carried out.
func (p *Plan) Denied() bool {
	return slices.ContainsFunc(p.Policies, func(r PolicyResult) bool { return r.Status == PolicyDenied })
}
