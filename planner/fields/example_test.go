package fields_test

import (
	"fmt"
	"log"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/planner/fields"
)

// deployment returns a Deployment with one container.
func deployment(image string, replicas int64) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1",
		"kind":       "Deployment",
		"metadata":   map[string]any{"name": "keystone-api"},
		"spec": map[string]any{
			"replicas": replicas,
			"template": map[string]any{
				"spec": map[string]any{
					"containers": []any{map[string]any{"name": "api", "image": image}},
				},
			},
		},
	}}
}

// Containers are compared by their names, as the server does.
func ExampleDiff() {
	changes, err := fields.Diff(deployment("keystone:2024.2", 2), deployment("keystone:2025.1", 3))
	if err != nil {
		log.Fatal(err)
	}
	for _, change := range changes {
		fmt.Printf("%s: %v -> %v\n", change.Path, change.Before, change.After)
	}

	// Output:
	// spec.replicas: 2 -> 3
	// spec.template.spec.containers["api"].image: keystone:2024.2 -> keystone:2025.1
}
