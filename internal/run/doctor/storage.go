package doctor

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

var classKind = kinds.StorageClass.WithVersion("v1")

// defaultClasses are the annotations of a default storage class, the present and the former one.
var defaultClasses = []string{"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"}

func readClasses(*Facts) []providers.Scope { return []providers.Scope{{GVK: classKind}} }

// claim is a claim of the configuration, or a template of claims of a StatefulSet.
type claim struct {
	address string // of the object
	class   *string
}

// claims returns the claims of the configuration that need a storage class. Claims with a name of a
// volume, and those with a selector, take an existing volume.
func (f *Facts) claims() []claim {
	var out []claim
	add := func(o *providers.Object, content map[string]any) {
		class, named, _ := unstructured.NestedString(content, "spec", "storageClassName")
		volume, _, _ := unstructured.NestedString(content, "spec", "volumeName")
		_, selects, _ := unstructured.NestedMap(content, "spec", "selector")
		switch {
		case volume != "" || selects || named && class == "": // "" asks for no class
		case named:
			out = append(out, claim{o.Address.String(), &class})
		default:
			out = append(out, claim{o.Address.String(), nil})
		}
	}
	for i := range f.Objects {
		o := &f.Objects[i]
		switch o.Ref().GVK.GroupKind() {
		case kinds.PersistentVolumeClaim:
			add(o, o.Manifest.Object)
		case kinds.StatefulSet:
			templates, _, _ := unstructured.NestedSlice(o.Manifest.Object, "spec", "volumeClaimTemplates")
			for _, each := range templates {
				content, _ := each.(map[string]any)
				add(o, content)
			}
		}
	}
	return out
}

// findClasses checks that the storage classes of all claims exist.
func findClasses(f *Facts) ([]Finding, error) {
	claims := f.claims()
	if len(claims) == 0 {
		return nil, nil
	}
	live, err := f.list(classKind, "")
	if err != nil {
		return nil, err
	}
	for i := range f.Objects {
		if f.Objects[i].Ref().GVK.GroupKind() == kinds.StorageClass {
			live = append(live, f.Objects[i].Manifest)
		}
	}
	var names, defaults []string
	for _, class := range live {
		names = append(names, class.GetName())
		if slices.ContainsFunc(defaultClasses, func(key string) bool { return class.GetAnnotations()[key] == "true" }) {
			defaults = append(defaults, class.GetName())
		}
	}
	missing := map[string][]string{} // addresses by class; "": without a class
	var order []string
	for _, c := range claims {
		name := ""
		if c.class != nil {
			name = *c.class
		}
		if name == "" && len(defaults) > 0 || name != "" && slices.Contains(names, name) {
			continue
		}
		if missing[name] == nil {
			order = append(order, name)
		}
		missing[name] = append(missing[name], c.address)
	}
	var out []Finding
	for _, name := range order {
		finding := Finding{
			Severity: Error, Subject: "StorageClass " + name, Problem: "does not exist",
			Reason: fmt.Sprintf("Claims of %s get no volume, and their pods wait.", words.Few(missing[name], 4)),
			Next:   words.WithHint(words.DidYouMean(name, names), "The cluster has: "+words.Sorted(names)+". Name one of these in `storage_class`, or create the class."),
		}
		if name == "" {
			finding.Subject, finding.Problem = "StorageClass", "no class is the default, and claims name none"
			finding.Next = "The cluster has: " + words.Sorted(names) + ". Name one of these in `storage_class`, or make one the default:\n\n  kubectl annotate storageclass NAME " + defaultClasses[0] + "=true"
		}
		out = append(out, finding)
	}
	return out, nil
}
