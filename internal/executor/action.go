package executor

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/crash"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// visit carries out one action of the plan. Where there is nothing to do and
// nothing to wait for, nobody is told.
func (r *run) visit(ctx context.Context, index int, idle func()) error {
	action := &r.plan.Actions[index]
	s := &step{
		run:     r,
		action:  action,
		outcome: &r.outcomes[index],
		waits:   r.waitsFor(index),
		idle:    idle,
		started: time.Now(),
	}
	if why := r.Held[action.Address]; why != nil {
		r.tell(planner.Event{Action: action, Kind: planner.Started})
		return s.fail(ctx, why)
	}
	quiet := action.Verb == planner.None && !action.Pending && !s.waits
	if !quiet {
		if err := r.reachable(ctx); err != nil {
			return s.fail(ctx, err)
		}
		s.started = time.Now()
		r.tell(planner.Event{Action: action, Kind: planner.Started})
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
		r.tell(planner.Event{Action: action, Kind: planner.Done, Ready: s.waits, Elapsed: s.outcome.Elapsed})
	}
	return nil
}

// fail takes note of an action that was not done, because of err or because the apply
// was interrupted.
func (s *step) fail(ctx context.Context, err error) error {
	kind := planner.Failed
	s.outcome.Status, s.outcome.Err = Failed, err
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		kind = planner.Interrupted
		s.outcome.Status, s.outcome.Err = Interrupted, ErrInterrupted
	}
	s.tell(planner.Event{Action: s.action, Kind: kind, Begun: !s.started.IsZero(), Elapsed: s.outcome.Elapsed, Err: s.outcome.Err})
	return s.outcome.Err
}

// reachable waits until there is a server to carry out an action.
func (r *run) reachable(ctx context.Context) error {
	if r.Reachable == nil {
		return nil
	}
	return r.Reachable(ctx, r.Timeout)
}

// waitsFor reports whether the action's object has to be waited for. A Job that
// was seen complete is over for good, even if the cluster has cleaned it up since.
func (r *run) waitsFor(index int) bool {
	action := &r.plan.Actions[index]
	switch {
	case action.Object == nil || becomesReadyAtOnce(action.Object):
		return false
	case action.Verb == planner.None && !action.Pending:
		return r.checked[index] && !action.Object.Run()
	default:
		return true
	}
}

// step is one action under way.
type step struct {
	*run
	action  *planner.Action
	outcome *Outcome
	started time.Time
	waits   bool // until the object is ready
	moved   bool // others changed the object since it was planned against
	idle    func()
}

// manager is the field manager that the object is applied by.
func (s *step) manager(partial bool) string { return providers.ManagerOf(s.plan.Cloud, partial) }

func (s *step) do(ctx context.Context) error {
	switch s.action.Verb {
	case planner.None:
		if s.plan.RefreshOnly {
			return nil
		}
		return s.confirm(ctx)
	case planner.Refresh:
		return s.refresh(ctx)
	case planner.Forget:
		return s.forget(ctx)
	case planner.Delete:
		return s.remove(ctx)
	default:
		return s.write(ctx)
	}
}

// confirm leaves the object as it is, and takes down what the configuration now
// says of it: its dependencies count when it is deleted one day. An object that
// the state does not have stays unknown to it.
func (s *step) confirm(ctx context.Context) error {
	if s.waits {
		if err := s.wait(ctx); err != nil {
			return err
		}
	}
	record, known := confirmed(s.Session, s.action)
	if !known {
		return nil
	}
	record.Ready = record.Ready || s.waits
	return s.Session.Record(record)
}

// glance is how long a refresh looks at an object to see whether it is ready.
const glance = 5 * time.Second

// refresh takes over into the state which object it is, and whether it is ready
// now. That it is not is no failure. What the configuration says of an object that
// the state knows counts only once it is applied.
func (s *step) refresh(ctx context.Context) error {
	record, known := s.Session.Object(s.action.Address.String())
	if !known {
		record = recordOf(s.action)
	}
	record.UID, record.Token = string(s.action.Prior.UID), ""
	record.Ready = true
	if s.waits {
		ctx, cancel := context.WithTimeout(ctx, glance)
		defer cancel()
		err := s.Writer.Wait(ctx, s.action.Ref, nil)
		var notReady *providers.NotReadyError
		record.Ready = err == nil
		if err != nil && !errors.As(err, &notReady) && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
	}
	return s.Session.Record(record)
}

