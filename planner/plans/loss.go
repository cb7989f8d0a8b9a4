package plans

import (
	"fmt"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Loss is data that a declared object had and that is gone. An apply creates the object
// again, without the data.
type Loss struct {
	// Address is the object that is gone. For lost volumes, it is the workload that starts
	// without them.
	Address addrs.Object `json:"address"`
	// Refs are the objects that contained the data.
	Refs []providers.Ref `json:"refs"`
	// Holds names the data: "generated values", "the data on its volume".
	Holds string `json:"holds"`
	// Kept: nothing is gone. Refs still contain the data, and no object uses it.
	Kept bool `json:"kept,omitempty"`
	// Means is the consequence, if the declaration has one: "tokens become invalid".
	Means string `json:"means,omitempty"`
	// Jobs are finished jobs that may have written the data, and that do not run again by
	// themselves. The addresses are in the form for -replace.
	Jobs []addrs.Object `json:"jobs,omitempty"`
	// Later: not this plan creates the object again, but the next apply.
	Later bool `json:"later,omitempty"`
}

// Consequence says in a few words what happens to the object at Address: "starts with an
// EMPTY volume: data-mariadb-server-0 is gone".
func (l Loss) Consequence() string {
	if l.Later {
		return l.consequence() + " (at the next apply)"
	}
	return l.consequence()
}

func (l Loss) consequence() string {
	switch kind := l.Refs[0].GVK.GroupKind(); {
	case kind == kinds.Secret && l.Means != "":
		return "new values are made; " + l.Means
	case kind == kinds.Secret:
		return "new values are made"
	case kind != kinds.PersistentVolumeClaim:
		return "lost: " + l.Holds
	case l.Address.Kind == kinds.PersistentVolumeClaim.Kind:
		return "the new one is EMPTY"
	}
	var names []string
	for _, ref := range l.Refs {
		names = append(names, ref.Name)
	}
	volumes, are := "EMPTY volumes", "are"
	if len(names) == 1 {
		volumes, are = "an EMPTY volume", "is"
	}
	if l.Kept {
		return fmt.Sprintf("starts with %s; its data stay in %s", volumes, words.Few(names, 4))
	}
	return fmt.Sprintf("starts with %s: %s %s gone", volumes, words.Few(names, 4), are)
}
