package plans

import "kolla.openstack.org/kolla/providers"

// Destroys reports whether something is lost with the object of an action.
func (a *Action) Destroys() bool {
	if a.Ref.GVK.GroupKind() == providers.JobKind {
		return false
	}
	return a.Verb == Replace || a.Verb == Delete && !a.Partial && !a.Prunes()
}

// Serves reports whether the action is about pods that run all the time.
func (a *Action) Serves() bool { return Serves(a.Ref) }

func Serves(ref providers.Ref) bool {
	kind := ref.GVK.GroupKind()
	return providers.RunsPods(kind) && kind != providers.JobKind
}
