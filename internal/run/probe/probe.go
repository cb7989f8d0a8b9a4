// Package probe runs short-lived pods in a cluster, and reads what they report.
//
// Each pod belongs to a Job of its own, which [Runner.Run] deletes at the end, together with the pod and the
// claims of its volumes. If kolla is killed, the cluster does the same: the Job ends after a deadline, and its
// TTL removes it. A later run removes the Jobs of clusters that have no controller for TTLs.
//
// [OnNode] makes a pod that reports the facts of a node, and [Parse] reads its log.
package probe

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/base/crash"
	"kolla.openstack.org/kolla/internal/base/parallel"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// The labels of Jobs and pods. None of them is a label of a cloud's own objects.
const (
	labelName  = "app.kubernetes.io/name"
	labelCloud = "app.kubernetes.io/instance"
	labelRun   = "kolla.openstack.org/probe-run"
	appName    = "kolla-probe"
)

// nodeAnnotation of a pod names the node that it is for.
const nodeAnnotation = "kolla.openstack.org/probe-node"

const (
	spare          = 30 * time.Second // between the end of a run and the deadline of its Jobs
	pause          = time.Second      // after the first look
	longestPause   = 5 * time.Second
	cleanupTimeout = time.Minute // also after Ctrl-C
	longestLog     = 1 << 20     // bytes
)

// lifetime is the time after which a Job ends, and after its end the time after which the cluster removes it.
// The logs are read at the end of a run.
func (r *Runner) lifetime() time.Duration { return r.Patience + spare }

var (
	jobKind = kinds.Job.WithVersion("v1")
	podKind = kinds.Pod.WithVersion("v1")
	// eventKind is the kind of events, which name their object.
	eventKind = corev1.SchemeGroupVersion.WithKind("Event")
)

// Reader reads objects and logs. A *kubernetes.Client is one.
type Reader interface {
	List(ctx context.Context, kind schema.GroupVersionKind, namespace string) ([]*unstructured.Unstructured, error)
	Log(ctx context.Context, namespace, pod string, options *corev1.PodLogOptions) (io.ReadCloser, error)
}

// Writer makes and deletes objects.
type Writer interface {
	Apply(ctx context.Context, object *unstructured.Unstructured, options providers.ApplyOptions) (*unstructured.Unstructured, error)
	Delete(ctx context.Context, ref providers.Ref, options providers.DeleteOptions) error
}

// Runner runs pods.
type Runner struct {
	Reader    Reader
	Writer    Writer
	Cloud     string // name of the cloud
	Namespace string
	// Patience limits the wait for the pods.
	Patience time.Duration
}

// Pod is a pod to run.
type Pod struct {
	Node string // for which it is; empty: for none
	Spec corev1.PodSpec
}

// Outcome is what became of a pod.
type Outcome struct {
	Pod *corev1.Pod // the last known state; nil: it was not made
	Log string      // of the first container, if it has ended
	// Problem says why a container did not start or end, in words of the cluster; empty: all have ended.
	Problem string
}

// run is one run of some pods.
type run struct {
	*Runner
	id       string
	jobs     []*unstructured.Unstructured
	made     []bool
	outcomes []Outcome
}

// Run runs pods at the same time, and returns their outcomes in order. It returns when each container has ended
// or cannot start, or when the patience is over, and has then removed everything that it made. A refused Job is
// an outcome, no error.
func (r *Runner) Run(ctx context.Context, pods []Pod) (outcomes []Outcome, err error) {
	if len(pods) == 0 {
		return nil, nil
	}
	job := &run{Runner: r, id: strings.ToLower(rand.Text()[:8]), made: make([]bool, len(pods)), outcomes: make([]Outcome, len(pods))}
	for i, pod := range pods {
		job.jobs = append(job.jobs, r.Job(fmt.Sprintf("%s-%s-%d", appName, job.id, i), job.id, pod))
	}
	defer func() { err = errors.Join(err, job.remove(context.WithoutCancel(ctx))) }()
	if err := job.create(ctx); err != nil {
		return nil, err
	}
	if err := job.wait(ctx); err != nil {
		return nil, err
	}
	return job.outcomes, job.readLogs(ctx)
}

