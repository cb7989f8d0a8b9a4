package plans

import (
	"fmt"

	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers"
)

// Loss is data that something declared had, and has no more: an apply makes what
// held it anew, but not what was in it.
type Loss struct {
	// Address is the object that is gone; of volumes, the workload that starts
	// without them.
	Address lang.Address `json:"address"`
	// Refs are what held the data.
	Refs []providers.Ref `json:"refs"`
	// Holds is what is lost: "generated values", "the data on its volume".
	Holds string `json:"holds"`
	// Kept: nothing is gone. Refs still hold it, and nothing takes it up.
	Kept bool `json:"kept,omitempty"`
	// Means is what follows, where the declaration says so: "tokens become invalid".
	Means string `json:"means,omitempty"`
	// Jobs ran before, may have filled what is empty now, and do not run again by
	// themselves. Each is named as -replace takes it.
	Jobs []lang.Address `json:"jobs,omitempty"`
	// Later: this plan makes nothing anew, but the next apply does.
	Later bool `json:"later,omitempty"`
}

// Consequence says in a few words what becomes of the object at Address: "starts with
// an EMPTY volume: data-mariadb-server-0 is gone".
func (l Loss) Consequence() string {
	if l.Later {
		return l.consequence() + " (at the next apply)"
	}
	return l.consequence()
}

func (l Loss) consequence() string {
	switch kind := l.Refs[0].GVK.GroupKind(); {
	case kind == providers.SecretKind && l.Means != "":
		return "new values are made; " + l.Means
	case kind == providers.SecretKind:
		return "new values are made"
	case kind != providers.ClaimKind:
		return "lost: " + l.Holds
	case l.Address.Kind == providers.ClaimKind.Kind:
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
