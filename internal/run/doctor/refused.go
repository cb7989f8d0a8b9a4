package doctor

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/podsecurity"
)

var namespaceKind = kinds.Namespace.WithVersion("v1")

func readNamespaces(*Facts) []providers.Scope { return []providers.Scope{{GVK: namespaceKind}} }

// namespaces returns the namespaces by name, with the labels that an apply gives them.
func (f *Facts) namespaces() (map[string]*unstructured.Unstructured, error) {
	live, err := f.list(namespaceKind, "")
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
		merged := out[name].GetLabels()
		if merged == nil {
			merged = map[string]string{}
		}
		for key, value := range o.Manifest.GetLabels() {
			merged[key] = value
		}
		merged["kubernetes.io/metadata.name"] = name
		out[name].SetLabels(merged)
	}
	return out, nil
}

// findRefused checks the pods of the configuration against the Pod Security levels of their
// namespaces after an apply.
func findRefused(f *Facts) ([]Finding, error) {
	namespaces, err := f.namespaces()
	if err != nil {
		return nil, err
	}
	var out []Finding
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
		out = append(out, Finding{
			Severity: Error, Subject: o.Address.String(),
			Problem: fmt.Sprintf("its pods need more than the level %q of namespace %s allows", level.Level, namespace.GetName()),
			Reason:  "The API server refuses the pods: " + why + ".",
			Next:    "Set another `pod_security` in the cloud block, or the label " + podsecurity.Label + " of a namespace of your own, or correct the securityContext of the pods.",
		})
	}
	return out, nil
}
