package backup

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// Shell runs commands in pods.
type Shell interface {
	// Pods lists the pods of a workload.
	Pods(ctx context.Context, workload *unstructured.Unstructured) ([]providers.Pod, error)
	// Stream runs a command with all of its input and output; stdin may be nil.
	Stream(ctx context.Context, pod types.NamespacedName, container string, command []string, stdin io.Reader, stdout io.Writer) error
}

// Writer changes objects.
type Writer interface {
	Apply(ctx context.Context, object *unstructured.Unstructured, options providers.ApplyOptions) (*unstructured.Unstructured, error)
	Delete(ctx context.Context, ref providers.Ref, options providers.DeleteOptions) error
	Wait(ctx context.Context, ref providers.Ref, options providers.WaitOptions) error
}

// Cluster is the access to a cluster that backups need.
type Cluster struct {
	Shell  Shell
	Writer Writer
	// Timeout limits the wait for a pod or a workload.
	Timeout time.Duration
	// Report gets the progress of a workload: "saves databases from pod mariadb-server-0". It may be
	// called by one goroutine at a time only.
	Report func(address, text string)
	// Wrote is called after each change of a workload.
	Wrote func(address string) error
}

// Workload is a StatefulSet with data to save.
type Workload struct {
	Address string
	Live    *unstructured.Unstructured
	Backup  *providers.Backup
}

// Kind is the kind of workloads with data to save.
const Kind = "StatefulSet"

// Find reads those of the objects of a state that have commands for a backup. It reads the commands from
// the live objects, and only if they are the ones that the state knows.
func Find(ctx context.Context, get func(context.Context, providers.Ref) (*unstructured.Unstructured, error), objects []*state.Object, warn func(summary, detail string)) ([]Workload, error) {
	var out []Workload
	for _, o := range objects {
		if o.Kind != Kind {
			continue
		}
		live, err := get(ctx, providers.Ref{GVK: schema.FromAPIVersionAndKind(o.APIVersion, o.Kind), Namespace: o.Namespace, Name: o.Name})
		if apierrors.IsNotFound(err) || err == nil && string(live.GetUID()) != o.UID {
			warn(o.Address+" is not in the cluster any more", "It is left out. kolla plan shows what is missing.")
			continue
		}
		if err != nil {
			return nil, err
		}
		b, err := providers.BackupOf(live)
		if err != nil {
			return nil, err
		}
		if b != nil {
			out = append(out, Workload{Address: o.Address, Live: live, Backup: b})
		}
	}
	return out, nil
}

// readyPod returns the last pod of a workload that is ready. In a cluster of databases, clients rather
// use the first one.
func (c *Cluster) readyPod(ctx context.Context, w Workload) (types.NamespacedName, error) {
	pods, err := c.Shell.Pods(ctx, w.Live)
	if err != nil {
		return types.NamespacedName{}, err
	}
	pods = slices.DeleteFunc(pods, func(p providers.Pod) bool { return p.Down || p.Leaving || !p.Ready })
	if len(pods) == 0 {
		return types.NamespacedName{}, failure.New(fmt.Sprintf("No pod of %s is ready", w.Address), "The commands for its data run in a ready pod, and `kolla status` shows why none is. To leave it out, name the other services.")
	}
	slices.SortFunc(pods, func(a, b providers.Pod) int { return ordinal(a.Name) - ordinal(b.Name) })
	return types.NamespacedName{Namespace: w.Live.GetNamespace(), Name: pods[len(pods)-1].Name}, nil
}

// ordinal returns the number at the end of the name of a pod.
func ordinal(pod string) int {
	n, _ := strconv.Atoi(pod[strings.LastIndexByte(pod, '-')+1:])
	return n
}

// container returns the container of the commands in the pod template of a workload.
func (w Workload) container() map[string]any {
	for _, list := range []string{"containers", "initContainers"} { // sidecars are among the latter
		items, _, _ := unstructured.NestedSlice(w.Live.Object, "spec", "template", "spec", list)
		for _, item := range items {
			if c, _ := item.(map[string]any); c["name"] == w.Backup.Container {
				return c
			}
		}
	}
	return nil
}

// Image returns the image of the container of the commands.
func (w Workload) Image() string {
	image, _ := w.container()["image"].(string)
	return image
}

// replicas returns the number of pods that a workload should have.
func (w Workload) replicas() int {
	n, _, _ := unstructured.NestedInt64(w.Live.Object, "spec", "replicas")
	return int(n)
}

func (c *Cluster) say(address, format string, args ...any) {
	c.Report(address, fmt.Sprintf(format, args...))
}

// waits reports what an object waits for. An object that is ready has no status.
func (c *Cluster) waits(address, object, status string) {
	if status != "" {
		c.Report(address, object+status)
	}
}
