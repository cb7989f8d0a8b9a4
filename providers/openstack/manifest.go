package openstack

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
)

// manifest adds the objects that the user brings as they are: with the labels
// that mark them as kolla's, and in the cloud's namespace if they name none.
func (r *renderer) manifest(m configs.Manifest) {
	block := m.Block
	r.finals[block] = nil
	needed := r.needed(m.Needs)
	for _, content := range m.Objects {
		if content.Content["kind"] == "Node" && content.Content["apiVersion"] == "v1" {
			r.error(content.Range, "A Node in a manifest", "kolla never makes or deletes a Node. To label nodes, declare a role.")
			continue
		}
		if r.ownNamespace(content) {
			r.finals[block] = append(r.finals[block], r.namespaceAddress())
			continue
		}
		o := r.brought(block, content)
		o.DependsOn = unique(append(o.DependsOn, needed...))
		o.Lifecycle = lifecycleOf(m.Lifecycle)
		r.add(o)
		r.finals[block] = append(r.finals[block], o.Address)
	}
}

func (r *renderer) brought(block string, m configs.ManifestObject) providers.Object {
	u := (&unstructured.Unstructured{Object: m.Content}).DeepCopy()
	dropNulls(u.Object)
	delete(u.Object, "status")
	namespaced := r.namespaced(u.GroupVersionKind())
	if namespaced && u.GetNamespace() == "" {
		u.SetNamespace(r.config.Cloud.Namespace)
	}
	r.checkBrought(m, u)
	address := addrs.Object{Block: block, Kind: u.GetKind(), Name: u.GetName()}
	if u.GetNamespace() != r.config.Cloud.Namespace {
		address.Namespace = u.GetNamespace()
	}
	mark(u, "labels", map[string]string{providers.LabelCloud: r.config.Cloud.Name})
	mark(u, "annotations", addressAnnotation(address))

	o := providers.Object{Address: address, Manifest: u, Deferred: m.Deferred, Source: source(m.Range), Holds: holds(u)}
	if namespaced && u.GetNamespace() == r.config.Cloud.Namespace {
		o.DependsOn = append(o.DependsOn, r.namespaceAddress())
	}
	if here := u.GetNamespace() == r.config.Cloud.Namespace; here && r.isPowerful(u) && r.chosenLevel() == "" {
		o.DependsOn = append(o.DependsOn, r.restraints()...)
	}
	if u.GroupVersionKind().GroupKind() == kinds.Secret {
		o.Data = r.takeData(u, m.Range)
	}
	return o
}

// holds says what would be lost with an object that a user brings.
func holds(u *unstructured.Unstructured) string {
	switch u.GroupVersionKind().GroupKind() {
	case kinds.Namespace:
		return "everything in it"
	case kinds.PersistentVolumeClaim:
		return "the data on its volume"
	}
	return ""
}

// takeData moves the values of a Secret out of its manifest, so that they go
// nowhere but to the cluster. What the server would not take for one is an error,
// which does not show it: a value that were left out would be deleted there.
func (r *renderer) takeData(u *unstructured.Unstructured, at hcl.Range) map[string]providers.SecretData {
	out := map[string]providers.SecretData{}
	for _, field := range []string{"data", "stringData"} {
		given, there := u.Object[field]
		delete(u.Object, field)
		values, isMap := given.(map[string]any)
		if there && !isMap && given != configs.KnownAfterApply {
			r.error(at, "A Secret without keys", fmt.Sprintf("%s of %s is a map of names to values.", field, providers.RefOf(u)))
		}
		for _, key := range slices.Sorted(maps.Keys(values)) {
			text, isText := values[key].(string)
			raw, err := []byte(text), error(nil)
			if field == "data" && text != configs.KnownAfterApply {
				raw, err = base64.StdEncoding.DecodeString(text)
			}
			switch {
			case !isText:
				r.error(at, "A value of a Secret that is no text", fmt.Sprintf("%s[%q] of %s has to be a string. tostring(...) makes one.", field, key, providers.RefOf(u)))
			case err != nil:
				r.error(at, "A value of a Secret that is not base64", fmt.Sprintf("data[%q] of %s cannot be decoded. base64encode(...) makes what belongs there; under stringData the value stands as it is.", key, providers.RefOf(u)))
			default:
				out[key] = literal(string(raw))
			}
		}
	}
	return out
}

func literal(value string) providers.SecretData {
	return providers.SecretData{Parts: []providers.DataPart{{Sensitive: value}}}
}

func merged(a, b map[string]string) map[string]string {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, b)
	return out
}

// dropNulls removes null fields: the server would drop them, and then they would
// be a difference for ever.
func dropNulls(value any) {
	switch v := value.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, field any) bool { return field == nil })
		for _, field := range v {
			dropNulls(field)
		}
	case []any:
		for _, element := range v {
			dropNulls(element)
		}
	}
}

// namespaced reports whether a kind lives in namespaces: as the server says, as
// a definition in this configuration says, or as Kubernetes itself has it.
func (r *renderer) namespaced(kind schema.GroupVersionKind) bool {
	if namespaced, known := r.facts.Namespaced(kind); known {
		return namespaced
	}
	if namespaced, known := r.scopes[kind.GroupKind()]; known {
		return namespaced
	}
	return !kinds.ClusterScoped(kind.GroupKind())
}

// declaredScopes reads the scopes of custom kinds from the definitions among the
// manifests.
func declaredScopes(config *configs.Config) map[schema.GroupKind]bool {
	scopes := map[schema.GroupKind]bool{}
	for _, m := range config.Manifests {
		for _, o := range m.Objects {
			if o.Content["kind"] != "CustomResourceDefinition" {
				continue
			}
			group, _, _ := unstructured.NestedString(o.Content, "spec", "group")
			kind, _, _ := unstructured.NestedString(o.Content, "spec", "names", "kind")
			scope, _, _ := unstructured.NestedString(o.Content, "spec", "scope")
			scopes[schema.GroupKind{Group: group, Kind: kind}] = scope == "Namespaced"
		}
	}
	return scopes
}
