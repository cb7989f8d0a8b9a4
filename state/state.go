// Package state stores which objects kolla created, and from which declarations. It stores
// no content of objects, which can be read from the cluster. The only values in it are
// those of outputs that are not sensitive.
//
// A plan reads the state without a lock:
//
//	store := state.Open(state.DefaultFile)
//	st, err := store.Read()
//
// A command that changes the state takes the lock and writes through a [Session]. It announces
// each object before it writes the object to the cluster:
//
//	session, err := store.Lock(ctx, state.LockInfo{Operation: "apply", Version: version}, time.Minute)
//	if err != nil {
//		return err
//	}
//	st := session.State() // make the plan from it
//	err = session.Begin(state.Run{Plan: id, Cloud: cloud, Cluster: cluster, Lineage: st.Lineage, Serial: st.Serial})
//	err = session.Intend(object) // durable when it returns
//	// Write the object to the cluster, and note its UID.
//	err = session.Record(object)
//	err = session.Close() // saves the state and releases the lock
//
// [New] opens a state that another [Backend] keeps, such as package state/cluster.
//
// Mistakes to avoid:
//
//   - Writing to the cluster after an error of [Session.Begin] or [Session.Intend]. The state
//     would not know the object if the process were killed.
//   - Making the plan from a state that was read before [Store.Lock]. Begin refuses it with a
//     [*StaleError] if the state has changed since.
//   - Changing the result of [Session.State]. It is a copy; only the methods of Session save.
//   - Ignoring the error of [Session.Close]. The state may not be saved then. The journal keeps
//     the steps for the next Lock.
//   - Deleting a file after a [*DamagedError]. [Store.Salvage] starts from the newest usable
//     backup.
package state

import (
	"slices"
	"time"
)

// Format is the version of the file's structure that this kolla writes, and the
// newest that it reads.
const Format = 1

// State is kolla's record of one cloud in one cluster.
type State struct {
	Format  int     `json:"format"`
	Serial  uint64  `json:"serial"`  // grows by one with every write that changes something
	Lineage string  `json:"lineage"` // UUID, given at the first write, never changed
	Tool    string  `json:"tool"`    // version of kolla that wrote it
	Cloud   string  `json:"cloud"`
	Cluster Cluster `json:"cluster"`
	// Objects are sorted by address.
	Objects []Object `json:"objects"`
	// Outputs, sorted by name, and Checks are those of the last complete apply.
	Outputs []Output      `json:"outputs,omitempty"`
	Checks  []CheckResult `json:"checks,omitempty"`
	// Plans are the IDs of the last applied plans, oldest first. A plan is applied only
	// once.
	Plans []string `json:"plans,omitempty"`
	// History has the last applies, oldest first.
	History []Apply `json:"history,omitempty"`
}

// Cluster identifies the cluster that the state belongs to.
type Cluster struct {
	UID    string `json:"uid"`    // of the namespace kube-system
	Server string `json:"server"` // URL at the last write; only for messages
}

