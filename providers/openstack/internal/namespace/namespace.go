// Package namespace makes the cloud's namespace, with the fields that manifests declare for it.
package namespace

import (
	"cmp"
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
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
	"kolla.openstack.org/kolla/providers/podsecurity"
)

// Fields are the fields that manifests declare for the cloud's namespace.
type Fields struct {
	content   map[string]any // nil: no manifest declares it
	places    map[string]object.Place
	lifecycle *providers.Lifecycle
	deferred  []string
}

// Is reports whether an object of a manifest is the cloud's namespace.
func Is(cloud object.Cloud, m configs.ManifestObject) bool {
	u := unstructured.Unstructured{Object: m.Content}
	return u.GroupVersionKind() == kinds.Namespace.WithVersion("v1") && u.GetName() == cloud.Decl.Namespace
}

// Declared collects the fields that manifests declare for the cloud's namespace. It starts with
// the cloud's own fields, so that a manifest cannot change them.
func Declared(cloud object.Cloud, manifests []configs.Manifest) (Fields, hcl.Diagnostics) {
	c := collector{cloud: cloud, fields: Fields{places: map[string]object.Place{}}}
	own := object.Manifest(bare(cloud)).Object
	for _, m := range manifests {
		for _, o := range m.Objects {
			if !Is(cloud, o) {
				continue
			}
			if c.fields.content == nil {
				c.fields.content = own
				c.note(own, nil, object.Place{Block: cloud.Block(), At: cloud.Decl.Range})
			}
			content := object.Declared(o.Content).DeepCopy().Object // others are merged into it
			c.diags = append(c.diags, object.DropStatus(content, o.Range)...)
			c.merge(c.fields.content, content, nil, object.Place{Block: m.Block, At: o.Range})
			c.fields.deferred = append(c.fields.deferred, o.Deferred...)
			if c.fields.lifecycle == nil {
				c.fields.lifecycle = object.Lifecycle(m.Lifecycle)
			}
		}
	}
	slices.Sort(c.fields.deferred)
	c.fields.deferred = slices.Compact(c.fields.deferred)
	c.checkLevel()
	return c.fields, c.diags
}

// bare returns the namespace without the fields of manifests and without a level.
func bare(cloud object.Cloud) *corev1.NamespaceApplyConfiguration {
	return corev1.Namespace(cloud.Decl.Namespace).WithLabels(cloud.Labels()).
		WithAnnotations(object.AddressAnnotation(cloud.Namespace())).
		WithAnnotations(map[string]string{providers.AnnotationRelease: cloud.Decl.ImageRelease() + "-" + cloud.Decl.ImageDistro()})
}

// collector collects the fields of several declarations.
type collector struct {
	cloud  object.Cloud
	fields Fields
	diags  hcl.Diagnostics
}

// note records the declaration of a field and of all fields below it.
func (c *collector) note(value any, path []string, from object.Place) {
	c.fields.places[fieldOf(path)] = from
	fields, _ := value.(map[string]any)
	for name, field := range fields {
		c.note(field, append(slices.Clip(path), name), from)
	}
}

// merge adds the fields of one declaration to the fields of earlier ones. Two different values
// for one field are an error.
func (c *collector) merge(into, from map[string]any, path []string, by object.Place) {
	for _, name := range slices.Sorted(maps.Keys(from)) {
		below := append(slices.Clip(path), name)
		there, twice := into[name]
		a, isMap := there.(map[string]any)
		b, areMaps := from[name].(map[string]any)
		switch {
		case !twice:
			into[name] = from[name]
			c.note(from[name], below, by)
		case isMap && areMaps:
			c.merge(a, b, below, by)
		case !reflect.DeepEqual(there, from[name]):
			other, advice := c.fields.places[fieldOf(below)], "Take one of the two away."
			if other.Block == c.cloud.Block() {
				advice = "kolla sets this field itself. Remove it from the manifest."
			}
			c.error(by, "Two declarations of one field", fmt.Sprintf("%s of Namespace/%s is %s in %s and %s in %s. %s",
				fieldOf(below), c.cloud.Decl.Namespace, object.JSON(there), other, object.JSON(from[name]), by, advice))
		}
	}
}

// checkLevel reports unknown levels, and a label that contradicts pod_security.
func (c *collector) checkLevel() {
	label := c.fields.label(podsecurity.Label)
	by := c.fields.places[fieldOf([]string{"metadata", "labels", podsecurity.Label})]
	switch chosen := c.cloud.Decl.PodSecurity; {
	case label == "":
	case !slices.Contains(podsecurity.Levels(), label):
		c.error(by, "Unsuitable Pod Security level", fmt.Sprintf("The label %s of Namespace/%s is %q in %s. It must be one of %s, and be known when the plan is made.",
			podsecurity.Label, c.cloud.Decl.Namespace, label, by, strings.Join(podsecurity.Levels(), ", ")))
		unstructured.RemoveNestedField(c.fields.content, "metadata", "labels", podsecurity.Label)
	case chosen != "" && chosen != label:
		c.error(by, "Two declarations of one field", fmt.Sprintf("The Pod Security level of Namespace/%s is %q by pod_security of %s and %q by the label %s in %s. Take one of the two away.",
			c.cloud.Decl.Namespace, chosen, object.Place{Block: c.cloud.Block(), At: c.cloud.Decl.Range}, label, podsecurity.Label, by))
	}
}

func (c *collector) error(at object.Place, summary, detail string) {
	c.diags = append(c.diags, object.Error(at.At, summary, detail))
}

// fieldOf formats a path: `metadata.labels["team"]`.
func fieldOf(path []string) string {
	if len(path) > 2 {
		return fmt.Sprintf("%s[%q]", strings.Join(path[:2], "."), strings.Join(path[2:], "."))
	}
	return strings.Join(path, ".")
}

// label returns a label that manifests declare, or an empty text.
func (f Fields) label(key string) string {
	return (&unstructured.Unstructured{Object: f.content}).GetLabels()[key]
}

// Level returns the Pod Security level from pod_security, or from a manifest's label. It is
// empty if neither is set: the pods then decide.
func (f Fields) Level(cloud object.Cloud) string {
	return cmp.Or(cloud.Decl.PodSecurity, f.label(podsecurity.Label))
}

// Object returns the cloud's namespace with a Pod Security level. causes names the declarations
// that need the level; it may be empty.
func (f Fields) Object(cloud object.Cloud, level, causes string) providers.Object {
	manifest := (&unstructured.Unstructured{Object: f.content}).DeepCopy()
	if manifest.Object == nil {
		manifest = cloud.Manifest(bare(cloud))
	}
	object.Mark(manifest, "labels", map[string]string{
		podsecurity.Label:  level,
		api.WarnLevelLabel: cmp.Or(f.label(api.WarnLevelLabel), level),
	})
	out := providers.Object{
		Address:   cloud.Namespace(),
		Manifest:  manifest,
		Holds:     "everything in it",
		Source:    object.Source(cloud.Decl.Range),
		Lifecycle: f.lifecycle,
		Deferred:  f.deferred,
	}
	if causes != "" {
		out.Causes = map[string]string{fmt.Sprintf("metadata.labels[%q]", podsecurity.Label): causes}
	}
	return out
}
