package engine

import (
	"fmt"
	"slices"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// checkRotations refuses to rotate objects that are no Secrets with generated values.
func (o Options) checkRotations(objects []providers.Object) error {
	var possible []string
	for i := range objects {
		if objects[i].Generated() {
			possible = append(possible, objects[i].Address.String())
		}
	}
	for _, address := range o.Rotate {
		if !slices.Contains(possible, address) {
			return failure.New(fmt.Sprintf("-rotate=%s names no Secret whose values kolla makes", address),
				words.WithHint(words.DidYouMean(address, possible), "It needs the address of such a Secret, as a plan shows it: service.keystone/Secret/keystone-fernet."))
		}
	}
	return nil
}

// undone returns the addresses of the Secrets that an apply has not rotated yet, because their actions
// wait.
func undone(rotate []string, later []*plans.Action) []string {
	return slices.DeleteFunc(slices.Clone(rotate), func(address string) bool {
		return !slices.ContainsFunc(later, func(a *plans.Action) bool { return a.Address.String() == address })
	})
}