// Job returns the Job of a pod. It adds what all such pods have in common.
func (r *Runner) Job(name, id string, pod Pod) *unstructured.Unstructured {
	labels := map[string]string{labelName: appName, labelCloud: r.Cloud, labelRun: id}
	spec := pod.Spec.DeepCopy()
	spec.RestartPolicy = corev1.RestartPolicyNever
	spec.AutomountServiceAccountToken = new(false)
	spec.EnableServiceLinks = new(false)
	spec.TerminationGracePeriodSeconds = new(int64(1))
	job := &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: jobKind.GroupVersion().String(), Kind: jobKind.Kind},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: r.Namespace, Labels: labels},
		Spec: batchv1.JobSpec{
			BackoffLimit:            new(int32(0)),
			ActiveDeadlineSeconds:   new(int64(r.lifetime().Seconds())),
			TTLSecondsAfterFinished: new(int32(r.lifetime().Seconds())),
			Template:                corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: *spec},
		},
	}
	for _, volume := range job.Spec.Template.Spec.Volumes {
		if volume.Ephemeral != nil {
			volume.Ephemeral.VolumeClaimTemplate.Labels = labels
		}
	}
	if pod.Node != "" {
		job.Spec.Template.Annotations = map[string]string{nodeAnnotation: pod.Node}
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(job)
	if err != nil {
		panic(err) // a Job can be converted
	}
	unstructured.RemoveNestedField(content, "status")
	for _, path := range [][]string{{"metadata"}, {"spec", "template", "metadata"}} {
		unstructured.RemoveNestedField(content, append(path, "creationTimestamp")...)
	}
	return &unstructured.Unstructured{Object: content}
}

