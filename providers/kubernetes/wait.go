package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"time"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
)

const (
	// grace is how long an object may take before anybody asks why.
	grace = 3 * time.Second
	// examinationPause is between looks at the pods of what is not ready.
	examinationPause = 5 * time.Second
	// examinationTimeout bounds one look.
	examinationTimeout = 5 * time.Second
	// hope is how long what is hopeless is waited for all the same: an image may be
	// on its way to the registry.
	hope = 30 * time.Second
)

// Wait returns when the object is ready (kstatus; a Job: complete; a claim: bound,
// or bound as soon as a pod uses it), or when it is certain that it will not be,
// with the reason in the error (a *providers.NotReadyError), or when the context
// ends: at a deadline, with a *providers.NotReadyError that says what is known; on
// cancellation, with the context's error. It calls report with what it is waiting
// for whenever that changes, and with what is wrong within seconds of the cluster
// knowing; report may be nil.
func (w *Writer) Wait(ctx context.Context, ref providers.Ref, report func(status string)) error {
	where, err := w.settled(ctx, ref)
	if err != nil {
		return fmt.Errorf("wait for %s: %w", ref, err)
	}
	guest := w.lookouts.join(ctx, where, ref.Namespace, ref.Name, w.written(ref))
	defer guest.leave()
	vigil := &vigil{writer: w, scene: w.lookouts.scene(), ref: ref, report: report, status: "it is not ready yet"}
	defer vigil.scene.leave()
	examination := time.NewTimer(grace)
	defer examination.Stop()
	for {
		select {
		case <-ctx.Done():
			return vigil.interrupted(ctx)
		case <-guest.news:
			if ctx.Err() != nil {
				return vigil.interrupted(ctx)
			}
			seen, ok := guest.look()
			if !ok {
				continue
			}
			if seen.err != nil {
				return fmt.Errorf("wait for %s: %w", ref, seen.err)
			}
			if done, err := vigil.see(ctx, seen.object); done || err != nil {
				return err
			}
		case <-examination.C:
			ready := vigil.examine(ctx, false)
			vigil.tell()
			if ready {
				return nil
			}
			if vigil.hopeless() {
				failure := vigil.notReady()
				failure.Final = true
				return failure
			}
			examination.Reset(examinationPause)
		}
	}
}

// vigil is one wait for one object.
type vigil struct {
	writer *Writer
	scene  *scene
	ref    providers.Ref
	report func(string)

	object  *unstructured.Unstructured // as last seen
	status  string                     // what is waited for
	down    []string                   // nodes that are not waited for
	finding *finding                   // what is wrong, if that is known
	told    string                     // the last report
	// hopelessSince is when what is wrong was first found to be hopeless.
	hopelessSince time.Time
	logged        logged
	over          bool // it has failed
}

// logged is the last log that was read.
type logged struct {
	of    container
	lines []string
}

// container is one run of a container.
type container struct {
	pod, name string
	restarts  int32
	previous  bool
}

// see judges the object, nil when there is none.
func (v *vigil) see(ctx context.Context, object *unstructured.Unstructured) (done bool, err error) {
	if object == nil {
		return false, &providers.NotReadyError{Ref: v.ref, Reason: "there is no such object", Final: true}
	}
	v.object = object
	now, err := assess(object)
	if err != nil {
		return false, err
	}
	if now.failed {
		v.status = now.status
		return false, v.failed(ctx)
	}
	if now.ready || v.bindsLater(ctx) {
		return true, nil
	}
	v.status = now.status
	v.tell()
	return false, nil
}

// tell reports what is wrong, or else what is waited for.
func (v *vigil) tell() {
	text := v.status
	if v.finding != nil {
		text = v.finding.reason
	} else if len(v.down) > 0 {
		text += "; " + areDown(v.down) + ", and not waited for"
	}
	if v.report != nil && text != v.told {
		v.told = text
		v.report(text)
	}
}

