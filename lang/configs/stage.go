package configs

// Stages are the parts of an upgrade, in their order.
const (
	StageChecks  = "checks"  // jobs that look whether the upgrade is possible
	StageData    = "data"    // databases and queues
	StageControl = "control" // services that use them
	StageNodes   = "nodes"   // what every node runs for guests
)

// Stages are all stages in their order.
var Stages = []string{StageChecks, StageData, StageControl, StageNodes}
