// Package kubernetes is the one package that talks to a cluster. A Client reads: it lists
// objects, and asks the server for the result of an apply. The Writer that it hands out is
// the only way to change the objects of a cloud: server-side apply, delete, and waiting until an
// object is ready, with the reason when it is not. Records write the state, and a Shell runs
// commands in pods.
//
// Temporary failures (a restarting server, throttling, lost connections, a new etcd leader)
// are retried with back-off. Errors that an operator can do something about are
// failure.Explained.
//
// This package is the front. The work is done by the packages below internal: connect,
// resources, list, readiness, watch, dryrun and write.
package kubernetes

import (
	"context"
	"io"
	"net"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/connect"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/dryrun"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/list"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/readiness"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/resources"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/write"
)

// Client reads a cluster. No method of it changes anything there; see Writer and Shell. All
// methods may be used by several goroutines at once.
type Client struct{ access *resources.Access }

var _ providers.Reader = (*Client)(nil)

// Connect finds the cluster as kubectl does. It sends no request: Identity sends the first one. Its
// errors are failure.Explained.
func Connect(options Options) (*Client, error) {
	connection, err := connect.Open(options)
	if err != nil {
		return nil, err
	}
	return &Client{resources.NewAccess(connection)}, nil
}

// Config returns the configuration of a client of another library, for objects that are not of a
// cloud. It sends no request. Its errors are failure.Explained.
func Config(options Options) (*rest.Config, error) { return connect.Config(options) }

// Server returns the URL of the API server.
func (c *Client) Server() string { return c.access.Connection.Server() }

// Context returns the name of the chosen context of the kubeconfig; empty: kolla runs in a pod of
// the cluster.
func (c *Client) Context() string { return c.access.Connection.Context() }

// Requests returns how many requests were sent so far, by verb: "get", "list", "watch",
// "patch", "patch (dry-run)", "create", "update", "delete", "exec", "portforward", "proxy", "review" and "discovery".
func (c *Client) Requests() map[string]int { return c.access.Connection.Requests() }

// Identity asks which cluster this is. It fails within ten seconds if the server does not
// answer.
func (c *Client) Identity(ctx context.Context) (providers.Identity, error) {
	return c.access.Connection.Identity(ctx)
}

// Reachable returns at once while the server answers. During an outage it waits until the
// server answers again. It returns an *UnreachableError when the outage lasts longer than
// patience, or the error of the context.
func (c *Client) Reachable(ctx context.Context, patience time.Duration) error {
	return c.access.Connection.Reachable(ctx, patience)
}

// List reads all objects of a kind, in one namespace or (empty, or a kind without namespaces) in
// the whole cluster. It is a consistent read: it sees everything that was written before it began.
// If the server does not have the kind, the error satisfies meta.IsNoMatchError. If the server
// refuses to list this kind only, the error is a *providers.UnreadableError.
func (c *Client) List(ctx context.Context, kind schema.GroupVersionKind, namespace string) ([]*unstructured.Unstructured, error) {
	return list.Readable(ctx, c.access, kind, namespace)
}

// Get is part of providers.Reader.
func (c *Client) Get(ctx context.Context, ref providers.Ref) (*unstructured.Unstructured, error) {
	target, err := c.access.Target(connect.About(ctx, ref), ref)
	if err != nil {
		return nil, err
	}
	return target.Get(connect.About(ctx, ref), ref.Name, metav1.GetOptions{})
}

// Allowed reports whether the user may send a request. It asks the server, and stores nothing there.
func (c *Client) Allowed(ctx context.Context, access providers.Access) (bool, error) {
	return c.access.Connection.Allowed(ctx, access)
}

// Proxy sends a request to a Service through the API server, once. An answer of a pod is no error,
// whatever its status. If the request does not reach a pod, the error is a
// *providers.NoAnswerError or a *providers.PermissionError.
func (c *Client) Proxy(ctx context.Context, to providers.InternalURL, request providers.ServiceRequest) (*providers.ServiceAnswer, error) {
	return c.access.Connection.Proxy(ctx, to, request)
}

// Forward connects to a port of a pod through the API server and the node of the pod, once. The context
// only bounds the way there. If the connection does not reach the pod, the error is a
// *providers.NoAnswerError or a *providers.PermissionError; if nothing listens on the port, reads and
// writes return such an error.
func (c *Client) Forward(ctx context.Context, to providers.PodPort) (net.Conn, error) {
	return c.access.Connection.Forward(ctx, to)
}

// Contents lists the objects in a namespace that are deleted together with it, with one LIST
// of metadata for each kind. A kind that cannot be listed is no error; it is in Unread.
func (c *Client) Contents(ctx context.Context, namespace string) (providers.Contents, error) {
	return list.Contents(ctx, c.access, namespace)
}

