package explain_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/run/engine"
	"kolla.openstack.org/kolla/internal/run/executor"
	"kolla.openstack.org/kolla/internal/run/explain"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// TestLeftUpgrade checks what an apply says that leaves an upgrade incomplete: which services are old and which are new,
// and whether there is a way back. The advice has the options of the plan.
func TestLeftUpgrade(t *testing.T) {
	older, newer := plans.Images{Release: "2025.1"}, plans.Images{Release: "2025.2"}
	step := func(block, kind, stage string, written bool) executor.Outcome {
		object := &providers.Object{Stage: stage, Manifest: &unstructured.Unstructured{Object: map[string]any{}}}
		a := &plans.Action{Verb: plans.Update, Address: addrs.Object{Block: block, Kind: kind, Name: "x"}, Object: object}
		a.Ref.GVK.Group, a.Ref.GVK.Version, a.Ref.GVK.Kind = "apps", "v1", kind
		if kind == "Job" {
			a.Verb, a.Ref.GVK.Group = plans.Run, "batch"
		}
		if block == "service.rabbitmq" {
			object.Manifest.SetAnnotations(map[string]string{providers.AnnotationDataVersion: `{"program": "RabbitMQ", "version": "4.1"}`})
		}
		o := executor.Outcome{Action: a, Status: executor.Skipped, Written: written}
		if written {
			o.Status = executor.Applied
		}
		return o
	}
	check := step("service.nova", "Job", configs.StageChecks, true)
	for name, test := range map[string]struct {
		from     plans.Images
		outcomes []executor.Outcome
		want     []string
	}{
		"only checks": {older, []executor.Outcome{check, step("service.nova", "Deployment", "", false)}, []string{
			"Only checks have run: all services still run 2025.1. To go back, declare 2025.1 again.",
		}},
		"tables and pods": {older, []executor.Outcome{check, step("service.keystone", "Job", "", true), step("service.keystone", "Deployment", "", true), step("service.nova", "Deployment", "", false)}, []string{
			"Services of this plan with images of 2025.2: keystone.",
			"Services of this plan still with images of 2025.1: nova, rabbitmq.",
			"To go back, declare 2025.1 again, with -force-release=2025.1. Jobs may have changed tables of keystone. The tables stay as they are, and jobs of 2025.1 do not run.",
		}},
		"data": {older, []executor.Outcome{step("service.rabbitmq", "StatefulSet", "", true)}, []string{
			"Services of this plan with images of 2025.2: rabbitmq.",
			"Services of this plan still with images of 2025.1: keystone, nova.",
			"RabbitMQ may have converted its data, and goes back only with the backups. Other services go back without: declare 2025.1 again, with -force-release=2025.1, and keep the images of those; the plan names them.",
		}},
		"the rest": {newer, []executor.Outcome{step("service.nova", "Deployment", "", false)}, []string{
			"Services of this plan still with images of 2025.1: keystone, nova, rabbitmq.",
			"To go back, declare 2025.1 again, with -force-release=2025.1. Programs whose data an earlier apply converted keep their images: the plan names them.",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			plan := &plans.Plan{Options: []string{"-force-release=2025.2"}, Selection: plans.Selection{Until: "control"}, Upgrade: &plans.Upgrade{
				From: test.from, To: newer, Databases: []string{"keystone", "nova"}, Versions: []plans.VersionChange{{Program: "RabbitMQ", From: "4.0", To: "4.1"}},
				Services: []plans.ServiceUpgrade{
					{Name: "keystone", Block: "service.keystone", From: older, To: newer},
					{Name: "nova", Block: "service.nova", From: older, To: newer},
					{Name: "rabbitmq", Block: "service.rabbitmq", From: older, To: newer},
				},
			}}
			failed := step("service.other", "Deployment", "", false)
			failed.Status, failed.Err = executor.Failed, &providers.NotReadyError{Reason: "the pod does not start"}
			result := explain.Applied(&engine.ApplyResult{Rounds: []engine.Round{{Plan: plan, Result: &executor.Result{Outcomes: append(test.outcomes, failed)}}}}, "v1", nil)
			if got, want := strings.Join(result.Upgrade, "\n"), strings.Join(test.want, "\n"); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if want := `run "kolla apply -force-release=2025.2 -until=control" again`; !strings.Contains(result.Advice(), want) {
				t.Errorf("the advice is %q", result.Advice())
			}
			result.Options = strings.Repeat("-target=x ", 30)
			if want := `run "kolla apply" again with the same options`; !strings.Contains(result.Advice(), want) {
				t.Errorf("the advice is %q", result.Advice())
			}
		})
	}
}
