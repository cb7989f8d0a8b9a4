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

// maxMessage is the number of characters of a message that are shown, the last ones. A kubelet reads as many bytes.
const maxMessage = 4096

// ReadMessage returns the lines of the termination messages of the pods of a Job that succeeded.
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
	message := []rune(strings.TrimSpace(text.String()))
	if len(message) == 0 {
		return nil, nil
	}
	return strings.Split(string(message[max(0, len(message)-maxMessage):]), "\n"), nil
}
