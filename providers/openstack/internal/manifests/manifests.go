// Package manifests makes the objects of manifest blocks.
package manifests

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/openstack/internal/namespace"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
	"kolla.openstack.org/kolla/providers/openstack/internal/security"
)

// Input is what the objects of all manifests depend on.
type Input struct {
	Cloud  object.Cloud
	Levels security.Levels
	Scopes Scopes
}

// Render returns the objects of a manifest block, and the objects that must be ready before the
// block counts as ready. The objects get the labels of the cloud, and its namespace if they name
// none. needed are the objects that must be ready first.
func Render(in Input, m configs.Manifest, needed []addrs.Object) (objects []providers.Object, ready []addrs.Object, diags hcl.Diagnostics) {
	for _, content := range m.Objects {
		if content.Content["kind"] == "Node" && content.Content["apiVersion"] == "v1" {
			diags = append(diags, object.Error(content.Range, "A Node in a manifest", "kolla never makes or deletes a Node. To label nodes, declare a role."))
			continue
		}
		diags = append(diags, checkTypes(content)...)
		if namespace.Is(in.Cloud, content) {
			ready = append(ready, in.Cloud.Namespace())
			continue
		}
		o, wrong := render(in, m.Block, content)
		o.DependsOn = object.Unique(append(o.DependsOn, needed...))
		o.Lifecycle = object.Lifecycle(m.Lifecycle)
		objects, ready, diags = append(objects, o), append(ready, o.Address), append(diags, wrong...)
	}
	return objects, ready, diags
}

// render returns one object of a manifest block.
func render(in Input, block string, m configs.ManifestObject) (providers.Object, hcl.Diagnostics) {
	u := object.Declared(m.Content)
	diags := object.DropStatus(u.Object, m.Range)
	namespaced := in.Scopes.namespaced(u.GroupVersionKind())
	switch {
	case !namespaced:
		// Published manifests have one here, and the server ignores it, as it does for kubectl.
		u.SetNamespace("")
	case u.GetNamespace() == "":
		u.SetNamespace(in.Cloud.Decl.Namespace)
	}
	diags = append(diags, in.Levels.CheckManifest(m, u)...)
	here := u.GetNamespace() == in.Cloud.Decl.Namespace
	address := addrs.Object{Block: block, Kind: u.GetKind(), Name: u.GetName()}
	if !here {
		address.Namespace = u.GetNamespace()
	}
	object.Mark(u, "labels", map[string]string{providers.LabelCloud: in.Cloud.Decl.Name})
	object.Mark(u, "annotations", object.AddressAnnotation(address))

	o := providers.Object{Address: address, Manifest: u, Deferred: m.Deferred, Source: object.Source(m.Range), Holds: holds(u)}
	if namespaced && here {
		o.DependsOn = append(o.DependsOn, in.Cloud.Namespace())
	}
	if here {
		o.DependsOn = append(o.DependsOn, in.Levels.BeforeManifest(u)...)
	}
	if u.GroupVersionKind().GroupKind() == kinds.Secret {
		data, wrong := takeData(u, m.Range)
		o.Data, diags = data, append(diags, wrong...)
	}
	return o, diags
}

// holds describes the data that is lost with an object of a manifest. It is empty if there is
// none.
func holds(u *unstructured.Unstructured) string {
	switch u.GroupVersionKind().GroupKind() {
	case kinds.Namespace:
		return "everything in it"
	case kinds.PersistentVolumeClaim:
		return "the data on its volume"
	}
	return ""
}

// takeData moves the values of a Secret out of its manifest: they go to the cluster only. A
// value that the server would refuse is an error, because an omitted value would be deleted
// there. The error does not show the value.
func takeData(u *unstructured.Unstructured, at hcl.Range) (map[string]providers.SecretData, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	out := map[string]providers.SecretData{}
	for _, field := range []string{"data", "stringData"} {
		given, there := u.Object[field]
		delete(u.Object, field)
		values, isMap := given.(map[string]any)
		if there && !isMap && given != configs.KnownAfterApply {
			diags = append(diags, object.Error(at, "A Secret without keys", fmt.Sprintf("%s of %s is a map of names to values.", field, providers.RefOf(u))))
		}
		for _, key := range slices.Sorted(maps.Keys(values)) {
			text, isText := values[key].(string)
			raw, err := []byte(text), error(nil)
			if field == "data" && text != configs.KnownAfterApply {
				raw, err = base64.StdEncoding.DecodeString(text)
			}
			switch {
			case !isText:
				diags = append(diags, object.Error(at, "Value of a Secret is not a string", fmt.Sprintf("%s[%q] of %s has to be a string. tostring(...) makes one.", field, key, providers.RefOf(u))))
			case err != nil:
				diags = append(diags, object.Error(at, "A value of a Secret that is not base64", fmt.Sprintf("data[%q] of %s cannot be decoded. base64encode(...) makes what belongs there; under stringData the value stands as it is.", key, providers.RefOf(u))))
			default:
				out[key] = object.Literal(string(raw))
			}
		}
	}
	return out, diags
}

// Scopes knows which kinds are namespaced.
type Scopes struct {
	declared map[schema.GroupKind]bool
	server   func(kind schema.GroupVersionKind) (namespaced, known bool)
}

// ScopesOf returns the scopes of the kinds of a configuration. server knows the kinds that the
// server has.
func ScopesOf(config *configs.Config, server func(kind schema.GroupVersionKind) (namespaced, known bool)) Scopes {
	scopes := Scopes{declared: map[schema.GroupKind]bool{}, server: server}
	for _, m := range config.Manifests {
		for _, o := range m.Objects {
			if o.Content["kind"] != "CustomResourceDefinition" {
				continue
			}
			group, _, _ := unstructured.NestedString(o.Content, "spec", "group")
			kind, _, _ := unstructured.NestedString(o.Content, "spec", "names", "kind")
			scope, _, _ := unstructured.NestedString(o.Content, "spec", "scope")
			scopes.declared[schema.GroupKind{Group: group, Kind: kind}] = scope == "Namespaced"
		}
	}
	return scopes
}

// namespaced reports whether a kind is namespaced. It asks the server, then the definitions of
// custom kinds in this configuration, and then the list of Kubernetes' own kinds.
func (s Scopes) namespaced(kind schema.GroupVersionKind) bool {
	if namespaced, known := s.server(kind); known {
		return namespaced
	}
	if namespaced, known := s.declared[kind.GroupKind()]; known {
		return namespaced
	}
	return !kinds.ClusterScoped(kind.GroupKind())
}
