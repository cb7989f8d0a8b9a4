package executor

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/base/crash"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/state"
)

// visit carries out one action of the plan. An action with nothing to do and nothing to
// wait for sends no events.
func (r *run) visit(ctx context.Context, index int, idle func()) error {
	action := &r.plan.Actions[index]
	s := &step{
		run:     r,
		action:  action,
		outcome: &r.outcomes[index],
		waits:   r.waitsFor(index),
		joins:   r.joins[index],
		idle:    idle,
		started: time.Now(),
	}
	if why := r.options.Held[action.Address]; why != nil {
		r.tell(plans.Event{Action: action, Kind: plans.Started})
		return s.fail(ctx, why)
	}
	quiet := action.Verb == plans.None && !action.Pending && !s.waits
	if !quiet {
		if err := r.reachable(ctx); err != nil {
			return s.fail(ctx, err)
		}
		s.started = time.Now()
		r.tell(plans.Event{Action: action, Kind: plans.Started})
	}
	r.tally.begin()
	err := crash.Catch(func() error { return s.do(ctx) })
	r.tally.end(err == nil && !quiet)
	s.outcome.Elapsed = time.Since(s.started)
	if err != nil {
		return s.fail(ctx, err)
	}
	s.outcome.Status = Applied
	if !quiet {
		r.tell(plans.Event{Action: action, Kind: plans.Done, Ready: s.waits, Status: s.status, Elapsed: s.outcome.Elapsed})
	}
	return nil
}

// fail records that an action failed with err or was interrupted.
func (s *step) fail(ctx context.Context, err error) error {
	kind := plans.Failed
	s.outcome.Status, s.outcome.Err = Failed, err
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		kind = plans.Interrupted
		s.outcome.Status, s.outcome.Err = Interrupted, ErrInterrupted
	}
	s.run.tell(plans.Event{Action: s.action, Kind: kind, Begun: !s.started.IsZero(), Elapsed: s.outcome.Elapsed, Err: s.outcome.Err})
	return s.outcome.Err
}

// reachable waits until the server answers.
func (r *run) reachable(ctx context.Context) error {
	if r.options.Reachable == nil {
		return nil
	}
	return r.options.Reachable(ctx, r.options.Timeout)
}

// waitsFor reports whether the apply waits for the action's object. It does not wait for
// a Job that was once seen complete, which the cluster may have removed since.
func (r *run) waitsFor(index int) bool {
	action := &r.plan.Actions[index]
	switch {
	case action.Grows != "", len(r.joins[index]) > 0:
		return true
	case action.Object == nil || becomesReadyAtOnce(action.Object):
		return false
	case action.Verb == plans.None && !action.Pending:
		return r.checked[index] && !action.Object.IsJob()
	default:
		return true
	}
}

// becomesReadyAtOnce reports whether the object is ready as soon as it is written. A partial object
// is, because only kolla's fields of it matter.
func becomesReadyAtOnce(o *providers.Object) bool {
	return o.Partial || kinds.ReadyAtOnce(o.Manifest)
}

// step is one running action.
type step struct {
	run     *run
	action  *plans.Action
	outcome *Outcome
	started time.Time
	waits   bool     // the step waits until the object is ready
	joins   []string // nodes on which the object gets pods
	idle    func()
	status  string // what the action waited for last; see plans.Event
	claimed bool   // a write has claimed added fields, whether or not its apply succeeded
}

// manager returns the field manager under which objects are applied.
func (r *run) manager(partial bool) string { return providers.ManagerOf(r.plan.Cloud, partial) }

func (s *step) do(ctx context.Context) error {
	switch s.action.Verb {
	case plans.None:
		if s.run.plan.RefreshOnly {
			return nil
		}
		return s.confirm(ctx)
	case plans.Refresh:
		return s.refresh(ctx)
	case plans.Forget:
		return s.forget(ctx)
	case plans.Delete:
		return s.remove(ctx)
	case plans.Update:
		if s.action.Grows != "" {
			return s.grow(ctx)
		}
		return s.write(ctx)
	default:
		return s.write(ctx)
	}
}

