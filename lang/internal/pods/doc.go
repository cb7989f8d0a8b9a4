// Package pods evaluates the blocks of a definition that make pods: workloads, jobs, and the
// containers, volumes and probes in them. It also evaluates allow blocks, which permit
// connections to the pods.
//
// Its functions read a Service and return plain values of package configs. They report
// mistakes to the reporter of the definition's evaluator. Callers add the parts that need the
// whole cloud: replicas, lifecycles and the dependencies between services.
package pods

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/settings"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// Service is the part of a service that the evaluation of its pods reads.
type Service struct {
	Name       string
	Ports      []configs.Port
	Configs    []configs.ConfigFile
	Absent     map[string]bool // names of optional config files without content
	Label      hcl.Range       // of the user's service block
	Env        *eval.Env       // evaluates expressions of the definition
	Definition *source.Block   // the enabled blocks of the definition
	Whole      *source.Block   // all blocks of the definition
	Leaves     settings.LeafMemo
	// Image returns the full name of an image. The service or the cloud can replace names.
	Image func(name string) string
	// ReleaseOf returns the OpenStack release of an image by its full name.
	ReleaseOf func(image string) cty.Value
	// Host returns the DNS name of a host in the namespace of the cloud.
	Host func(name string) cty.Value
}
