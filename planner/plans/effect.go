package plans

import "kolla.openstack.org/kolla/providers"

// Impact has the effects of the plan in one block.
type Impact struct {
	Block string `json:"block"` // "service.keystone"
	// Service is the name of the block's service in the cluster; empty: the block is not a
	// service.
	Service string   `json:"service,omitempty"`
	Effects []Effect `json:"effects"`
}

// Effect is one effect of the plan on the users of an object.
type Effect struct {
	Kind EffectKind `json:"kind"`
	// Name is the name of the workload or other object; for a job, without the hash.
	Name string        `json:"name"`
	Ref  providers.Ref `json:"ref"`
	// Pods is the number of pods that start, stop or restart. EachNode: there is one on
	// each node of the workload, and their number is not known yet.
	Pods     int  `json:"pods,omitempty"`
	EachNode bool `json:"each_node,omitempty"`
	// Strategy says how they restart, and AtATime how many at a time.
	Strategy Strategy `json:"strategy,omitempty"`
	AtATime  int      `json:"at_a_time,omitempty"`
	// Downtime is expected: at some time no pod is ready.
	Downtime bool `json:"downtime_expected,omitempty"`
	// Data names the data that is lost or deleted. For pods that restart or leave their
	// nodes, it is the loss text of the workload. For items that are cut off, it says what
	// they are.
	Data string `json:"data_at_risk,omitempty"`
	// Items are names: volumes that stay, keys that are dropped, nodes that pods leave. For items
	// that are cut off, they are the nodes; empty: all nodes of the workload.
	Items          []string `json:"items,omitempty"`
	ValuesCopiedTo string   `json:"values_copied_to,omitempty"` // for dropped values: the Secret that takes over the others
	// Causes say why pods restart, and Why says why they are replaced.
	Causes []Cause  `json:"causes,omitempty"`
	Why    []Reason `json:"why,omitempty"`
	Loss   *Loss    `json:"loss,omitempty"`
	// Carried has the items that are cut off, node by node. Only an apply, which asks the pods,
	// knows them.
	Carried []Carried `json:"carried,omitempty"`
	// Grave effects come first in a review: something stops or is lost.
	Grave bool `json:"grave,omitempty"`
}

// Carried has the items that the pods of a workload carry on a node, as the pods report.
type Carried struct {
	Node  string   `json:"node,omitempty"` // empty: of all nodes, whose pods cannot be listed
	Items []string `json:"items,omitempty"`
	// More is how many further items there are at least.
	More int `json:"more,omitempty"`
	// Unknown is why the pod could not be asked; empty: it was.
	Unknown string `json:"unknown,omitempty"`
}

// EffectKind is the kind of an effect. The zero value is invalid.
type EffectKind string

// The kinds of effect.
const (
	EffectDeploy        EffectKind = "deploy"         // new pods
	EffectStop          EffectKind = "stop"           // pods are deleted
	EffectRecreate      EffectKind = "recreate"       // all pods stop, and new ones start
	EffectRestart       EffectKind = "restart"        // pods are replaced, by Strategy
	EffectLeave         EffectKind = "leave"          // pods leave some of their nodes
	EffectCutOff        EffectKind = "cut-off"        // pods stop that carry items of others
	EffectScaleUp       EffectKind = "scale-up"       // more pods
	EffectScaleDown     EffectKind = "scale-down"     // fewer pods
	EffectJob           EffectKind = "job"            // a job runs
	EffectJobAgain      EffectKind = "job-again"      // a job runs once more
	EffectPorts         EffectKind = "ports"          // the ports of a Service change
	EffectNodePods      EffectKind = "node-pods"      // DaemonSets get pods on a node that gets labels; Items: the DaemonSets. Grave: others took the labels away
	EffectPublicAddress EffectKind = "public-address" // clients outside have to use another address; Items: the old and the new one
	EffectUnreachable   EffectKind = "unreachable"    // nothing reaches a Service for a while
	EffectLoss          EffectKind = "loss"           // data is lost already; see Loss
	EffectDataLost      EffectKind = "data-lost"      // volumes are deleted with their workload
	EffectDataDeleted   EffectKind = "data-deleted"   // an object is deleted, with its data
	EffectDataReplaced  EffectKind = "data-replaced"  // an object is created again, without its data
	EffectValuesDropped EffectKind = "values-dropped" // some values of a Secret are not taken over
	EffectVolumesStay   EffectKind = "volumes-stay"   // volumes outlive their workload
)

// Strategy says how the pods of a workload are replaced. Empty: they are not.
type Strategy string

// The strategies.
const (
	Rolling   Strategy = "rolling"     // some at a time
	AllAtOnce Strategy = "all-at-once" // all old pods stop first
	OnRequest Strategy = "on-request"  // each one when `kolla rollout`, or somebody, deletes it
)

// Cause says why pods restart.
type Cause struct {
	Kind CauseKind `json:"kind"`
	// Name is the name of a variable, Secret or file, or the path of a field.
	Name string `json:"name,omitempty"`
	// Added and Removed: the variable or field is new, or removed.
	Added   bool `json:"added,omitempty"`
	Removed bool `json:"removed,omitempty"`
	// Before and After are images, or the sources of a file.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Settings are the changed settings of a file: "[token] expiration".
	Settings []string `json:"settings,omitempty"`
}

// CauseKind is the kind of a cause. The zero value is invalid.
type CauseKind string

// The kinds of cause.
const (
	CauseImage       CauseKind = "image"
	CauseEnvironment CauseKind = "environment"
	CauseSecret      CauseKind = "secret"
	CauseResources   CauseKind = "resources"
	CauseField       CauseKind = "field"
	CauseFile        CauseKind = "file"
	CauseSecretFile  CauseKind = "secret-file"
	CauseSource      CauseKind = "source" // a file has another source
)
