package list

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"kolla.openstack.org/kolla/internal/base/crash"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/connect"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/resources"
)

// contained is a kind whose objects live in namespaces, in the version that the server
// prefers.
type contained struct {
	gvk      schema.GroupVersionKind
	resource resources.Resource
}

// Contents lists the objects in a namespace that are deleted together with it, with one
// LIST of metadata for each kind. A kind that cannot be listed is no error; it is in Unread.
func Contents(ctx context.Context, a *resources.Access, namespace string) (providers.Contents, error) {
	kinds, unknown, err := containedKinds(ctx, a.Connection)
	if err != nil {
		return providers.Contents{}, fmt.Errorf("ask the server for its kinds: %w", err)
	}
	found := make([][]metav1.PartialObjectMetadata, len(kinds))
	refused := make([]providers.Unread, len(kinds))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(10)
	for i, kind := range kinds {
		group.Go(crash.Catching(func() (err error) {
			var answer apierrors.APIStatus
			found[i], err = metadata(ctx, a.Connection, kind, resources.Place{Resource: kind.resource, Namespace: namespace})
			switch {
			case apierrors.IsNotFound(err): // its definition was deleted meanwhile, and all objects with it
			case errors.As(err, &answer):
				refused[i] = providers.Unread{Version: kind.gvk.GroupVersion(), What: fmt.Sprintf("perhaps a %s of %s (%v)", kind.gvk.Kind, kind.gvk.GroupVersion(), err)}
			default:
				return err
			}
			return nil
		}))
	}
	if err := group.Wait(); err != nil {
		return providers.Contents{}, fmt.Errorf("list what is in the namespace %s: %w", namespace, err)
	}
	return providers.Contents{
		Objects: slices.Concat(found...),
		Unread:  append(unknown, slices.DeleteFunc(refused, func(u providers.Unread) bool { return u.What == "" })...),
	}, nil
}

// containedKinds returns the kinds whose objects are deleted with their namespace. A
// resource that cannot be listed and deleted is a view of others, such as the metrics of a
// pod. unknown are the groups whose server does not answer.
func containedKinds(ctx context.Context, c *connect.Connection) (kinds []contained, unknown []providers.Unread, err error) {
	lists, err := connect.Call(ctx, c, connect.VerbDiscovery, func(ctx context.Context) ([]*metav1.APIResourceList, error) {
		lists, err := c.Discovery.ServerPreferredNamespacedResourcesWithContext(ctx)
		down, partial := discovery.GroupDiscoveryFailedErrorGroups(err)
		if err != nil && !partial {
			return nil, err
		}
		unknown = nil
		for _, version := range slices.SortedFunc(maps.Keys(down), func(a, b schema.GroupVersion) int { return strings.Compare(a.String(), b.String()) }) {
			unknown = append(unknown, providers.Unread{Version: version, What: fmt.Sprintf("perhaps an object of %s, whose server does not answer (if nothing needs it: kubectl delete apiservice %s.%s)", version, version.Version, version.Group)})
		}
		return lists, nil
	})
	if err != nil {
		return nil, nil, err
	}
	for _, list := range discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "delete"}}, lists) {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, nil, fmt.Errorf("discovery has a malformed group version: %w", err)
		}
		for _, r := range list.APIResources {
			if r.Kind != "Event" {
				kinds = append(kinds, contained{version.WithKind(r.Kind), resources.Resource{GVR: version.WithResource(r.Name), Namespaced: true}})
			}
		}
	}
	return kinds, unknown, nil
}

// metadata lists the metadata of the objects of one kind.
func metadata(ctx context.Context, c *connect.Connection, kind contained, at resources.Place) ([]metav1.PartialObjectMetadata, error) {
	const accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
	raw, err := connect.Call(ctx, c, connect.VerbList, func(ctx context.Context) ([]byte, error) {
		// The user did not ask for this kind, so warnings about it are dropped.
		result := c.Core.RESTClient().Get().AbsPath(at.Path()).SetHeader("Accept", accept).WarningHandler(rest.NoWarnings{}).Do(ctx)
		if err := result.Error(); err != nil {
			return nil, err
		}
		return result.Raw()
	})
	if err != nil {
		return nil, err
	}
	var list metav1.PartialObjectMetadataList
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("read the list of %s: %w", kind.gvk.Kind, err)
	}
	for i := range list.Items {
		list.Items[i].APIVersion, list.Items[i].Kind = kind.gvk.ToAPIVersionAndKind()
	}
	return list.Items, nil
}