// Namespaced reports whether objects of the kind live in namespaces. A kind that the server
// does not have is an error that satisfies meta.IsNoMatchError.
func (c *Client) Namespaced(ctx context.Context, kind schema.GroupVersionKind) (bool, error) {
	found, err := c.access.Mapper.Find(ctx, kind, resources.MissAge)
	return found.Namespaced, err
}

// KindNamed finds the kind of a name, in its newest stable version, and says whether its
// objects live in namespaces. Kinds of Kubernetes itself come before others. An unknown name
// is an error that satisfies meta.IsNoMatchError. A name that several groups have is an
// *AmbiguousKindError.
func (c *Client) KindNamed(ctx context.Context, name string) (kind schema.GroupVersionKind, namespaced bool, err error) {
	kind, found, err := c.access.Mapper.Named(ctx, name)
	return kind, found.Namespaced, err
}

// Resource asks the server for the resource name of a kind. A kind that the server does not
// have is an error that satisfies meta.IsNoMatchError.
func (c *Client) Resource(ctx context.Context, kind schema.GroupVersionKind) (name string, err error) {
	found, err := c.access.Mapper.Find(ctx, kind, resources.MissAge)
	return found.GVR.Resource, err
}

// Workload reads a StatefulSet or DaemonSet once its controller has seen its present specification.
// Before that, it is not known which pods are outdated.
func (c *Client) Workload(ctx context.Context, ref providers.Ref) (*unstructured.Unstructured, error) {
	return readiness.ObservedWorkload(ctx, c.access, ref)
}

// Ready reports whether an object that was read is ready, by its own fields: Writer.Wait would
// return at once, or wait only for a file system that grows. Wait also accepts objects that wait for
// others, such as claims whose volume comes with the first pod. nil is not ready.
func Ready(object *unstructured.Unstructured) bool {
	if object == nil {
		return false
	}
	now, err := readiness.Assess(object)
	return err == nil && now.Ready
}

// Inspect returns the inspector of a snapshot of this cluster.
func (c *Client) Inspect(snapshot *providers.Snapshot) *Inspector {
	return readiness.NewInspector(snapshot, c.access.Connection.Secrets)
}

// Log reads the log of a container. The caller must close it. The log has no values of Secrets that
// this process has read before it began.
func (c *Client) Log(ctx context.Context, namespace, pod string, options *corev1.PodLogOptions) (io.ReadCloser, error) {
	return connect.Call(ctx, c.access.Connection, connect.VerbGet, func(ctx context.Context) (io.ReadCloser, error) {
		return c.access.Connection.Core.Pods(namespace).GetLogs(pod, options).Stream(ctx)
	})
}

// Pods lists the pods of a StatefulSet or DaemonSet, by node and name.
func (c *Client) Pods(ctx context.Context, workload *unstructured.Unstructured) ([]providers.Pod, error) {
	return readiness.Pods(ctx, readiness.NewServer(c.access), workload)
}

// DryRun asks the server for the result of an apply. If other managers own fields, the error is a
// *providers.ConflictError, unless Force is set. If the server finds a fault in the object, the
// error is an apierrors.APIStatus. With Surrogate, the answer and errors contain the object's own
// name and namespace.
func (c *Client) DryRun(ctx context.Context, object *unstructured.Unstructured, options providers.DryRunOptions) (*unstructured.Unstructured, error) {
	return dryrun.Run(ctx, c.access, object, options)
}

// Writer returns the only way to change the objects of a cloud.
func (c *Client) Writer() *Writer { return write.New(c.access) }

// Records returns the Secrets and Leases of a namespace in which kolla keeps its state.
func (c *Client) Records(namespace string) *Records { return write.NewRecords(c.access, namespace) }

// Shell returns the way to run commands in pods.
func (c *Client) Shell() *Shell { return &Shell{c.access} }

// Shell runs commands in pods. It sends each request once: a node that does not answer is no
// fault of the server.
type Shell struct{ access *resources.Access }

var _ providers.Shell = (*Shell)(nil)

// Pods lists the pods of a StatefulSet or DaemonSet, by node and name.
func (s *Shell) Pods(ctx context.Context, workload *unstructured.Unstructured) ([]providers.Pod, error) {
	return readiness.Pods(ctx, readiness.NewServer(s.access), workload)
}

// Exec runs a command in a container of a pod.
func (s *Shell) Exec(ctx context.Context, pod types.NamespacedName, container string, command []string) (string, error) {
	return s.access.Connection.Exec(ctx, pod, container, command)
}

// Stream runs a command in a container of a pod, with all of its input and output. stdin may be nil.
// If the exit status is not 0, the error is a *providers.CommandError. After the context has ended,
// stdin and stdout may still be in use.
func (s *Shell) Stream(ctx context.Context, pod types.NamespacedName, container string, command []string, stdin io.Reader, stdout io.Writer) error {
	return s.access.Connection.Stream(ctx, pod, container, command, stdin, stdout)
}
