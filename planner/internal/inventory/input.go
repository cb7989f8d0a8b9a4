package inventory

import (
	"encoding/json"
	"time"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// Input is everything that a plan depends on.
type Input struct {
	Cloud     string                     // name of the cloud
	Namespace string                     // the namespace of the cloud
	Digest    string                     // configs.Config.Digest
	Variables map[string]json.RawMessage // configs.Config.Variables
	Tool      string                     // version of kolla
	// Objects are the declared objects. A destroy uses them only for facts that a lost
	// state lacks.
	Objects []providers.Object
	Reader  providers.Reader
	// Snapshot has the objects that were listed before. The plan lists the missing ones.
	Snapshot *providers.Snapshot
	// Registrar compares what Jobs registered with what servers have; nil: they are not compared.
	Registrar providers.Registrar
	State     *state.State // nil: nothing was ever applied
	Cluster   providers.Identity
	// Outputs and Checks are those of the configuration.
	Outputs []configs.Output
	Checks  []configs.Check
	// Destroy plans to delete everything.
	Destroy bool
	// DeleteData has the addresses of objects, blocks and modules that hold data and may be
	// deleted or replaced nevertheless. "*" stands for all of them.
	DeleteData []string
	// KeepData lets a destroy stop workloads that others need. Objects with data stay unless
	// DeleteData names them.
	KeepData bool
	// Moves, Removals and Imports are the blocks about addresses.
	Moves    []addrs.Move
	Removals []addrs.Removal
	Imports  []addrs.Import
	// External has the blocks of services that already exist elsewhere and are not deployed.
	External []string
	// Adopt has the addresses of declared objects to take over from others.
	Adopt []string
	// ForceConflicts takes fields from all other owners.
	ForceConflicts bool
	// ForeignPolicy decides about the fields that others add to kolla's objects; empty:
	// RevertForeign.
	ForeignPolicy plans.ForeignPolicy
	// AllowUnverified plans to write objects although admission denied their dry runs.
	AllowUnverified bool
	// VerifyAll asks the server about every object, even if a cheaper step already proves
	// that the object is unchanged. The plan is refused if the server contradicts the proof.
	VerifyAll bool
	// Selection restricts the plan to a part of the cloud; zero: the whole cloud.
	Selection plans.Selection
	// Undecided has the blocks that a restricted plan leaves out; see
	// configs.Config.Undecided.
	Undecided []string
	// Replace has the addresses of objects to delete and create again although they could stay. A
	// Job runs again.
	Replace []string
	// Triggered has the objects that an earlier round of the same apply decided to replace
	// because of their replace_triggered_by, and did not get to: for the family of each
	// object, the entry that names its trigger.
	Triggered map[addrs.Object]string
	// RefreshOnly plans to change only the state: it forgets missing objects, and records
	// UIDs and readiness. The plan shows the changes of others.
	RefreshOnly bool
	// MaxDeletes limits how many objects the plan may delete; nil: a destroy has no limit,
	// and any other plan may delete at most half of the objects in the state.
	MaxDeletes *int
	// Values adds to every action its object before and after, as far as kolla owns or
	// changes it. A plan that is only shown and applied does not need them.
	Values bool
	// Parallelism is how many objects are compared at the same time; 0: providers.Parallelism.
	Parallelism int
	Now         time.Time
}
