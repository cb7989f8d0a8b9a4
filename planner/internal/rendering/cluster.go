// Package rendering compares two renderings of a configuration. The objects of the first
// stand in for those of a cluster: Cluster is a Reader that has them, and a state that knows
// them all. Decide then says what becomes of them in the second.
package rendering

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/state"
)

// Cluster has the objects of a rendering, and the volumes that its StatefulSets would have.
type Cluster struct {
	live  []*unstructured.Unstructured
	state state.State
}

// NewCluster returns the cluster of a rendering of a cloud.
func NewCluster(cloud string, rendered []providers.Object) (*Cluster, error) {
	c := &Cluster{state: state.State{Cloud: cloud}}
	for i := range rendered {
		o := &rendered[i]
		u, err := applied(o, cloud)
		if err != nil {
			return nil, err
		}
		u.SetUID(types.UID(fmt.Sprintf("rendered-%d", i)))
		c.live = append(c.live, u)
		c.live = append(c.live, volumesOf(u)...)
		c.state.Objects = append(c.state.Objects, recordOf(o, u.GetUID()))
	}
	return c, nil
}

// State returns a state that knows all objects of the cluster.
func (c *Cluster) State() *state.State { return &c.state }

// applied returns an object as if it had been applied. The value of each key of a Secret is a
// hash of its description, so that values differ if their descriptions do.
func applied(o *providers.Object, cloud string) (*unstructured.Unstructured, error) {
	manifest := o.Manifest.DeepCopy()
	for key, data := range o.Data {
		if err := unstructured.SetNestedField(manifest.Object, placeholder(data), "data", key); err != nil {
			return nil, fmt.Errorf("describe the values of %s: %w", o.Address, err)
		}
	}
	u, err := dryrun.AppliedBy(manifest, providers.ManagerOf(cloud, o.Partial))
	if err != nil {
		return nil, fmt.Errorf("compare %s: %w", o.Address, err)
	}
	return u, nil
}

// placeholder stands for a value of a Secret. A generated value stays when its description
// changes, unless it is a certificate.
func placeholder(data providers.SecretData) string {
	described := data.Parts
	var certificate *providers.Certificate
	if data.Generate != nil {
		certificate = data.Generate.Cert
	}
	text, err := json.Marshal([]any{described, certificate})
	if err != nil {
		panic(err) // both consist of strings and numbers
	}
	for _, part := range described {
		text = append(append(text, 0), part.Sensitive...)
	}
	sum := sha256.Sum256(text)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// recordOf returns the record of an object in the state.
func recordOf(o *providers.Object, uid types.UID) state.Object {
	ref := o.Ref()
	r := state.Object{
		Address: o.Address.String(), Kind: ref.GVK.Kind, Namespace: ref.Namespace, Name: ref.Name, UID: string(uid),
		Partial: o.Partial, Holds: o.Holds, Stage: o.Stage, Ready: true, DesiredDigest: o.Digest(), RunDigest: o.RunDigest(),
	}
	r.APIVersion = ref.GVK.GroupVersion().String()
	if o.Family != (addrs.Object{}) {
		r.Family = o.Family.String()
	}
	for _, on := range o.DependsOn {
		r.DependsOn = append(r.DependsOn, on.String())
	}
	if l := o.Lifecycle; l != nil && l.PreventDestroy {
		r.Protected = l.Source
	}
	return r
}

// volumesOf returns the volume claims of all replicas of a StatefulSet.
func volumesOf(set *unstructured.Unstructured) []*unstructured.Unstructured {
	if set.GroupVersionKind().GroupKind() != kinds.StatefulSet {
		return nil
	}
	replicas, _ := inventory.Replicas(set)
	var out []*unstructured.Unstructured
	for _, template := range inventory.ClaimNames(set) {
		for i := range replicas {
			claim := &unstructured.Unstructured{Object: map[string]any{}}
			claim.SetGroupVersionKind(inventory.Claims)
			claim.SetNamespace(set.GetNamespace())
			claim.SetName(fmt.Sprintf("%s-%s-%d", template, set.GetName(), i))
			claim.SetUID(types.UID("rendered-" + claim.GetName()))
			claim.SetLabels(map[string]string{providers.LabelService: set.GetLabels()[providers.LabelService]})
			out = append(out, claim)
		}
	}
	return out
}

// Identity implements providers.Reader. The cluster has none.
func (c *Cluster) Identity(context.Context) (providers.Identity, error) {
	return providers.Identity{}, nil
}

// List implements providers.Reader.
func (c *Cluster) List(_ context.Context, kind schema.GroupVersionKind, namespace string) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, u := range c.live {
		if u.GroupVersionKind() == kind && (namespace == "" || u.GetNamespace() == namespace) {
			out = append(out, u)
		}
	}
	return out, nil
}

// Get implements providers.Reader.
func (c *Cluster) Get(_ context.Context, ref providers.Ref) (*unstructured.Unstructured, error) {
	for _, u := range c.live {
		if providers.RefOf(u) == ref {
			return u, nil
		}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Group: ref.GVK.Group, Resource: ref.GVK.Kind}, ref.Name)
}

// Contents implements providers.Reader. All objects in a namespace are kolla's, and known.
func (c *Cluster) Contents(context.Context, string) (providers.Contents, error) {
	return providers.Contents{}, nil
}

// Namespaced implements providers.Reader.
func (c *Cluster) Namespaced(_ context.Context, kind schema.GroupVersionKind) (bool, error) {
	for _, u := range c.live {
		if u.GroupVersionKind() == kind {
			return u.GetNamespace() != "", nil
		}
	}
	return false, nil
}

// DryRun implements providers.Reader. The cluster has no server that could answer.
func (c *Cluster) DryRun(context.Context, *unstructured.Unstructured, providers.DryRunOptions) (*unstructured.Unstructured, error) {
	return nil, errors.New("there is no cluster")
}
