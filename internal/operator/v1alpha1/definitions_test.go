package v1alpha1_test

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
)

// TestDefinitions checks that the generated definitions have the fields of the types, and no others. make
// generate makes them.
func TestDefinitions(t *testing.T) {
	types := map[string]reflect.Type{
		"Cloud": reflect.TypeFor[v1alpha1.Cloud](), "CloudPlan": reflect.TypeFor[v1alpha1.CloudPlan](), "CloudService": reflect.TypeFor[v1alpha1.CloudService](),
	}
	for document := range bytes.SplitSeq(v1alpha1.Definitions(), []byte("---\n")) {
		if len(bytes.TrimSpace(document)) == 0 {
			continue
		}
		var definition apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(document, &definition); err != nil {
			t.Fatal(err)
		}
		kind := definition.Spec.Names.Kind
		compare(t, kind, types[kind], definition.Spec.Versions[0].Schema.OpenAPIV3Schema)
		delete(types, kind)
	}
	if len(types) > 0 {
		t.Errorf("there is no definition of %v", types)
	}
}

// leaves are types of others, which are not compared.
var leaves = []reflect.Type{reflect.TypeFor[metav1.ObjectMeta](), reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.Duration](), reflect.TypeFor[metav1.Condition](), reflect.TypeFor[apiextensionsv1.JSON]()}

func compare(t *testing.T, path string, of reflect.Type, schema *apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch {
	case slices.Contains(leaves, of):
	case of.Kind() == reflect.Slice:
		compare(t, path+"[]", of.Elem(), schema.Items.Schema)
	case of.Kind() == reflect.Map:
		compare(t, path+"{}", of.Elem(), schema.AdditionalProperties.Schema)
	case of.Kind() == reflect.Struct:
		var names []string
		for field := range of.Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "" { // embedded
				names = append(names, "apiVersion", "kind")
				continue
			}
			names = append(names, name)
			property, ok := schema.Properties[name]
			if !ok {
				t.Errorf("%s.%s is not in the definition", path, name)
				continue
			}
			compare(t, path+"."+name, field.Type, &property)
		}
		for name := range schema.Properties {
			if !slices.Contains(names, name) {
				t.Errorf("%s.%s is not in the type", path, name)
			}
		}
	}
}
