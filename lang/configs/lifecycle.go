package configs

import (
	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/addrs"
)

// Lifecycle says how kolla treats objects, beyond making them what is declared.
type Lifecycle struct {
	PreventDestroy bool        // a plan that would delete or replace one is refused
	IgnoreFields   []FieldRule // not sent for objects that exist
	YieldTo        []string    // field managers that may have any field; `*` at the end stands for any rest
	ForceConflicts bool        // take every field from whoever owns it
	ForceFrom      []FieldRule // take these fields, or those of these managers
	// ReplaceTriggeredBy is what a change of replaces the workloads and jobs of a service,
	// or the objects of a manifest.
	ReplaceTriggeredBy []addrs.Target
	// Range is where prevent_destroy is said; else where the block begins.
	Range hcl.Range
}

// Empty reports whether nothing is said.
func (l Lifecycle) Empty() bool {
	return !l.PreventDestroy && len(l.IgnoreFields) == 0 && len(l.YieldTo) == 0 && !l.ForceConflicts && len(l.ForceFrom) == 0 && len(l.ReplaceTriggeredBy) == 0
}

// FieldRule is one entry of a list of fields. Of ForceFrom one that is the name of
// a field manager, and no path, has no Path.
type FieldRule struct {
	Text  string
	Path  addrs.FieldPath
	Range hcl.Range // of the entry, or of the list that it is in
}

// Reason says why a service, manifest or secret needs another one.
type Reason struct {
	Needs     string // address, as in Needs
	DependsOn bool   // it stands in depends_on, and nothing else refers to it
	Through   string // what the reference is to, where that needs the other in turn: "local.url"
	Range     hcl.Range
}