// confirm does not change the object. It records the present declaration, because the dependencies
// matter for a later deletion. It does not add an object to the state.
func (s *step) confirm(ctx context.Context) error {
	if s.waits {
		if err := s.wait(ctx); err != nil {
			return err
		}
	}
	record, known := confirmed(s.run.options.Session, s.action)
	if !known {
		return nil
	}
	record.Ready = record.Ready || s.waits
	return s.run.options.Session.Record(record)
}

// refreshWait is how long a refresh waits for an object to be ready.
const refreshWait = 5 * time.Second

// refresh records the UID of the object and whether it is ready now. An object that is not
// ready is not a failure. If the state has the object, refresh does not record its present
// declaration, which was not applied.
func (s *step) refresh(ctx context.Context) error {
	record, known := s.run.options.Session.Object(s.action.Address.String())
	if !known {
		record = recordOf(s.action)
	}
	record.UID, record.Token = string(s.action.Prior.UID), ""
	record.Ready = true
	if s.waits {
		ctx, cancel := context.WithTimeout(ctx, refreshWait)
		defer cancel()
		err := s.run.options.Writer.Wait(ctx, s.action.Ref, providers.WaitOptions{})
		var notReady *providers.NotReadyError
		record.Ready = err == nil
		if err != nil && !errors.As(err, &notReady) && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
	return s.run.options.Session.Record(record)
}

// write applies the object, and waits until it is ready.
func (s *step) write(ctx context.Context) error {
	manifest, err := s.run.values.resolve(ctx, s.action)
	if err == nil {
		manifest, err = fields.Trim(manifest, s.action.Yields)
	}
	if err != nil {
		return err
	}
	record := recordOf(s.action)
	var live *unstructured.Unstructured
	sent := &sending{run: s.run, action: s.action}
	intent := record
	intent.Deleting = s.action.Verb == plans.Replace
	intent.Token = s.run.token(s.action)
	manifest = trust.WithToken(manifest, cmp.Or(intent.Token, s.action.Token))
	err = s.journaled(intent, func() (err error) {
		live, err = s.send(ctx, sent, manifest)
		return err
	})
	if err != nil {
		return err
	}
	s.outcome.Written = true
	s.run.values.keep(s.action.Object, live)
	record.UID = string(live.GetUID())
	record.Applied = time.Now()
	record.Carried = trust.Token(live)
	record.Fingerprint = s.run.rules.Written(live, s.run.manager(s.action.Object.Partial), s.run.terms(s.action))
	if !foreignFieldsChecked(s.action, sent.moved) {
		record.Fingerprint = state.Fingerprint{Stamp: record.Fingerprint.Stamp}
	}
	if s.action.Object.OnlyRemoves() {
		return s.run.options.Session.Forget(record.Address)
	}
	record.Ready = !s.waits
	if err := s.run.options.Session.Record(record); err != nil || record.Ready {
		return err
	}
	if err := s.wait(ctx); err != nil {
		return err
	}
	record.Ready = true
	return s.run.options.Session.Record(record)
}

// foreignFieldsChecked reports whether the plan has searched this version of the object for
// additions by others, who may have moved it since. A new object has none. If it returns
// false, the next plan searches.
func foreignFieldsChecked(a *plans.Action, moved bool) bool {
	return creates(a) || a.Evidence.Kind == plans.DryRun && !a.Reported && !moved
}

// creates reports whether an action makes an object that was not there.
func creates(a *plans.Action) bool {
	return a.Verb == plans.Create || a.Verb == plans.Run || a.Verb == plans.Replace
}

// token returns a new token for an object that the action creates; empty: it creates none.
// The journal has the token before the object exists. If the apply is killed in between,
// the next one recognizes the object by it.
func (r *run) token(a *plans.Action) string {
	if !creates(a) {
		return ""
	}
	return cmp.Or(r.intents.token(a.Address), trust.NewToken())
}

// send applies the manifest to the planned object. For a creation or a replacement, no
// object of that name may exist.
func (s *step) send(ctx context.Context, sent *sending, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	options := providers.ApplyOptions{
		Manager:      s.run.manager(s.action.Object.Partial),
		Force:        s.action.Force,
		Precondition: s.action.Prior,
	}
	switch {
	case s.action.Verb == plans.Replace:
		if err := s.delete(ctx); err != nil {
			return nil, err
		}
		options.Precondition, options.New = providers.Precondition{}, true
	case s.action.Object.Partial && !s.action.Force:
		// Other clients change the rest of the object all the time, such as the heartbeats of a
		// Node, so the write is not bound to a version. A write with Force is, because other
		// clients may own more fields by now than the plan shows.
		options.Precondition.ResourceVersion = ""
	case options.Precondition == providers.Precondition{}:
		options.New = !comesByItself(s.action.Ref)
	}
	ctx, cancel := withGracePeriod(providers.ReportingRetries(ctx, s.waiting), s.run.options.Timeout)
	defer cancel()
	live, err := sent.apply(ctx, manifest, options)
	s.claimed = s.claimed || sent.wrote
	return live, err
}

// comesByItself reports whether Kubernetes creates the object in every new namespace.
func comesByItself(ref providers.Ref) bool {
	kind := ref.GVK.GroupKind()
	return kind == kinds.ServiceAccount && ref.Name == "default" || kind == kinds.ConfigMap && ref.Name == "kube-root-ca.crt"
}

// remove deletes the object, or gives up the fields of it if kolla owns only some.
func (s *step) remove(ctx context.Context) error {
	record := recordOf(s.action)
	known, ok := s.run.options.Session.Object(record.Address)
	record.Token = known.Token
	if s.action.Partial || ok && known.Partial {
		if err := s.journaled(record, func() error { return s.giveUpFields(ctx) }); err != nil {
			return err
		}
		s.outcome.Written = true
		return s.run.options.Session.Forget(record.Address)
	}
	if !isRecorded(known, s.action) {
		return &UnknownError{Ref: s.action.Ref}
	}
	cleanup, err := cleanupFor(ctx, s)
	if err != nil {
		return err
	}
	record.Deleting, record.Cleaned = true, cleanup != nil
	err = s.journaled(record, func() error {
		if cleanup != nil {
			if err := cleanup.clean(ctx); err != nil {
				return err
			}
		}
		return s.delete(ctx)
	})
	if err != nil {
		return err
	}
	if err := s.run.options.Session.Forget(record.Address); err != nil || cleanup == nil {
		return err
	}
	return cleanup.waitForPodsGone(ctx)
}

// giveUpFields applies the object without fields, which removes all fields that were applied
// before.
func (s *step) giveUpFields(ctx context.Context) error {
	ctx, cancel := withGracePeriod(providers.ReportingRetries(ctx, s.waiting), s.run.options.Timeout)
	defer cancel()
	bare := &unstructured.Unstructured{}
	bare.SetGroupVersionKind(s.action.Ref.GVK)
	bare.SetNamespace(s.action.Ref.Namespace)
	bare.SetName(s.action.Ref.Name)
	_, err := s.run.options.Writer.Apply(ctx, bare, providers.ApplyOptions{
		Manager:      s.run.manager(true),
		Precondition: providers.Precondition{UID: s.action.Prior.UID},
	})
	return err
}

// UnknownError reports that an object was not deleted, because the state does not have it.
type UnknownError struct{ Ref providers.Ref }

func (e *UnknownError) Error() string {
	return e.Ref.String() + " is not deleted: the state does not know it by its UID; make a new plan"
}

// isRecorded reports whether the state knows the object that the action deletes. The plan may be
// wrong, so the check is repeated here. Volume claims of a StatefulSet have no record, so they
// count as known.
func isRecorded(known state.Object, a *plans.Action) bool {
	return a.Ref.GVK.GroupKind() == kinds.PersistentVolumeClaim || known.Token != "" || known.UID != "" && known.UID == string(a.Prior.UID)
}

// delete deletes the live object with the planned UID. It does not matter whether the object was
// written since the plan.
func (s *step) delete(ctx context.Context) error {
	ctx, cancel := withGracePeriod(providers.ReportingRetries(ctx, s.waiting), s.run.options.Timeout)
	defer cancel()
	if err := checkNamespaceEmpty(ctx, s.run, s.action); err != nil {
		return err
	}
	err := s.run.options.Writer.Delete(ctx, s.action.Ref, providers.DeleteOptions{
		Precondition: providers.Precondition{UID: s.action.Prior.UID}, Orphan: s.action.KeepsPods,
	})
	if err == nil {
		s.outcome.Written = true
	}
	return err
}

// journaled records the intent, and then calls write. It undoes the intent if it is certain that
// nothing was written and no pod has cleaned its node. A claim does not change fields, but it
// invalidates the fingerprint.
func (s *step) journaled(record state.Object, write func() error) error {
	before, known := s.run.options.Session.Object(record.Address)
	if e, announced := s.run.intents.begin(s.action.Address); announced {
		before, known = e.before, e.known
	}
	if err := s.run.options.Session.Intend(record); err != nil {
		return err
	}
	err := write()
	if err == nil || s.outcome.Written || record.Cleaned || !refused(err) {
		return err
	}
	if known {
		if s.claimed {
			before.Fingerprint = state.Fingerprint{}
		}
		return errors.Join(err, s.run.options.Session.Record(before))
	}
	return errors.Join(err, s.run.options.Session.Forget(record.Address))
}

// refused reports whether the error means that the server has written nothing. After any other
// error the object may have been written.
func refused(err error) bool {
	var (
		conflict     *providers.ConflictError
		precondition *providers.PreconditionError
		moved        *MovedError
		occupied     *OccupiedError
		status       apierrors.APIStatus
	)
	if errors.As(err, &conflict) || errors.As(err, &precondition) || errors.As(err, &moved) || errors.As(err, &occupied) {
		return true
	}
	if !errors.As(err, &status) {
		return false
	}
	code := status.Status().Code
	return code >= 400 && code < 500 && code != http.StatusRequestTimeout && code != http.StatusTooManyRequests
}

// wait waits until the object is ready, and reads the message of a Job. Other actions may run meanwhile.
func (s *step) wait(ctx context.Context) error {
	s.idle()
	err := s.await(ctx)
	if o := s.action.Object; err == nil && o != nil && o.IsJob() && !o.Skipped() {
		s.outcome.Message = s.message(ctx)
	}
	return err
}

// message returns what a Job says, or why that is not known.
func (s *step) message(ctx context.Context) []string {
	lines, err := s.run.options.Writer.Message(ctx, s.action.Ref)
	if err != nil {
		return []string{"The job may have left a message, which cannot be read: " + err.Error()}
	}
	return lines
}

func (s *step) await(ctx context.Context) error {
	timeout := s.run.options.Timeout
	if o := s.action.Object; o != nil && o.Timeout > 0 {
		timeout = time.Duration(o.Timeout) * time.Second
	}
	if brought(s.action) {
		return s.waitForOthers(ctx, timeout)
	}
	return s.waitFor(ctx, timeout)
}

// waitFor waits until the object is ready or timeout has passed.
func (s *step) waitFor(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return s.run.options.Writer.Wait(ctx, s.action.Ref, providers.WaitOptions{Nodes: s.joins, Report: s.waiting})
}

// waiting reports why the action waits: the object is not ready, or a request is repeated.
func (s *step) waiting(status string) {
	s.status = status
	s.run.tell(plans.Event{Action: s.action, Kind: plans.Waiting, Elapsed: time.Since(s.started), Status: status})
}

// withGracePeriod returns a context for a write. It ends a grace period after ctx, so that a write
// that has begun can finish, and after timeout in any case.
func withGracePeriod(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	write, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	stop := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-write.Done():
		}
	})
	return write, func() {
		stop()
		cancel()
	}
}
