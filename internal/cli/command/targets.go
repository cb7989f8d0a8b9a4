package command

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/state"
)

// Targets parses addresses of objects, blocks and modules.
func Targets(addresses []string) ([]addrs.Target, error) {
	var targets []addrs.Target
	for _, text := range addresses {
		target, err := addrs.ParseTarget(text)
		if err != nil {
			return nil, failure.New(fmt.Sprintf("%q is not an address", text), failure.Sentence(err.Error())+".")
		}
		targets = append(targets, target)
	}
	return targets, nil
}

// Select returns the objects of the state that belong to targets, in the order of the state. Without
// targets it returns all, and without kinds those of all kinds. A target without an object is an error.
func Select(st *state.State, targets []addrs.Target, kinds ...string) ([]*state.Object, error) {
	var found []*state.Object
	var known []string // the addresses to suggest
	matched := make([]bool, len(targets))
	for i := range st.Objects {
		o := &st.Objects[i]
		if len(kinds) > 0 && !slices.Contains(kinds, o.Kind) {
			continue
		}
		address, err := addrs.ParseObject(o.Address)
		if err != nil {
			return nil, fmt.Errorf("read the state: %w", err)
		}
		known = append(known, o.Address, address.Block, addrs.SplitBlock(address.Block).All())
		wanted := len(targets) == 0
		for i, target := range targets {
			if target.Has(address) {
				wanted, matched[i] = true, true
			}
		}
		if wanted {
			found = append(found, o)
		}
	}
	if i := slices.Index(matched, false); i >= 0 {
		missing := "nothing"
		if len(kinds) > 0 {
			missing = "no " + strings.Join(kinds, " or ")
		}
		slices.Sort(known)
		return nil, failure.New(fmt.Sprintf("The state has %s at %s", missing, targets[i]),
			DidYouMean(targets[i].String(), slices.Compact(known))+"`kolla state list` lists all addresses.")
	}
	return found, nil
}