// Object is one object that kolla made, or of which it owns fields. An object without a
// UID was about to be created by an apply that was killed. It may exist or not; a live
// object of that name is the same one if it carries Token.
type Object struct {
	Address    string `json:"address"`
	APIVersion string `json:"api_version"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
	// Token is the random token of a creation whose result is not recorded yet. The
	// created object carries the token in an annotation.
	Token string `json:"token,omitempty"`
	// Carried is the token that the object has carried since its creation. It proves nothing, but
	// its absence shows that somebody removed it.
	Carried       string    `json:"carried,omitempty"`
	Family        string    `json:"family,omitempty"` // address without the hash, of a versioned object
	DependsOn     []string  `json:"depends_on,omitempty"`
	Partial       bool      `json:"partial,omitempty"`
	Holds         string    `json:"holds,omitempty"`
	Protected     string    `json:"protected,omitempty"` // place of prevent_destroy: "cloud.hcl:12"
	Stage         string    `json:"stage,omitempty"`     // of an upgrade: see configs.Stages
	Yields        []Yield   `json:"yields,omitempty"`    // declared fields that are left to others
	DesiredDigest string    `json:"desired"`             // hash of the desired object at the last apply
	RunDigest     string    `json:"runs,omitempty"`      // hash of what the pods of a Job do
	Ready         bool      `json:"ready"`               // seen ready after the last write; of a Job: complete
	Applied       time.Time `json:"applied"`             // last write
	// Deleting: its deletion was begun, perhaps as a part of a replacement, and the result is
	// not recorded.
	Deleting bool `json:"going,omitempty"`
	// Cleaned: its pods were told to clean their nodes before the deletion.
	Cleaned bool `json:"cleaned,omitempty"`
	// Left: a volume that stayed when its StatefulSet was deleted. It is not declared. A
	// destroy may delete it while it has the recorded UID.
	Left bool `json:"left,omitempty"`
	// Fingerprint describes the object as it was when the server last applied Desired, or last
	// said that there was nothing to do; zero if that is not known.
	Fingerprint Fingerprint `json:"check,omitzero"`
}

// clone returns a copy that shares nothing with the original.
func (o Object) clone() Object {
	o.DependsOn = slices.Clone(o.DependsOn)
	o.Yields = slices.Clone(o.Yields)
	return o
}

// Yield is a declared field that is left to another program.
type Yield struct {
	Path    string `json:"path"`
	Manager string `json:"manager,omitempty"` // empty: nobody
}

// Fingerprint describes an object and its server. While the description stays the same, the
// object is unchanged, and the server need not be asked. Values of Secrets are not a part
// of it.
type Fingerprint struct {
	Owned string `json:"owned"` // hash of the live object and of the set of fields that kolla owns
	// Server is the version of the server; empty: the result of another apply is not
	// certain, and the fingerprint proves only that nobody has added anything to the object.
	Server string `json:"server,omitempty"`
	// Admission is a hash of the mutating webhooks and policies that apply to the object;
	// empty: none does.
	Admission string `json:"admission,omitempty"`
	// Stamp is the time at which the server last noted an apply of kolla's field manager, in
	// RFC 3339; empty: it is not known. Writes of other managers do not change it.
	Stamp string `json:"stamp,omitempty"`
}

// Known reports whether the object is unchanged while its fingerprint stays the same.
func (f Fingerprint) Known() bool { return f.Server != "" }

// Equal reports whether two fingerprints describe the same object on the same server. The time of
// the last apply does not count: one apply may have changed a field, and another one may have
// changed it back.
func (f Fingerprint) Equal(other Fingerprint) bool {
	f.Stamp, other.Stamp = "", ""
	return f == other
}

// Find returns the object with the address, or nil.
func (s *State) Find(address string) *Object {
	for i := range s.Objects {
		if s.Objects[i].Address == address {
			return &s.Objects[i]
		}
	}
	return nil
}

// Fresh reports whether the state has never been written.
func (s *State) Fresh() bool { return s.Lineage == "" && s.Serial == 0 }

// CheckCluster returns a *ClusterError if the state belongs to another cluster. uid is
// the UID of the cluster's namespace kube-system. server, the URL, is only for the message.
// A state that was never written belongs to no cluster.
func (s *State) CheckCluster(uid, server string) error {
	if s.Cluster.UID == "" || s.Cluster.UID == uid {
		return nil
	}
	return &ClusterError{What: "state", Owner: s.Cluster, Connected: Cluster{UID: uid, Server: server}}
}

// CheckCloud returns a *CloudError if the state belongs to another cloud. A state that
// was never written belongs to no cloud.
func (s *State) CheckCloud(name string) error {
	if s.Cloud == "" || s.Cloud == name {
		return nil
	}
	return &CloudError{State: s.Cloud, Configured: name}
}
