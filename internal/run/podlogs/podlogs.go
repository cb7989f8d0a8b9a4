// Package podlogs reads the logs of pods. [Read] merges them by time, [ReadErrors] returns the errors in
// them, and [Follow] passes lines on as they are written.
package podlogs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/base/crash"
)

// Reader reads the log of a container, with the time of each line.
type Reader interface {
	Log(ctx context.Context, namespace, pod string, options *corev1.PodLogOptions) (io.ReadCloser, error)
}

// Container is one run of a container in a pod.
type Container struct {
	UID                  types.UID // of the pod
	Namespace, Pod, Name string
	Restarts             int32
	Running              bool
	// Alone: it is the only container of the pod.
	Alone bool
}

// String names the container before its lines: "nova-api-5c9d", or "nova-api-5c9d/api" if the pod
// has several containers.
func (c Container) String() string {
	if c.Alone {
		return c.Pod
	}
	return c.Pod + "/" + c.Name
}

// Of returns the containers that have run in the pods. With previous, it returns the containers that
// have restarted.
func Of(pods []*corev1.Pod, previous bool) []Container {
	var out []Container
	for _, pod := range pods {
		statuses := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
		for i := range statuses {
			s := &statuses[i]
			ran := s.State.Running != nil || s.State.Terminated != nil || s.LastTerminationState.Terminated != nil
			if previous {
				ran = s.LastTerminationState.Terminated != nil
			}
			if ran {
				out = append(out, Container{
					UID: pod.UID, Namespace: pod.Namespace, Pod: pod.Name, Name: s.Name,
					Restarts: s.RestartCount, Running: s.State.Running != nil, Alone: len(statuses) == 1,
				})
			}
		}
	}
	return out
}

// Options choose the lines of each container.
type Options struct {
	Previous bool      // the run before the last restart
	Since    time.Time // zero: from the beginning
	Tail     int       // the number of last lines; negative: all
}

func (o Options) of(c Container) *corev1.PodLogOptions {
	options := &corev1.PodLogOptions{Container: c.Name, Previous: o.Previous, Timestamps: true}
	if !o.Since.IsZero() {
		options.SinceTime = &metav1.Time{Time: o.Since}
	}
	if o.Tail >= 0 {
		tail := int64(o.Tail)
		options.TailLines = &tail
	}
	return options
}

// Line is a line of a log.
type Line struct {
	Container Container
	Time      time.Time // zero: it is not known
	Text      string
}

// Read reads the logs of containers, and returns their lines by time. The error has a reason for
// each log that it could not read; the lines of the other logs are complete.
func Read(ctx context.Context, reader Reader, containers []Container, o Options) ([]Line, error) {
	logs := make([][]Line, len(containers))
	err := readAll(ctx, reader, containers, o, func(i int, l Line) { logs[i] = append(logs[i], l) })
	lines := slices.Concat(logs...)
	slices.SortStableFunc(lines, func(a, b Line) int { return a.Time.Compare(b.Time) })
	return lines, err
}

// readAll passes on the lines of containers, with the index of the container. One goroutine at a time has a container.
func readAll(ctx context.Context, reader Reader, containers []Container, o Options, each func(i int, l Line)) error {
	const atOnce = 10 // logs
	failed := make([]error, len(containers))
	var group errgroup.Group
	group.SetLimit(atOnce)
	for i, c := range containers {
		group.Go(crash.Catching(func() error {
			failed[i] = scan(ctx, reader, c, o.of(c), func(l Line) { each(i, l) })
			return nil
		}))
	}
	err := group.Wait()
	return errors.Join(append(failed, err)...)
}

// scan passes the lines of a log on. A line without a time gets that of the line before.
func scan(ctx context.Context, reader Reader, c Container, options *corev1.PodLogOptions, each func(Line)) error {
	log, err := reader.Log(ctx, c.Namespace, c.Pod, options)
	if err == nil {
		err = errors.Join(split(log, c, each), log.Close())
	}
	if err != nil {
		return fmt.Errorf("read the log of %s: %w", c, err)
	}
	return nil
}

func split(log io.Reader, c Container, each func(Line)) error {
	const longest = 1 << 20 // bytes of a line; longer lines are cut
	lines := bufio.NewReaderSize(log, longest)
	var at time.Time
	for {
		raw, err := lines.ReadSlice('\n')
		if len(raw) > 0 {
			text := strings.TrimRight(string(raw), "\r\n")
			if stamp, rest, ok := strings.Cut(text, " "); ok {
				if t, err := time.Parse(time.RFC3339Nano, stamp); err == nil {
					at, text = t, rest
				}
			}
			each(Line{c, at, text})
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}
