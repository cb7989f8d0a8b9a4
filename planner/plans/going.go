package plans

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Going returns the UIDs of the objects that the actions delete.
func Going(actions []Action) map[types.UID]bool {
	going := map[types.UID]bool{}
	for i := range actions {
		if a := &actions[i]; a.Verb == Delete && !a.Partial {
			going[a.Prior.UID] = true
		}
	}
	return going
}

// Unlisted names the kinds in a namespace that could not be listed. It leaves out kinds
// whose APIService the actions delete, because these objects are not stored in the cluster.
func Unlisted(contents providers.Contents, actions []Action) []string {
	var what []string
	for _, u := range contents.Unread {
		if !slices.ContainsFunc(actions, func(a Action) bool {
			return a.Verb == Delete && a.Ref.GVK.GroupKind() == kinds.APIService && a.Ref.Name == u.Version.Version+"."+u.Version.Group
		}) {
			what = append(what, u.What)
		}
	}
	return what
}
