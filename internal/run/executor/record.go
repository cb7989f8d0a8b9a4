package executor

import (
	"cmp"
	"time"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

// confirmed returns the new record of an object that the plan does not change: its present
// declaration, and the findings of the plan. known is false if the state does not have the
// object.
func confirmed(session *state.Session, a *plans.Action) (record state.Object, known bool) {
	before, known := session.Object(a.Address.String())
	if !known {
		return state.Object{}, false
	}
	record = recordOf(a)
	if record.UID == "" {
		record.UID = before.UID
	}
	record.Applied = before.Applied
	record.Ready = before.Ready || a.Pending
	record.Fingerprint = a.Fingerprint
	record.Fingerprint.Stamp = cmp.Or(record.Fingerprint.Stamp, before.Fingerprint.Stamp)
	return record, true
}

// RecordUnchanged records the findings of a plan about objects that it does not change, so that the
// next plan need not ask the server about them. It costs at most one write to the disk. A
// refresh-only plan does not change these records, because the present declarations were
// not applied.
func RecordUnchanged(session *state.Session, plan *plans.Plan) error {
	if plan.RefreshOnly {
		return nil
	}
	var records []state.Object
	for i := range plan.Actions {
		a := &plan.Actions[i]
		if a.Verb != plans.None || a.Pending || a.Object != nil && len(a.Object.Deferred) > 0 {
			continue
		}
		if record, known := confirmed(session, a); known {
			records = append(records, record)
		}
	}
	return session.Record(records...)
}

// leaveVolumes records the volumes that stay when the plan deletes their StatefulSets, because
// nothing in the cluster shows later to which cloud they belong.
func leaveVolumes(session *state.Session, plan *plans.Plan) error {
	var records []state.Object
	for _, kept := range plan.Kept {
		if before, known := session.Object(kept.Address.String()); kept.UID == "" || known && !before.Left {
			continue
		}
		apiVersion, kind := kept.Ref.GVK.ToAPIVersionAndKind()
		records = append(records, state.Object{
			Address: kept.Address.String(), APIVersion: apiVersion, Kind: kind,
			Namespace: kept.Ref.Namespace, Name: kept.Ref.Name,
			UID: string(kept.UID), Holds: kept.Holds, Left: true, Ready: true, Applied: time.Now(),
		})
	}
	return session.Record(records...)
}

// recordOf returns the record of an action's object before the write.
func recordOf(a *plans.Action) state.Object {
	apiVersion, kind := a.Ref.GVK.ToAPIVersionAndKind()
	record := state.Object{
		Address:    a.Address.String(),
		APIVersion: apiVersion,
		Kind:       kind,
		Namespace:  a.Ref.Namespace,
		Name:       a.Ref.Name,
		UID:        string(a.Prior.UID),
		Partial:    a.Partial,
		Carried:    a.Token,
	}
	if a.Object == nil {
		return record
	}
	record.Partial = a.Object.Partial
	record.Holds, record.Stage = a.Object.Holds, a.Object.Stage
	record.DesiredDigest, record.RunDigest = a.Object.Digest(), a.Object.RunDigest()
	if l := a.Object.Lifecycle; l != nil && l.PreventDestroy {
		record.Protected = l.Source
	}
	for _, y := range a.Yields {
		record.Yields = append(record.Yields, y.Known())
	}
	if a.Object.Family != (addrs.Object{}) {
		record.Family = a.Object.Family.String()
	}
	for _, dependency := range a.Object.DependsOn {
		record.DependsOn = append(record.DependsOn, dependency.String())
	}
	return record
}
