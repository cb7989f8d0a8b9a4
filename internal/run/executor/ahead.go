package executor

import (
	"sync"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/state"
)

// intents are the intents that were recorded before the first write of an apply. If the state
// is in the cluster, each record takes a request, and one request for all creations and
// updates replaces one for each. A kill then leaves more intents than objects that were
// begun. They are true all the same: the object of an intent may exist or not.
//
// Deletions, replacements and adoptions are not among them. Their intents say more than that.
type intents struct {
	mu   sync.Mutex
	open map[addrs.Object]pendingIntent
}

// pendingIntent is an intent whose action has not begun.
type pendingIntent struct {
	token  string
	before state.Object // the record before the intent
	known  bool         // there was a record before
}

// recordIntents records the intents of a plan.
func recordIntents(session *state.Session, plan *plans.Plan, held map[addrs.Object]error) (*intents, error) {
	in := &intents{open: map[addrs.Object]pendingIntent{}}
	if !session.Remote() {
		return in, nil
	}
	var records []state.Object
	for i := range plan.Actions {
		a := &plan.Actions[i]
		if a.Object == nil || held[a.Address] != nil {
			continue
		}
		record, e := recordOf(a), pendingIntent{}
		switch a.Verb {
		case plans.Create, plans.Run:
			e.token = trust.NewToken()
		case plans.Update:
		default:
			continue
		}
		e.before, e.known = session.Object(record.Address)
		record.Token = e.token
		in.open[a.Address] = e
		records = append(records, record)
	}
	return in, session.Intend(records...)
}

// begin removes the intent of an action, because the action now records its own steps. ok is false
// if no intent was recorded ahead.
func (in *intents) begin(a addrs.Object) (e pendingIntent, ok bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	e, ok = in.open[a]
	delete(in.open, a)
	return e, ok
}

// token returns the token of a creation with an intent; empty: there is no intent.
func (in *intents) token(a addrs.Object) string {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.open[a].token
}

// retract removes the intents of actions that never began.
func (in *intents) retract(session *state.Session) error {
	var before []state.Object
	var unknown []string
	for address, e := range in.open {
		if e.known {
			before = append(before, e.before)
		} else {
			unknown = append(unknown, address.String())
		}
	}
	if err := session.Record(before...); err != nil {
		return err
	}
	return session.Forget(unknown...)
}
