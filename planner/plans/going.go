package plans

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/providers"
)

// Going are the UIDs of the objects that actions delete.
func Going(actions []Action) map[types.UID]bool {
	going := map[types.UID]bool{}
	for i := range actions {
		if a := &actions[i]; a.Verb == Delete && !a.Partial {
			going[a.Prior.UID] = true
		}
	}
	return going
}

// Unlisted is what may be in a namespace of kinds that nobody could list, but for those
// whose APIService the actions delete: the objects of these are not the cluster's own.
func Unlisted(contents providers.Contents, actions []Action) []string {
	var what []string
	for _, u := range contents.Unread {
		if !slices.ContainsFunc(actions, func(a Action) bool {
			return a.Verb == Delete && a.Ref.GVK.GroupKind() == providers.APIServiceKind && a.Ref.Name == u.Version.Version+"."+u.Version.Group
		}) {
			what = append(what, u.What)
		}
	}
	return what
}
