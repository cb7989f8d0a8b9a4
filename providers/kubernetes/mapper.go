package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"kolla.openstack.org/kolla/providers"
)

// resource is where the objects of a kind are found.
type resource struct {
	schema.GroupVersionResource
	namespaced bool
}

// catalogue is what a server's discovery documents say.
type catalogue struct {
	resources map[schema.GroupVersionKind]resource
	// unknown are the groups whose documents could not be had, usually because an
	// extension API server is down: their kinds are not known to be missing.
	unknown map[schema.GroupVersion]error
}

// groupDownError says that the server behind an API group does not answer, so that
// nobody knows which kinds the group has.
type groupDownError struct {
	version schema.GroupVersion
	err     error // of discovery
}

func (e *groupDownError) Error() string {
	return fmt.Sprintf("the server behind %s does not answer (%v)", e.version, e.err)
}

func (e *groupDownError) Unwrap() error { return e.err }

// missAge is how old the catalogue may be for a kind to count as missing without
// asking the server again. A plan asks for many kinds at a time.
const missAge = 2 * time.Second

// kinds maps kinds to resources. It reads the catalogue when a kind that is not
// built in is first needed, and again when a kind is not in it: the kind's
// definition may be younger.
type kinds struct {
	read func(context.Context) (catalogue, error)

	mu        sync.Mutex
	doubted   map[schema.GroupVersionKind]bool // built in, but not on this server
	catalogue catalogue
	readAt    time.Time
	definedAt time.Time // when this client last changed a definition
}

func newKinds(read func(context.Context) (catalogue, error)) *kinds {
	return &kinds{read: read, doubted: map[schema.GroupVersionKind]bool{}}
}

// find returns where objects of the kind are. A kind that a catalogue not older
// than fresh does not have is a *meta.NoKindMatchError.
func (k *kinds) find(ctx context.Context, kind schema.GroupVersionKind, fresh time.Duration) (resource, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if found, ok := builtin[kind]; ok && !k.doubted[kind] {
		return found, nil
	}
	if found, ok := k.catalogue.resources[kind]; ok {
		return found, nil
	}
	if k.readAt.IsZero() || time.Since(k.readAt) > fresh {
		read, err := k.read(ctx)
		if err != nil {
			return resource{}, fmt.Errorf("ask the server for its kinds: %w", err)
		}
		k.catalogue, k.readAt = read, time.Now()
	}
	if found, ok := k.catalogue.resources[kind]; ok {
		return found, nil
	}
	if err := k.catalogue.unknown[kind.GroupVersion()]; err != nil {
		return resource{}, &groupDownError{version: kind.GroupVersion(), err: err}
	}
	return resource{}, &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
}

// doubt has the catalogue decide whether the server has a kind.
func (k *kinds) doubt(kind schema.GroupVersionKind) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.doubted[kind] = true
}

// defined takes down that a definition was written or deleted: the next search for an
// unknown kind asks the server.
func (k *kinds) defined() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.readAt = time.Time{}
	k.definedAt = time.Now()
}

// settling is how long a server may go on by a definition that has been changed.
const settling = 5 * time.Second

// unsettled reports whether the server may not go by the definition of the kind yet.
func (k *kinds) unsettled(kind schema.GroupVersionKind) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	_, own := builtin[kind]
	return !own && time.Since(k.definedAt) < settling
}

// discover reads the catalogue of all kinds but those of the core, which are built
// in: one request where the server aggregates it, as all do since Kubernetes 1.27.
func (c *Client) discover(ctx context.Context) (catalogue, error) {
	return call(ctx, c, verbDiscovery, func(ctx context.Context) (catalogue, error) {
		lists, unknown, err := c.aggregated(ctx)
		if err != nil {
			return catalogue{}, err
		}
		read := catalogue{resources: map[schema.GroupVersionKind]resource{}, unknown: unknown}
		for _, list := range lists {
			version, err := schema.ParseGroupVersion(list.GroupVersion)
			if err != nil {
				return catalogue{}, fmt.Errorf("discovery has a malformed group version: %w", err)
			}
			for _, r := range list.APIResources {
				if !strings.Contains(r.Name, "/") { // a subresource
					read.resources[version.WithKind(r.Kind)] = resource{version.WithResource(r.Name), r.Namespaced}
				}
			}
		}
		return read, nil
	})
}

// aggregated asks for the resources of all groups at once, and of a server that is
// too old for that, group by group. unknown are the groups that the server knows and
// cannot tell the resources of.
func (c *Client) aggregated(ctx context.Context) (lists []*metav1.APIResourceList, unknown map[schema.GroupVersion]error, err error) {
	var kind string
	answer := c.discovery.RESTClient().Get().AbsPath("/apis").SetHeader("Accept", discovery.AcceptV2+","+runtime.ContentTypeJSON).Do(ctx).ContentType(&kind)
	if err := answer.Error(); err != nil {
		return nil, nil, err
	}
	raw, err := answer.Raw()
	if err != nil {
		return nil, nil, err
	}
	if strings.Contains(kind, "as=APIGroupDiscoveryList") {
		var groups apidiscoveryv2.APIGroupDiscoveryList
		if err := json.Unmarshal(raw, &groups); err != nil {
			return nil, nil, fmt.Errorf("read the server's kinds: %w", err)
		}
		_, byVersion, unknown := discovery.SplitGroupsAndResources(groups)
		return slices.Collect(maps.Values(byVersion)), unknown, nil
	}
	_, lists, err = c.discovery.ServerGroupsAndResourcesWithContext(ctx)
	unknown, partial := discovery.GroupDiscoveryFailedErrorGroups(err)
	if partial {
		err = nil
	}
	return lists, unknown, err
}

// Namespaced reports whether objects of the kind live in namespaces. A kind that
// the server does not have is an error that satisfies meta.IsNoMatchError.
func (c *Client) Namespaced(ctx context.Context, kind schema.GroupVersionKind) (bool, error) {
	found, err := c.kinds.find(ctx, kind, missAge)
	return found.namespaced, err
}

// at gives access to the objects of one resource in one namespace.
func (c *Client) at(where resource, namespace string) dynamic.ResourceInterface {
	if !where.namespaced {
		return c.objects.Resource(where.GroupVersionResource)
	}
	return c.objects.Resource(where.GroupVersionResource).Namespace(namespace)
}

// locate finds the resource of one object.
func (c *Client) locate(ctx context.Context, ref providers.Ref, fresh time.Duration) (resource, error) {
	where, err := c.kinds.find(ctx, ref.GVK, fresh)
	if err == nil && where.namespaced && ref.Namespace == "" {
		err = fmt.Errorf("%s has no namespace, and objects of its kind live in one", ref)
	}
	return where, err
}

// target gives access to the resource of one object.
func (c *Client) target(ctx context.Context, ref providers.Ref) (dynamic.ResourceInterface, error) {
	where, err := c.locate(ctx, ref, missAge)
	if err != nil {
		return nil, err
	}
	return c.at(where, ref.Namespace), nil
}
