// Package watch waits for objects. Watches are shared: all waits for objects of one kind in a
// namespace use one watch. A Subscriber gets an Observation of its object after each change.
// Wait reports the progress of an object until it is ready, and why it is not.
package watch

import (
	"context"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/watch"

	"kolla.openstack.org/kolla/providers/kubernetes/internal/connect"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/list"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/resources"
)

const (
	// watchTime is the duration of one watch. It bounds the delay if a proxy drops events
	// without closing the watch.
	watchTime = time.Minute
	// watchPause prevents a busy loop if a watch ends at once.
	watchPause = time.Second
	// pollPause is the pause between lists where watching is not allowed.
	pollPause = 2 * time.Second
	// linger is how long a watch without subscribers stays open. The next step of an apply
	// often waits for an object of the same kind.
	linger = 5 * time.Second
)

// Watches are the shared watches that are open. Each serves all waits for objects that it
// sees. (Informers and retrying watchers of client-go hide failures. Here a wait must learn
// that a server does not come back, or that a permission is missing.)
//
// Lock order: Watches.mu, then sharedWatch.mu.
type Watches struct {
	access  *resources.Access
	classes *storageClasses

	mu     sync.Mutex
	open   map[resources.Place]*sharedWatch
	failed map[resources.Place]*failure // of subscriptions to all objects of a place
}

// New returns no open watches.
func New(a *resources.Access) *Watches {
	return &Watches{access: a, classes: newStorageClasses(a), open: map[resources.Place]*sharedWatch{}, failed: map[resources.Place]*failure{}}
}

// failure is the reason why a subscription failed, and the time of the next attempt.
type failure struct {
	err   error
	pause time.Duration
	until time.Time
}

// maxPause is the longest pause between attempts of a watch that only helps to explain a
// wait.
const maxPause = 16 * time.Second

// Subscribe reports changes of one object that are newer than the version since. The caller
// must call Unsubscribe.
func (w *Watches) Subscribe(ctx context.Context, where resources.Resource, namespace, name, since string) *Subscriber {
	at := resources.Place{Resource: where, Namespace: namespace}
	if _, err := resourceversion.CompareResourceVersion(since, since); since != "" && err != nil {
		// The versions of this server have no order. A new watch sees no old versions.
		at.Name, since = name, ""
	}
	if !where.Namespaced {
		at.Name = name
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.add(ctx, at, &Subscriber{name: name, since: since})
}

// subscribeAll reports changes of all objects of a place. Shortly after a failure it returns
// the same error again, without a request. The caller must call Unsubscribe.
func (w *Watches) subscribeAll(ctx context.Context, at resources.Place) (*Subscriber, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f := w.failed[at]; f != nil && time.Now().Before(f.until) {
		return nil, f.err
	}
	return w.add(ctx, at, &Subscriber{explains: true}), nil
}

// add adds a subscriber to the watch of a place, which it opens if necessary. The caller
// holds mu.
func (w *Watches) add(ctx context.Context, at resources.Place, s *Subscriber) *Subscriber {
	shared := w.open[at]
	if shared == nil {
		shared = w.start(ctx, at)
	}
	shared.closing.Stop()
	s.watch, s.Changed = shared, make(chan struct{}, 1)
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.join(s)
	s.Changed <- struct{}{}
	return s
}

// fail records that a place cannot be watched. The caller holds mu.
func (w *Watches) fail(at resources.Place, err error) {
	f := w.failed[at]
	if f == nil {
		f = &failure{pause: pollPause}
		w.failed[at] = f
	}
	f.err, f.pause = err, min(2*f.pause, maxPause)
	f.until = time.Now().Add(f.pause)
}

// start opens a watch. It ends some time after its last subscriber has left.
func (w *Watches) start(ctx context.Context, at resources.Place) *sharedWatch {
	shared := newSharedWatch(w, at)
	w.open[at] = shared
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	shared.closing = time.AfterFunc(linger, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		shared.mu.Lock()
		defer shared.mu.Unlock()
		if len(shared.subscribers) == 0 {
			stop()
			shared.close()
		}
	})
	go shared.run(connect.Quiet(ctx))
	return shared
}

// Subscriber gets the changes of one object, or of all objects of a place.
type Subscriber struct {
	watch       *sharedWatch
	name, since string
	explains    bool          // it needs all objects of the place, to explain a wait
	Changed     chan struct{} // there may be a new observation
}

// Unsubscribe ends the subscription. The watch stays open for a while.
func (s *Subscriber) Unsubscribe() {
	shared := s.watch
	shared.mu.Lock()
	defer shared.mu.Unlock()
	delete(shared.subscribers[s.name], s)
	if len(shared.subscribers[s.name]) == 0 {
		delete(shared.subscribers, s.name)
		delete(shared.absent, s.name)
	}
	if len(shared.subscribers) == 0 {
		shared.closing.Reset(linger)
	}
}

// Observation is an object as a watch last saw it; nil: no such object exists.
type Observation struct {
	Object *unstructured.Unstructured
	Err    error // the watch has ended
}

// Observe returns the last observation of the object. ok is false if it is older than the
// version that the subscriber knows, or if there is none yet.
func (s *Subscriber) Observe() (last Observation, ok bool) {
	shared := s.watch
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.err != nil {
		return Observation{Err: shared.err}, true
	}
	object, version := shared.objects[s.name], shared.version
	if object != nil {
		version = object.GetResourceVersion()
	}
	if version == "" {
		return Observation{}, false
	}
	if order, err := resourceversion.CompareResourceVersion(version, s.since); err == nil && order < 0 {
		return Observation{}, false
	}
	return Observation{Object: object}, true
}

