package podlogs

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kolla.openstack.org/kolla/internal/base/crash"
)

// followPause is the pause between two looks for new containers.
const followPause = 5 * time.Second

// Follow passes on the lines of all running containers until the context ends. It calls find every
// five seconds, and also follows containers that have started since. The options are for the
// containers of the first look; it reads the logs of later ones from the beginning. One goroutine at
// a time calls each and failed. Its error is that of find; nil: the context has ended.
func Follow(ctx context.Context, reader Reader, find func(context.Context) ([]Container, error), o Options, each func(Line), failed func(error)) error {
	ctx, cancel := context.WithCancel(ctx)
	f := &follower{reader: reader, each: each, failed: failed, known: map[Container]*followed{}}
	defer f.group.Wait()
	defer cancel()
	for first := true; ; first = false {
		containers, err := find(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		for _, c := range containers {
			if c.Running {
				f.follow(ctx, c, o, first)
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(followPause):
		}
	}
}

// follower follows the logs of containers.
type follower struct {
	reader Reader
	group  sync.WaitGroup

	mu     sync.Mutex
	each   func(Line)
	failed func(error)
	known  map[Container]*followed
}

// followed is the progress in the log of a container.
type followed struct {
	ended bool      // the server has ended the answer
	last  time.Time // of the last line; zero: none
}

// follow begins to follow a container. A log whose answer has ended, for example because a
// connection broke, goes on after its last line.
func (f *follower) follow(ctx context.Context, c Container, o Options, first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, again := f.known[c], true
	if at == nil {
		at, again = &followed{}, false
		f.known[c] = at
	}
	if again && !at.ended {
		return
	}
	if !first {
		o = Options{Tail: -1}
	}
	options := o.of(c)
	options.Follow = true
	after := at.last
	if again {
		options.TailLines = nil
		if !after.IsZero() {
			options.SinceTime = &metav1.Time{Time: after}
		}
	}
	at.ended = false
	f.group.Go(func() {
		err := crash.Catch(func() error { return f.scan(ctx, c, options, at, again, after) })
		f.mu.Lock()
		defer f.mu.Unlock()
		at.ended = true
		if err != nil && ctx.Err() == nil {
			f.failed(err)
		}
	})
}

// scan passes the lines of a log on. If it was read before, it leaves out lines that are not newer
// than the last one: the server counts in seconds.
func (f *follower) scan(ctx context.Context, c Container, options *corev1.PodLogOptions, at *followed, again bool, after time.Time) error {
	return scan(ctx, f.reader, c, options, func(l Line) {
		if again && !l.Time.After(after) {
			return
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		at.last = l.Time
		f.each(l)
	})
}
