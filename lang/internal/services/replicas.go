package services

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/internal/blocks"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
)

// replicas are the replicas of the workloads.
type replicas struct {
	of     map[string]int // by workload
	forAll *int           // of all workloads, if the service says so
	capped []string       // workloads with fewer replicas than the service says
}

// allReplicas returns the replicas of each workload.
func allReplicas(u *use, e *eval.Env, definition *source.Block) replicas {
	out := replicas{forAll: replicasForAll(u, e), of: map[string]int{}}
	for _, b := range definition.All("workload") {
		n, capped := replicasOf(u, e, b, out.forAll)
		if out.of[b.Label] = n; capped {
			out.capped = append(out.capped, fmt.Sprintf("%s runs %d", b.Label, n))
		}
	}
	return out
}

// replicasForAll returns the replicas that the service wants for all workloads, or nil.
func replicasForAll(u *use, e *eval.Env) *int {
	if !eval.IsSet(e.OfService, u.block, "replicas") {
		return nil
	}
	n := eval.Number(e.OfService, u.block, "replicas")
	if mark.IsDeferred(e.OfService.Value(u.block.Attributes["replicas"].Expr)) {
		return nil
	}
	return &n
}

// replicasValue returns the replicas of a workload, as expressions read them.
func replicasValue(u *use, e *eval.Env, workload *source.Block, n replicas) cty.Value {
	for _, l := range []blocks.Layered{{Block: workload, Eval: e}, {Block: u.block, Eval: e.OfService}} {
		if !eval.AllKnown(l.Eval, l.Block, "replicas") {
			return cty.UnknownVal(cty.Number).WithMarks(eval.Awaited(l.Eval, l.Block, "replicas"))
		}
	}
	return cty.NumberIntVal(int64(n.of[workload.Label]))
}

// replicasOf returns the replicas of a workload: its block in the service says them, or else the
// argument of the service up to the limit of the workload, or else the definition. A DaemonSet
// has 0. Capped: the limit counts.
func replicasOf(u *use, e *eval.Env, b *source.Block, forAll *int) (n int, capped bool) {
	n = eval.Number(e, b, "replicas")
	said := eval.EnvOf(e, b, "replicas") == e.OfService && eval.IsSet(e, b, "replicas")
	if eval.String(e, b, "kind") == "DaemonSet" {
		if (said || forAll == nil) && b.Attributes["replicas"] != nil {
			eval.Unsuitable(e, b, "replicas", "A DaemonSet has one pod on each node of its role. Choose the nodes instead.")
		}
		return 0, false
	}
	maxReplicas := eval.Number(e, b, "max_replicas")
	switch {
	case forAll != nil && !said && maxReplicas > 0 && *forAll > maxReplicas:
		return maxReplicas, true
	case forAll != nil && !said:
		return *forAll, false
	case maxReplicas > 0 && n > maxReplicas:
		eval.Unsuitable(e, b, "replicas", "Definition %q runs at most %d of workload %q: more would not work together.", u.decl.written.Label, maxReplicas, b.Label)
	}
	return n, false
}
