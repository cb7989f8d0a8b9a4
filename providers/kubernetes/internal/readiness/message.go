package readiness

import (
	"context"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/resources"
)

// ReadMessage returns the lines of the termination messages of the pods of a Job that succeeded. A kubelet keeps up to
// 4096 bytes of each.
func ReadMessage(ctx context.Context, a *resources.Access, job providers.Ref) ([]string, error) {
	pods, err := NewServer(a).pods(ctx, job.Namespace, metav1.ListOptions{LabelSelector: batchv1.JobNameLabel + "=" + job.Name})
	if err != nil {
		return nil, fmt.Errorf("list the pods of %s: %w", job, err)
	}
	var text strings.Builder
	for _, pod := range pods {
		if pod.Status.Phase != corev1.PodSucceeded {
			continue
		}
		for _, container := range pod.Status.ContainerStatuses {
			if ended := container.State.Terminated; ended != nil {
				text.WriteString(strings.TrimSpace(ended.Message) + "\n")
			}
		}
	}
	message := strings.TrimSpace(text.String())
	if message == "" {
		return nil, nil
	}
	return strings.Split(message, "\n"), nil
}
