package planner_test

import (
	"slices"
	"testing"

	"kolla.openstack.org/kolla/internal/dev/objecttest"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/plans"
)

// TestChecksComeFirst checks that all writes of a plan wait for the Jobs that check an upgrade. The namespace waits
// too, because it has the installed release. Only the dependencies of a check come before the check.
func TestChecksComeFirst(t *testing.T) {
	const (
		atNamespace = "cloud.dev/Namespace/openstack"
		atConfig    = "service.s/ConfigMap/config"
		atCheck     = "service.s/Job/check"
		atOther     = "service.t/ConfigMap/other"
	)
	namespace := func(release string) string {
		return "{apiVersion: v1, kind: Namespace, metadata: {name: openstack, annotations: {kolla.openstack.org/release: " + release + "}}}"
	}
	config := func(name string) string {
		return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + ", namespace: openstack}}"
	}
	job := objecttest.Read(t, "{apiVersion: batch/v1, kind: Job, metadata: {name: check, namespace: openstack}, spec: {template: {spec: {containers: [{name: main, image: i}]}}}}")

	var w world
	w.add(atNamespace, objecttest.Read(t, namespace("2025.1")))
	check := declared(atCheck, job, atNamespace, atConfig)
	check.Stage = configs.StageChecks
	in := w.input(check,
		declared(atNamespace, objecttest.Read(t, namespace("2025.2"))),
		declared(atConfig, objecttest.Read(t, config("config")), atNamespace),
		declared(atOther, objecttest.Read(t, config("other")), atNamespace))
	w.gone() // the namespace of input
	plan := mustPlan(t, in)
	for _, address := range []string{atNamespace, atOther} {
		if a := find(t, plan, address); a.Verb == plans.None || !slices.Contains(a.DependsOn, check.Address) {
			t.Errorf("%s: %s, and it depends on %s", address, a.Verb, a.DependsOn)
		}
	}
	if a := find(t, plan, atConfig); slices.Contains(a.DependsOn, check.Address) {
		t.Errorf("the ConfigMap of the check depends on %s", a.DependsOn)
	}
	if a := find(t, plan, atCheck); len(a.DependsOn) != 1 || a.DependsOn[0].String() != atConfig {
		t.Errorf("the check depends on %s", a.DependsOn)
	}
}