// write makes the object what is wanted, and waits until it is ready.
func (s *step) write(ctx context.Context) error {
	manifest, err := s.values.resolve(ctx, s.action)
	if err == nil {
		manifest, err = planner.Trim(manifest, s.action.Yields)
	}
	if err != nil {
		return err
	}
	record := recordOf(s.action)
	var live *unstructured.Unstructured
	intent := record
	intent.Going = s.action.Verb == planner.Replace
	intent.Token = s.token()
	manifest = trust.WithToken(manifest, cmp.Or(intent.Token, s.action.Token))
	err = s.journaled(intent, func() (err error) {
		live, err = s.send(ctx, manifest)
		return err
	})
	if err != nil {
		return err
	}
	s.outcome.Written = true
	s.values.keep(s.action.Object, live)
	record.UID = string(live.GetUID())
	record.Applied = time.Now()
	if s.looked() {
		record.Check = s.rules.Written(live, s.manager(s.action.Object.Partial), s.plan.Terms(s.action))
	}
	record.Ready = !s.waits
	if err := s.Session.Record(record); err != nil || record.Ready {
		return err
	}
	if err := s.wait(ctx); err != nil {
		return err
	}
	record.Ready = true
	return s.Session.Record(record)
}

// looked reports whether somebody has looked for what others added to the object, in the
// version that was written to: of a new object there is nothing to look for. Otherwise
// the next plan looks.
func (s *step) looked() bool {
	switch s.action.Verb {
	case planner.Create, planner.Run, planner.Replace:
		return true
	}
	return s.action.Evidence.Kind == planner.DryRun && !s.action.Reported && !s.moved
}

// token is a new one for what the action creates; empty: it creates nothing. The journal
// has it before the object does, so that an apply that is killed in between knows the
// object again.
func (s *step) token() string {
	switch s.action.Verb {
	case planner.Create, planner.Run, planner.Replace:
		return trust.NewToken()
	}
	return ""
}

// send applies the manifest: to the object that the plan is about, or where there is
// none, for what is new and for a replacement.
func (s *step) send(ctx context.Context, manifest *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	options := providers.ApplyOptions{
		Manager:      s.manager(s.action.Object.Partial),
		Force:        s.action.Force,
		Precondition: s.action.Prior,
	}
	switch {
	case s.action.Verb == planner.Replace:
		if err := s.delete(ctx); err != nil {
			return nil, err
		}
		options.Precondition, options.New = providers.Precondition{}, true
	case s.action.Object.Partial && !s.action.Force:
		// What others do to the rest of the object, such as the heartbeats of a Node,
		// gives it one version after the other. By force, though, only those fields
		// are taken that the plan shows: somebody may have taken more since.
		options.Precondition.ResourceVersion = ""
	case options.Precondition == providers.Precondition{}:
		options.New = !comesByItself(s.action.Ref)
	}
	ctx, cancel := outlive(ctx, s.Timeout)
	defer cancel()
	return s.apply(ctx, manifest, options)
}

// comesByItself reports whether Kubernetes makes the object as soon as there is its
// namespace, which may be a moment ago.
func comesByItself(ref providers.Ref) bool {
	kind := ref.GVK.GroupKind()
	return kind == serviceAccountKind && ref.Name == "default" || kind == providers.ConfigMapKind && ref.Name == "kube-root-ca.crt"
}

var serviceAccountKind = schema.GroupKind{Kind: "ServiceAccount"}

