// Package drift says what others changed in the objects of a cloud, and since when that is
// known.
//
// Of reads a refresh-only plan. History remembers the drift of earlier looks: History.Add
// compares it with a new one. A history has no values of fields, only hashes. A Storage keeps
// it; File does so beside the state.
package drift

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/report/effects"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// Look is the result of one look at the cluster. It has no secret values.
type Look struct {
	Cloud, Server string
	Tool          string    // the version of kolla
	At            time.Time // when it began, UTC
	Took          time.Duration
	Requests      int // to the API server
	// Declared counts the objects that were compared, or could not be.
	Declared int
	// Services has the names of all services with such objects, sorted. A block that is not
	// a service has its address, such as "manifest.note".
	Services    []string
	Fields      []Field // sorted by address and path
	NotCompared []NotCompared
	// Pending counts the objects that the configuration changes; see
	// plans.Plan.ConfigChanges.
	Pending int
	// Readers counts the objects that would change because they use values of Secrets that others
	// deleted or replaced; see plans.Plan.SecretChanges.
	Readers int
	// Certificates are those in Secrets of the cloud, sorted by their ends.
	Certificates []Certificate
	// Orphans are the objects that kolla does not manage. It is nil if they were not requested.
	Orphans *Orphans
}

// Field is a difference that others made.
type Field struct {
	Address addrs.Object
	Ref     providers.Ref
	// Path has the form of plans.Change.Path; empty: the whole object was deleted.
	Path   string
	Change Change
	// Before is the value that kolla wrote, and After the live one. Nil: there is none.
	Before, After any
	Sensitive     bool // Before and After are masked
	// Manager is the field manager that wrote the field, and Written the time; zero: the
	// server did not record them.
	Manager string
	Written time.Time
	// Registered: the field is one of an entry on the server of this product, "Keystone", which the Job
	// registers.
	Registered string
	// Stays: an apply does not revert the field.
	Stays bool
	// Means is the consequence for others, as a sentence; empty: none is known.
	Means string
	// Since is the time of the look that first found it. History.Add sets it.
	Since time.Time
}

// Change says what others did to a field. The zero value is invalid.
type Change string

// The changes.
const (
	Changed Change = "changed"
	Added   Change = "added"
	Removed Change = "removed"
	Deleted Change = "deleted" // the whole object
)

// NotCompared is an object that could not be compared.
type NotCompared struct {
	Address addrs.Object
	Why     string
	Advice  string // how to get an answer; may be empty
}

// Of reads a refresh-only plan. Its changes are those of other clients.
func Of(plan *plans.Plan) *Look {
	look := &Look{
		Cloud: plan.Cloud, Server: plan.Cluster.Server, Tool: plan.Tool, At: plan.Created, Took: plan.Elapsed,
		Declared: plan.Tally().All(), Pending: plan.ConfigChanges, Readers: plan.SecretChanges,
	}
	for i := range plan.Actions {
		a := &plan.Actions[i]
		look.Services = append(look.Services, Service(a.Address))
		if a.NotCompared() {
			look.NotCompared = append(look.NotCompared, NotCompared{a.Address, a.Evidence.Detail, a.Evidence.Advice})
		}
		look.add(a.Address, a.Ref, a.Drift())
	}
	for i := range plan.Foreign {
		f := &plan.Foreign[i]
		look.add(f.Address, f.Ref, f.Drift())
	}
	look.explain(plan)
	slices.Sort(look.Services)
	look.Services = slices.Compact(look.Services)
	slices.SortStableFunc(look.Fields, func(a, b Field) int {
		return cmp.Or(a.Address.Compare(b.Address), cmp.Compare(a.Path, b.Path))
	})
	look.Fields = slices.CompactFunc(look.Fields, func(a, b Field) bool { return a.Address == b.Address && a.Path == b.Path })
	return look
}

// explain adds what missing labels of nodes mean for the pods there.
func (l *Look) explain(plan *plans.Plan) {
	for _, i := range plan.Impact {
		for _, e := range i.Effects {
			at := slices.IndexFunc(l.Fields, func(f Field) bool {
				return f.Ref == e.Ref && f.Change != Added && strings.HasPrefix(f.Path, "metadata.labels")
			})
			if e.Kind == plans.EffectNodePods && at >= 0 {
				l.Fields[at].Means = effects.NodePods(e)
			}
		}
	}
}

// add adds the differences of an object.
func (l *Look) add(address addrs.Object, ref providers.Ref, all []plans.Drift) {
	for _, d := range all {
		f := Field{
			Address: address, Ref: ref, Path: d.Path, Change: Changed, Before: d.Before, After: d.After,
			Sensitive: d.Sensitive, Manager: d.Manager, Written: d.Time, Registered: d.Registered, Stays: d.Stays,
		}
		switch {
		case d.Gone:
			f.Change = Deleted
		case d.Before == nil && d.After != nil:
			f.Change = Added
		case d.Before != nil && d.After == nil:
			f.Change = Removed
		}
		l.Fields = append(l.Fields, f)
	}
}

// Service returns the service of an object. An object of another block has the address of its
// block.
func Service(address addrs.Object) string { return strings.TrimPrefix(address.Block, "service.") }

// Objects counts the objects that others changed, by service.
func (l *Look) Objects() map[string]int {
	out := map[string]int{}
	for i, f := range l.Fields {
		if i == 0 || l.Fields[i-1].Address != f.Address {
			out[Service(f.Address)]++
		}
	}
	return out
}

// Drifted returns the number of objects that others changed.
func (l *Look) Drifted() int {
	n := 0
	for _, objects := range l.Objects() {
		n += objects
	}
	return n
}

// Oldest returns the time since when the oldest drift is known; zero: there is no drift.
func (l *Look) Oldest() time.Time {
	var oldest time.Time
	for _, f := range l.Fields {
		if oldest.IsZero() || f.Since.Before(oldest) {
			oldest = f.Since
		}
	}
	return oldest
}

// Author names the tool that wrote the field, and the time: "by kubectl scale, 2026-11-21
// 02:11 UTC".
func (f Field) Author(zone *time.Location) string {
	switch {
	case f.Registered != "":
		return "in " + f.Registered
	case f.Change == Deleted:
		return "by an unknown client (a deletion leaves no record)"
	case f.Manager == "":
		return "by an unknown client (no field manager recorded)"
	case f.Written.IsZero():
		return "by " + report.Tool(f.Manager)
	}
	return "by " + report.Tool(f.Manager) + ", " + Moment(f.Written, zone)
}

// Moment returns a time in words.
func Moment(t time.Time, zone *time.Location) string {
	if zone == nil {
		zone = time.Local
	}
	return t.In(zone).Format("2006-01-02 15:04 MST")
}
