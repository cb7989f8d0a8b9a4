package kubernetes

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"
)

const (
	// watchTime is how long one watch lasts, so that one that has gone deaf without
	// being closed, by a proxy say, holds nobody up for long.
	watchTime = time.Minute
	// watchPause keeps a watch that ends at once from being a busy loop.
	watchPause = time.Second
	// pollPause is between looks where watching is not allowed.
	pollPause = 2 * time.Second
	// linger is how long a watch is kept open that nobody needs just now: what comes
	// next in an apply is often of the same kind.
	linger = 5 * time.Second
)

// place is what one watch sees: the objects of a resource in one namespace; or the
// one of that name, where there are no namespaces.
type place struct {
	resource
	namespace, name string
}

// lookouts are the watches that are open, each for all who wait for something that
// it sees. (client-go's informers and retrying watchers keep failures to themselves;
// here whoever waits must learn of a server that does not come back, or of a missing
// permission.)
type lookouts struct {
	client *Client

	mu     sync.Mutex
	open   map[place]*lookout
	failed map[place]*failure // of surveys
}

// failure is why a survey has failed, and when it may be tried again.
type failure struct {
	err   error
	pause time.Duration
	until time.Time
}

// slowest is how far the pauses between attempts grow that only help to explain a wait.
const slowest = 16 * time.Second

// join starts to look at an object. What is older than the version since does not
// count. The guest must leave.
func (l *lookouts) join(ctx context.Context, where resource, namespace, name, since string) *guest {
	at := place{resource: where, namespace: namespace}
	if _, err := resourceversion.CompareResourceVersion(since, since); since != "" && err != nil {
		// Nobody can tell what is older. A watch that is only opened now sees nothing
		// that is.
		at.name, since = name, ""
	}
	if !where.namespaced {
		at.name = name
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.enter(ctx, at, &guest{name: name, since: since})
}

// survey starts to look at all objects of a place. Where that has failed just now, it
// fails again without a request. The guest must leave.
func (l *lookouts) survey(ctx context.Context, at place) (*guest, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.failed[at]; f != nil && time.Now().Before(f.until) {
		return nil, f.err
	}
	return l.enter(ctx, at, &guest{surveys: true}), nil
}

// enter lets a guest in. The lock of the lookouts is held.
func (l *lookouts) enter(ctx context.Context, at place, g *guest) *guest {
	found := l.open[at]
	if found == nil {
		found = l.start(ctx, at)
	}
	found.closing.Stop()
	g.lookout, g.news = found, make(chan struct{}, 1)
	found.mu.Lock()
	defer found.mu.Unlock()
	found.guests[g] = true
	g.news <- struct{}{}
	return g
}

// fail notes that nothing can be seen at a place. The lock of the lookouts is held.
func (l *lookouts) fail(at place, err error) {
	f := l.failed[at]
	if f == nil {
		f = &failure{pause: pollPause}
		l.failed[at] = f
	}
	f.err, f.pause = err, min(2*f.pause, slowest)
	f.until = time.Now().Add(f.pause)
}

// start opens a watch. It ends some time after its last guest has left.
func (l *lookouts) start(ctx context.Context, at place) *lookout {
	found := &lookout{lookouts: l, place: at, guests: map[*guest]bool{}}
	l.open[at] = found
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	found.closing = time.AfterFunc(linger, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		found.mu.Lock()
		defer found.mu.Unlock()
		if len(found.guests) == 0 {
			stop()
			found.close()
		}
	})
	go found.look(quiet(ctx))
	return found
}

// guest is one who waits for an object.
type guest struct {
	lookout     *lookout
	name, since string
	surveys     bool          // it looks at everything, to explain a wait
	news        chan struct{} // there may be something new to see
}

func (g *guest) leave() {
	at := g.lookout
	at.mu.Lock()
	defer at.mu.Unlock()
	delete(at.guests, g)
	if len(at.guests) == 0 {
		at.closing.Reset(linger)
	}
}

// sighting is an object as it was at some moment: nil when there was none.
type sighting struct {
	object *unstructured.Unstructured
	err    error // nothing is seen any more
}

