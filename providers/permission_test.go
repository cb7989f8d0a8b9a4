package providers_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/providers"
)

// deniedReader refuses all LISTs.
type deniedReader struct{ providers.Reader }

func (deniedReader) List(_ context.Context, kind schema.GroupVersionKind, namespace string) ([]*unstructured.Unstructured, error) {
	denied := &providers.PermissionError{User: "system:serviceaccount:ci:kolla", Verb: "list", Resource: strings.ToLower(kind.Kind) + "s", Group: kind.Group, Namespace: namespace, Err: errors.New("no")}
	return nil, &providers.UnreadableError{Kind: kind, Namespace: namespace, Err: denied}
}

// TestAllMissingPermissions checks that all missing permissions are one error, with each rule once
// and the command that prints all rules.
func TestAllMissingPermissions(t *testing.T) {
	kind := func(group, name string) schema.GroupVersionKind {
		return schema.GroupVersionKind{Group: group, Version: "v1", Kind: name}
	}
	snapshot := providers.NewSnapshot(deniedReader{})
	err := snapshot.Load(t.Context(),
		providers.Scope{GVK: kind("", "Node")}, providers.Scope{GVK: kind("", "Secret"), Namespace: "prod"},
		providers.Scope{GVK: kind("apps", "Deployment"), Namespace: "prod"}, providers.Scope{GVK: kind("", "Node")})
	var denied *providers.PermissionError
	if !errors.As(err, &denied) {
		t.Fatalf("error is %v", err)
	}
	summary, detail := denied.Explain()
	for _, want := range []string{
		`ClusterRole: apiGroups: [""], resources: ["nodes"], verbs: ["list"]`,
		`Role in prod: apiGroups: [""], resources: ["secrets"], verbs: ["list"]`,
		`Role in prod: apiGroups: ["apps"], resources: ["deployments"], verbs: ["list"]`,
		"kolla rbac -serviceaccount=ci:kolla | kubectl apply -f -",
	} {
		if strings.Count(detail, want) != 1 {
			t.Errorf("%q is not once in:\n%s: %s", want, summary, detail)
		}
	}
	if !strings.Contains(summary, "list nodes in the whole cluster, nor to do 2 other things") {
		t.Errorf("summary is %q", summary)
	}
}
