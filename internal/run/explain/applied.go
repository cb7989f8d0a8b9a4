package explain

import (
	"errors"
	"strings"

	"kolla.openstack.org/kolla/internal/base/crash"
	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/redaction"
	"kolla.openstack.org/kolla/internal/present/report/applied"
	"kolla.openstack.org/kolla/internal/run/engine"
	"kolla.openstack.org/kolla/internal/run/executor"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
	"kolla.openstack.org/kolla/state"
)

// Applied counts the results of all rounds of an apply, and explains the failures. version
// is the version of kolla. Secret values are not a part of the result.
func Applied(all *engine.ApplyResult, version string, secrets *redaction.Values) applied.Result {
	var total applied.Result
	for _, round := range all.Rounds {
		add(&total, summarizeRound(round, version, secrets))
	}
	for _, a := range all.Waiting {
		s := applied.Skipped{Address: a.Address, Data: []string{}}
		if a.Deferred() {
			s.Data = a.Object.Deferred
		}
		total.Skipped = append(total.Skipped, s)
	}
	if len(all.Rounds) > 0 {
		total.Options = again(all.Rounds[0].Plan)
	}
	if !total.Complete() {
		total.Upgrade = leftUpgrade(all)
	}
	return total
}

// again returns the options that the next apply needs to go on with a plan.
func again(plan *plans.Plan) string {
	var out []string
	for _, option := range plan.Options {
		if option != "-destroy" { // the command says it
			out = append(out, option)
		}
	}
	if plan.RefreshOnly {
		out = append(out, "-refresh-only")
	}
	if plan.Selection.Restricts() {
		out = append(out, plan.Selection.String())
	}
	return strings.Join(out, " ")
}

// add adds the counts of a round.
func add(total *applied.Result, round applied.Result) {
	total.Added += round.Added
	total.Changed += round.Changed
	total.Destroyed += round.Destroyed
	total.Imported += round.Imported
	total.Forgotten += round.Forgotten
	total.Moved += round.Moved
	total.Pruned += round.Pruned
	total.Destroy = round.Destroy
	total.Interrupted = total.Interrupted || round.Interrupted
	total.Messages = append(total.Messages, round.Messages...)
	total.Failed = append(total.Failed, round.Failed...)
	total.Skipped = append(total.Skipped, round.Skipped...)
}

// summarizeRound counts the results of one round. A cause that many actions share is one
// failure, with the addresses of the others.
func summarizeRound(round engine.Round, version string, secrets *redaction.Values) applied.Result {
	result := round.Result
	a := applied.Result{Destroy: round.Plan.Destroy, Interrupted: result.Interrupted, Took: result.Elapsed}
	var done plans.Plan
	known := map[string]int{} // shared causes, and their index in a.Failed
	for _, outcome := range result.Outcomes {
		if len(outcome.Message) > 0 {
			a.Messages = append(a.Messages, message(outcome))
		}
		switch outcome.Status {
		case executor.Applied:
			done.Actions = append(done.Actions, *outcome.Action)
		case executor.Failed:
			if cause := sharedCause(outcome.Err); cause != "" {
				if first, ok := known[cause]; ok {
					a.Failed[first].Others = append(a.Failed[first].Others, outcome.Action.Address)
					continue
				}
				known[cause] = len(a.Failed)
			}
			a.Failed = append(a.Failed, failed(outcome, version, secrets))
		case executor.Interrupted:
			if outcome.Written {
				done.Actions = append(done.Actions, *outcome.Action)
			} else {
				a.Skipped = append(a.Skipped, applied.Skipped{Address: outcome.Action.Address})
			}
		case executor.Skipped:
			a.Skipped = append(a.Skipped, applied.Skipped{Address: outcome.Action.Address, Because: outcome.Because})
		}
	}
	counts := done.Counts()
	a.Added, a.Changed, a.Destroyed = counts.Add, counts.Change, counts.Destroy
	a.Imported, a.Forgotten = counts.Import, counts.Forget
	a.Moved, a.Pruned = counts.Move, counts.Prune
	return a
}

// sharedCause names a cause of failure that many actions can share, because it says nothing about
// one object: a missing permission, a server that does not answer, or a lost lock. It is empty for
// all others.
func sharedCause(err error) string {
	var (
		permission  *providers.PermissionError
		unreachable *kubernetes.UnreachableError
		lost        *state.LockLostError
		bug         *crash.Error
	)
	switch {
	case errors.As(err, &bug):
		return ""
	case errors.As(err, &permission):
		return permission.Error()
	case errors.As(err, &unreachable):
		return unreachable.Server
	case errors.As(err, &lost):
		return lost.Error()
	}
	return ""
}

// message shows what a Job says that succeeded.
func message(outcome executor.Outcome) plans.Problem {
	p := plans.ProblemOf(outcome.Action.Object, "The job succeeded, and gives a warning", strings.Join(outcome.Message, "\n"))
	p.Warning = true
	return p
}

// failed explains the failure of an action.
func failed(outcome executor.Outcome, version string, secrets *redaction.Values) applied.Failed {
	row := applied.Failed{Address: outcome.Action.Address, Reason: outcome.Err.Error(), After: outcome.Elapsed}
	if outcome.Action.Object != nil {
		row.Source = outcome.Action.Object.Source
	}
	var (
		notReady *providers.NotReadyError
		conflict *providers.ConflictError
		bug      *crash.Error
	)
	summary, detail, explained := failure.Explain(outcome.Err)
	switch {
	case errors.As(outcome.Err, &bug):
		row.Reason, row.Advice = crashed(bug, version, secrets)
	case errors.As(outcome.Err, &notReady):
		row.Reason, row.Detail = notReady.Reason, notReady.Detail
	case errors.As(outcome.Err, &conflict):
		row.Reason = "others changed the object since the plan was made"
		for _, c := range conflict.Conflicts {
			row.Detail = append(row.Detail, secrets.Mixed(c.Path)+" by "+secrets.Text(c.Manager))
		}
	case explained:
		row.Reason, row.Advice = summary, detail
	}
	row.Reason, row.Advice = secrets.Mixed(row.Reason), secrets.Mixed(row.Advice)
	return row
}
