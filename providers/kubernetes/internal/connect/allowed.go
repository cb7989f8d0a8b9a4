package connect

import (
	"context"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"kolla.openstack.org/kolla/providers"
)

// Allowed asks the server whether the user may send a request. The question itself needs no right
// in a usual cluster, and stores nothing.
func (c *Connection) Allowed(ctx context.Context, access providers.Access) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{
		TypeMeta: metav1.TypeMeta{APIVersion: authorizationv1.SchemeGroupVersion.String(), Kind: "SelfSubjectAccessReview"},
	}
	if access.URL != "" {
		review.Spec.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Verb: access.Verb, Path: access.URL}
	} else {
		resource, sub, _ := strings.Cut(access.Resource, "/")
		review.Spec.ResourceAttributes = &authorizationv1.ResourceAttributes{
			Namespace: access.Namespace, Verb: access.Verb, Group: access.Group, Resource: resource, Subresource: sub, Name: access.Name,
		}
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(review)
	if err != nil {
		return false, fmt.Errorf("ask for a right: %w", err)
	}
	reviews := c.Objects.Resource(authorizationv1.SchemeGroupVersion.WithResource("selfsubjectaccessreviews"))
	answer, err := Call(ctx, c, verbReview, func(ctx context.Context) (*unstructured.Unstructured, error) {
		return reviews.Create(ctx, &unstructured.Unstructured{Object: content}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	})
	if err != nil {
		return false, fmt.Errorf("ask for a right: %w", err)
	}
	allowed, _, err := unstructured.NestedBool(answer.Object, "status", "allowed")
	return allowed, err
}
