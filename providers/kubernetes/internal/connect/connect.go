// Package connect connects to an API server. A Connection has the clients that send requests. Call
// retries requests while a failure is temporary. Errors that an operator can do something about are
// failure.Explained. The transport counts requests, logs them, passes warnings on, and notices
// outages.
package connect

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	coordinationv1client "k8s.io/client-go/kubernetes/typed/coordination/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"kolla.openstack.org/kolla/internal/base/crash"
	"kolla.openstack.org/kolla/internal/base/redaction"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/decode"
)

const (
	// dialTimeout bounds the wait for a connection.
	dialTimeout = 5 * time.Second
	// identityTimeout bounds the first requests to a cluster.
	identityTimeout = 10 * time.Second
)

// Options choose the cluster and the way of talking to it.
type Options struct {
	// Kubeconfig is the path of a kubeconfig file. Empty: the files that kubectl reads
	// ($KUBECONFIG, ~/.kube/config), or the service account of the pod in which kolla runs.
	Kubeconfig string
	// Context is the name of a context in the kubeconfig; empty: the current one.
	Context string
	// As is the name of a user to impersonate, "system:serviceaccount:NAMESPACE:NAME". Empty: nobody.
	As string
	// UserAgent is sent with each request; empty: what client-go sends.
	UserAgent string
	// Warn is called once for each distinct warning, by one goroutine at a time. May be
	// nil.
	Warn func(Warning)
	// Unreachable is called when a server that answered before has not answered for some
	// seconds, with the reason (see Cause). It is called with nil when the server answers
	// again. One goroutine at a time calls it; it must not send requests. May be nil.
	Unreachable func(error)
	// Waiting is called once for each distinct reason why the server keeps a request waiting,
	// unless the caller reports it (see [providers.ReportingRetries]). Several goroutines may call
	// it at once. May be nil.
	Waiting func(reason string)
	// Secrets gets the values of all Secrets that are sent and read. All values in it are removed
	// from messages of the server and from logs. Nil: a new one.
	Secrets *redaction.Values
	// Log gets a record of each request at slog.LevelDebug, and more at LevelTrace. No
	// record contains a value of a Secret. Nil: nothing is logged.
	Log *slog.Logger
}

// Connection is a connection to an API server: the clients that send requests, all over one
// transport. Its methods may be used by several goroutines at once.
type Connection struct {
	Objects   dynamic.Interface
	Core      corev1client.CoreV1Interface
	Leases    coordinationv1client.LeasesGetter
	Discovery *discovery.DiscoveryClient
	Logger    *slog.Logger
	// Secrets are the secret values that were sent and read. Text from other programs passes
	// through it: Connection removes the values from errors, warnings and logs of containers.
	Secrets *redaction.Values

	server  string       // URL
	context string       // of the kubeconfig; empty: there is none
	web     *http.Client // the transport of all clients
	traffic *traffic
	waiting waiting
	config  *rest.Config // without traffic: for connections to nodes through the server
}

