package providers

import (
	"fmt"
	"net/http"
	"net/url"
)

// ServiceRequest is a request to a Service of Kubernetes.
type ServiceRequest struct {
	Method string
	Path   string // after the path of the InternalURL: "/users"
	Query  url.Values
	Header http.Header
	Body   []byte
}

// ServiceAnswer is the answer of a pod of a Service, with any status.
type ServiceAnswer struct {
	Status int
	Header http.Header
	Body   []byte
}

// NoAnswerError reports that the API server could not pass a request on to a Service, or a connection to
// a pod.
type NoAnswerError struct {
	Namespace string
	Service   string // empty: it is about Pod
	Pod       string
	Why       string // "connection refused"
}

func (e *NoAnswerError) Error() string {
	if e.Service == "" {
		return fmt.Sprintf("Pod %s/%s does not answer: %s", e.Namespace, e.Pod, e.Why)
	}
	return fmt.Sprintf("Service %s/%s does not answer: %s", e.Namespace, e.Service, e.Why)
}
