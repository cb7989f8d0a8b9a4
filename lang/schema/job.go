package schema

var runsAttribute = Attribute{Name: "runs", Type: TypeString, Default: "change", OneOf: []string{"change", "release", "upgrade", "once"}, Doc: "When it runs again. change: when its image, its config or its secrets are other ones. release: when its image is another one. upgrade: as release, but not with the image that the service is deployed with first. once: never. One that failed runs again in any case; see [Jobs](#jobs)."}

// maxTimeout is a week.
const maxTimeout = 7 * 24 * 3600

// nodesVariable tells a job of nodes.
const NodesVariable = "KOLLA_NODES"

var nodesAttribute = Attribute{Name: "nodes", Type: TypeRole, Doc: "Role whose nodes the job is about: their names are in the environment variable " + NodesVariable + ", in order and with spaces between them. A node that comes or goes is a change. self.role are the nodes of the service; where that has no role, all of the cluster."}

var (
	jobTimeoutAttribute  = Attribute{Name: "timeout", Type: TypeNumber, Min: 1, Max: maxTimeout, Doc: "Seconds that all its attempts may take together: then it has failed. An apply waits as long, in place of -timeout. By default it may take any time, and an apply waits as -timeout says."}
	waitTimeoutAttribute = Attribute{Name: "timeout", Type: TypeNumber, Min: 1, Max: maxTimeout, Doc: "Seconds that an apply waits until it is ready, in place of -timeout."}
)
