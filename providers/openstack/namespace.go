package openstack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/pod-security-admission/api"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// namespaceFields are the fields that manifests declare of the cloud's own namespace.
type namespaceFields struct {
	object    map[string]any // nil: no manifest declares it
	places    map[string]placeOf
	lifecycle *providers.Lifecycle
	deferred  []string
}

// placeOf is the declaration that a field comes from.
type placeOf struct {
	block string
	at    hcl.Range
}

func (p placeOf) String() string {
	if at := source(p.at); at != "" {
		return fmt.Sprintf("%s (%s)", p.block, at)
	}
	return p.block
}

// ownNamespace reports whether an object of a manifest is the cloud's own namespace.
func (r *renderer) ownNamespace(m configs.ManifestObject) bool {
	u := unstructured.Unstructured{Object: m.Content}
	return u.GroupVersionKind() == kinds.Namespace.WithVersion("v1") && u.GetName() == r.config.Cloud.Namespace
}

// takeNamespaces collects the fields that manifests declare of the cloud's namespace. The
// cloud's own fields are the first, so that a manifest cannot change them.
func (r *renderer) takeNamespaces() {
	r.ofNamespace.places = map[string]placeOf{}
	address := r.namespaceAddress()
	own := manifest(corev1.Namespace(r.config.Cloud.Namespace).WithLabels(r.labels("")).WithAnnotations(addressAnnotation(address))).Object
	cloud := placeOf{r.cloudBlock(), r.config.Cloud.Range}
	for _, m := range r.config.Manifests {
		for _, o := range m.Objects {
			if !r.ownNamespace(o) {
				continue
			}
			if r.ofNamespace.object == nil {
				r.ofNamespace.object = own
				r.noteFields(own, nil, cloud)
			}
			content := (&unstructured.Unstructured{Object: o.Content}).DeepCopy().Object
			dropNulls(content)
			delete(content, "status")
			r.mergeFields(r.ofNamespace.object, content, nil, placeOf{m.Block, o.Range})
			r.ofNamespace.deferred = append(r.ofNamespace.deferred, o.Deferred...)
			if r.ofNamespace.lifecycle == nil {
				r.ofNamespace.lifecycle = lifecycleOf(m.Lifecycle)
			}
		}
	}
	slices.Sort(r.ofNamespace.deferred)
	r.ofNamespace.deferred = slices.Compact(r.ofNamespace.deferred)
	r.checkChosenLevel()
}

// noteFields notes where the fields below a path are declared.
func (r *renderer) noteFields(value any, path []string, from placeOf) {
	r.ofNamespace.places[fieldOf(path)] = from
	fields, _ := value.(map[string]any)
	for name, field := range fields {
		r.noteFields(field, append(slices.Clip(path), name), from)
	}
}

// mergeFields adds the fields of a declaration to those of others. A field that another
// declaration has with another value is an error.
func (r *renderer) mergeFields(into, from map[string]any, path []string, by placeOf) {
	for _, name := range slices.Sorted(maps.Keys(from)) {
		below := append(slices.Clip(path), name)
		there, twice := into[name]
		a, isMap := there.(map[string]any)
		b, areMaps := from[name].(map[string]any)
		switch {
		case !twice:
			into[name] = from[name]
			r.noteFields(from[name], below, by)
		case isMap && areMaps:
			r.mergeFields(a, b, below, by)
		case !reflect.DeepEqual(there, from[name]):
			other, advice := r.ofNamespace.places[fieldOf(below)], "Take one of the two away."
			if other.block == r.cloudBlock() {
				advice = "kolla sets this field itself. Remove it from the manifest."
			}
			r.error(by.at, "Two declarations of one field", fmt.Sprintf("%s of Namespace/%s is %s in %s and %s in %s. %s",
				fieldOf(below), r.config.Cloud.Namespace, inJSON(there), other, inJSON(from[name]), by, advice))
		}
	}
}

// fieldOf writes a path: `metadata.labels["team"]`.
func fieldOf(path []string) string {
	if len(path) > 2 {
		return fmt.Sprintf("%s[%q]", strings.Join(path[:2], "."), strings.Join(path[2:], "."))
	}
	return strings.Join(path, ".")
}

func inJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // it was decoded from JSON or YAML
	}
	return string(text)
}

// broughtLabel is a label that manifests give to the cloud's namespace; empty: none.
func (r *renderer) broughtLabel(key string) string {
	return (&unstructured.Unstructured{Object: r.ofNamespace.object}).GetLabels()[key]
}

// chosenLevel is the Pod Security level that pod_security or the namespace of a manifest
// names; empty: the pods decide.
func (r *renderer) chosenLevel() string {
	return cmp.Or(r.config.Cloud.PodSecurity, r.broughtLabel(api.EnforceLevelLabel))
}

// checkChosenLevel reports levels that there are not, and two that differ.
func (r *renderer) checkChosenLevel() {
	label := r.broughtLabel(api.EnforceLevelLabel)
	by := r.ofNamespace.places[fieldOf([]string{"metadata", "labels", api.EnforceLevelLabel})]
	switch chosen := r.config.Cloud.PodSecurity; {
	case label == "":
	case !slices.Contains(levels, label):
		r.error(by.at, "Unsuitable Pod Security level", fmt.Sprintf("The label %s of Namespace/%s is %q in %s. It must be one of %s, and be known when the plan is made.",
			api.EnforceLevelLabel, r.config.Cloud.Namespace, label, by, strings.Join(levels, ", ")))
		unstructured.RemoveNestedField(r.ofNamespace.object, "metadata", "labels", api.EnforceLevelLabel)
	case chosen != "" && chosen != label:
		r.error(by.at, "Two declarations of one field", fmt.Sprintf("The Pod Security level of Namespace/%s is %q by pod_security of %s and %q by the label %s in %s. Take one of the two away.",
			r.config.Cloud.Namespace, chosen, placeOf{r.cloudBlock(), r.config.Cloud.Range}, label, api.EnforceLevelLabel, by))
	}
}

// namespace is the cloud's namespace, with the strictest Pod Security level that all of
// its pods pass, and what manifests say of it.
func (r *renderer) namespace() providers.Object {
	address, level := r.namespaceAddress(), r.podSecurity(r.powerful)
	object := (&unstructured.Unstructured{Object: r.ofNamespace.object}).DeepCopy()
	if object.Object == nil {
		object = r.convert(corev1.Namespace(r.config.Cloud.Namespace).WithLabels(r.labels("")).WithAnnotations(addressAnnotation(address)))
	}
	mark(object, "labels", map[string]string{
		api.EnforceLevelLabel: level,
		api.WarnLevelLabel:    cmp.Or(r.broughtLabel(api.WarnLevelLabel), level),
	})
	var causes map[string]string
	if by := r.causesOf(level); by != "" {
		causes = map[string]string{fmt.Sprintf("metadata.labels[%q]", api.EnforceLevelLabel): by}
	}
	return providers.Object{
		Address:   address,
		Causes:    causes,
		Manifest:  object,
		Holds:     "everything in it",
		Source:    source(r.config.Cloud.Range),
		Lifecycle: r.ofNamespace.lifecycle,
		Deferred:  r.ofNamespace.deferred,
	}
}
