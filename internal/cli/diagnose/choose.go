package diagnose

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/status"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/kubernetes"
	"kolla.openstack.org/kolla/state"
)

// chosen is an object of the state that an argument names.
type chosen struct {
	*state.Object
	itself bool // the argument names the object, not its block
}

// recorded reads the state, and returns it with the objects that choose finds in it.
func recorded(w *command.Workspace, names []string) (*state.State, []chosen, error) {
	st, err := w.Recorded()
	if err != nil {
		return nil, nil, err
	}
	found, err := choose(st, names)
	return st, found, err
}

// choose returns the objects of the state that belong to names, or all objects without names. A
// name is the address of a service, a module or an object, or the plain name of a service or a
// workload: "service.nova", "nova", "nova-api". It is an error if a name fits no block with
// workloads.
func choose(st *state.State, names []string) ([]chosen, error) {
	c := newChoice(names)
	var out []chosen
	var known []string
	for i := range st.Objects {
		o := &st.Objects[i]
		address, err := addrs.ParseObject(o.Address)
		if err != nil {
			return nil, fmt.Errorf("read the state: %w", err)
		}
		service := addrs.SplitBlock(address.Block)
		fits, itself := len(names) == 0, false
		for i, name := range names {
			is := c.targets[i].Block != "" && c.targets[i].Has(address) || service.Type == "service" && service.Name == name
			isWorkload := status.IsWorkload(o) && o.Name == name
			fits, itself = fits || is || isWorkload, itself || isWorkload || is && !c.targets[i].Whole()
			c.matched[i] = c.matched[i] || is && status.IsWorkload(o) || isWorkload
		}
		if status.IsWorkload(o) {
			known = append(known, address.Block, service.Name, o.Name)
		}
		if fits {
			out = append(out, chosen{o, itself})
		}
	}
	if i := slices.Index(c.matched, false); i >= 0 {
		slices.Sort(known)
		return nil, failure.New(fmt.Sprintf("The state has no service or workload %q", names[i]),
			words.WithHint(words.DidYouMean(names[i], slices.Compact(known)), "Name a service (nova or service.nova), a module (module.edge) or a workload (nova-api). `kolla status` lists them."))
	}
	if len(known) == 0 {
		return nil, failure.New("The state has no workloads", "Nothing was applied yet, or the cloud was destroyed. kolla apply makes it.")
	}
	return out, nil
}

// owner is a workload with its pods.
type owner struct {
	chosen
	pods []*corev1.Pod
}

// podsOf lists the pods of workloads. It leaves out Jobs that are complete, unless they are named. In the
// namespaces of the workloads it also lists objects of another kind.
func podsOf(ctx context.Context, snapshot *providers.Snapshot, inspector *kubernetes.Inspector, objects []chosen, other schema.GroupVersionKind) ([]owner, error) {
	var workloads []chosen
	var scopes []providers.Scope
	for _, o := range objects {
		if status.IsWorkload(o.Object) {
			workloads = append(workloads, o)
			scopes = append(scopes, providers.Scope{GVK: o.kind(), Namespace: o.Namespace}, providers.Scope{GVK: other, Namespace: o.Namespace})
		}
	}
	if err := snapshot.Load(ctx, scopes...); err != nil {
		return nil, err
	}
	var out []owner
	for _, o := range workloads {
		live := snapshot.Get(providers.Ref{GVK: o.kind(), Namespace: o.Namespace, Name: o.Name})
		if live == nil || live.GetKind() == kinds.Job.Kind && kubernetes.Ready(live) && !o.itself {
			continue
		}
		pods, err := inspector.PodsOf(ctx, live)
		if err != nil {
			return nil, err
		}
		out = append(out, owner{o, pods})
	}
	return out, nil
}

func (c chosen) kind() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(c.APIVersion, c.Kind)
}
