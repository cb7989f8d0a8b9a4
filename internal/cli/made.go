package cli

import (
	"slices"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/state"
)

// made tells of a block which jobs and workloads were made once, or are adopted by this
// plan: what runs only on an upgrade asks whether the service is new.
func (w *workspace) made(st *state.State) func(block string) []addrs.Object {
	known := map[string][]addrs.Object{}
	add := func(a addrs.Object) {
		if slices.Contains([]string{"Deployment", "StatefulSet", "DaemonSet", "Job"}, a.Kind) {
			known[a.Block] = append(known[a.Block], a)
		}
	}
	for i := range st.Objects {
		if a, err := addrs.ParseObject(st.Objects[i].Address); err == nil && !st.Objects[i].Left {
			add(w.moved(a))
		}
	}
	for _, text := range w.adopted() {
		if a, err := addrs.ParseObject(text); err == nil {
			add(a)
		}
	}
	for _, i := range w.config.Imports {
		add(i.To)
	}
	return func(block string) []addrs.Object { return known[block] }
}

// moved is the address that an address of the state has now, as the planner has it.
func (w *workspace) moved(a addrs.Object) addrs.Object {
	for range w.config.Moves {
		i := slices.IndexFunc(w.config.Moves, func(m addrs.Move) bool {
			_, applies := m.Apply(a)
			return applies
		})
		if i < 0 {
			break
		}
		a, _ = w.config.Moves[i].Apply(a)
	}
	declared := func(name string) bool {
		return slices.ContainsFunc(w.config.Services, func(s configs.Service) bool {
			return s.Block == name || slices.Contains(addrs.Modules(addrs.SplitBlock(s.Block).Module), name)
		})
	}
	if !declared(a.Block) {
		a.Block = addrs.Recounted(a.Block, declared)
	}
	return a
}
