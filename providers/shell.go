package providers

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Shell runs commands in the pods of workloads. A Reader cannot run commands, because a command
// can do everything that its container can do.
type Shell interface {
	// Pods lists the pods of a StatefulSet or DaemonSet, by node and name. While a workload is
	// being deleted, it lists the pods that still exist.
	Pods(ctx context.Context, workload *unstructured.Unstructured) ([]Pod, error)
	// Exec runs a command in a container of a pod, and returns the beginning of its standard
	// output, at most MaxOutput bytes. If the exit status is not 0, the error is a
	// *CommandError.
	Exec(ctx context.Context, pod types.NamespacedName, container string, command []string) (string, error)
}

// MaxOutput is the maximum number of bytes that are read from the output of a command.
const MaxOutput = 64 << 10

// Pod is a pod of a StatefulSet or DaemonSet.
type Pod struct {
	Name string
	UID  types.UID
	Node string // empty: not scheduled yet
	// Down: the node is not ready, or is gone.
	Down bool
	// Ready is the status that the pod reports. It has no meaning while the node is down.
	Ready bool
	// Running are the running containers, as the pod reports them.
	Running []string
	// Outdated: the pod has an earlier specification of its workload.
	Outdated bool
	// Leaving: the pod is being deleted.
	Leaving bool
}

// CommandError reports a command that did not succeed.
type CommandError struct {
	Code   int
	Stderr string // end of the standard error, at most one line
}

func (e *CommandError) Error() string {
	if e.Stderr == "" {
		return fmt.Sprintf("the command ended with %d", e.Code)
	}
	return fmt.Sprintf("the command ended with %d: %s", e.Code, e.Stderr)
}

// PodCommand is a command for the pods of a workload. An annotation of the workload contains
// it.
type PodCommand struct {
	What      string   `json:"what"`      // items that it lists or removes: "running servers"
	Container string   `json:"container"` // name of the container
	Command   []string `json:"command"`
	Seconds   int      `json:"timeout,omitempty"` // maximum time in each pod
}

// maxSeconds limits the wait for a command, because the annotation may contain any number.
const maxSeconds = 7 * 24 * 3600

// Timeout returns the maximum time of the command in each pod.
func (c *PodCommand) Timeout() time.Duration {
	return time.Duration(min(max(c.Seconds, 1), maxSeconds)) * time.Second
}

// PodCommandOf reads an annotation of a workload. It returns nil if the annotation is missing.
func PodCommandOf(workload *unstructured.Unstructured, annotation string) (*PodCommand, error) {
	text, ok := workload.GetAnnotations()[annotation]
	if !ok {
		return nil, nil
	}
	var c PodCommand
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		return nil, fmt.Errorf("read the annotation %s of %s: %w", annotation, RefOf(workload), err)
	}
	if len(c.Command) == 0 {
		return nil, fmt.Errorf("read the annotation %s of %s: it has no command", annotation, RefOf(workload))
	}
	return &c, nil
}
