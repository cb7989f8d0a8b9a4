package openstack_test

import (
	"fmt"
	"reflect"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/openstack"
)

// unlimited are the containers that may use all memory of their node.
var unlimited = map[string]string{
	"nova-compute-compute/libvirt":      "the servers run in it",
	"nova-compute-fast-compute/libvirt": "the servers run in it",
	"nova-compute-slow-compute/libvirt": "the servers run in it",
	"openvswitch-ovs/db":                "without it the node has no network",
}

// TestBounds checks that every container of the examples requests memory and CPU and has a memory
// limit, that no directory can fill the disk of the node, that a liveness probe differs from the
// readiness probe, and that a node with unready pods can be drained.
func TestBounds(t *testing.T) {
	used := map[string]bool{}
	for name, config := range map[string]*configs.Config{
		"all-in-one":  load(t, "../../examples/all-in-one"),
		"compute-kit": load(t, "../../examples/compute-kit"),
		"cells":       inRelease(t, "testdata/servers", newest),
	} {
		nodes := facts()
		nodes.Nodes = append(nodes.Nodes, openstack.Node{Name: "node-2"}, openstack.Node{Name: "node-3"})
		for _, o := range render(t, config, nodes) {
			if o.Ref().GVK.Kind == "PodDisruptionBudget" {
				if got, _, _ := unstructured.NestedString(o.Manifest.Object, "spec", "unhealthyPodEvictionPolicy"); got != "AlwaysAllow" {
					t.Errorf("%s evicts unready pods: %q", o.Address, got)
				}
			}
			spec, _, ok := podOf(t, o)
			if !ok {
				continue
			}
			t.Run(name+"/"+o.Address.Name, func(t *testing.T) {
				for _, v := range spec.Volumes {
					if v.EmptyDir != nil && v.EmptyDir.SizeLimit.IsZero() {
						t.Errorf("volume %s has no limit", v.Name)
					}
				}
				for _, c := range append(spec.InitContainers, spec.Containers...) {
					id := fmt.Sprintf("%s/%s", o.Ref().Name, c.Name)
					if c.Resources.Requests.Memory().IsZero() || c.Resources.Requests.Cpu().IsZero() {
						t.Errorf("%s does not say what it needs: %v", id, c.Resources.Requests)
					}
					if _, may := unlimited[id]; may {
						used[id] = true
					} else if c.Resources.Limits.Memory().IsZero() {
						t.Errorf("%s has no limit of memory", id)
					}
					if alike(c.ReadinessProbe, c.LivenessProbe) {
						t.Errorf("%s is alive when it is ready, and not otherwise", id)
					}
				}
			})
		}
	}
	for id := range unlimited {
		if !used[id] {
			t.Errorf("there is no container %s", id)
		}
	}
}

// alike reports whether two probes send the same request.
func alike(a, b *v1.Probe) bool {
	return a != nil && b != nil && reflect.DeepEqual(a.ProbeHandler, b.ProbeHandler)
}
