package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
)

// replacePause is between looks at the pod that takes the place of another.
const replacePause = 500 * time.Millisecond

// Workload reads a StatefulSet or DaemonSet once its controller has seen the
// specification as it is. Which pods are outdated is not known before.
func (c *Client) Workload(ctx context.Context, ref providers.Ref) (*unstructured.Unstructured, error) {
	for start := time.Now(); ; {
		target, err := c.target(ctx, ref)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", ref, err)
		}
		workload, err := c.get(ctx, target, ref.Name)
		switch {
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", ref, err)
		case observed(workload):
			return workload, nil
		case time.Since(start) > shortPatience:
			return nil, &providers.NotReadyError{Ref: ref, Reason: rolloutUnseen}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(replacePause):
		}
	}
}

// Replace deletes exactly that pod of a StatefulSet or DaemonSet, if it is outdated, and
// waits until the pod in its place is ready: on its node, or of its name. It calls report
// with what is wrong whenever that changes. Errors are those of Wait.
func (w *Writer) Replace(ctx context.Context, workload *unstructured.Unstructured, pod providers.Pod, report func(status string)) error {
	if pod.Outdated {
		ref := providers.Ref{GVK: corev1.SchemeGroupVersion.WithKind("Pod"), Namespace: workload.GetNamespace(), Name: pod.Name}
		if err := w.Delete(ctx, ref, providers.Precondition{UID: pod.UID}); err != nil {
			if errors.Is(err, context.DeadlineExceeded) {
				return &providers.NotReadyError{Ref: ref, Reason: "it has not ended yet", Detail: []string{err.Error()}}
			}
			return err
		}
	}
	wait := &succession{client: w.client, workload: workload, of: pod, report: report, began: time.Now()}
	for {
		if ready, err := wait.look(ctx); ready || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return ctx.Err()
			}
			return wait.notReady()
		case <-time.After(replacePause):
		}
	}
}

// succession is one wait for the pod that takes the place of another.
type succession struct {
	client   *Client
	workload *unstructured.Unstructured
	of       providers.Pod
	report   func(string)

	status   string   // what is waited for
	finding  *finding // what is wrong, if that is known
	told     string
	began    time.Time
	examined time.Time // when the pod was last asked what is wrong with it
}

// look finds the pod in the place, and reports whether it is ready.
func (s *succession) look(ctx context.Context) (ready bool, err error) {
	pods, err := s.client.Pods(ctx, s.workload)
	if err != nil {
		if ctx.Err() != nil {
			return false, nil // said by the caller
		}
		return false, err
	}
	i := slices.IndexFunc(pods, s.follows)
	switch {
	case i < 0:
		s.status, s.finding = "no other pod is there yet", nil
	case pods[i].Down:
		s.status, s.finding = areDown([]string{pods[i].Node}), nil
	case pods[i].Ready && !pods[i].Outdated:
		return true, nil
	default:
		s.status = fmt.Sprintf("pod %s is not ready yet", pods[i].Name)
		s.examine(ctx, pods[i].Name)
	}
	s.tell()
	return false, nil
}

// follows reports whether a pod takes the place.
func (s *succession) follows(pod providers.Pod) bool {
	if pod.Leaving || s.of.Outdated && pod.UID == s.of.UID {
		return false
	}
	if s.workload.GroupVersionKind().GroupKind() == daemonSetKind {
		return pod.Node == s.of.Node
	}
	return pod.Name == s.of.Name
}

// examine looks for what is wrong with a pod. It is a help only: what it cannot read, it
// leaves out.
func (s *succession) examine(ctx context.Context, name string) {
	if time.Since(s.examined) < grace {
		return
	}
	s.examined = time.Now()
	all, err := s.client.everyPodOf(ctx, s.workload)
	if err != nil {
		return
	}
	all = slices.DeleteFunc(all, func(pod *corev1.Pod) bool { return pod.Name != name })
	found, _ := inquiry{surroundings: s.client}.explainPods(ctx, all)
	if found != nil && found.container != "" {
		found.detail = append(found.detail, s.client.log(ctx, s.workload.GetNamespace(), found)...)
	}
	s.finding = found
}

func (s *succession) tell() {
	text := s.status
	if s.finding != nil {
		text = s.finding.reason
	}
	if s.report != nil && text != s.told && time.Since(s.began) >= grace {
		s.told = text
		s.report(text)
	}
}

func (s *succession) notReady() error {
	failure := &providers.NotReadyError{Ref: providers.RefOf(s.workload), Reason: s.status}
	if s.finding != nil {
		failure.Reason, failure.Detail = s.finding.reason, s.finding.detail
	}
	return failure
}