// examine looks for the cause of the wait. It returns true if nodes that are down are the
// only cause. It only helps the reader: it leaves out objects that it cannot read.
// At the end of a wait it looks closer.
func (v *vigil) examine(ctx context.Context, end bool) (ready bool) {
	if v.object == nil {
		return false
	}
	about := inquiry{surroundings: v.scene, log: func(ctx context.Context, namespace string, found *finding) []string {
		return v.log(ctx, namespace, found, end)
	}}
	kind := v.object.GroupVersionKind().GroupKind()
	if v.over && kind == providers.JobKind {
		about.surroundings = v.writer.client // a watch may see the end of the pods later
	}
	ctx, cancel := context.WithTimeout(withVerb(quiet(ctx), verbGet), examinationTimeout)
	defer cancel()
	var stuck *finding
	if kind == daemonSetKind {
		ready, v.down, stuck, _ = about.downNodes(ctx, v.object)
	}
	if ready {
		v.finding = nil
		return true
	}
	found, err := about.diagnose(ctx, v.object)
	if err != nil {
		return false
	}
	if found == nil {
		found = stuck
	}
	v.finding = found
	return false
}

// log reads a log that explains a finding. What a container has written that has ended is
// read at once, and once: it may be gone later. The log of one that runs is read at the end
// of the wait.
func (v *vigil) log(ctx context.Context, namespace string, found *finding, end bool) []string {
	ended := found.cause == causeCrash || found.cause == causeExit
	of := container{found.pod, found.container, found.restarts, found.previous}
	if ended && of == v.logged.of {
		return v.logged.lines
	}
	if !ended && !end {
		return nil
	}
	v.logged = logged{of, v.writer.client.log(ctx, namespace, found)}
	return v.logged.lines
}

// hopeless reports whether waiting longer is of no use.
func (v *vigil) hopeless() bool {
	switch {
	case v.finding == nil || !v.finding.hopeless:
		v.hopelessSince = time.Time{}
	case v.hopelessSince.IsZero():
		v.hopelessSince = time.Now()
	}
	return !v.hopelessSince.IsZero() && time.Since(v.hopelessSince) >= hope
}

// failed is the error for an object that will not become ready. What the pods
// had to say may be gone with them: then the last examination counts.
func (v *vigil) failed(ctx context.Context) error {
	if v.object.GetDeletionTimestamp() != nil {
		return &providers.NotReadyError{Ref: v.ref, Reason: v.status, Final: true}
	}
	before := v.finding
	v.over = true
	v.examine(ctx, true)
	if v.finding == nil {
		v.finding = before
	}
	failure := v.notReady()
	failure.Final = true
	failure.Late = v.object.GroupVersionKind().GroupKind() == deploymentKind
	if v.finding != nil {
		failure.Reason = v.status + ": " + v.finding.reason
	}
	return failure
}

// interrupted is the error for a wait whose context has ended.
func (v *vigil) interrupted(ctx context.Context) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("wait for %s: %w", v.ref, ctx.Err())
	}
	if v.examine(context.WithoutCancel(ctx), true) {
		return nil
	}
	return v.notReady()
}

func (v *vigil) notReady() *providers.NotReadyError {
	if v.finding == nil {
		return &providers.NotReadyError{Ref: v.ref, Reason: v.status}
	}
	return &providers.NotReadyError{Ref: v.ref, Reason: v.finding.reason, Detail: v.finding.detail}
}

// bindsLater reports whether the object is a claim that gets its volume when the
// first pod uses it: waiting for it would be waiting for what waits for it. Where nobody
// may say so, it is not waited for either.
func (v *vigil) bindsLater(ctx context.Context) bool {
	class := field(v.object, "spec", "storageClassName")
	if v.object.GroupVersionKind().GroupKind() != providers.ClaimKind || class == "" {
		return false
	}
	return v.writer.bindsLate(ctx, class)
}

// bindsLate asks once for each storage class.
func (w *Writer) bindsLate(ctx context.Context, class string) bool {
	w.mu.Lock()
	late, known := w.late[class]
	w.mu.Unlock()
	if known {
		return late
	}
	ref := providers.Ref{GVK: storagev1.SchemeGroupVersion.WithKind("StorageClass"), Name: class}
	target, err := w.client.target(ctx, ref)
	if err != nil {
		return false
	}
	found, err := w.client.get(ctx, target, class)
	var permission *providers.PermissionError
	switch {
	case errors.As(err, &permission):
		late = true
	case err != nil:
		return false
	default:
		late = field(found, "volumeBindingMode") == string(storagev1.VolumeBindingWaitForFirstConsumer)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.late[class] = late
	return late
}
