package reach

import (
	"context"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"kolla.openstack.org/kolla/internal/present/discovery"
	"kolla.openstack.org/kolla/internal/run/probe"
)

// Inside opens from a pod the internal and the public URLs of ports that clients outside may use. Network policies
// may keep a pod of no service from all other ports. like is a pod of the cloud: the new one has an image of it, and
// runs where it runs. problem says why the pod opened nothing.
func Inside(ctx context.Context, runner *probe.Runner, like *corev1.PodSpec, base probe.Base, blocks []discovery.Block) (checks []discovery.Check, problem string, err error) {
	checks = slices.DeleteFunc(checksOf(blocks, func(u discovery.URL) []string { return []string{u.Internal, u.Public} }),
		func(c discovery.Check) bool { return strings.HasPrefix(c.URL, "udp://") })
	if len(checks) == 0 {
		return nil, "", nil
	}
	var questions probe.Questions
	for _, c := range checks {
		questions.Reached = append(questions.Reached, discovery.WithoutTemplates(c.URL))
	}
	pod, err := probe.Asking(base, questions)
	if err != nil {
		return nil, "", err
	}
	pod.Spec.NodeSelector, pod.Spec.Tolerations = like.NodeSelector, like.Tolerations
	outcomes, err := runner.Run(ctx, []probe.Pod{pod})
	if err != nil {
		return nil, "", err
	}
	report, err := outcomes[0].Report()
	if err != nil {
		return nil, err.Error(), nil
	}
	if len(report.Reached) != len(checks) {
		return nil, "its report has other URLs", nil
	}
	for i, found := range report.Reached {
		c := &checks[i]
		c.Connected, c.Answered, c.Status, c.Problem = probe.Duration(found.Connected), probe.Duration(found.Answered), found.Status, found.Problem
		if c.Problem == "" && c.Status >= http.StatusInternalServerError {
			c.Problem = serverError(c.Status)
		}
	}
	return checks, "", nil
}

// serverError words an answer of HTTP that is an error.
func serverError(status int) string { return "it answers with an error: " + http.StatusText(status) }
