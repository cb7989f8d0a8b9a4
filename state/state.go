// Package state keeps what kolla created, where, and from which declaration. It
// holds no values of objects: what the cluster knows is asked of the cluster. The only
// values in it are those of outputs that are not sensitive.
//
// A plan reads the state without a lock, with Store.Read. Whoever changes it takes
// the lock first, with Store.Lock, and does so through the Session that it gets.
package state

import (
	"slices"
	"time"
)

// Format is the version of the file's structure that this kolla writes, and the
// newest that it reads.
const Format = 1

// State is what kolla knows of one cloud in one cluster.
type State struct {
	Format  int     `json:"format"`
	Serial  uint64  `json:"serial"`  // grows by one with every write that changes something
	Lineage string  `json:"lineage"` // UUID, given at the first write, never changed
	Tool    string  `json:"tool"`    // version of kolla that wrote it
	Cloud   string  `json:"cloud"`
	Cluster Cluster `json:"cluster"`
	// Objects are sorted by address.
	Objects []Object `json:"objects"`
	// Outputs, by name, and Checks are those of the last apply that came to its end.
	Outputs []Output      `json:"outputs,omitempty"`
	Checks  []CheckResult `json:"checks,omitempty"`
	// Plans are the IDs of the last plans that were applied, oldest first, so
	// that none is applied twice.
	Plans []string `json:"plans,omitempty"`
}

// Cluster says which cluster the state belongs to.
type Cluster struct {
	UID    string `json:"uid"`    // of the namespace kube-system
	Server string `json:"server"` // URL at the last write; only to show
}

// Object is one object that kolla made, or whose fields it owns. One without a UID
// was about to be made by an apply that was killed: it may exist or not, and only
// Token tells whether an object of that name is the one.
type Object struct {
	Address    string `json:"address"`
	APIVersion string `json:"api_version"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
	// Token is the random token of a creation whose result is not recorded yet. The
	// created object carries the token in an annotation.
	Token     string    `json:"token,omitempty"`
	Family    string    `json:"family,omitempty"` // address without the hash, of a versioned object
	DependsOn []string  `json:"depends_on,omitempty"`
	Partial   bool      `json:"partial,omitempty"`
	Holds     string    `json:"holds,omitempty"`
	Protected string    `json:"protected,omitempty"` // by prevent_destroy, where: "cloud.hcl:12"
	Yields    []Yield   `json:"yields,omitempty"`    // fields that are known to be left to others
	Desired   string    `json:"desired"`             // hash of the desired object at the last apply
	Ready     bool      `json:"ready"`               // seen ready after the last write; of a Job: complete
	Applied   time.Time `json:"applied"`             // last write
	// Owed are the addresses of what was changed and the object is to be replaced with,
	// and was not yet; of a versioned object that of its family.
	Owed []string `json:"owed,omitempty"`
	// Going: its deletion was begun, by itself or to make it anew, and nothing is known
	// of what came after.
	Going bool `json:"going,omitempty"`
	// Cleaned: before the deletion its pods were told to clean their nodes.
	Cleaned bool `json:"cleaned,omitempty"`
	// Left: a volume that a StatefulSet of kolla's asked for and that stayed when that was
	// deleted. Nothing declares it. A destroy may delete it as long as it has the UID.
	Left bool `json:"left,omitempty"`
	// Check is of the object as it was when the server had last made Desired of it,
	// or said that there was nothing to do; zero where it is not known well enough.
	Check Check `json:"check,omitzero"`
}

// clone shares nothing with the original.
func (o Object) clone() Object {
	o.DependsOn = slices.Clone(o.DependsOn)
	o.Yields = slices.Clone(o.Yields)
	o.Owed = slices.Clone(o.Owed)
	return o
}

// Yield is a declared field that somebody else looks after.
type Yield struct {
	Path    string `json:"path"`
	Manager string `json:"manager,omitempty"` // empty: nobody
}

// Check is what has to be the same for an object to be known unchanged without
// asking the server. It says nothing of values of Secrets.
type Check struct {
	Owned string `json:"owned"` // hash of the live object, and of what kolla's field manager owns in it
	// Server is the version of the server; empty: what it would make of another apply is
	// not certain, and no more is known than that nobody had added to the object.
	Server string `json:"server,omitempty"`
	// Admission is a hash of the mutating webhooks and policies that see objects of
	// the kind; empty: none does.
	Admission string `json:"admission,omitempty"`
}

// Known reports whether the object is known unchanged while the check is the same.
func (c Check) Known() bool { return c.Server != "" }

// Find returns the object with the address, or nil.
func (s *State) Find(address string) *Object {
	for i := range s.Objects {
		if s.Objects[i].Address == address {
			return &s.Objects[i]
		}
	}
	return nil
}

// isFresh reports whether the state was never written.
func (s *State) isFresh() bool { return s.Lineage == "" && s.Serial == 0 }

// CheckCluster returns a *ClusterError when the state belongs to another cluster
// than the one with the given UID of its namespace kube-system; server, its URL,
// is only to show. A state that was never written belongs to none.
func (s *State) CheckCluster(uid, server string) error {
	if s.Cluster.UID == "" || s.Cluster.UID == uid {
		return nil
	}
	return &ClusterError{What: "state", Owner: s.Cluster, Connected: Cluster{UID: uid, Server: server}}
}

// CheckCloud returns a *CloudError when the state belongs to another cloud. A
// state that was never written belongs to none.
func (s *State) CheckCloud(name string) error {
	if s.Cloud == "" || s.Cloud == name {
		return nil
	}
	return &CloudError{State: s.Cloud, Configured: name}
}
