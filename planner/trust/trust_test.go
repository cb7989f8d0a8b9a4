package trust_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

const at = "service.db/Secret/db-root"

// secret is a Secret as kolla leaves it.
func secret() *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret"}}
	u.SetNamespace("openstack")
	u.SetName("db-root")
	u.SetUID("uid-1")
	u.SetCreationTimestamp(metav1.NewTime(time.Date(2026, 11, 21, 2, 11, 0, 0, time.UTC)))
	u.SetLabels(map[string]string{providers.LabelCloud: "prod"})
	u.SetAnnotations(map[string]string{providers.AnnotationAddress: at, providers.AnnotationIntent: "token-1"})
	entry(u, "kolla", metav1.ManagedFieldsOperationApply,
		`{"f:metadata":{"f:labels":{"f:kolla.openstack.org/cloud":{}},"f:annotations":{"f:kolla.openstack.org/address":{},"f:kolla.openstack.org/intent":{}}},"f:data":{"f:value":{}}}`)
	return u
}

func entry(u *unstructured.Unstructured, manager string, operation metav1.ManagedFieldsOperationType, fields string) {
	stamp := u.GetCreationTimestamp()
	u.SetManagedFields(append(u.GetManagedFields(), metav1.ManagedFieldsEntry{
		Manager: manager, Operation: operation, APIVersion: "v1", Time: &stamp, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
	}))
}

func TestSame(t *testing.T) {
	for name, test := range map[string]struct {
		record *state.Object
		change func(*unstructured.Unstructured)
		want   bool
	}{
		"by UID":                        {record: &state.Object{UID: "uid-1"}, want: true},
		"by UID, whatever it says":      {record: &state.Object{UID: "uid-1"}, change: func(u *unstructured.Unstructured) { u.SetLabels(nil); u.SetAnnotations(nil); u.SetManagedFields(nil) }, want: true},
		"by token":                      {record: &state.Object{Token: "token-1"}, want: true},
		"by token, in place of another": {record: &state.Object{UID: "uid-0", Token: "token-1"}, want: true},
		"unknown":                       {},
		"without UID and token":         {record: &state.Object{}},
		"another UID":                   {record: &state.Object{UID: "uid-0"}},
		"another token":                 {record: &state.Object{Token: "token-2"}},
		"no UIDs at all":                {record: &state.Object{}, change: func(u *unstructured.Unstructured) { u.SetUID("") }},
		"no tokens at all":              {record: &state.Object{}, change: func(u *unstructured.Unstructured) { u.SetAnnotations(nil) }},
		"a token that somebody else wrote": {record: &state.Object{Token: "token-1"}, change: func(u *unstructured.Unstructured) {
			u.SetManagedFields(nil)
			entry(u, "kolla", metav1.ManagedFieldsOperationUpdate, `{"f:metadata":{"f:annotations":{"f:kolla.openstack.org/intent":{}}}}`)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			u := secret()
			if test.change != nil {
				test.change(u)
			}
			if got := trust.Same(test.record, u); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
	if trust.Same(&state.Object{UID: "uid-1"}, nil) {
		t.Error("nothing is the same as a record")
	}
}

func TestExamine(t *testing.T) {
	manifest := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "db-root"}}}
	address, err := addrs.ParseObject(at)
	if err != nil {
		t.Fatal(err)
	}
	declared := &providers.Object{Address: address, Manifest: manifest, Data: map[string]providers.SecretData{"value": {Generate: &providers.Generator{}}}}
	for name, test := range map[string]struct {
		change        func(*unstructured.Unstructured)
		doubt, remark string
	}{
		"as kolla leaves it": {},
		"no label":           {change: func(u *unstructured.Unstructured) { u.SetLabels(nil) }, doubt: "it has no label kolla.openstack.org/cloud=prod"},
		"another cloud's":    {change: func(u *unstructured.Unstructured) { u.SetLabels(map[string]string{providers.LabelCloud: "test"}) }, doubt: "it has no label"},
		"no address":         {change: func(u *unstructured.Unstructured) { u.SetAnnotations(nil) }, doubt: "it has no annotation"},
		"a copy":             {change: func(u *unstructured.Unstructured) { u.SetName("copy") }, doubt: `names another object, "service.db/Secret/db-root"`},
		"no text that is an address": {change: func(u *unstructured.Unstructured) {
			u.SetAnnotations(map[string]string{providers.AnnotationAddress: "\n"})
		}, doubt: `names another object, "\n"`},
		"made by kubectl": {change: func(u *unstructured.Unstructured) {
			u.SetManagedFields(nil)
			entry(u, "kubectl-create", metav1.ManagedFieldsOperationUpdate, `{"f:data":{"f:value":{}}}`)
		}, doubt: `no server-side apply of the field manager "kolla" wrote it`},
		"by name only": {change: func(u *unstructured.Unstructured) {
			u.SetManagedFields(nil)
			entry(u, "kolla", metav1.ManagedFieldsOperationUpdate, `{"f:data":{"f:value":{}}}`)
		}, doubt: `no server-side apply`},
		"marked by kolla, filled by somebody": {change: func(u *unstructured.Unstructured) {
			u.SetManagedFields(nil)
			entry(u, "kolla", metav1.ManagedFieldsOperationApply, `{"f:metadata":{"f:labels":{"f:kolla.openstack.org/cloud":{}},"f:annotations":{"f:kolla.openstack.org/address":{}}}}`)
			entry(u, "evil", metav1.ManagedFieldsOperationUpdate, `{"f:data":{"f:value":{}}}`)
		}, doubt: `its value "value" was not written by the field manager "kolla"`, remark: `also written by "evil"`},
		"changed since": {change: func(u *unstructured.Unstructured) {
			entry(u, "evil\nPlan: 0 to add", metav1.ManagedFieldsOperationUpdate, `{"f:data":{"f:more":{}}}`)
		}, remark: `also written by "evil\nPlan: 0 to add"`},
	} {
		t.Run(name, func(t *testing.T) {
			u := secret()
			if test.change != nil {
				test.change(u)
			}
			claim := trust.Examine(u, "prod", declared, nil)
			doubts, remarks := strings.Join(claim.Doubts, "; "), strings.Join(claim.Remarks, "; ")
			if (test.doubt == "") != (doubts == "") || !strings.Contains(doubts, test.doubt) {
				t.Errorf("doubts are %q, want %q", doubts, test.doubt)
			}
			if (test.remark == "") != (remarks == "") || !strings.Contains(remarks, test.remark) {
				t.Errorf("remarks are %q, want %q", remarks, test.remark)
			}
			if claim.Created.IsZero() {
				t.Error("it does not say when it was created")
			}
		})
	}
}

func TestWithToken(t *testing.T) {
	u := secret()
	with := trust.WithToken(u, "token-2")
	if trust.Token(with) != "token-2" || trust.Token(u) != "token-1" || with.GetUID() != types.UID("uid-1") || with.GetAnnotations()[providers.AnnotationAddress] != at {
		t.Errorf("got %v of %v", with, u)
	}
	if bare := trust.WithToken(&unstructured.Unstructured{Object: map[string]any{}}, "token-3"); trust.Token(bare) != "token-3" {
		t.Errorf("got %v", bare)
	}
	if trust.WithToken(u, "") != u {
		t.Error("an empty token makes another object")
	}
	if one, two := trust.NewToken(), trust.NewToken(); one == two || len(one) < 26 {
		t.Errorf("tokens %q and %q", one, two)
	}
}
