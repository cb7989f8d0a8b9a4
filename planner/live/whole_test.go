package live_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/plans"
)

// caBundle is a certificate whose private key nobody has.
const caBundle = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJjRENDQVJXZ0F3SUJBZ0lVY3BLVVVqcitjREpmTzduUWFFTWZtRFZ6OTFNd0NnWUlLb1pJemowRUF3SXcKRERFS01BZ0dBMVVFQXd3QmVEQWdGdzB5TmpFeE1qSXhNRE0xTkRaYUdBOHlNVEkyTVRBeU9URXdNelUwTmxvdwpEREVLTUFnR0ExVUVBd3dCZURCWk1CTUdCeXFHU000OUFnRUdDQ3FHU000OUF3RUhBMElBQkZyMzJaN3lhbDk0CnZYb3FPTm1QQm9CaHhHeW93UmdOZmhYZk1ibVBwSXpJeHF5a0lJOC9PckYxM25yUUhhd3J4dzdlVlJuUUVoenIKMExWaGppWEhHenFqVXpCUk1CMEdBMVVkRGdRV0JCUytQWTRDeTJTNmI1RGt0bXE0QzlCb2lTYXRNakFmQmdOVgpIU01FR0RBV2dCUytQWTRDeTJTNmI1RGt0bXE0QzlCb2lTYXRNakFQQmdOVkhSTUJBZjhFQlRBREFRSC9NQW9HCkNDcUdTTTQ5QkFNQ0Ewa0FNRVlDSVFEZ1QyMUZkVm82K3cwN3djYTFOQVZkZ3I0bkthWUJhM2lnQ1R0SDl6eHgKbFFJaEFJZ0RTYWpKQXRFcytaRHVYUDF6RjF5TFY0MVJhcGNKNVkvNktadmtXZXFhCi0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0K"

// TestForeignConverter checks that a plan removes a converter that others added to a definition,
// together with its certificate. A plan leaves a certificate alone if kolla declares the converter,
// but the server rejects a certificate without a converter.
func TestForeignConverter(t *testing.T) {
	const at = "manifest.a/CustomResourceDefinition/shelves"
	converter := `{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"caBundle":"` + caBundle + `","service":{"namespace":"evil","name":"evil"}}}}`
	for name, hidden := range map[string]bool{"written": false, "hidden": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, clustertest.Namespace(t))
			t.Cleanup(func() {
				clustertest.Kubectl(t, "delete", "crd", "shelves."+b.namespace+".example.org", "--ignore-not-found", "--wait=false")
			})
			o := b.declare(at, strings.ReplaceAll(shelves, "$NS", b.namespace))
			b.apply(b.plan())
			b.settled()
			s := newStranger(t)
			definitions := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
			before := s.get(definitions, "", o.Ref().Name)
			s.patch(definitions, "", o.Ref().Name, `[{"op":"replace","path":"/spec/conversion","value":`+converter+`}]`)
			if hidden {
				s.hide(definitions, "", o.Ref().Name, before)
			}
			a := b.action(b.plan(), at)
			if a.Verb != plans.Update || len(a.Changes) != 2 || !a.Changes[0].Drift || !a.Changes[1].Drift {
				t.Fatalf("action is %s by %s:\n%s", a.Verb, a.Evidence.Kind, lines(a.Changes))
			}
			b.apply(b.plan())
			b.settled()
			if changes, err := fields.Diff(before, s.get(definitions, "", o.Ref().Name)); err != nil || len(changes) > 0 {
				t.Errorf("it is not what it was (%v):\n%s", err, lines(changes))
			}
		})
	}
}

// TestForeignImmutable checks that kolla replaces an object that others made immutable. The plan,
// also with -refresh-only, shows who did it and what else they changed.
func TestForeignImmutable(t *testing.T) {
	tests := map[string]struct {
		kind, patch string
		hidden      bool
		want        []string
	}{
		"ConfigMap":                {"ConfigMap", `[{"op":"add","path":"/immutable","value":true}]`, false, []string{"immutable"}},
		"ConfigMap, with more":     {"ConfigMap", `[{"op":"add","path":"/immutable","value":true},{"op":"add","path":"/data/b","value":"two"}]`, false, []string{`data["b"]`, "immutable"}},
		"ConfigMap, with a change": {"ConfigMap", `[{"op":"add","path":"/immutable","value":true},{"op":"replace","path":"/data/a","value":"two"}]`, false, []string{`data["a"]`, "immutable"}},
		"ConfigMap, hidden":        {"ConfigMap", `[{"op":"add","path":"/immutable","value":true}]`, true, []string{"immutable"}},
		"Secret":                   {"Secret", `[{"op":"add","path":"/immutable","value":true},{"op":"add","path":"/data/b","value":"dHdv"}]`, false, []string{`data["b"]`, "immutable"}},
		"Secret, hidden":           {"Secret", `[{"op":"add","path":"/immutable","value":true},{"op":"add","path":"/data/b","value":"dHdv"}]`, true, []string{`data["b"]`, "immutable"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, clustertest.Namespace(t))
			power := powers[test.kind].named("conf")
			o := b.declare(power.address, power.declared)
			o.Manifest.SetNamespace(b.namespace)
			b.apply(b.plan())
			b.settled()
			s := newStranger(t)
			before := s.get(power.resource, b.namespace, o.Ref().Name)
			s.patch(power.resource, b.namespace, o.Ref().Name, test.patch)
			if test.hidden {
				s.hide(power.resource, b.namespace, o.Ref().Name, before)
			}
			refresh := b.input()
			refresh.RefreshOnly = true
			shown, problems, err := planner.Make(t.Context(), refresh)
			if err != nil || len(problems) > 0 {
				t.Fatalf("Make: %v, problems %+v", err, problems)
			}
			plan := b.plan()
			if a := b.action(plan, power.address); a.Verb != plans.Replace {
				t.Fatalf("action is %s by %s:\n%s", a.Verb, a.Evidence.Kind, lines(a.Changes))
			}
			for what, plan := range map[string]*plans.Plan{"plan": plan, "refresh-only": shown} {
				a := b.action(plan, power.address)
				if got := pathsOf(a.Changes); strings.Join(got, " ") != strings.Join(test.want, " ") || !plan.Drifted() {
					t.Errorf("%s: %s, drifted %t, shows %v, want %v", what, a.Verb, plan.Drifted(), got, test.want)
				}
				for _, c := range a.Changes {
					if !c.Drift || !test.hidden && (c.Manager != spoofed || c.Time.IsZero()) {
						t.Errorf("%s: not told as drift by %s: %+v", what, spoofed, c)
					}
					if before, _ := c.Before.(string); test.kind == "Secret" && strings.Contains(before, "dHdv") {
						t.Errorf("%s has a value: %+v", what, c)
					}
				}
			}
			b.apply(plan)
			b.settled()
		})
	}
}