// remove deletes the object. Of one that kolla only owns fields of, it gives
// these up: an apply that names no field takes away all that were named before.
func (s *step) remove(ctx context.Context) error {
	record := recordOf(s.action)
	known, ok := s.Session.Object(record.Address)
	record.Going = !s.action.Partial && !(ok && known.Partial)
	record.Token = known.Token
	if record.Going && !knows(known, s.action) {
		return &UnknownError{Ref: s.action.Ref}
	}
	var pods *departure
	if record.Going {
		var err error
		if pods, err = s.departs(ctx); err != nil {
			return err
		}
		record.Cleaned = pods != nil
	}
	err := s.journaled(record, func() error {
		if pods != nil {
			if err := pods.clean(ctx); err != nil {
				return err
			}
		}
		if record.Going {
			return s.delete(ctx)
		}
		ctx, cancel := outlive(ctx, s.Timeout)
		defer cancel()
		bare := &unstructured.Unstructured{}
		bare.SetGroupVersionKind(s.action.Ref.GVK)
		bare.SetNamespace(s.action.Ref.Namespace)
		bare.SetName(s.action.Ref.Name)
		_, err := s.Writer.Apply(ctx, bare, providers.ApplyOptions{
			Manager:      s.manager(true),
			Precondition: providers.Precondition{UID: s.action.Prior.UID},
		})
		return err
	})
	if err != nil {
		return err
	}
	s.outcome.Written = true
	if err := s.Session.Forget(record.Address); err != nil || pods == nil {
		return err
	}
	return pods.ended(ctx)
}

// UnknownError says that an object is not deleted, because the state does not have it.
type UnknownError struct{ Ref providers.Ref }

func (e *UnknownError) Error() string {
	return e.Ref.String() + " is not deleted: the state does not know it by its UID; make a new plan"
}

// knows reports whether what the state knows is the object that is to be deleted: that
// is held against the state once more, whatever the plan says. Volumes that a StatefulSet
// asked for have no record.
func knows(known state.Object, a *planner.Action) bool {
	return a.Ref.GVK.GroupKind() == providers.ClaimKind || known.Token != "" || known.UID != "" && known.UID == string(a.Prior.UID)
}

// delete deletes the live object that the action was planned against. What was
// written to it since does not matter; that it is the same one does.
func (s *step) delete(ctx context.Context) error {
	ctx, cancel := outlive(ctx, s.Timeout)
	defer cancel()
	if err := s.vacant(ctx); err != nil {
		return err
	}
	err := s.Writer.Delete(ctx, s.action.Ref, providers.Precondition{UID: s.action.Prior.UID})
	if err == nil {
		s.outcome.Written = true
	}
	return err
}

// journaled takes the intent down, and then writes. When it is certain that
// nothing was written, and that no pod has cleaned its node, the intent is taken back.
func (s *step) journaled(record state.Object, write func() error) error {
	before, known := s.Session.Object(record.Address)
	owed, err := s.Session.Owe(s.action.Family().String(), s.action.Triggers...)
	if err == nil {
		err = s.Session.Intend(record)
	}
	if err != nil {
		return err
	}
	err = write()
	if err == nil || s.outcome.Written || record.Cleaned || !refused(err) {
		return err
	}
	if len(owed) > 0 {
		err = errors.Join(err, s.Session.Waive(s.action.Family().String(), owed...))
	}
	if known {
		return errors.Join(err, s.Session.Record(before))
	}
	return errors.Join(err, s.Session.Forget(record.Address))
}

// refused reports whether the error is the server's word that it has written
// nothing. After any other error the object may have been written.
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

// wait waits until the object is ready. Meanwhile others take its place.
func (s *step) wait(ctx context.Context) error {
	s.idle()
	timeout := s.Timeout
	if o := s.action.Object; o != nil && o.Timeout > 0 {
		timeout = time.Duration(o.Timeout) * time.Second
	}
	if brought(s.action) {
		return s.waitForOthers(ctx, timeout)
	}
	return s.waitFor(ctx, timeout)
}

// waitFor waits for so long.
func (s *step) waitFor(ctx context.Context, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return s.Writer.Wait(ctx, s.action.Ref, s.waiting)
}

// waiting tells what the action waits for.
func (s *step) waiting(status string) {
	s.tell(planner.Event{Action: s.action, Kind: planner.Waiting, Elapsed: time.Since(s.started), Status: status})
}

// outlive returns a context for a write, which is not cut off when ctx ends, but
// given some grace. It ends after timeout in any case.
func outlive(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
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
