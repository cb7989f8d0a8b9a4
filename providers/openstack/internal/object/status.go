package object

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
)

// DropStatus removes the status from a declared object, whether or not its kind has a status
// subresource. It warns of a status with content, which no apply writes. Generated manifests
// often have a status without content.
func DropStatus(content map[string]any, at hcl.Range) hcl.Diagnostics {
	status := content["status"]
	delete(content, "status")
	if !hasContent(status) {
		return nil
	}
	ref := providers.RefOf(&unstructured.Unstructured{Object: content})
	return hcl.Diagnostics{Warning(at, "A status in a manifest", fmt.Sprintf(
		"The status of %s is not applied, and is not compared with the cluster: controllers write it. Remove it from the manifest. Settings belong into other fields, such as spec.", ref))}
}

// hasContent reports whether a value has a part that is neither empty nor zero.
func hasContent(value any) bool {
	switch value := value.(type) {
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(value)), hasContent)
	case []any:
		return slices.ContainsFunc(value, hasContent)
	}
	return value != nil && !reflect.ValueOf(value).IsZero()
}
