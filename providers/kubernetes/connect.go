// Package kubernetes is the one package that talks to a cluster. A Client reads:
// it lists objects, and asks the server what an apply would make of them. The
// Writer that it hands out is the only way to change anything: server-side
// apply, delete, and waiting until an object is ready, with the reason when it is
// not.
//
// Failures that pass (a restarting server, throttling, lost connections, a new
// etcd leader) are waited out with back-off; see patience for how long. Explain
// turns the failures that an operator can do something about into words.
package kubernetes

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"kolla.openstack.org/kolla/internal/crash"
	"kolla.openstack.org/kolla/providers"
)

const (
	// dialTimeout bounds how long a server that does not answer at all goes
	// unnoticed.
	dialTimeout = 5 * time.Second
	// identityTimeout bounds the first questions to a cluster.
	identityTimeout = 10 * time.Second
	// pageSize is how many objects the server is asked for at a time.
	pageSize = 500
)

// Options choose the cluster, and how it is spoken to.
type Options struct {
	// Kubeconfig is the path of a kubeconfig file. Empty: the files that kubectl
	// would take ($KUBECONFIG, ~/.kube/config), or the service account of the pod
	// that kolla runs in.
	Kubeconfig string
	// Context is the name of a context in the kubeconfig; empty: the current one.
	Context string
	// UserAgent is sent with each request; empty: what client-go sends.
	UserAgent string
	// Warn takes each distinct warning once. It is not called by two goroutines at a
	// time. May be nil.
	Warn func(Warning)
	// Unreachable is told when the server, having answered before, has not for some
	// seconds, with the reason (see Cause), and with nil when it answers again. It is
	// not called by two goroutines at a time, and must not ask the Client anything. May
	// be nil.
	Unreachable func(error)
	// Log takes a record of each request at slog.LevelDebug, and more at LevelTrace. No
	// record holds a value of a Secret. Nil: nothing is logged.
	Log *slog.Logger
}

// Client reads a cluster. It has no method that changes anything there; see
// Writer, and Shell. All methods may be used by several goroutines at once.
type Client struct {
	server    string // URL
	context   string // of the kubeconfig; empty: there is none
	objects   dynamic.Interface
	core      corev1client.CoreV1Interface // read only: pods, events, logs
	discovery *discovery.DiscoveryClient
	kinds     *kinds
	traffic   *traffic
	logger    *slog.Logger
	config    *rest.Config // without traffic: for connections to nodes through the server
}

var _ providers.Reader = (*Client)(nil)

// Connect finds the cluster as kubectl does. It does not speak to the server yet:
// Identity is the first question to ask. Errors are a *NoConfigError, a
// *BrokenConfigError, an *UnknownContextError, or say what else is wrong with the
// chosen context.
func Connect(options Options) (*Client, error) {
	warnings := newWarnings(options.Warn)
	config, chosen, err := loadConfig(options, warnings)
	if err != nil {
		return nil, err
	}
	traffic := newTraffic(options.Unreachable)
	config.UserAgent = options.UserAgent
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	config.WarningHandlerWithContext = warnings
	config.RateLimiter = traffic
	config.Dial = (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext
	log := cmp.Or(options.Log, slog.New(slog.DiscardHandler))
	if log.Enabled(context.Background(), slog.LevelDebug) {
		config.Wrap(logging(log))
	}
	plain := rest.CopyConfig(config)
	config.Wrap(traffic.wrap)
	client, err := newClient(config, traffic)
	if err != nil {
		return nil, err
	}
	client.context, client.config, client.logger = chosen, plain, log
	return client, nil
}

// newClient makes all API clients over one transport.
func newClient(config *rest.Config, traffic *traffic) (*Client, error) {
	web, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("set up the connection to %s: %w", config.Host, err)
	}
	objects, err := dynamic.NewForConfigAndClient(config, web)
	if err != nil {
		return nil, fmt.Errorf("set up the client for %s: %w", config.Host, err)
	}
	core, err := corev1client.NewForConfigAndClient(config, web)
	if err != nil {
		return nil, fmt.Errorf("set up the client for %s: %w", config.Host, err)
	}
	directory, err := discovery.NewDiscoveryClientForConfigAndClient(config, web)
	if err != nil {
		return nil, fmt.Errorf("set up discovery for %s: %w", config.Host, err)
	}
	c := &Client{server: config.Host, objects: objects, core: core, discovery: directory, traffic: traffic}
	c.kinds = newKinds(c.discover)
	traffic.probe = c.probe
	return c, nil
}

// Server is the URL of the API server.
func (c *Client) Server() string { return c.server }

// Context is the name of the kubeconfig's context that was chosen; empty: kolla runs in
// a pod of the cluster.
func (c *Client) Context() string { return c.context }

// Requests tells how many requests were sent so far, by verb: "get", "list",
// "watch", "patch", "patch (dry-run)", "delete", "exec" and "discovery".
func (c *Client) Requests() map[string]int { return c.traffic.requests() }

// Identity asks which cluster this is. A server that does not answer is noticed
// within ten seconds.
func (c *Client) Identity(ctx context.Context) (providers.Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, identityTimeout)
	defer cancel()
	var system *unstructured.Unstructured
	var info *version.Info
	group, ctx := errgroup.WithContext(ctx)
	group.Go(crash.Catching(func() (err error) {
		namespaces := schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
		system, err = c.get(ctx, c.objects.Resource(namespaces), metav1.NamespaceSystem)
		if err != nil {
			return fmt.Errorf("identify the cluster: %w", err)
		}
		return nil
	}))
	group.Go(crash.Catching(func() (err error) {
		info, err = call(ctx, c, verbGet, func(ctx context.Context) (*version.Info, error) {
			return c.discovery.ServerVersionWithContext(ctx)
		})
		if err != nil {
			return fmt.Errorf("ask for the server's version: %w", err)
		}
		return nil
	}))
	if err := group.Wait(); err != nil {
		return providers.Identity{}, err
	}
	identity := providers.Identity{UID: string(system.GetUID()), Server: c.server, Version: info.GitVersion}
	if info.EmulationMajor != "" && (info.EmulationMajor != info.Major || info.EmulationMinor != info.Minor) {
		identity.Emulates = info.EmulationMajor + "." + info.EmulationMinor
	}
	return identity, nil
}

// quiet keeps client-go from writing to stderr: whatever matters comes back as an
// error.
func quiet(ctx context.Context) context.Context {
	return klog.NewContext(ctx, logr.Discard())
}