// look gives the object as it was seen last; ok is false where that was before what
// the guest knows of it, or it was not looked for yet.
func (g *guest) look() (seen sighting, ok bool) {
	at := g.lookout
	at.mu.Lock()
	defer at.mu.Unlock()
	if at.err != nil {
		return sighting{err: at.err}, true
	}
	object, version := at.objects[g.name], at.version
	if object != nil {
		version = object.GetResourceVersion()
	}
	if version == "" {
		return sighting{}, false
	}
	if order, err := resourceversion.CompareResourceVersion(version, g.since); err == nil && order < 0 {
		return sighting{}, false
	}
	return sighting{object: object}, true
}

// lookout is one watch.
type lookout struct {
	*lookouts
	place
	closing *time.Timer

	mu      sync.Mutex
	guests  map[*guest]bool
	objects map[string]*unstructured.Unstructured // by name
	version string                                // all that was written up to it was seen
	err     error
	gallery gallery
	polled  time.Duration // the last pause between looks where watching is not allowed
}

// close lets nobody in any more. The lock of the lookouts is held.
func (l *lookout) close() {
	if l.open[l.place] == l {
		delete(l.open, l.place)
	}
}

// look lists and watches until the context ends, or a failure stays. Each watch
// starts from a fresh list, so that nothing is missed when one ends, whatever the
// reason: a server that restarts, or one that has forgotten the past.
func (l *lookout) look(ctx context.Context) {
	for ctx.Err() == nil {
		found, err := l.client.listAt(ctx, l.place)
		if err != nil {
			l.lookouts.mu.Lock()
			l.close()
			if ctx.Err() == nil {
				l.fail(l.place, err)
			}
			l.lookouts.mu.Unlock()
			l.tell(func() { l.err = err })
			return
		}
		l.lookouts.mu.Lock()
		delete(l.failed, l.place)
		l.lookouts.mu.Unlock()
		objects := map[string]*unstructured.Unstructured{}
		for _, u := range found.items {
			objects[u.GetName()] = slim(u)
		}
		l.tell(func() { l.objects, l.version = objects, found.version })
		l.watch(ctx, found.version)
	}
}

// tell changes what is seen, and tells the guests that something may have changed.
func (l *lookout) tell(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
	for g := range l.guests {
		select {
		case g.news <- struct{}{}:
		default:
		}
	}
}

// watch takes in what one watch sees, and returns when it is time to list again.
func (l *lookout) watch(ctx context.Context, version string) {
	start := time.Now()
	options := metav1.ListOptions{ResourceVersion: version, TimeoutSeconds: ptr.To(int64(watchTime.Seconds())), FieldSelector: l.selector()}
	events, err := l.client.at(l.resource, l.namespace).Watch(withVerb(ctx, verbWatch), options)
	if err != nil {
		pause := watchPause
		if apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err) {
			pause = l.poll()
		}
		sleep(ctx, pause)
		return
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		object, ok := event.Object.(*unstructured.Unstructured)
		if ok {
			l.client.logger.Log(ctx, LevelTrace, "watch event", "event", event.Type, "kind", object.GetKind(),
				"namespace", object.GetNamespace(), "name", object.GetName(), "resourceVersion", object.GetResourceVersion())
		}
		switch {
		case ok && (event.Type == watch.Added || event.Type == watch.Modified):
			l.tell(func() { l.objects[object.GetName()], l.version = slim(object), object.GetResourceVersion() })
		case ok && event.Type == watch.Deleted:
			l.tell(func() { delete(l.objects, object.GetName()); l.version = object.GetResourceVersion() })
		default: // an error, such as a version that is too old
			sleep(ctx, watchPause)
			return
		}
	}
	if time.Since(start) < watchPause {
		sleep(ctx, watchPause)
	}
}

// poll is how long to wait before the next look where watching is not allowed: longer
// each time while nobody waits for what there is to see.
func (l *lookout) poll() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	for g := range l.guests {
		if !g.surveys {
			l.polled = 0
		}
	}
	l.polled = min(max(2*l.polled, pollPause), slowest)
	return l.polled
}

// selector picks the object of that name, if only that one is looked at.
func (p place) selector() string {
	if p.name == "" {
		return ""
	}
	return fields.OneTermEqualSelector(metav1.ObjectNameField, p.name).String()
}

// slim takes from an object what no wait looks at, and most of it consists of.
func slim(u *unstructured.Unstructured) *unstructured.Unstructured {
	u.SetManagedFields(nil)
	return u
}

func sleep(ctx context.Context, pause time.Duration) {
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}