// sharedWatch is one watch with its subscribers.
type sharedWatch struct {
	watches *Watches
	place   resources.Place
	closing *time.Timer

	mu          sync.Mutex
	subscribers map[string]map[*Subscriber]bool       // by name; those of all objects have an empty name
	absent      map[string]bool                       // names with subscribers and without an object
	objects     map[string]*unstructured.Unstructured // by name
	version     string                                // everything written up to it was seen
	err         error
	index       index
	polled      time.Duration // the last pause between lists where watching is not allowed
}

func newSharedWatch(w *Watches, at resources.Place) *sharedWatch {
	return &sharedWatch{watches: w, place: at, subscribers: map[string]map[*Subscriber]bool{}, absent: map[string]bool{}}
}

// join adds a subscriber. The caller holds mu.
func (shared *sharedWatch) join(s *Subscriber) {
	if shared.subscribers[s.name] == nil {
		shared.subscribers[s.name] = map[*Subscriber]bool{}
	}
	shared.subscribers[s.name][s] = true
	shared.look(s.name)
}

// close refuses new subscribers. The caller holds the lock of the watches.
func (shared *sharedWatch) close() {
	if shared.watches.open[shared.place] == shared {
		delete(shared.watches.open, shared.place)
	}
}

// run lists and watches until the context ends or a failure stays. Each watch starts from a
// new list. So nothing is missed when a watch ends, for example because the server restarts
// or no longer knows the version.
func (shared *sharedWatch) run(ctx context.Context) {
	for ctx.Err() == nil {
		found, err := list.At(ctx, shared.watches.access.Connection, shared.place)
		if err != nil {
			shared.watches.mu.Lock()
			shared.close()
			if ctx.Err() == nil {
				shared.watches.fail(shared.place, err)
			}
			shared.watches.mu.Unlock()
			shared.notify("", func() { shared.err = err })
			return
		}
		shared.watches.mu.Lock()
		delete(shared.watches.failed, shared.place)
		shared.watches.mu.Unlock()
		objects := map[string]*unstructured.Unstructured{}
		for _, u := range found.Items {
			objects[u.GetName()] = slim(u)
		}
		shared.notify("", func() { shared.objects, shared.version = objects, found.Version })
		shared.follow(ctx, found.Version)
	}
}

// notify makes a change to the object of a name, or to all objects if name is empty, and tells the
// subscribers that it concerns. Thousands may wait for objects of one kind.
func (shared *sharedWatch) notify(name string, change func()) {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	change()
	if name == "" {
		for of := range shared.subscribers {
			shared.look(of)
			shared.tell(of)
		}
		return
	}
	shared.look(name)
	shared.tell(name)
	shared.tell("")
	// The version of any other object may confirm that an object does not exist.
	for of := range shared.absent {
		shared.tell(of)
	}
}

// look notes whether the object of a name with subscribers exists. The caller holds mu.
func (shared *sharedWatch) look(name string) {
	if name != "" && shared.objects[name] == nil && len(shared.subscribers[name]) > 0 {
		shared.absent[name] = true
	} else {
		delete(shared.absent, name)
	}
}

// tell tells the subscribers of a name that there may be a new observation. The caller holds mu.
func (shared *sharedWatch) tell(name string) {
	for s := range shared.subscribers[name] {
		select {
		case s.Changed <- struct{}{}:
		default:
		}
	}
}

// follow records the events of one watch. It returns when the objects must be listed again.
func (shared *sharedWatch) follow(ctx context.Context, version string) {
	start := time.Now()
	options := metav1.ListOptions{ResourceVersion: version, TimeoutSeconds: new(int64(watchTime.Seconds())), FieldSelector: shared.place.Selector()}
	events, err := shared.watches.access.At(shared.place.Resource, shared.place.Namespace).Watch(connect.WithVerb(ctx, connect.VerbWatch), options)
	if err != nil {
		pause := watchPause
		if apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err) {
			pause = shared.poll()
		}
		sleep(ctx, pause)
		return
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		object, ok := event.Object.(*unstructured.Unstructured)
		if ok {
			shared.watches.access.Connection.Logger.Log(ctx, connect.LevelTrace, "watch event", "event", event.Type, "kind", object.GetKind(),
				"namespace", object.GetNamespace(), "name", object.GetName(), "resourceVersion", object.GetResourceVersion())
		}
		switch {
		case ok && (event.Type == watch.Added || event.Type == watch.Modified):
			shared.watches.access.Connection.Secrets.AddObject(object.Object)
			shared.notify(object.GetName(), func() { shared.objects[object.GetName()], shared.version = slim(object), object.GetResourceVersion() })
		case ok && event.Type == watch.Deleted:
			shared.notify(object.GetName(), func() { delete(shared.objects, object.GetName()); shared.version = object.GetResourceVersion() })
		default: // an error, such as a version that is too old
			sleep(ctx, watchPause)
			return
		}
	}
	if time.Since(start) < watchPause {
		sleep(ctx, watchPause)
	}
}

// poll returns the pause before the next list where watching is not allowed. The pause grows
// while the list only helps to explain waits.
func (shared *sharedWatch) poll() time.Duration {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	for _, subscribers := range shared.subscribers {
		for s := range subscribers {
			if !s.explains {
				shared.polled = 0
			}
		}
	}
	shared.polled = min(max(2*shared.polled, pollPause), maxPause)
	return shared.polled
}

// slim removes the managed fields, the largest part of an object. No wait needs them.
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
