package executor

import (
	"slices"

	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/state"
)

// Remember takes down what a plan without anything to do has found out about
// objects that stay as they are: which of their fields are left to others by now,
// so that no plan says it again, and whether they are protected. Where all of that
// is known, the state is not touched.
func Remember(plan *planner.Plan, session *state.Session) error {
	var news []state.Object
	for i := range plan.Actions {
		action := &plan.Actions[i]
		before, known := session.Object(action.Address.String())
		if !known || action.Verb != planner.None {
			continue
		}
		found := recordOf(action)
		if before.Protected == found.Protected && slices.Equal(before.Yields, found.Yields) {
			continue
		}
		before.Protected, before.Yields = found.Protected, found.Yields
		news = append(news, before)
	}
	if len(news) == 0 {
		return nil
	}
	if err := session.Begin(beginning(plan, plan.Cluster.Server)); err != nil {
		return err
	}
	for _, object := range news {
		if err := session.Record(object); err != nil {
			return err
		}
	}
	return nil
}

// beginning is what the state is to know of the run.
func beginning(plan *planner.Plan, server string) state.Run {
	return state.Run{
		Plan:    plan.ID,
		Cloud:   plan.Cloud,
		Cluster: state.Cluster{UID: plan.Cluster.UID, Server: server},
		Lineage: plan.State.Lineage,
		Serial:  plan.State.Serial,
	}
}
