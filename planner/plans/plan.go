// Package plans has the plan as data: the actions with their reasons, changes and evidence, what
// they disturb and lose, and the file that keeps a plan until it is applied. It knows neither
// terminals nor clusters.
//
// planner.Make returns a [Plan]. [Save] writes it to a file, and [Load] reads the file:
//
//	plan, err := plans.Load("cloud.plan")
//	if err != nil {
//		return err
//	}
//	for i := range plan.Actions {
//		action := &plan.Actions[i]
//		fmt.Println(action.Verb, action.Address)
//		for _, change := range action.Changes {
//			fmt.Println(change.Path, change.Before, change.After)
//		}
//	}
//
// The actions are sorted: each [Action] comes after its dependencies. Unchanged objects have
// actions too, with the [Verb] None. [Plan.Counts] has the numbers of the summary line,
// [Plan.Empty] reports whether there is nothing to apply, and [Plan.Drifted] reports changes by
// others. [Plan.Divide] separates the actions that wait for data.
//
// Mistakes to avoid:
//
//   - Carrying out a loaded plan. Sensitive literals are not in the file, and a file gives no
//     permission. Read it with [LoadTrusted], plan again, and compare: engine.PlanAgain does.
//   - Asking [Plan.Changes] whether an apply is needed. A plan without changes may still wait for
//     objects to become ready. Only Empty covers both.
//   - Taking [Masked] or [Unknown] for a value. They stand in Before and After of a [Change]
//     instead of a value that the plan does not contain.
//   - Changing the actions of a divided plan. Both parts share data with the plan.
package plans

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/planner/output"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// Plan has the actions that change the cluster to the desired state, in order. It contains
// no secret values.
type Plan struct {
	Format  int       `json:"format"` // version of this structure
	ID      string    `json:"id"`     // unique; a plan is applied once
	Tool    string    `json:"tool"`   // version of kolla that made it
	Created time.Time `json:"created"`
	Cloud   string    `json:"cloud"`
	Config  string    `json:"config"` // configs.Config.Digest
	// Namespace is the namespace of the cloud. Objects of manifests may be in others.
	Namespace string `json:"namespace,omitempty"`
	Destroy   bool   `json:"destroy,omitempty"`
	// Variables are configs.Config.Variables: the values with which the same configuration is
	// evaluated again when a saved plan is applied. None of them is sensitive.
	Variables map[string]json.RawMessage `json:"variables,omitempty"`
	Cluster   providers.Identity         `json:"cluster"`
	State     StateRef                   `json:"state"`
	// RefreshOnly: the plan only updates the state. It does not change the cluster. See
	// planner.Input.RefreshOnly.
	RefreshOnly bool `json:"refresh_only,omitempty"`
	// ConfigChanges, of a RefreshOnly plan, counts the objects that an ordinary plan would
	// create, change or delete because of the configuration.
	ConfigChanges int `json:"config_changes,omitempty"`
	// SecretChanges, of a RefreshOnly plan, counts the objects that an ordinary plan would
	// create or change because they use values of Secrets that others deleted or replaced.
	SecretChanges int `json:"secret_changes,omitempty"`
	// Options are the options that allow the plan more than the configuration alone, as
	// they are written on the command line: "-adopt". The apply of a saved plan needs them
	// again: a file gives no permission.
	Options []string `json:"options,omitempty"`
	// Selection is the part of the cloud that the plan is restricted to. Other objects were
	// not compared and have no action.
	Selection Selection `json:"selection,omitzero"`

	// SkipsRegistrations: what servers have was not compared with what Jobs register.
	SkipsRegistrations bool `json:"skips_registrations,omitempty"`

	// Renderings: the plan compares two versions of the configuration, and no cluster; nil:
	// it compares the configuration with a cluster. See planner.Compare.
	Renderings *Renderings `json:"renderings,omitempty"`

	// Values: the actions carry the values of their objects. See planner.Input.Values.
	Values bool `json:"values,omitempty"`

	// Resume has the options for the part of the plan that is planned during the apply;
	// nil: there is no such part. See Divide.
	Resume *Resume `json:"resume,omitempty"`

	// Actions are in an order in which they could be executed one by one: an action comes
	// after all its dependencies.
	Actions []Action `json:"actions"`
	// Outputs are all declared and recorded outputs, by name, including those that do not
	// change; nil for a restricted plan.
	Outputs []output.Change `json:"outputs,omitempty"`
	// Checks are the results of the checks of the configuration, by address.
	Checks []state.CheckResult `json:"checks,omitempty"`
	// Upgrade is the change of the OpenStack release; nil: there is none.
	Upgrade *Upgrade `json:"upgrade,omitempty"`
	// Policies are the results of the policies, in the order of the source.
	Policies []PolicyResult `json:"policies,omitempty"`
	// Losses are data that is gone already, or that no object uses any more.
	Losses []Loss `json:"losses,omitempty"`
	// Kept are objects with data that stay when their owners are deleted.
	Kept []Kept `json:"kept,omitempty"`
	// Foreign are the fields that others have added to kolla's objects and that stay there.
	Foreign []Foreign `json:"foreign,omitempty"`
	// ForeignPolicy says what happens to other fields that others have added; empty:
	// RevertForeign.
	ForeignPolicy ForeignPolicy `json:"foreign_policy,omitempty"`
	// Warnings are the warnings of the server and of the planner.
	Warnings []Notice `json:"warnings,omitempty"`
	// Errors say why the plan must not be applied. The actions then include deletions that the
	// operator did not permit, and lack objects that could not be planned.
	Errors []Notice `json:"errors,omitempty"`
	// Impact says what the actions disturb, service by service.
	Impact  []Impact      `json:"impact,omitempty"`
	Elapsed time.Duration `json:"elapsed"` // how long the comparison took
}

