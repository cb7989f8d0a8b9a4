package openstack

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1 "k8s.io/client-go/applyconfigurations/apps/v1"
	batchv1 "k8s.io/client-go/applyconfigurations/batch/v1"
	corev1 "k8s.io/client-go/applyconfigurations/core/v1"
	metav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	policyv1 "k8s.io/client-go/applyconfigurations/policy/v1"
)

// TestManifest holds that a conversion gives what Kubernetes' own does, types included.
func TestManifest(t *testing.T) {
	container := corev1.Container().
		WithName("web").
		WithCommand("serve", "--all").
		WithArgs().
		WithPorts(corev1.ContainerPort().WithName("http").WithContainerPort(80)).
		WithEnv(
			corev1.EnvVar().WithName("EMPTY").WithValue(""),
			corev1.EnvVar().WithName("PASSWORD").WithValueFrom(corev1.EnvVarSource().
				WithSecretKeyRef(corev1.SecretKeySelector().WithName("web").WithKey("password"))),
		).
		WithReadinessProbe(corev1.Probe().WithPeriodSeconds(10).WithTimeoutSeconds(0).
			WithHTTPGet(corev1.HTTPGetAction().WithPath("/").WithPort(intstr.FromString("http")))).
		WithLivenessProbe(corev1.Probe().WithTCPSocket(corev1.TCPSocketAction().WithPort(intstr.FromInt32(80)))).
		WithResources(corev1.ResourceRequirements().WithRequests(v1.ResourceList{
			v1.ResourceCPU: resource.MustParse("50m"), v1.ResourceMemory: resource.MustParse("1.5Gi"),
		})).
		WithSecurityContext(corev1.SecurityContext().WithAllowPrivilegeEscalation(false).
			WithCapabilities(corev1.Capabilities().WithDrop("ALL")))
	pod := corev1.PodTemplateSpec().WithLabels(map[string]string{"a": "b"}).WithSpec(corev1.PodSpec().
		WithContainers(container).
		WithVolumes(
			corev1.Volume().WithName("tmp").WithEmptyDir(corev1.EmptyDirVolumeSource()),
			corev1.Volume().WithName("keys").WithSecret(corev1.SecretVolumeSource().WithSecretName("web").WithDefaultMode(0o440)),
		).
		WithNodeSelector(map[string]string{}))
	cases := map[string]applyConfiguration{
		"deployment": appsv1.Deployment("web", "").WithSpec(appsv1.DeploymentSpec().WithReplicas(0).WithTemplate(pod).
			WithStrategy(appsv1.DeploymentStrategy().WithRollingUpdate(appsv1.RollingUpdateDeployment().WithMaxSurge(intstr.FromString("25%"))))),
		"stateful set": appsv1.StatefulSet("web", "cloud").WithSpec(appsv1.StatefulSetSpec().WithTemplate(pod).
			WithVolumeClaimTemplates(corev1.PersistentVolumeClaim("data", "").WithSpec(corev1.PersistentVolumeClaimSpec().
				WithAccessModes(v1.ReadWriteOnce).WithResources(corev1.VolumeResourceRequirements().
				WithRequests(v1.ResourceList{v1.ResourceStorage: resource.MustParse("10Gi")}))))),
		"job":        batchv1.Job("web", "").WithSpec(batchv1.JobSpec().WithBackoffLimit(6).WithTemplate(pod)),
		"config map": corev1.ConfigMap("web", "").WithData(map[string]string{"web.conf": "a = 1\n"}).WithImmutable(true),
		"secret":     opaque("web").WithLabels(map[string]string{"a": "b"}).WithAnnotations(map[string]string{"c": "d"}),
		"budget": policyv1.PodDisruptionBudget("web", "").WithSpec(policyv1.PodDisruptionBudgetSpec().
			WithMaxUnavailable(intstr.FromInt32(1)).WithSelector(metav1.LabelSelector().WithMatchLabels(map[string]string{"a": "b"}))),
		"namespace": corev1.Namespace("cloud"),
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			want, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, manifest(c).Object); diff != "" {
				t.Errorf("converted otherwise (-want +got):\n%s", diff)
			}
		})
	}
}
