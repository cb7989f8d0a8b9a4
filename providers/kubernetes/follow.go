package kubernetes

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
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
)

// sighting is an object as it was at some moment: nil when there was none.
type sighting struct {
	object *unstructured.Unstructured
	err    error
}

// follow sends the object as it is now, and each time it changes, until the
// context ends or a failure stays; then it closes the channel. Each watch starts
// from a fresh list, so that nothing is missed when one ends, whatever the reason:
// a server that restarts, or one that has forgotten the past. (client-go's own
// retrying watchers keep failures to themselves; here whoever waits must learn of
// a server that does not come back, or of a missing permission.)
func (c *Client) follow(ctx context.Context, target dynamic.ResourceInterface, name string) <-chan sighting {
	sightings := make(chan sighting)
	ctx = quiet(ctx)
	send := func(s sighting) {
		select {
		case sightings <- s:
		case <-ctx.Done():
		}
	}
	go func() {
		defer close(sightings)
		for ctx.Err() == nil {
			list, err := c.named(ctx, target, name)
			if err != nil {
				send(sighting{err: err})
				return
			}
			var object *unstructured.Unstructured
			if len(list.Items) > 0 {
				object = &list.Items[0]
			}
			send(sighting{object: object})
			c.relay(ctx, target, name, list.GetResourceVersion(), send)
		}
	}()
	return sightings
}

// named lists the objects of that name: none or one.
func (c *Client) named(ctx context.Context, target dynamic.ResourceInterface, name string) (*unstructured.UnstructuredList, error) {
	return call(ctx, c, verbList, func(ctx context.Context) (*unstructured.UnstructuredList, error) {
		return target.List(ctx, metav1.ListOptions{FieldSelector: onlyNamed(name)})
	})
}

func onlyNamed(name string) string {
	return fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
}

// relay sends what one watch sees, and returns when it is time to list again.
func (c *Client) relay(ctx context.Context, target dynamic.ResourceInterface, name, version string, send func(sighting)) {
	start := time.Now()
	events, err := target.Watch(withVerb(ctx, verbWatch), metav1.ListOptions{
		FieldSelector:   onlyNamed(name),
		ResourceVersion: version,
		TimeoutSeconds:  ptr.To(int64(watchTime.Seconds())),
	})
	if err != nil {
		pause := watchPause
		if apierrors.IsForbidden(err) || apierrors.IsMethodNotSupported(err) {
			pause = pollPause
		}
		sleep(ctx, pause)
		return
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		object, _ := event.Object.(*unstructured.Unstructured)
		switch event.Type {
		case watch.Added, watch.Modified:
			send(sighting{object: object})
		case watch.Deleted:
			send(sighting{})
		case watch.Bookmark:
		default: // an error, such as a version that is too old
			sleep(ctx, watchPause)
			return
		}
	}
	if time.Since(start) < watchPause {
		sleep(ctx, watchPause)
	}
}

func sleep(ctx context.Context, pause time.Duration) {
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}