// create makes the Jobs, and removes those of earlier runs.
func (r *run) create(ctx context.Context) error {
	err := parallel.Bounded(ctx, providers.Parallelism, len(r.jobs), func(ctx context.Context, i int) error {
		_, err := r.Writer.Apply(ctx, r.jobs[i], providers.ApplyOptions{New: true})
		var status apierrors.APIStatus
		var denied *providers.PermissionError
		switch {
		case err == nil:
			r.made[i] = true
		case errors.As(err, &denied):
			r.outcomes[i].Problem = denied.Error()
		case errors.As(err, &status) && ctx.Err() == nil:
			r.outcomes[i].Problem = status.Status().Message
		default:
			r.made[i] = true // the answer may have been lost
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	if !slices.Contains(r.made, true) {
		return nil
	}
	return r.sweep(ctx)
}

// sweep removes Jobs of earlier runs for this cloud that are older than a Job can become.
func (r *run) sweep(ctx context.Context) error {
	jobs, err := r.Reader.List(ctx, jobKind, r.Namespace)
	if err != nil {
		return err
	}
	var now time.Time // by the clock of the server
	for _, job := range jobs {
		if job.GetLabels()[labelRun] == r.id && job.GetCreationTimestamp().After(now) {
			now = job.GetCreationTimestamp().Time
		}
	}
	for _, job := range jobs {
		labels := job.GetLabels()
		deadline, _, _ := unstructured.NestedInt64(job.Object, "spec", "activeDeadlineSeconds")
		kept, _, _ := unstructured.NestedInt64(job.Object, "spec", "ttlSecondsAfterFinished")
		end := job.GetCreationTimestamp().Add(time.Duration(deadline+kept) * time.Second)
		if labels[labelName] != appName || labels[labelCloud] != r.Cloud || labels[labelRun] == r.id || now.Before(end) {
			continue
		}
		if err := r.Writer.Delete(ctx, providers.RefOf(job), providers.DeleteOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// pods returns the pods of this run by the names of their Jobs.
func (r *run) pods(ctx context.Context) (map[string]*corev1.Pod, error) {
	live, err := r.Reader.List(ctx, podKind, r.Namespace)
	if err != nil {
		return nil, err
	}
	found := map[string]*corev1.Pod{}
	for _, u := range live {
		if u.GetLabels()[labelRun] != r.id {
			continue
		}
		var pod corev1.Pod
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, &pod); err != nil {
			return nil, fmt.Errorf("read pod %s: %w", u.GetName(), err)
		}
		found[pod.Labels[batchv1.JobNameLabel]] = &pod
	}
	return found, nil
}

// wait waits until no pod changes any more.
func (r *run) wait(ctx context.Context) error {
	deadline := time.Now().Add(r.Patience)
	for next := pause; ; next = min(next*5/4, longestPause) { // each look lists the namespace
		pods, err := r.pods(ctx)
		if err != nil {
			return err
		}
		waiting := false
		for i, job := range r.jobs {
			if !r.made[i] {
				continue
			}
			pod := pods[job.GetName()]
			r.outcomes[i].Pod = cmp.Or(pod, r.outcomes[i].Pod)
			waiting = waiting || !settled(r.outcomes[i].Pod)
		}
		if !waiting || time.Now().After(deadline) {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(next, time.Until(deadline))):
		}
	}
	for i := range r.outcomes {
		if r.made[i] {
			r.outcomes[i].Problem = problemOf(r.outcomes[i].Pod)
		}
	}
	return r.explain(ctx)
}

// explain adds the last warnings of the cluster about the pods that have not ended, and about their claims.
func (r *run) explain(ctx context.Context) error {
	if !slices.ContainsFunc(r.outcomes, Outcome.unfinished) {
		return nil
	}
	events, err := r.Reader.List(ctx, eventKind, r.Namespace)
	var denied *providers.PermissionError
	if errors.As(err, &denied) {
		return nil // the problems are known without them
	}
	if err != nil {
		return err
	}
	for i := range r.outcomes {
		o := &r.outcomes[i]
		if !r.made[i] || !o.unfinished() {
			continue
		}
		if warning := lastWarning(events, r.jobs[i].GetName()); !strings.Contains(o.Problem, warning) {
			o.Problem += ": " + warning
		}
	}
	return nil
}

// readLogs reads the logs of the first containers that have ended.
func (r *run) readLogs(ctx context.Context) error {
	return parallel.Bounded(ctx, providers.Parallelism, len(r.outcomes), func(ctx context.Context, i int) error {
		o := &r.outcomes[i]
		if o.Pod == nil || !ended(o.Pod, o.Pod.Spec.Containers[0].Name) {
			return nil
		}
		log, err := r.Reader.Log(ctx, r.Namespace, o.Pod.Name, &corev1.PodLogOptions{Container: o.Pod.Spec.Containers[0].Name})
		if err == nil {
			var text []byte
			text, err = io.ReadAll(io.LimitReader(log, longestLog))
			o.Log = string(text)
			err = errors.Join(err, log.Close())
		}
		if err != nil && ctx.Err() == nil {
			o.Problem = cmp.Or(o.Problem, fmt.Sprintf("its log cannot be read: %v", err))
			return nil
		}
		return err
	})
}

// remove deletes the Jobs, and waits until their pods are gone.
func (r *run) remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, cleanupTimeout)
	defer cancel()
	var group errgroup.Group
	group.SetLimit(providers.Parallelism)
	for i, job := range r.jobs {
		if r.made[i] {
			group.Go(crash.Catching(func() error { return r.Writer.Delete(ctx, providers.RefOf(job), providers.DeleteOptions{}) }))
		}
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("remove the pods of the checks; the cluster removes them within %s: %w", 2*r.lifetime(), err)
	}
	for slices.Contains(r.made, true) {
		pods, err := r.pods(ctx)
		if ctx.Err() != nil {
			return nil // pods on nodes that do not answer go with their nodes
		}
		if err != nil || len(pods) == 0 {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return nil
}
