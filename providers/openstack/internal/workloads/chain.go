// Package workloads makes the Jobs, Deployments, StatefulSets and DaemonSets of a service, in the
// order in which they start.
package workloads

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
	"kolla.openstack.org/kolla/providers/openstack/internal/pods"
	"kolla.openstack.org/kolla/providers/openstack/internal/runs"
	"kolla.openstack.org/kolla/providers/openstack/internal/security"
)

// Input is what the jobs and workloads of a service depend on.
type Input struct {
	Pods   pods.Input
	Levels security.Levels
	Jobs   runs.Jobs
	// Services are all services of the cloud.
	Services []configs.Service
	// Live reads a workload in the cluster; nil: there is no cluster.
	Live func(providers.Ref) *unstructured.Unstructured
}

// Render returns the jobs and workloads of a service, and the objects that only their pods need.
// They form a chain: the jobs before the workloads, the workloads, and the jobs after them. The
// chain starts when the objects of base are ready. The service is ready when the workloads and
// the jobs after them are. Jobs that check an upgrade stand beside the chain: a plan puts them before all
// others. Cleanup jobs, which delete registrations of removed services, run at
// the end: nothing waits for them.
func Render(in Input, base []addrs.Object) (objects []providers.Object, ready []addrs.Object, diags hcl.Diagnostics) {
	take := func(made []providers.Object, last []addrs.Object, wrong hcl.Diagnostics) []addrs.Object {
		objects, diags = append(objects, made...), append(diags, wrong...)
		return last
	}
	for _, check := range in.Jobs.Checks {
		o, p := job(in, check, nil)
		o.Stage = configs.StageChecks
		take(append(p.Objects, o), nil, p.Diags)
	}
	before := take(jobs(in, in.Jobs.Before, base))
	running := take(workloads(in, before))
	after := take(jobs(in, in.Jobs.After, running))
	ready = object.Unique(slices.Concat(running, after))
	take(jobs(in, in.Jobs.Cleanups, slices.Concat(base, ready)))
	return objects, ready, diags
}
