package outcome

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/planner/plans"
)

// OlderState warns of a state that is older than the last writes under kolla's own name: an old
// copy of the file, or an apply with another state. What those writes changed looks like drift.
func OlderState(outcomes []*Outcome) []plans.Problem {
	var names []string
	var last, recorded time.Time
	for _, o := range outcomes {
		if o.Record == nil {
			continue
		}
		known := recordedAt(o.Record.State.Fingerprint.Stamp, o.Record.State.Applied)
		if known.After(recorded) {
			recorded = known
		}
		at := appliedAt(o.Live, o.Manager)
		if !driftOfNobody(o) || !at.After(known) {
			continue
		}
		names = append(names, o.Object.Address.String())
		if at.After(last) {
			last = at
		}
	}
	if len(names) == 0 || !last.After(recorded) {
		return nil
	}
	return []plans.Problem{{
		Warning: true, Summary: "The state is older than what was written under kolla's name",
		Detail: fmt.Sprintf("kolla's field manager last wrote at %s, and the newest record of this state is of %s. This concerns %s: %s. "+
			"If this is an old copy of the state, these changes are kolla's own and no drift: get the newest state back, or make it anew with `kolla state rebuild`. "+
			"If it is not, somebody applied with another state, or wrote under the name of kolla.",
			last.UTC().Format("2006-01-02 15:04:05 UTC"), recorded.UTC().Format("2006-01-02 15:04:05 UTC"), words.Count(len(names), "object"), words.Few(names, 4)),
	}}
}

// clockSkew is how far the clocks of the server and of a machine that runs kolla may be apart.
const clockSkew = time.Minute

// recordedAt returns the time of the last apply that a record knows of: the stamp of the server, or
// else the time of the client, as late as it can be by the clock of the server.
func recordedAt(stamp string, applied time.Time) time.Time {
	if at, err := time.Parse(time.RFC3339, stamp); err == nil {
		return at
	}
	return applied.Add(clockSkew)
}

// driftOfNobody reports whether the object has changes that no other field manager made.
func driftOfNobody(o *Outcome) bool {
	return slices.ContainsFunc(o.Action.Changes, func(c plans.Change) bool { return c.Drift && (c.Manager == "" || c.Manager == o.Manager) })
}

// appliedAt returns the time of the last apply by a manager; zero: there was none.
func appliedAt(live *unstructured.Unstructured, manager string) time.Time {
	if live == nil {
		return time.Time{}
	}
	for _, entry := range live.GetManagedFields() {
		if entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" && entry.Time != nil {
			return entry.Time.Time
		}
	}
	return time.Time{}
}
