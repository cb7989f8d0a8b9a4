package objects

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Kinds of storage.
var (
	ClassKind  = kinds.StorageClass.WithVersion("v1")
	claimKind  = kinds.PersistentVolumeClaim.WithVersion("v1")
	volumeKind = kinds.PersistentVolume.WithVersion("v1")
)

// defaultClasses are the annotations of a default storage class, the present and the former one.
var defaultClasses = []string{"storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"}

// isDefault reports whether a storage class is the default one.
func isDefault(class *unstructured.Unstructured) bool {
	return slices.ContainsFunc(defaultClasses, func(key string) bool { return class.GetAnnotations()[key] == "true" })
}

// ReadClasses also reads the claims and volumes of the cluster: a claim with a volume needs no class.
func ReadClasses(f *cluster.Facts) []providers.Scope {
	scopes := []providers.Scope{{GVK: ClassKind}}
	for _, c := range declaredClaims(f) {
		scopes = append(scopes, providers.Scope{GVK: claimKind, Namespace: c.object.Ref().Namespace})
	}
	if len(scopes) > 1 {
		scopes = append(scopes, providers.Scope{GVK: volumeKind})
	}
	return scopes
}

// claim is a claim of the configuration, or a template of claims of a StatefulSet.
type claim struct {
	object *providers.Object
	names  []string // of the claims in the cluster
	class  string   // empty: the default one
	spec   corev1.PersistentVolumeClaimSpec
}

// declaredClaims returns the claims of the configuration that need a storage class or a volume. Claims with a
// name of a volume, those with a selector, and those with an empty class take an existing volume.
func declaredClaims(f *cluster.Facts) []claim {
	var out []claim
	add := func(o *providers.Object, content map[string]any, names []string) {
		class, named, _ := unstructured.NestedString(content, "spec", "storageClassName")
		volume, _, _ := unstructured.NestedString(content, "spec", "volumeName")
		_, selects, _ := unstructured.NestedMap(content, "spec", "selector")
		if volume == "" && !selects && (!named || class != "") {
			out = append(out, claim{o, names, class, claimSpec(content)})
		}
	}
	for i := range f.Objects {
		o := &f.Objects[i]
		switch o.Ref().GVK.GroupKind() {
		case kinds.PersistentVolumeClaim:
			add(o, o.Manifest.Object, []string{o.Ref().Name})
		case kinds.StatefulSet:
			templates, _, _ := unstructured.NestedSlice(o.Manifest.Object, "spec", "volumeClaimTemplates")
			for _, each := range templates {
				template, _ := each.(map[string]any)
				add(o, template, claimsOf(o, template))
			}
		}
	}
	return out
}

// claimsOf returns the names of the claims that a StatefulSet makes from a template.
func claimsOf(set *providers.Object, template map[string]any) []string {
	name, _, _ := unstructured.NestedString(template, "metadata", "name")
	first, _, _ := unstructured.NestedInt64(set.Manifest.Object, "spec", "ordinals", "start")
	replicas, found, _ := unstructured.NestedInt64(set.Manifest.Object, "spec", "replicas")
	if !found {
		replicas = 1
	}
	var out []string
	for i := range replicas {
		out = append(out, fmt.Sprintf("%s-%s-%d", name, set.Ref().Name, first+i))
	}
	return out
}

// Classes checks that the storage classes of all claims without a volume exist.
func Classes(f *cluster.Facts) ([]cluster.Finding, error) {
	claims := declaredClaims(f)
	if len(claims) == 0 {
		return nil, nil
	}
	live, err := f.List(ClassKind, "")
	if err != nil {
		return nil, err
	}
	for i := range f.Objects {
		if f.Objects[i].Ref().GVK.GroupKind() == kinds.StorageClass {
			live = append(live, f.Objects[i].Manifest)
		}
	}
	var classes []string
	found := map[string]bool{} // by class; "": there is a default
	for _, class := range live {
		classes = append(classes, class.GetName())
		found[class.GetName()] = true
		found[""] = found[""] || isDefault(class)
	}
	claims, err = waiting(f, slices.DeleteFunc(claims, func(c claim) bool { return found[c.class] }))
	var missing cluster.Grouped[string] // addresses by class
	for _, c := range claims {
		missing.Add(c.class, c.object.Address.String())
	}
	var out []cluster.Finding
	for _, class := range missing.Keys {
		out = append(out, missingClass(class, missing.Of[class], classes))
	}
	return out, err
}

// waiting returns the claims, of some whose class is missing, that have no volume and find none of
// their class: somebody may have made volumes by hand, or the configuration declares them. A claim about
// which the cluster tells too little is left out, and an error says so.
func waiting(f *cluster.Facts, claims []claim) ([]claim, error) {
	var unread []error
	var out []claim
	for _, c := range claims {
		live, err := f.List(claimKind, c.object.Ref().Namespace)
		if err != nil {
			unread = append(unread, err)
			continue
		}
		unbound := slices.ContainsFunc(c.names, func(name string) bool {
			return !slices.ContainsFunc(live, func(u *unstructured.Unstructured) bool {
				return u.GetName() == name && phase(u) == string(corev1.ClaimBound)
			})
		})
		if !unbound {
			continue
		}
		volumes, err := f.List(volumeKind, "")
		if err != nil {
			unread = append(unread, err)
			continue
		}
		available := slices.ContainsFunc(volumes, func(u *unstructured.Unstructured) bool {
			return isOf(c.class, u) && phase(u) == string(corev1.VolumeAvailable)
		})
		declared := slices.ContainsFunc(f.Objects, func(o providers.Object) bool {
			return o.Ref().GVK.GroupKind() == volumeKind.GroupKind() && isOf(c.class, o.Manifest) &&
				!slices.ContainsFunc(volumes, func(u *unstructured.Unstructured) bool { return u.GetName() == o.Ref().Name })
		})
		if !available && !declared {
			out = append(out, c)
		}
	}
	return out, errors.Join(unread...)
}

// isOf reports whether a volume has a storage class.
func isOf(class string, volume *unstructured.Unstructured) bool {
	name, _, _ := unstructured.NestedString(volume.Object, "spec", "storageClassName")
	return name == class
}

// phase returns the phase of a claim or a volume.
func phase(u *unstructured.Unstructured) string {
	text, _, _ := unstructured.NestedString(u.Object, "status", "phase")
	return text
}

// missingClass reports a class that claims need; an empty name is the default class. names are the
// classes of the cluster.
func missingClass(name string, claims, names []string) cluster.Finding {
	finding := cluster.Finding{
		Severity: cluster.Error, Subject: "StorageClass " + name, Problem: "does not exist",
		Reason: fmt.Sprintf("Claims of %s get no volume, and their pods wait.", words.Few(claims, 4)),
		Next:   words.WithHint(words.DidYouMean(name, names), "The cluster has: "+words.Sorted(names)+". Name one of these in `storage_class`, or create the class."),
	}
	if name == "" {
		finding.Subject, finding.Problem = "StorageClass", "no class is the default, and claims name none"
		finding.Next = "The cluster has: " + words.Sorted(names) + ". Name one of these in `storage_class`, or make one the default:\n\n  kubectl annotate storageclass NAME " + defaultClasses[0] + "=true"
	}
	return finding
}
