package operator

import (
	"bytes"
	"maps"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
	"kolla.openstack.org/kolla/internal/present/report/applied"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// planned returns a plan with one action and one effect.
func planned(verb plans.Verb, effect plans.EffectKind) *plans.Plan {
	plan := &plans.Plan{Cloud: "prod", Actions: []plans.Action{{Address: addrs.Object{Block: "service.keystone", Kind: "Deployment", Name: "keystone-api"}, Verb: verb}}}
	if effect != "" {
		plan.Impact = []plans.Impact{{Block: "service.keystone", Effects: []plans.Effect{{Kind: effect}}}}
	}
	return plan
}

func TestDecide(t *testing.T) {
	limit := func(n int32) *int32 { return &n }
	const digest = "sha256:1"
	for _, c := range []struct {
		what string
		question
		apply  bool
		reason string
		says   string
	}{
		{what: "manual", question: question{plan: planned(plans.Update, "")}, reason: v1alpha1.ReasonAwaitsApproval, says: "approvedPlan: sha256:1"},
		{what: "manual, of what was applied", question: question{plan: planned(plans.Update, ""), reverts: true}, reason: v1alpha1.ReasonAwaitsApproval},
		{what: "approved", question: question{plan: planned(plans.Update, ""), spec: v1alpha1.CloudSpec{ApprovedPlan: digest}}, apply: true},
		{what: "approved destroy", question: question{plan: &plans.Plan{Destroy: true, Actions: planned(plans.Delete, "").Actions}, spec: v1alpha1.CloudSpec{ApprovedPlan: digest}}, apply: true},
		{what: "another is approved", question: question{plan: planned(plans.Update, ""), spec: v1alpha1.CloudSpec{ApprovedPlan: "sha256:2"}}, reason: v1alpha1.ReasonOtherPlan, says: "sha256:2"},
		{what: "only waits", question: question{plan: planned(plans.None, "")}, apply: true},
		{what: "rest", question: question{plan: planned(plans.Update, ""), resumes: true}, apply: true},
		{what: "automatic", question: question{plan: planned(plans.Delete, ""), spec: v1alpha1.CloudSpec{Approval: v1alpha1.Automatic}}, apply: true},
		{what: "automatic destroy", question: question{plan: &plans.Plan{Destroy: true, Actions: planned(plans.Delete, "").Actions}, spec: v1alpha1.CloudSpec{Approval: v1alpha1.Automatic}}, apply: true},
		{what: "drift, of what was applied", question: question{plan: planned(plans.Update, ""), reverts: true, spec: v1alpha1.CloudSpec{Approval: v1alpha1.Drift}}, apply: true},
		{what: "drift, of another source", question: question{plan: planned(plans.Update, ""), spec: v1alpha1.CloudSpec{Approval: v1alpha1.Drift}}, reason: v1alpha1.ReasonAwaitsApproval},
		{what: "drift, destroy", question: question{plan: &plans.Plan{Destroy: true, Actions: planned(plans.Delete, "").Actions}, reverts: true, spec: v1alpha1.CloudSpec{Approval: v1alpha1.Drift}}, reason: v1alpha1.ReasonAwaitsApproval},
		{what: "within", question: question{plan: planned(plans.Update, plans.EffectRestart), spec: v1alpha1.CloudSpec{Approval: v1alpha1.Within}}, apply: true},
		{what: "within, delete", question: question{plan: planned(plans.Delete, ""), spec: v1alpha1.CloudSpec{Approval: v1alpha1.Within}}, reason: v1alpha1.ReasonAwaitsApproval, says: "1 delete, and the limit is 0"},
		{what: "within, delete permitted", question: question{plan: planned(plans.Delete, ""), spec: v1alpha1.CloudSpec{Approval: v1alpha1.Within, Limits: v1alpha1.Limits{Deletes: 1}}}, apply: true},
		{what: "within, restart", question: question{plan: planned(plans.Update, plans.EffectRestart), spec: v1alpha1.CloudSpec{Approval: v1alpha1.Within, Limits: v1alpha1.Limits{Restarts: limit(0)}}}, reason: v1alpha1.ReasonAwaitsApproval, says: "the limit is 0"},
		{what: "within, changes", question: question{plan: planned(plans.Update, ""), spec: v1alpha1.CloudSpec{Approval: v1alpha1.Within, Limits: v1alpha1.Limits{Changes: limit(0)}}}, reason: v1alpha1.ReasonAwaitsApproval, says: "1 change, and the limit is 0"},
		{what: "within, warning policy", question: question{plan: &plans.Plan{Actions: planned(plans.Update, "").Actions, Policies: []plans.PolicyResult{{Name: "calm", Status: plans.PolicyWarned}}}, spec: v1alpha1.CloudSpec{Approval: v1alpha1.Within}}, reason: v1alpha1.ReasonAwaitsApproval, says: `the policy "calm" warns`},
		{what: "within, destroy", question: question{plan: &plans.Plan{Destroy: true, Actions: planned(plans.Delete, "").Actions}, spec: v1alpha1.CloudSpec{Approval: v1alpha1.Within, Limits: v1alpha1.Limits{Deletes: 9}}}, reason: v1alpha1.ReasonAwaitsApproval},
	} {
		c.digest = digest
		got := decide(c.question)
		if got.apply != c.apply || got.reason != c.reason || !strings.Contains(got.message, c.says) || got.apply == (got.by == "") {
			t.Errorf("%s: %+v", c.what, got)
		}
	}
}

func TestSplit(t *testing.T) {
	for _, entries := range []map[string][]byte{
		{}, {"a": nil}, {"a": []byte("12"), "b": []byte("34")}, {"a": []byte("1234567890"), "b": []byte("x"), "c": []byte("12345")},
	} {
		parts, all := split(entries, 4), map[string][]byte{}
		for i, part := range parts {
			size := 0
			for key, value := range part {
				all[key] = append(all[key], value...)
				size += len(value)
			}
			if size > 4 || size == 0 && i > 0 && len(part) == 0 {
				t.Errorf("part %d of %v has %d bytes", i, entries, size)
			}
		}
		if !maps.EqualFunc(all, entries, bytes.Equal) {
			t.Errorf("%v comes back as %v", entries, all)
		}
	}
}

func TestTextOf(t *testing.T) {
	for raw, want := range map[string]string{
		`"plain"`: "plain", `"${x}"`: "${x}", `3`: "3", `true`: "true", `["a", "${b}", "%{c}"]`: `["a", "$${b}", "%%{c}"]`, `{"a": 1}`: `{"a": 1}`,
	} {
		got, err := textOf(apiextensionsv1.JSON{Raw: []byte(raw)})
		if err != nil || got != want {
			t.Errorf("%s is %q, %v, want %q", raw, got, err, want)
		}
	}
	if _, err := textOf(apiextensionsv1.JSON{Raw: []byte("{")}); err == nil {
		t.Error("half a value is taken")
	}
}

func TestDiffers(t *testing.T) {
	object := func(version string, generation int64, labels map[string]string) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{ResourceVersion: version, Generation: generation, Labels: labels}}
	}
	for _, c := range []struct {
		what          string
		before, after *metav1.PartialObjectMetadata
		want          bool
	}{
		{"resync", object("1", 0, nil), object("1", 0, nil), false},
		{"ConfigMap", object("1", 0, nil), object("2", 0, nil), true},
		{"status", object("1", 3, nil), object("2", 3, nil), false},
		{"specification", object("1", 3, nil), object("2", 4, nil), true},
		{"label", object("1", 3, nil), object("2", 3, map[string]string{"a": "b"}), true},
	} {
		if got := differs(c.before, c.after); got != c.want {
			t.Errorf("%s: %t, want %t", c.what, got, c.want)
		}
	}
}

func TestInWords(t *testing.T) {
	address := addrs.Object{Block: "service.nova", Kind: "Deployment", Name: "nova-api"}
	got := inWords(applied.Result{Added: 1, Failed: []applied.Failed{{
		Address: address, Source: "cloud.hcl:3", Reason: "not ready", Detail: []string{"pod nova-api-1: crash loop"}, Advice: "Look at it.", Others: []addrs.Object{address, address},
	}}})
	want := "Apply incomplete: 1 added, 0 changed, 0 destroyed; 3 failed.\ncloud.hcl:3: service.nova/Deployment/nova-api: not ready\n2 other objects: the same\npod nova-api-1: crash loop\nLook at it."
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestServiceName(t *testing.T) {
	for address, want := range map[string]string{
		"service.keystone": "prod-keystone", `service.redis["cache"]`: "prod-redis-cache", "module.edge.service.nova_compute": "prod-module-edge-service-nova-compute",
	} {
		if got := serviceName("prod", address); got != want {
			t.Errorf("%s is %s, want %s", address, got, want)
		}
	}
}
