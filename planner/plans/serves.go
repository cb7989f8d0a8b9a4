package plans

import (
	"kolla.openstack.org/kolla/providers"

	"kolla.openstack.org/kolla/providers/kinds"
)

// Destroys reports whether the action deletes an object with something to lose. Jobs and
// old versions have nothing to lose.
func (a *Action) Destroys() bool {
	if a.Ref.GVK.GroupKind() == kinds.Job {
		return false
	}
	return a.Verb == Replace || a.Verb == Delete && !a.Partial && !a.Prunes()
}

// Serves reports whether the object of the action runs pods all the time.
func (a *Action) Serves() bool { return Serves(a.Ref) }

// Serves reports whether the object runs pods all the time: every workload but a Job.
func Serves(ref providers.Ref) bool {
	kind := ref.GVK.GroupKind()
	return kinds.RunsPods(kind) && kind != kinds.Job
}
