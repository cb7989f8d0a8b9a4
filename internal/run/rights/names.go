package rights

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

// kindsTimeout limits the wait for a server that does not answer.
const kindsTimeout = 10 * time.Second

// Names finds the API's names for kinds, such as "configmaps". It asks the cluster for unknown
// names, and guesses them if there is no answer.
type Names struct {
	ask     func(func(context.Context, *kubernetes.Client) error) error
	defined map[schema.GroupKind]string // from definitions in the configuration
	guessed []string                    // kinds
	failed  error                       // error that prevents questions to the cluster
}

// NewNames returns Names that connect to the cluster when they need it for the first time.
func NewNames(ctx context.Context, connect func() (*kubernetes.Client, error)) *Names {
	n := &Names{defined: map[schema.GroupKind]string{}}
	n.ask = func(question func(context.Context, *kubernetes.Client) error) error {
		if n.failed != nil {
			return n.failed
		}
		client, err := connect()
		if err != nil {
			n.failed = err
			return err
		}
		limited, cancel := context.WithTimeout(ctx, kindsTimeout)
		defer cancel()
		err = question(limited, client)
		if err != nil && limited.Err() != nil {
			n.failed = err
		}
		return err
	}
	return n
}

// Resource returns the API's name for a kind.
func (n *Names) Resource(kind schema.GroupVersionKind) string {
	if name, ok := kubernetes.BuiltinResource(kind); ok {
		return name
	}
	if name := n.defined[kind.GroupKind()]; name != "" {
		return name
	}
	var name string
	err := n.ask(func(ctx context.Context, client *kubernetes.Client) (err error) {
		name, err = client.Resource(ctx, kind)
		return err
	})
	if err != nil {
		if text := kind.Kind + " of " + kind.GroupVersion().String(); !slices.Contains(n.guessed, text) {
			n.guessed = append(n.guessed, text)
		}
		return kubernetes.GuessedResource(kind)
	}
	return name
}

// Define records the names from the definitions of custom kinds among the objects.
func (n *Names) Define(objects []providers.Object) {
	for i := range objects {
		u := objects[i].Manifest
		if u.GetKind() != "CustomResourceDefinition" {
			continue
		}
		group, _, _ := unstructured.NestedString(u.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(u.Object, "spec", "names", "kind")
		plural, _, _ := unstructured.NestedString(u.Object, "spec", "names", "plural")
		n.defined[schema.GroupKind{Group: group, Kind: kind}] = plural
	}
}

// Namespaced reports whether a kind is namespaced. It does not know Kubernetes' own kinds: the
// renderer knows them.
func (n *Names) Namespaced(kind schema.GroupVersionKind) (namespaced, known bool) {
	if _, ok := kubernetes.BuiltinResource(kind); ok {
		return false, false
	}
	err := n.ask(func(ctx context.Context, client *kubernetes.Client) (err error) {
		namespaced, err = client.Namespaced(ctx, kind)
		return err
	})
	return namespaced, err == nil
}

// Guessed lists the kinds with guessed names, and the error that prevented questions to the
// cluster. The error is nil if the cluster does not have the kinds.
func (n *Names) Guessed() (kinds []string, failed error) {
	slices.Sort(n.guessed)
	return slices.Compact(n.guessed), n.failed
}

// Reads lists the objects that the configuration reads in addition to its own ones: Secrets
// whose values are copied, and the objects of data blocks.
func (n *Names) Reads(sources []providers.Scope, objects []providers.Object, data []configs.Data) []Read {
	const secrets = "Values are taken from Secrets here. A plan lists the Secrets of the namespace."
	var reads []Read
	for _, scope := range sources {
		reads = append(reads, Read{GVK: scope.GVK, Namespace: scope.Namespace, Why: secrets})
	}
	for i := range objects {
		for _, value := range objects[i].Data {
			for _, part := range value.Parts {
				if part.From != nil {
					reads = append(reads, Read{GVK: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, Namespace: part.From.Namespace, Why: secrets})
				}
			}
		}
	}
	for _, d := range data {
		kind, namespaced, ok := n.kindOf(d.APIVersion, d.Kind)
		if !ok {
			continue
		}
		read := Read{GVK: kind, Why: fmt.Sprintf("The block %s reads it.", d.Block)}
		if namespaced {
			read.Namespace = cmp.Or(d.Namespace, d.Home)
		}
		reads = append(reads, read)
	}
	return reads
}

// kindOf returns the kind that a data block reads.
func (n *Names) kindOf(apiVersion, name string) (kind schema.GroupVersionKind, namespaced, ok bool) {
	if name == "" {
		return kind, false, false
	}
	if kind, namespaced, ok = kubernetes.BuiltinNamed(name); ok && (apiVersion == "" || apiVersion == kind.GroupVersion().String()) {
		return kind, namespaced, true
	}
	err := n.ask(func(ctx context.Context, client *kubernetes.Client) (err error) {
		if apiVersion == "" {
			kind, namespaced, err = client.KindNamed(ctx, name)
			return err
		}
		kind = schema.FromAPIVersionAndKind(apiVersion, name)
		namespaced, err = client.Namespaced(ctx, kind)
		return err
	})
	if err == nil {
		return kind, namespaced, true
	}
	if apiVersion == "" {
		n.guessed = append(n.guessed, name+" (no rule: nobody knows its API group)")
		return kind, false, false
	}
	return schema.FromAPIVersionAndKind(apiVersion, name), true, true // Resource reports the kind as a guess
}
