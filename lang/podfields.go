package lang

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema"
)

// podFields are the roots of what only a pod knows of itself. Expressions in an env read it,
// and nothing else does: Kubernetes puts it into variables.
var podFields = []string{"node", "pod"}

// environment evaluates an env, in a pod of a StatefulSet that has the given name; empty: of
// something else.
func (in *instance) environment(b *source.Block, e *evaluator, set string) []configs.Env {
	if b.Attributes["env"] == nil {
		return nil
	}
	pod := anyPod
	if set != "" {
		pod = cty.ObjectVal(map[string]cty.Value{
			"name": pod.GetAttr("name"), "ip": pod.GetAttr("ip"), "index": podField("pod", "index"), "host": in.memberHost(set),
		})
	}
	return e.withAll(map[string]cty.Value{"node": anyNode, "pod": pod}).variables(b, "env").environment()
}

// podField is a value that only a pod knows.
func podField(of, name string) cty.Value { return mark.Field(of, name).Token() }

// What every pod knows of its node and of itself.
var (
	anyNode = cty.ObjectVal(map[string]cty.Value{"name": podField("node", "name"), "ip": podField("node", "ip")})
	anyPod  = cty.ObjectVal(map[string]cty.Value{"name": podField("pod", "name"), "ip": podField("pod", "ip")})
)

// memberHost is the name of a pod of a StatefulSet, as self.members has it.
func (in *instance) memberHost(set string) cty.Value {
	name, marks := mark.Field("pod", "name").Token().Unmark()
	return in.inNamespace(fmt.Sprintf("%s.%s.%s", name.AsString(), set, in.config.Cloud.Namespace)).WithMarks(marks)
}

// setOf is the name of the StatefulSet that a block of a definition makes; empty: it makes
// none.
func (in *instance) setOf(b *source.Block) string {
	if b.Type != schema.WorkloadType || in.inner.string(b, "kind") != "StatefulSet" {
		return ""
	}
	return in.out.Name + "-" + b.Label
}

// onlyInPod reports something that is computed from what only a pod knows, if any of the
// references is to that.
func (e *evaluator) onlyInPod(at hcl.Range, refs []hcl.Traversal) bool {
	i := slices.IndexFunc(refs, func(t hcl.Traversal) bool { return slices.Contains(podFields, t.RootName()) })
	if i < 0 {
		return false
	}
	e.report.Error(at, "Known only where a pod runs", "%s is known only where the pod runs, so it can be put into a text, but nothing can be computed from it. Let the command in the pod do that.", written(refs[i]))
	return true
}