// Open finds the cluster as kubectl does. It sends no request. Errors are a
// *NoConfigError, a *BrokenConfigError, an *UnknownContextError, or describe another fault of
// the chosen context.
func Open(options Options) (*Connection, error) {
	secrets := cmp.Or(options.Secrets, &redaction.Values{})
	warnings := newWarnings(options.Warn)
	found, err := choose(options, warnings)
	if err != nil {
		return nil, err
	}
	config := found.config
	traffic := newTraffic(options.Unreachable)
	config.WarningHandlerWithContext = warnings
	config.RateLimiter = traffic
	config.Dial = (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext
	log := cmp.Or(options.Log, slog.New(slog.DiscardHandler))
	if log.Enabled(context.Background(), slog.LevelDebug) {
		config.Wrap(logging(log))
	}
	config.Wrap(redacting(secrets))
	plain := rest.CopyConfig(config)
	config.Wrap(traffic.wrap)
	connection, err := newClients(config, traffic)
	if err != nil {
		return nil, &BrokenConfigError{File: found.file, Err: err}
	}
	connection.waiting.tell = options.Waiting
	connection.context, connection.config, connection.Logger, connection.Secrets = found.context, plain, log, secrets
	return connection, nil
}

// Config returns the configuration of a client of another library, for objects that are not of a
// cloud. Messages of the server pass without the values in options.Secrets. It sends no request; errors
// are those of Open.
func Config(options Options) (*rest.Config, error) {
	found, err := choose(options, newWarnings(options.Warn))
	if err != nil {
		return nil, err
	}
	config := found.config
	config.Wrap(redacting(cmp.Or(options.Secrets, &redaction.Values{})))
	return config, nil
}

// choose loads the configuration of the chosen context, and says in it who sends the requests.
func choose(options Options, warnings *warnings) (chosen, error) {
	found, err := loadConfig(options, warnings)
	if err != nil {
		return chosen{}, err
	}
	found.config.UserAgent = cmp.Or(options.UserAgent, rest.DefaultKubernetesUserAgent())
	if options.As != "" {
		found.config.Impersonate = rest.ImpersonationConfig{UserName: options.As}
	}
	return found, nil
}

// newClients makes all API clients over one transport. Its errors are about the configuration.
func newClients(config *rest.Config, traffic *traffic) (*Connection, error) {
	web, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	untyped := dynamic.ConfigFor(config)
	untyped.NegotiatedSerializer = decode.Serializer{NegotiatedSerializer: untyped.NegotiatedSerializer}
	untyped.APIPath = "/" // each request has its whole path
	objects, err := rest.UnversionedRESTClientForConfigAndClient(untyped, web)
	if err != nil {
		return nil, err
	}
	core, err := corev1client.NewForConfigAndClient(config, web)
	if err != nil {
		return nil, err
	}
	leases, err := coordinationv1client.NewForConfigAndClient(config, web)
	if err != nil {
		return nil, err
	}
	directory, err := discovery.NewDiscoveryClientForConfigAndClient(config, web)
	if err != nil {
		return nil, err
	}
	c := &Connection{server: config.Host, Objects: dynamic.New(objects), Core: core, Leases: leases, Discovery: directory, web: web, traffic: traffic}
	traffic.probe = c.probe
	return c, nil
}

// Server returns the URL of the API server.
func (c *Connection) Server() string { return c.server }

// Context returns the name of the chosen context of the kubeconfig; empty: kolla runs in a pod of
// the cluster.
func (c *Connection) Context() string { return c.context }

// Requests returns how many requests were sent so far, by verb: "get", "list", "watch",
// "patch", "patch (dry-run)", "create", "update", "delete", "exec", "portforward", "proxy", "review" and "discovery".
func (c *Connection) Requests() map[string]int { return c.traffic.requests() }

// Identity asks which cluster this is. It fails within ten seconds if the server does not
// answer.
func (c *Connection) Identity(ctx context.Context) (providers.Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, identityTimeout)
	defer cancel()
	var system *unstructured.Unstructured
	var info *version.Info
	group, ctx := errgroup.WithContext(ctx)
	group.Go(crash.Catching(func() (err error) {
		namespaces := schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
		system, err = Get(ctx, c, c.Objects.Resource(namespaces), metav1.NamespaceSystem)
		if err != nil {
			return fmt.Errorf("identify the cluster: %w", err)
		}
		return nil
	}))
	group.Go(crash.Catching(func() (err error) {
		info, err = Call(ctx, c, VerbGet, func(ctx context.Context) (*version.Info, error) {
			return c.Discovery.ServerVersionWithContext(ctx)
		})
		if err != nil {
			return fmt.Errorf("ask for the server's version: %w", err)
		}
		return nil
	}))
	if err := group.Wait(); err != nil {
		return providers.Identity{}, c.unserved(err)
	}
	identity := providers.Identity{UID: string(system.GetUID()), Server: c.server, Version: info.GitVersion}
	if info.EmulationMajor != "" && (info.EmulationMajor != info.Major || info.EmulationMinor != info.Minor) {
		identity.Emulates = info.EmulationMajor + "." + info.EmulationMinor
	}
	return identity, nil
}

// Quiet keeps client-go from writing to stderr. Failures are returned as errors.
func Quiet(ctx context.Context) context.Context {
	return klog.NewContext(ctx, logr.Discard())
}
