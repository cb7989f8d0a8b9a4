// Package objects has the checks of what an apply makes, and of what it needs for that: rights, admission, volumes,
// certificates, backups.
package objects

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/podsecurity"
)

// namespaces returns the namespaces by name, with the labels that an apply gives them.
func namespaces(f *cluster.Facts) (map[string]*unstructured.Unstructured, error) {
	live, err := f.List(cluster.NamespaceKind, "")
	if err != nil {
		return nil, err
	}
	out := map[string]*unstructured.Unstructured{}
	for _, u := range live {
		out[u.GetName()] = u.DeepCopy()
	}
	for i := range f.Objects {
		o := &f.Objects[i]
		if o.Ref().GVK.GroupKind() != kinds.Namespace {
			continue
		}
		name := o.Ref().Name
		if out[name] == nil {
			out[name] = o.Manifest.DeepCopy()
		}
		out[name].SetLabels(labels.Merge(labels.Merge(out[name].GetLabels(), o.Manifest.GetLabels()), labels.Set{corev1.LabelMetadataName: name}))
	}
	return out, nil
}

// Refused checks the pods of the configuration against the Pod Security levels of their
// namespaces after an apply.
func Refused(f *cluster.Facts) ([]cluster.Finding, error) {
	namespaces, err := namespaces(f)
	if err != nil {
		return nil, err
	}
	var out []cluster.Finding
	for i := range f.Objects {
		o := &f.Objects[i]
		namespace := namespaces[o.Ref().Namespace]
		if namespace == nil || o.Skipped() {
			continue
		}
		level := podsecurity.LevelOf(namespace, f.Cluster.Version)
		why := podsecurity.Refusal(o.Manifest, level)
		if why == "" {
			continue
		}
		out = append(out, cluster.Finding{
			Severity: cluster.Error, Subject: o.Address.String(),
			Problem: fmt.Sprintf("its pods need more than the level %q of namespace %s allows", level.Level, namespace.GetName()),
			Reason:  "The API server refuses the pods: " + why + ".",
			Next:    "Set another `pod_security` in the cloud block, or the label " + podsecurity.Label + " of a namespace of your own, or correct the securityContext of the pods.",
		})
	}
	return out, nil
}
