package providers

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// EventTime returns the time of an event of Kubernetes. The field depends on the version of the API
// that wrote the event.
func EventTime(event *corev1.Event) time.Time {
	switch {
	case event.Series != nil:
		return event.Series.LastObservedTime.Time
	case !event.LastTimestamp.IsZero():
		return event.LastTimestamp.Time
	}
	return event.EventTime.Time
}
