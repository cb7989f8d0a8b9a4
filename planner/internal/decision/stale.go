package decision

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/lifecycle"
)

// mayBeStale reports whether the server may have derived a default from a field that the apply
// changes. Only a dry run is certain. Most objects have pods, and an upgrade changes their
// images, so their defaults are known here: they depend on images, on types, and on which
// fields exist.
func (s *subject) mayBeStale(applied *unstructured.Unstructured) (bool, error) {
	if s.out.Live == applied {
		return false, nil
	}
	differences, err := fields.Compare(s.out.Live, applied)
	if err != nil {
		return false, err
	}
	_, pods := fields.Lookup(applied.Object, fieldpath.MakePathOrDie("spec", "template", "spec"))
	return slices.ContainsFunc(differences, func(d fields.Difference) bool {
		names := fields.Names(d.At)
		last := names[len(names)-1]
		switch {
		case slices.Contains(names, "metadata"), pods && (slices.Contains(names, "env") || slices.Contains(names, "resources")):
			return false
		case !pods, slices.Contains([]string{"type", "hostNetwork", "strategy", "updateStrategy"}, last):
			return true
		case last == "image":
			policy := append(d.At[:len(d.At)-1].Copy(), fieldpath.MakePathOrDie("imagePullPolicy")...)
			now, _ := fields.Lookup(applied.Object, policy)
			return d.Before != nil && now != pullPolicy(d.After) && !lifecycle.Declares(s.out.Object, policy)
		}
		return (d.Before == nil || d.After == nil) && last != "*"
	}), nil
}

// pullPolicy returns the server's default for an image.
func pullPolicy(image any) string {
	name, _ := image.(string)
	name, _, pinned := strings.Cut(name[strings.LastIndex(name, "/")+1:], "@")
	if _, tag, _ := strings.Cut(name, ":"); !pinned && (tag == "" || tag == "latest") {
		return "Always"
	}
	return "IfNotPresent"
}
