package configs

import "github.com/hashicorp/hcl/v2"

// Policy is a rule for plans.
type Policy struct {
	Name string
	// Denies: a plan that does not meet the policy is refused. Otherwise it gets a warning.
	Denies bool
	// Range is the first line of the block.
	Range hcl.Range
	// Judge evaluates the condition for a plan. It returns nil if the plan meets the policy,
	// and otherwise the error or the warning about it. A condition that is not known, or
	// that cannot be evaluated, counts as not met.
	Judge func(PlanFacts) *hcl.Diagnostic `json:"-"`
}

// PlanFacts are the facts about a plan that conditions of policies read as `plan`. They
// contain no values of fields, so that no secret is among them.
type PlanFacts struct {
	Cloud       string        `cty:"cloud"`
	Namespace   string        `cty:"namespace"`
	Destroy     bool          `cty:"destroy"`
	RefreshOnly bool          `cty:"refresh_only"`
	Restricted  bool          `cty:"restricted"` // by -target, -exclude or -until
	Upgrade     UpgradeFacts  `cty:"upgrade"`
	Counts      PlanCounts    `cty:"counts"`
	Actions     []ActionFacts `cty:"actions"` // those that change something
	Impact      ImpactFacts   `cty:"impact"`
	Drift       []DriftFacts  `cty:"drift"`
	NotCompared []string      `cty:"not_compared"` // addresses
}

// UpgradeFacts describe a change of the OpenStack release, or of the distribution of the images; see plans.Upgrade. A plan
// without such a change has no releases and no services.
type UpgradeFacts struct {
	From      string   `cty:"from"` // release of the cloud; empty: not known
	To        string   `cty:"to"`
	Supported bool     `cty:"supported"` // OpenStack supports the steps of the cloud and of all services
	Backward  bool     `cty:"backward"`  // the cloud or a service goes back to an older release
	Services  []string `cty:"services"`  // names of the services whose images change
}

// PlanCounts are the numbers of the summary line; see plans.Counts.
type PlanCounts struct {
	Add      int `cty:"add"`
	Change   int `cty:"change"`
	Destroy  int `cty:"destroy"`
	Import   int `cty:"import"`
	Forget   int `cty:"forget"`
	Move     int `cty:"move"`
	Prune    int `cty:"prune"`
	Deferred int `cty:"deferred"`
}

// ActionFacts describe one action.
type ActionFacts struct {
	Address   string   `cty:"address"`
	Block     string   `cty:"block"`     // "service.keystone"
	Service   string   `cty:"service"`   // "keystone"; empty: the block is not a service
	Kind      string   `cty:"kind"`      // of the object
	Namespace string   `cty:"namespace"` // of the object; empty: it has none
	Name      string   `cty:"name"`      // of the object
	Verb      string   `cty:"verb"`
	Reasons   []string `cty:"reasons"`
	Changes   []string `cty:"changes"` // paths of fields
	Dangers   []string `cty:"dangers"`
	Evidence  string   `cty:"evidence"`
}

// ImpactFacts are the effects of a plan by their consequence. An effect may be in several
// lists.
type ImpactFacts struct {
	Restarts   []EffectFacts `cty:"restarts"`     // pods are replaced
	Stops      []EffectFacts `cty:"stops"`        // pods are deleted
	Downtime   []EffectFacts `cty:"downtime"`     // nothing answers for some time
	DataAtRisk []EffectFacts `cty:"data_at_risk"` // data is lost or deleted
	CutOff     []EffectFacts `cty:"cut_off"`      // guests that stop
	Endpoints  []EffectFacts `cty:"endpoints"`    // Services that change or are unreachable
	Jobs       []EffectFacts `cty:"jobs"`         // jobs that run
	Rights     []string      `cty:"rights"`       // addresses of roles and bindings that give more rights
	Powers     []string      `cty:"powers"`       // addresses of objects that weaken security
}

// EffectFacts describe one effect; see plans.Effect.
type EffectFacts struct {
	Block      string       `cty:"block"`
	Service    string       `cty:"service"`
	Effect     string       `cty:"effect"` // "restart"
	Kind       string       `cty:"kind"`   // of the object
	Name       string       `cty:"name"`   // of the workload or other object
	Pods       int          `cty:"pods"`
	EachNode   bool         `cty:"each_node"` // a pod on each node; Pods is not known
	Strategy   string       `cty:"strategy"`
	AtATime    int          `cty:"at_a_time"`
	Downtime   bool         `cty:"downtime"`
	Disruption string       `cty:"disruption"` // of the users meanwhile, or the data that is lost
	Items      []string     `cty:"items"`      // volumes, keys, nodes or guests
	Causes     []CauseFacts `cty:"causes"`
	Grave      bool         `cty:"grave"`
}

// CauseFacts describe a cause of a restart; see plans.Cause.
type CauseFacts struct {
	Kind     string   `cty:"kind"`
	Name     string   `cty:"name"`
	Before   string   `cty:"before"` // the image, or the source of a file
	After    string   `cty:"after"`
	Settings []string `cty:"settings"`
}

// DriftFacts describe one change by others.
type DriftFacts struct {
	Address string `cty:"address"`
	Path    string `cty:"path"`    // empty: somebody deleted the object
	Manager string `cty:"manager"` // empty: not known
}
