package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/connect"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/readiness"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/resources"
	"kolla.openstack.org/kolla/providers/scheduling"
)

const (
	// grace is the time before the cause of a wait is examined.
	grace = 3 * time.Second
	// examinationPause is the pause between examinations.
	examinationPause = 5 * time.Second
	// examinationTimeout bounds one examination.
	examinationTimeout = 5 * time.Second
	// nodesPause is the pause between examinations while labelled nodes lack a pod.
	nodesPause = time.Second
	// hopelessTimeout is how long a hopeless cause is tolerated: an image may be on its way
	// to the registry.
	hopelessTimeout = 30 * time.Second
)

// Wait waits until the object at a resource is ready. since is the version that this process
// wrote last. See providers.Writer.
func (w *Watches) Wait(ctx context.Context, where resources.Resource, ref providers.Ref, since string, options providers.WaitOptions) error {
	subscriber := w.Subscribe(ctx, where, ref.Namespace, ref.Name, since)
	defer subscriber.Unsubscribe()
	waiter := &waiter{watches: w, source: newWatchedSource(w), ref: ref, nodes: slices.Clone(options.Nodes), report: options.Report, status: "it is not ready yet"}
	defer waiter.source.close()
	examination := time.NewTimer(grace)
	defer examination.Stop()
	for {
		select {
		case <-ctx.Done():
			return waiter.interrupted(ctx)
		case <-subscriber.Changed:
			if ctx.Err() != nil {
				return waiter.interrupted(ctx)
			}
			seen, ok := subscriber.Observe()
			if !ok {
				continue
			}
			if seen.Err != nil {
				return fmt.Errorf("wait for %s: %w", ref, seen.Err)
			}
			if done, err := waiter.assess(ctx, seen.Object); done || err != nil {
				return err
			}
			if len(waiter.nodes) > 0 {
				examination.Reset(nodesPause)
			}
		case <-examination.C:
			if len(waiter.nodes) > 0 && waiter.object != nil { // the watch of pods may be behind
				if done, err := waiter.assess(ctx, waiter.object); done || err != nil {
					return err
				}
			}
			ready := waiter.examine(ctx, false)
			waiter.reportStatus()
			if ready {
				return nil
			}
			if waiter.hopeless() {
				failure := waiter.notReady()
				failure.Final = true
				return failure
			}
			examination.Reset(waiter.pause())
		}
	}
}

// waiter waits for one object.
type waiter struct {
	watches *Watches
	source  *watchedSource
	ref     providers.Ref
	nodes   []string // the nodes of providers.WaitOptions without a ready pod
	report  func(string)

	object   *unstructured.Unstructured // as last seen
	status   string                     // what is missing
	now      readiness.Examination      // the last one
	reported string                     // the last report
	// hopelessSince is the time since which the finding is hopeless.
	hopelessSince time.Time
	logged        logged
	failedForGood bool
}

// logged is the log that was read last.
type logged struct {
	of    container
	lines []string
}

// container identifies one run of a container.
type container struct {
	pod, name string
	restarts  int32
	previous  bool
}

// assess says whether the object is ready; nil: no such object exists.
func (w *waiter) assess(ctx context.Context, object *unstructured.Unstructured) (done bool, err error) {
	if object == nil {
		return false, &providers.NotReadyError{Ref: w.ref, Reason: "there is no such object", Final: true}
	}
	w.object = object
	now, err := readiness.Assess(object)
	if err != nil {
		return false, err
	}
	if now.Failed {
		w.status = now.Status
		return false, w.failed(ctx)
	}
	if now.Ready {
		if node := w.missing(ctx); node != "" {
			now = readiness.Assessment{Status: "there is no ready pod on node " + node + " yet"}
		}
	}
	if now.Ready && !now.Growing || w.bindsLater(ctx) {
		w.now, w.status = readiness.Examination{}, ""
		if w.reported != "" {
			w.reportStatus()
		}
		return true, nil
	}
	w.status = now.Status
	w.reportStatus()
	return false, nil
}

// pause returns the time until the next examination.
func (w *waiter) pause() time.Duration {
	if len(w.nodes) > 0 {
		return nodesPause
	}
	return examinationPause
}

// missing returns a labelled node without a ready pod of the DaemonSet; empty: each node has a ready pod. missing
// removes the other nodes from w.nodes.
func (w *waiter) missing(ctx context.Context) string {
	if len(w.nodes) == 0 {
		return ""
	}
	ready, err := readiness.ReadyNodes(ctx, w.source, w.object)
	if err != nil {
		return w.nodes[0]
	}
	w.nodes = slices.DeleteFunc(w.nodes, func(node string) bool { return slices.Contains(ready, node) || !w.takesPods(ctx, node) })
	if len(w.nodes) == 0 {
		return ""
	}
	return w.nodes[0]
}

// takesPods reports whether a pod of the DaemonSet can start on a node. It returns true for a node that it cannot read.
func (w *waiter) takesPods(ctx context.Context, name string) bool {
	ref := providers.Ref{GVK: allNodes.kind, Name: name}
	target, err := w.watches.access.Target(ctx, ref)
	if err != nil {
		return true
	}
	found, err := w.watches.access.Get(ctx, target, name)
	if err != nil {
		return !apierrors.IsNotFound(err)
	}
	pod, _ := scheduling.PodOf(w.object)
	var node corev1.Node
	if pod == nil || runtime.DefaultUnstructuredConverter.FromUnstructured(found.Object, &node) != nil {
		return true
	}
	return readiness.IsUp(&node) && scheduling.RunsOn(pod, &node)
}

// reportStatus reports the cause of the wait, or else what is missing.
func (w *waiter) reportStatus() {
	text := w.said(w.now.Reason(w.status))
	if w.report != nil && text != w.reported {
		w.reported = text
		w.report(text)
	}
}

