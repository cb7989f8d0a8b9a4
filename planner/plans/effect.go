package plans

import "kolla.openstack.org/kolla/providers"

// Impact says what the plan disturbs in one block.
type Impact struct {
	Block string `json:"block"` // "service.keystone"
	// Service is what the service of the block is called in the cluster; empty: it is
	// none.
	Service string   `json:"service,omitempty"`
	Effects []Effect `json:"effects"`
}

// Effect is one thing that the plan does to those who use an object.
type Effect struct {
	Kind EffectKind `json:"kind"`
	// Name is that of the workload or other object; of a job without the hash.
	Name string        `json:"name"`
	Ref  providers.Ref `json:"ref"`
	// Pods are those that come, go or restart. EachNode: there is one on each node of the
	// workload, and nobody has counted them yet.
	Pods     int  `json:"pods,omitempty"`
	EachNode bool `json:"each_node,omitempty"`
	// Strategy, and how many pods AtATime, is how they restart.
	Strategy Strategy `json:"strategy,omitempty"`
	AtATime  int      `json:"at_a_time,omitempty"`
	// Downtime is to be expected: at some time none of the pods is there to answer.
	Downtime bool `json:"downtime_expected,omitempty"`
	// Data names the data that is lost or deleted. For pods that restart or leave their
	// nodes, it is the loss text of the workload; of what is cut off, what it is.
	Data string `json:"data_at_risk,omitempty"`
	// Items are names: volumes that stay, keys that are dropped, nodes that pods leave.
	Items []string `json:"items,omitempty"`
	Heir  string   `json:"heir,omitempty"` // of dropped values: the Secret that takes the others
	// Causes are why pods restart, and Why is why they are made again.
	Causes []Cause  `json:"causes,omitempty"`
	Why    []Reason `json:"why,omitempty"`
	Loss   *Loss    `json:"loss,omitempty"`
	// Carried is what is cut off, node by node.
	Carried []Carried `json:"carried,omitempty"`
	// Grave effects are those that a reviewer has to see first: something stops or is lost.
	Grave bool `json:"grave,omitempty"`
}

// EffectKind says what an effect is. The zero value is invalid.
type EffectKind string

// The kinds of effect.
const (
	EffectDeploy        EffectKind = "deploy"         // pods are there for the first time
	EffectStop          EffectKind = "stop"           // pods go for good
	EffectRecreate      EffectKind = "recreate"       // all pods stop, and others are made
	EffectRestart       EffectKind = "restart"        // pods are made anew, by Strategy
	EffectLeave         EffectKind = "leave"          // pods go from some of their nodes
	EffectCutOff        EffectKind = "cut-off"        // pods go that carry what others use
	EffectScaleUp       EffectKind = "scale-up"       // more pods
	EffectScaleDown     EffectKind = "scale-down"     // fewer pods
	EffectJob           EffectKind = "job"            // a job runs
	EffectJobAgain      EffectKind = "job-again"      // a job runs once more
	EffectPorts         EffectKind = "ports"          // the ports of a Service change
	EffectUnreachable   EffectKind = "unreachable"    // nothing reaches a Service for a while
	EffectLoss          EffectKind = "loss"           // data is lost already; see Loss
	EffectDataLost      EffectKind = "data-lost"      // volumes go with their workload
	EffectDataDeleted   EffectKind = "data-deleted"   // an object is deleted, with its data
	EffectDataReplaced  EffectKind = "data-replaced"  // an object is made again, without its data
	EffectValuesDropped EffectKind = "values-dropped" // some values of a Secret are not taken over
	EffectVolumesStay   EffectKind = "volumes-stay"   // volumes outlive their workload
)

// Strategy is how the pods of a workload are replaced. Empty: they are not.
type Strategy string

// The strategies.
const (
	Rolling   Strategy = "rolling"     // some at a time
	AllAtOnce Strategy = "all-at-once" // none is left meanwhile, or only the new ones
	OnRequest Strategy = "on-request"  // each as soon as `kolla rollout`, or somebody, deletes it
)

// Cause is why pods restart.
type Cause struct {
	Kind CauseKind `json:"kind"`
	// Name is that of a variable, Secret or file, or the path of a field.
	Name string `json:"name,omitempty"`
	// Added and Removed: the variable or field is new, or goes.
	Added   bool `json:"added,omitempty"`
	Removed bool `json:"removed,omitempty"`
	// Before and After are images, or where a file comes from.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	// Settings are what changed in a file: "[token] expiration".
	Settings []string `json:"settings,omitempty"`
}

// CauseKind says what a cause is. The zero value is invalid.
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
	CauseSource      CauseKind = "source" // a file comes from another object
)