// Resume has the options of a plan that also count for the part that is planned when the
// data for it was read.
type Resume struct {
	Selection      Selection `json:"selection,omitzero"`
	DeleteData     []string  `json:"delete_data,omitempty"`
	Adopt          []string  `json:"adopted,omitempty"`
	ForceConflicts bool      `json:"force_conflicts,omitempty"`
	VerifyAll      bool      `json:"verify_all,omitempty"`
	// AllowUnverified is planner.Input.AllowUnverified.
	AllowUnverified bool `json:"allow_unverified,omitempty"`
}

// Renderings names two versions of a configuration, "main (3f2a1c9)".
type Renderings struct {
	Base string `json:"base"`
	Head string `json:"head"`
	// Unset has the names of variables without a value. Nothing that depends on them was
	// compared.
	Unset []string `json:"unset,omitempty"`
}

// StateRef identifies the state that a plan was made against.
type StateRef struct {
	Lineage string `json:"lineage"`
	Serial  uint64 `json:"serial"`
}

// Forbidden returns the actions for which the user may not even send a dry run.
func (p *Plan) Forbidden() []*Action {
	var out []*Action
	for i := range p.Actions {
		if p.Actions[i].Evidence.Forbidden {
			out = append(out, &p.Actions[i])
		}
	}
	return out
}

// Refused reports whether the plan cannot be applied: it has errors, or admission denied a dry run.
// See Problem.DryRun.
func (p *Plan) Refused() bool {
	return len(p.Errors) > 0 || slices.ContainsFunc(p.Actions, func(a Action) bool { return a.Evidence.Refused })
}

// Changes reports whether an apply of the plan would write to the cluster or to the state.
// A plan that only waits for objects to become ready changes nothing.
func (p *Plan) Changes() bool {
	return slices.ContainsFunc(p.Actions, func(a Action) bool { return a.Verb != None }) || output.Changes(p.Outputs)
}

// Empty reports whether an apply of the plan would write nothing and wait for nothing.
func (p *Plan) Empty() bool {
	for _, a := range p.Actions {
		if a.Verb != None || a.Pending {
			return false
		}
	}
	return !output.Changes(p.Outputs)
}

// Stays counts the warnings about objects that are not as declared, and that no apply makes so.
func (p *Plan) Stays() int {
	n := 0
	for _, w := range p.Warnings {
		if w.Stays {
			n++
		}
	}
	return n
}

// Selection restricts a plan to a part of a cloud. Each entry is the address of an object
// (`service.keystone/Deployment/keystone-api`), of all versions of an object
// (`service.keystone/ConfigMap/keystone.conf`), of a block (`service.redis["cache"]`;
// `service.redis` means all its instances), or of a module with all its contents. The zero
// value selects everything.
type Selection struct {
	// Targets are selected together with their dependencies; objects that are to be
	// deleted, together with their dependants.
	Targets []string `json:"targets,omitempty"`
	// Excludes are left out, together with their dependants that stay. Nothing is deleted
	// that an excluded object depends on.
	Excludes []string `json:"excludes,omitempty"`
	// Until is the last stage, one of configs.Stages; empty: all. Objects of later stages are left out, and so are
	// deletions.
	Until string `json:"until,omitempty"`
}

// Restricts reports whether the selection may leave out anything.
func (s Selection) Restricts() bool { return len(s.Targets)+len(s.Excludes) > 0 || s.Until != "" }

// String returns the options for the selection: "-target=a -exclude=b".
func (s Selection) String() string {
	var options []string
	for _, t := range s.Targets {
		options = append(options, words.Option("-target", t))
	}
	for _, e := range s.Excludes {
		options = append(options, words.Option("-exclude", e))
	}
	if s.Until != "" {
		options = append(options, words.Option("-until", s.Until))
	}
	return strings.Join(options, " ")
}
