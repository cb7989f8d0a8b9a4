package pods

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/settings"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
)

// environment evaluates the argument env of a block. Set is the name of the StatefulSet that
// makes the pod, or empty. Pods of a StatefulSet also know their index and host name.
func environment(s *Service, b *source.Block, e *eval.Env, set string) []configs.Env {
	if b.Attributes["env"] == nil {
		return nil
	}
	pod := anyPod
	if set != "" {
		pod = cty.ObjectVal(map[string]cty.Value{
			"name": pod.GetAttr("name"), "ip": pod.GetAttr("ip"), "index": field("pod", "index"), "host": memberHost(s, set),
		})
	}
	return settings.Variables(s.Leaves, b, "env").Environment(e.WithAll(map[string]cty.Value{"node": anyNode, "pod": pod}))
}

// field returns a value that Kubernetes fills in when the pod starts.
func field(of, name string) cty.Value { return mark.Field(of, name).Token() }

// These values are available in the environment of every pod.
var (
	anyNode = cty.ObjectVal(map[string]cty.Value{"name": field("node", "name"), "ip": field("node", "ip")})
	anyPod  = cty.ObjectVal(map[string]cty.Value{"name": field("pod", "name"), "ip": field("pod", "ip")})
)

// memberHost returns the DNS name of the pod itself, in the form that self.members has.
func memberHost(s *Service, set string) cty.Value {
	name, marks := field("pod", "name").Unmark()
	return s.Host(fmt.Sprintf("%s.%s", name.AsString(), set)).WithMarks(marks)
}
