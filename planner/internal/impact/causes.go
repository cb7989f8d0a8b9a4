package impact

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/ini"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// causes returns why the pod template changed.
func (d *disturbance) causes() []plans.Cause {
	causes := fileCauses(d.inv, d.live, d.outcome.After)
	for _, c := range d.action.Changes {
		if inTemplate(c) && !isFileReference(c.Path) {
			if cause := templateCause(c); !slices.ContainsFunc(causes, func(other plans.Cause) bool { return reflect.DeepEqual(cause, other) }) {
				causes = append(causes, cause)
			}
		}
	}
	return causes
}

// secretNote is the start of the path of an annotation with the revision of a mounted Secret.
const secretNote = `metadata.annotations["kolla.openstack.org/secret-`

// templateCause classifies one change of a pod template.
func templateCause(c plans.Change) plans.Cause {
	path := strings.TrimPrefix(strings.TrimPrefix(c.Path, "spec.template."), "spec.")
	image, isImage := c.After.(string)
	switch {
	case isImage && strings.HasSuffix(path, ".image"):
		before, _ := c.Before.(string)
		return plans.Cause{Kind: plans.CauseImage, Before: before, After: image}
	case strings.Contains(path, ".env["):
		_, rest, _ := strings.Cut(path, `.env["`)
		name, _, _ := strings.Cut(rest, `"]`)
		cause := plans.Cause{Kind: plans.CauseEnvironment, Name: name}
		if strings.HasSuffix(path, `.env["`+name+`"]`) {
			cause.Added, cause.Removed = c.Before == nil, c.After == nil
		}
		return cause
	case strings.HasPrefix(path, secretNote):
		return plans.Cause{Kind: plans.CauseSecret, Name: strings.TrimSuffix(strings.TrimPrefix(path, secretNote), `"]`)}
	case strings.Contains(path, "].resources"):
		return plans.Cause{Kind: plans.CauseResources}
	}
	return plans.Cause{Kind: plans.CauseField, Name: path, Added: c.Before == nil, Removed: c.After == nil}
}

// isFileReference reports whether the path is the name of the ConfigMap or Secret of a volume.
// fileCauses describes these changes.
func isFileReference(path string) bool {
	return fields.Within(path, "spec.template.spec.volumes") &&
		(strings.HasSuffix(path, ".configMap.name") || strings.HasSuffix(path, ".secret.secretName"))
}

// fileCauses returns the changes in the files of the pods: in the volumes that have another
// ConfigMap or Secret now.
func fileCauses(inv *inventory.Inventory, live, then *unstructured.Unstructured) []plans.Cause {
	before, after := inventory.FilesOf(live), inventory.FilesOf(then)
	var causes []plans.Cause
	for _, volume := range after.Names {
		was, is := before.Refs[volume], after.Refs[volume]
		if was != (providers.Ref{}) && was != is {
			causes = append(causes, contentCauses(inv, was, is)...)
		}
	}
	return causes
}

// contentCauses returns the differences between two objects with files.
func contentCauses(inv *inventory.Inventory, was, is providers.Ref) []plans.Cause {
	object := inv.DeclarationByRef(is)
	if object == nil {
		return []plans.Cause{{Kind: plans.CauseSource, Before: was.String(), After: is.Name}}
	}
	var causes []plans.Cause
	if is.GVK == inventory.Secrets {
		for _, key := range slices.Sorted(maps.Keys(object.Data)) {
			causes = append(causes, plans.Cause{Kind: plans.CauseSecretFile, Name: key})
		}
		return causes
	}
	before := map[string]string{}
	if live := inv.Input.Snapshot.Get(was); live != nil {
		before, _, _ = unstructured.NestedStringMap(live.Object, "data")
	}
	after, _, _ := unstructured.NestedStringMap(object.Manifest.Object, "data")
	for _, key := range slices.Sorted(maps.Keys(after)) {
		if after[key] != before[key] {
			causes = append(causes, plans.Cause{Kind: plans.CauseFile, Name: key, Settings: ini.Changed(before[key], after[key])})
		}
	}
	return causes
}
