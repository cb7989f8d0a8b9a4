package resources

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"

	"kolla.openstack.org/kolla/providers/kubernetes/internal/connect"
)

// discover reads the catalogue of all kinds but those of the core group, which are built in.
// It is one request if the server aggregates the catalogue, as all do since Kubernetes 1.27.
func discover(ctx context.Context, c *connect.Connection) (catalogue, error) {
	return connect.Call(ctx, c, connect.VerbDiscovery, func(ctx context.Context) (catalogue, error) {
		lists, unknown, err := aggregated(ctx, c)
		if err != nil {
			return catalogue{}, err
		}
		read := catalogue{resources: map[schema.GroupVersionKind]Resource{}, unknown: unknown}
		for _, list := range lists {
			version, err := schema.ParseGroupVersion(list.GroupVersion)
			if err != nil {
				return catalogue{}, fmt.Errorf("discovery has a malformed group version: %w", err)
			}
			for _, r := range list.APIResources {
				if !strings.Contains(r.Name, "/") { // a subresource
					read.resources[version.WithKind(r.Kind)] = Resource{version.WithResource(r.Name), r.Namespaced}
				}
			}
		}
		return read, nil
	})
}

// aggregated asks for the resources of all groups at once, and asks an older server for each
// group. unknown are the groups whose resources the server does not know.
func aggregated(ctx context.Context, c *connect.Connection) (lists []*metav1.APIResourceList, unknown map[schema.GroupVersion]error, err error) {
	var kind string
	answer := c.Discovery.RESTClient().Get().AbsPath("/apis").SetHeader("Accept", discovery.AcceptV2+","+runtime.ContentTypeJSON).Do(ctx).ContentType(&kind)
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
	_, lists, err = c.Discovery.ServerGroupsAndResourcesWithContext(ctx)
	unknown, partial := discovery.GroupDiscoveryFailedErrorGroups(err)
	if partial {
		err = nil
	}
	return lists, unknown, err
}
