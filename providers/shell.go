package providers

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Shell runs commands in the pods of workloads. A Reader cannot: a command may do
// whatever its container may.
type Shell interface {
	// Pods lists the pods of a StatefulSet or DaemonSet, by node and name. It lists those
	// of one that is deleted, too, for as long as they are there.
	Pods(ctx context.Context, workload *unstructured.Unstructured) ([]Pod, error)
	// Exec runs a command in a container of a pod, and returns the beginning of what it
	// wrote to standard output, at most MostOutput bytes. A command that ends otherwise
	// than with 0 is a *CommandError.
	Exec(ctx context.Context, pod types.NamespacedName, container string, command []string) (string, error)
}

// MostOutput is how much is read of what a command writes, in bytes.
const MostOutput = 64 << 10

// Pod is a pod of a StatefulSet or DaemonSet.
type Pod struct {
	Name string
	UID  types.UID
	Node string // empty: no node has taken it yet
	// Down: the node is not ready, or is gone.
	Down bool
	// Ready says what the pod says, which is worth nothing while its node is down.
	Ready bool
	// Running are the containers that run, as the pod says.
	Running []string
	// Outdated: it has the specification from before.
	Outdated bool
	// Leaving: it is being deleted.
	Leaving bool
}

// CommandError says that a command did not succeed.
type CommandError struct {
	Code   int
	Stderr string // the end of what it wrote there, at most one line
}

func (e *CommandError) Error() string {
	if e.Stderr == "" {
		return fmt.Sprintf("the command ended with %d", e.Code)
	}
	return fmt.Sprintf("the command ended with %d: %s", e.Code, e.Stderr)
}

// PodCommand is a command for the pods of a workload, as an annotation of the workload
// has it.
type PodCommand struct {
	What      string   `json:"what"`      // what it names, or takes away: "running servers"
	Container string   `json:"container"` // where it runs
	Command   []string `json:"command"`
	Seconds   int      `json:"timeout,omitempty"` // that it may take in each pod
}

// mostSeconds bounds the wait for a command: the annotation may say anything.
const mostSeconds = 7 * 24 * 3600

// Timeout is how long the command may take in each pod.
func (c *PodCommand) Timeout() time.Duration {
	return time.Duration(min(max(c.Seconds, 1), mostSeconds)) * time.Second
}

// PodCommandOf reads an annotation of a workload; nil: it has none.
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