// examine looks for the cause of the wait, and returns Examination.Ready. It leaves out objects that
// it cannot read. At the end of a wait it also reads logs of running containers.
func (w *waiter) examine(ctx context.Context, end bool) (ready bool) {
	if w.object == nil {
		return false
	}
	about := readiness.Inquiry{Source: w.source, Log: func(ctx context.Context, namespace string, found *readiness.Finding) []string {
		return w.log(ctx, namespace, found, end)
	}}
	if w.failedForGood && w.object.GroupVersionKind().GroupKind() == kinds.Job {
		about.Source = readiness.NewServer(w.watches.access) // a watch may see the end of the pods later
	}
	ctx, cancel := context.WithTimeout(connect.WithVerb(connect.Quiet(ctx), connect.VerbGet), examinationTimeout)
	defer cancel()
	now, err := about.Examine(ctx, w.object)
	if err != nil {
		now.Finding = w.now.Finding
	}
	w.now = now
	return now.Ready && w.missing(ctx) == ""
}

// log reads the log that explains a finding. The log of a container that has ended is read
// at once, until it could be read: it may be gone later. The log of a running container is read at the end of
// the wait.
func (w *waiter) log(ctx context.Context, namespace string, found *readiness.Finding, end bool) []string {
	ended := found.Cause == readiness.CauseCrash || found.Cause == readiness.CauseExit
	of := container{found.Pod, found.Container, found.Restarts, found.Previous}
	if ended && of == w.logged.of {
		return w.logged.lines
	}
	if !ended && !end {
		return nil
	}
	lines := readiness.ReadLog(ctx, w.watches.access.Connection, namespace, found)
	if lines != nil {
		w.logged = logged{of, lines}
	}
	return lines
}

// hopeless reports whether the finding has been hopeless for too long.
func (w *waiter) hopeless() bool {
	switch {
	case w.now.Finding == nil || !w.now.Finding.Hopeless:
		w.hopelessSince = time.Time{}
	case w.hopelessSince.IsZero():
		w.hopelessSince = time.Now()
	}
	return !w.hopelessSince.IsZero() && time.Since(w.hopelessSince) >= hopelessTimeout
}

// failed returns the error for an object that will not become ready. If the pods are gone,
// the last examination counts.
func (w *waiter) failed(ctx context.Context) error {
	if w.object.GetDeletionTimestamp() != nil {
		return &providers.NotReadyError{Ref: w.ref, Reason: w.said(w.status), Final: true}
	}
	before := w.now.Finding
	w.failedForGood = true
	w.examine(ctx, true)
	if w.now.Finding == nil {
		w.now.Finding = before
	}
	failure := w.notReady()
	failure.Final = true
	failure.Late = w.object.GroupVersionKind().GroupKind() == kinds.Deployment
	if w.now.Finding != nil {
		failure.Reason = w.said(w.status + ": " + w.now.Finding.Reason)
	}
	return failure
}

// interrupted returns the error for a wait whose context has ended.
func (w *waiter) interrupted(ctx context.Context) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("wait for %s: %w", w.ref, ctx.Err())
	}
	if w.examine(context.WithoutCancel(ctx), true) {
		w.reportStatus()
		return nil
	}
	return w.notReady()
}

func (w *waiter) notReady() *providers.NotReadyError {
	if w.now.Finding == nil {
		return &providers.NotReadyError{Ref: w.ref, Reason: w.said(w.status)}
	}
	detail := make([]string, len(w.now.Finding.Detail))
	for i, line := range w.now.Finding.Detail {
		detail[i] = w.said(line)
	}
	return &providers.NotReadyError{Ref: w.ref, Reason: w.said(w.now.Finding.Reason), Detail: detail}
}

// said removes secret values from a message about the object: conditions, events and logs may quote
// them.
func (w *waiter) said(text string) string {
	return w.watches.access.Connection.Secrets.Text(text, w.ref.String())
}

// bindsLater reports whether the object is a claim without a volume that gets one when the first pod
// uses it. That pod may wait for the claim, so nothing waits for the volume. Without the
// permission to read storage classes, the answer is yes.
func (w *waiter) bindsLater(ctx context.Context) bool {
	class := readiness.Field(w.object, "spec", "storageClassName")
	bound := readiness.Field(w.object, "status", "phase") == string(corev1.ClaimBound)
	if w.object.GroupVersionKind().GroupKind() != kinds.PersistentVolumeClaim || class == "" || bound {
		return false
	}
	return w.watches.classes.bindLate(ctx, class)
}

// storageClasses knows which storage classes bind a claim when a pod uses it.
type storageClasses struct {
	access *resources.Access

	mu   sync.Mutex
	late map[string]bool
}

func newStorageClasses(a *resources.Access) *storageClasses {
	return &storageClasses{access: a, late: map[string]bool{}}
}

// bindLate asks the server once for each storage class.
func (s *storageClasses) bindLate(ctx context.Context, class string) bool {
	s.mu.Lock()
	late, known := s.late[class]
	s.mu.Unlock()
	if known {
		return late
	}
	ref := providers.Ref{GVK: storagev1.SchemeGroupVersion.WithKind("StorageClass"), Name: class}
	target, err := s.access.Target(ctx, ref)
	if err != nil {
		return false
	}
	found, err := s.access.Get(ctx, target, class)
	var permission *providers.PermissionError
	switch {
	case errors.As(err, &permission):
		late = true
	case err != nil:
		return false
	default:
		late = readiness.Field(found, "volumeBindingMode") == string(storagev1.VolumeBindingWaitForFirstConsumer)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late[class] = late
	return late
}
