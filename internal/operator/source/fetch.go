package source

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
)

// patience limits a fetch.
const patience = time.Minute

// Cluster reads the objects that a source names, in the namespace of its Cloud.
type Cluster interface {
	// ConfigMap returns the data of a ConfigMap, text and binary.
	ConfigMap(ctx context.Context, name string) (map[string][]byte, error)
	// Secret returns the data of a Secret.
	Secret(ctx context.Context, name string) (map[string][]byte, error)
}

// Fetch fetches a source. before is the result of the last fetch of the same Cloud, and may be nil.
// Errors name the object or the server, and have no values of Secrets.
func Fetch(ctx context.Context, at v1alpha1.Source, from Cluster, before *Tree) (*Tree, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	switch {
	case at.Git != nil:
		secret, err := secretOf(ctx, from, at.Git.SecretRef)
		if err != nil {
			return nil, err
		}
		return fromGit(ctx, *at.Git, secret, before)
	case at.OCI != nil:
		secret, err := secretOf(ctx, from, at.OCI.SecretRef)
		if err != nil {
			return nil, err
		}
		return fromOCI(ctx, *at.OCI, secret, before)
	case len(at.ConfigMaps) > 0:
		return fromConfigMaps(ctx, at.ConfigMaps, from)
	}
	return nil, fmt.Errorf("the Cloud names no source: set configMaps, git or oci in spec.source")
}

func secretOf(ctx context.Context, from Cluster, ref *v1alpha1.Reference) (map[string][]byte, error) {
	if ref == nil {
		return nil, nil
	}
	return from.Secret(ctx, ref.Name)
}

// fromConfigMaps has a file for each key. A key that two ConfigMaps have is an error: one of the files
// would vanish.
func fromConfigMaps(ctx context.Context, refs []v1alpha1.Reference, from Cluster) (*Tree, error) {
	var files Files
	owners := map[string]string{}
	for _, ref := range refs {
		data, err := from.ConfigMap(ctx, ref.Name)
		if err != nil {
			return nil, err
		}
		for _, key := range slices.Sorted(maps.Keys(data)) {
			if other, ok := owners[key]; ok {
				return nil, fmt.Errorf("the ConfigMaps %s and %s both have the file %s", other, ref.Name, key)
			}
			owners[key] = ref.Name
			if err := files.Add(key, strings.NewReader(string(data[key]))); err != nil {
				return nil, err
			}
		}
	}
	tree, err := files.Tree("")
	if err != nil {
		return nil, err
	}
	tree.Revision = "configmaps@sha256:" + tree.Sum()
	return tree, nil
}
