package configs

import (
	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/addrs"
)

// Lifecycle has the rules for changes of objects.
type Lifecycle struct {
	PreventDestroy bool        // refuse plans that delete or replace an object
	IgnoreFields   []FieldRule // not sent for existing objects
	YieldTo        []string    // field managers that may keep any field; `*` at the end stands for any rest
	ForceConflicts bool        // take every field from its owner
	ForceFrom      []FieldRule // take these fields, or the fields of these managers
	// ReplaceTriggeredBy: a change of one of these replaces the workloads and jobs of the
	// service, or the objects of the manifest.
	ReplaceTriggeredBy []addrs.Target
	// AllowUnverified: write an object without a dry run if admission denies dry runs.
	AllowUnverified bool
	// Range is the place of prevent_destroy, or else the header of the block.
	Range hcl.Range
}

// Empty reports whether there are no rules.
func (l Lifecycle) Empty() bool {
	return !l.PreventDestroy && len(l.IgnoreFields) == 0 && len(l.YieldTo) == 0 && !l.ForceConflicts && len(l.ForceFrom) == 0 && len(l.ReplaceTriggeredBy) == 0 && !l.AllowUnverified
}

// FieldRule is an entry of a list of fields. The Path of a field manager in ForceFrom is empty.
type FieldRule struct {
	Text  string
	Path  addrs.FieldPath
	Range hcl.Range // of the entry, or of its list
}

// Reason is the reason why a service, manifest or secret needs another block.
type Reason struct {
	Needs     string // address, as in Needs
	DependsOn bool   // in depends_on only
	Through   string // the block in between that refers to Needs: "local.url"; empty: none
	Range     hcl.Range
}
