package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/connect"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/readiness"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/resources"
)

// replacePause is the pause between two reads of the pods.
const replacePause = 500 * time.Millisecond

// WaitForSuccessor waits until a pod that takes the place of another is ready: on its node,
// or with its name. It calls report with the cause whenever that changes. A deadline of the
// context is a *providers.NotReadyError.
func WaitForSuccessor(ctx context.Context, a *resources.Access, workload *unstructured.Unstructured, pod providers.Pod, report func(status string)) error {
	wait := &successor{server: readiness.NewServer(a), connection: a.Connection, workload: workload, of: pod, report: report, began: time.Now()}
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

// successor waits for the pod that takes the place of another.
type successor struct {
	server     *readiness.Server
	connection *connect.Connection
	workload   *unstructured.Unstructured
	of         providers.Pod
	report     func(string)

	status   string             // what is missing
	finding  *readiness.Finding // the cause; nil: unknown
	reported string
	began    time.Time
	examined time.Time // the last examination of the pod
}

// look finds the new pod, and reports whether it is ready.
func (s *successor) look(ctx context.Context) (ready bool, err error) {
	pods, err := readiness.Pods(ctx, s.server, s.workload)
	if err != nil {
		if ctx.Err() != nil {
			return false, nil // the caller reports it
		}
		return false, err
	}
	i := slices.IndexFunc(pods, s.follows)
	switch {
	case i < 0:
		s.status, s.finding = "no other pod is there yet", nil
	case pods[i].Down:
		s.status, s.finding = readiness.AreDown([]string{pods[i].Node}), nil
	case pods[i].Ready && !pods[i].Outdated:
		return true, nil
	default:
		s.status = fmt.Sprintf("pod %s is not ready yet", pods[i].Name)
		s.examine(ctx, pods[i].Name)
	}
	s.reportStatus()
	return false, nil
}

// follows reports whether a pod takes the place of the old one.
func (s *successor) follows(pod providers.Pod) bool {
	if pod.Leaving || s.of.Outdated && pod.UID == s.of.UID {
		return false
	}
	if s.workload.GroupVersionKind().GroupKind() == kinds.DaemonSet {
		return pod.Node == s.of.Node
	}
	return pod.Name == s.of.Name
}

// examine looks for the reason why a pod is not ready. It leaves out objects that it cannot
// read.
func (s *successor) examine(ctx context.Context, name string) {
	if time.Since(s.examined) < grace {
		return
	}
	s.examined = time.Now()
	all, err := s.server.PodsOf(ctx, s.workload)
	if err != nil {
		return
	}
	all = slices.DeleteFunc(all, func(pod *corev1.Pod) bool { return pod.Name != name })
	found, _ := readiness.Inquiry{Source: s.server}.ExplainPods(ctx, all)
	if found != nil && found.Container != "" {
		found.Detail = append(found.Detail, readiness.ReadLog(ctx, s.connection, s.workload.GetNamespace(), found)...)
	}
	s.finding = found
}

func (s *successor) reportStatus() {
	text := s.status
	if s.finding != nil {
		text = s.finding.Reason
	}
	text = s.said(text)
	if s.report != nil && text != s.reported && time.Since(s.began) >= grace {
		s.reported = text
		s.report(text)
	}
}

func (s *successor) notReady() error {
	failure := &providers.NotReadyError{Ref: providers.RefOf(s.workload), Reason: s.status}
	if s.finding != nil {
		failure.Reason = s.said(s.finding.Reason)
		for _, line := range s.finding.Detail {
			failure.Detail = append(failure.Detail, s.said(line))
		}
	}
	return failure
}

// said removes secret values from a message about the pod.
func (s *successor) said(text string) string {
	return s.connection.Secrets.Text(text, providers.RefOf(s.workload).String())
}
