package operator

import (
	"bytes"
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
	"kolla.openstack.org/kolla/providers/kinds"
)

// Installation says what Manifests prints.
type Installation struct {
	// Namespace has the operator, its Clouds, and their plans.
	Namespace string
	Image     string
	Replicas  int32
	// Account is the service account of the Clouds; empty: none is made.
	Account string
	// Monitor: also a PodMonitor, for the Prometheus Operator, with MonitorLabels.
	Monitor       bool
	MonitorLabels map[string]string
}

// Ports of the operator's pods.
const (
	metricsPort = 8080
	healthPort  = 8081
)

// kollaUser is the user in the image.
const kollaUser = 65532

// Manifests returns all that an operator takes, but for the rights of its Clouds, as a stream of YAML
// documents for kubectl apply.
func Manifests(in Installation) ([]byte, error) {
	text, err := documents(in.objects())
	return append(v1alpha1.Definitions(), text...), err
}

// Namespaces returns namespaces as a stream of YAML documents. Each document begins with its mark.
func Namespaces(names []string) ([]byte, error) {
	var all []runtime.Object
	for _, name := range names {
		all = append(all, &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	return documents(all)
}

func documents(objects []runtime.Object) ([]byte, error) {
	var out bytes.Buffer
	for _, object := range objects {
		text, err := yaml.Marshal(object)
		if err != nil {
			return nil, fmt.Errorf("write the manifests: %w", err)
		}
		out.WriteString("---\n")
		out.Write(text)
	}
	return out.Bytes(), nil
}

func (in Installation) objects() []runtime.Object {
	labels := map[string]string{"app.kubernetes.io/name": Name}
	named := metav1.ObjectMeta{Name: Name, Namespace: in.Namespace, Labels: labels}
	namespace := &corev1.Namespace{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{Name: in.Namespace, Labels: map[string]string{
			"app.kubernetes.io/name": Name, "pod-security.kubernetes.io/enforce": "restricted",
		}},
	}
	out := []runtime.Object{namespace, &corev1.ServiceAccount{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"}, ObjectMeta: named}}
	if in.Account != "" {
		out = append(out, &corev1.ServiceAccount{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
			ObjectMeta: metav1.ObjectMeta{Name: in.Account, Namespace: in.Namespace}, AutomountServiceAccountToken: new(bool),
		})
	}
	out = append(out,
		&rbacv1.Role{TypeMeta: metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "Role"}, ObjectMeta: named, Rules: in.rules()},
		&rbacv1.RoleBinding{
			TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "RoleBinding"},
			ObjectMeta: named,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: Name},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Name: Name, Namespace: in.Namespace}},
		},
		in.deployment(named, labels),
		in.metrics(labels),
	)
	if in.Monitor {
		out = append(out, in.monitor(labels))
	}
	return out
}

// metricsName is the name of the objects by which a Prometheus finds the operators.
const metricsName = Name + "-metrics"

// metrics returns a headless Service, for a Prometheus that reads annotations or DNS.
func (in Installation) metrics(labels map[string]string) *corev1.Service {
	return &corev1.Service{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{Name: metricsName, Namespace: in.Namespace, Labels: labels, Annotations: map[string]string{
			"prometheus.io/scrape": "true", "prometheus.io/port": strconv.Itoa(metricsPort), "prometheus.io/path": "/metrics",
		}},
		Spec: corev1.ServiceSpec{
			ClusterIP: corev1.ClusterIPNone, Selector: labels, PublishNotReadyAddresses: true,
			Ports: []corev1.ServicePort{{Name: "metrics", Port: metricsPort, TargetPort: intstr.FromString("metrics")}},
		},
	}
}

// monitor returns an object for the Prometheus Operator.
func (in Installation) monitor(labels map[string]string) runtime.Object {
	kind := kinds.PodMonitor.WithVersion("v1")
	out := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"selector": map[string]any{"matchLabels": labels},
		"podMetricsEndpoints": []any{map[string]any{
			"port": "metrics", "relabelings": []any{map[string]any{"targetLabel": "job", "replacement": Name}},
		}},
	}}}
	out.SetGroupVersionKind(kind)
	out.SetName(metricsName)
	out.SetNamespace(in.Namespace)
	out.SetLabels(in.MonitorLabels)
	return out
}

// rules are the rights of the operator itself. The rights in the cloud are those of the service accounts
// that it impersonates.
func (in Installation) rules() []rbacv1.PolicyRule {
	impersonate := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, Verbs: []string{"impersonate"}}
	if in.Account != "" {
		impersonate.ResourceNames = []string{in.Account}
	}
	group := v1alpha1.GroupVersion.Group
	return []rbacv1.PolicyRule{
		{APIGroups: []string{group}, Resources: []string{"clouds", "cloudplans", "cloudservices"}, Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"}},
		{APIGroups: []string{group}, Resources: []string{"clouds/status", "cloudplans/status", "cloudservices/status", "clouds/finalizers", "cloudplans/finalizers"}, Verbs: []string{"get", "update", "patch"}},
		{APIGroups: []string{""}, Resources: []string{"namespaces"}, ResourceNames: []string{in.Namespace}, Verbs: []string{"get"}},
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "list", "watch", "create", "update", "patch"}},
		{APIGroups: []string{"", "events.k8s.io"}, Resources: []string{"events"}, Verbs: []string{"create", "patch", "update"}},
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get", "create", "update", "patch"}},
		impersonate,
	}
}

func (in Installation) deployment(named metav1.ObjectMeta, labels map[string]string) *appsv1.Deployment {
	probe := func(path string) *corev1.Probe {
		return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromInt32(healthPort)}}, PeriodSeconds: 10}
	}
	container := corev1.Container{
		Name:  "operator",
		Image: in.Image,
		// Without the start script of an image that Kolla's build made, which needs sudo.
		Command: []string{"/usr/local/bin/kolla"},
		Args: []string{
			"operator", "-namespace=" + in.Namespace, "-lease-namespace=" + in.Namespace,
			fmt.Sprintf("-metrics=:%d", metricsPort), fmt.Sprintf("-health=:%d", healthPort),
		},
		Ports:          []corev1.ContainerPort{{Name: "metrics", ContainerPort: metricsPort}, {Name: "health", ContainerPort: healthPort}},
		LivenessProbe:  probe("/healthz"),
		ReadinessProbe: probe("/readyz"),
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("50m"), corev1.ResourceMemory: resource.MustParse("128Mi")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")},
		},
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(bool), ReadOnlyRootFilesystem: new(true), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
		// Keys of SSH servers are read from a file for a moment.
		VolumeMounts: []corev1.VolumeMount{{Name: "tmp", MountPath: "/tmp"}},
	}
	return &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: appsv1.SchemeGroupVersion.String(), Kind: "Deployment"},
		ObjectMeta: named,
		Spec: appsv1.DeploymentSpec{
			Replicas: new(in.Replicas),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{
					ServiceAccountName: Name,
					Containers:         []corev1.Container{container},
					// An apply that is interrupted finishes its present writes.
					TerminationGracePeriodSeconds: new(int64(60)),
					SecurityContext: &corev1.PodSecurityContext{
						RunAsNonRoot: new(true), RunAsUser: new(int64(kollaUser)), RunAsGroup: new(int64(kollaUser)),
						SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
					},
					Volumes: []corev1.Volume{{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}},
					TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{
						MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: &metav1.LabelSelector{MatchLabels: labels},
					}},
				},
			},
		},
	}
}
