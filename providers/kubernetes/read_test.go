package kubernetes_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/providers"
)

var (
	configMapKind  = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	namespaceKind  = corev1.SchemeGroupVersion.WithKind("Namespace")
	deploymentKind = appsv1.SchemeGroupVersion.WithKind("Deployment")

	dryRun = providers.DryRunOptions{}
)

const configMap = `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {a: one}
`

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "example.org/web:1"}]}
`

func TestListReadsAllPages(t *testing.T) {
	namespace := clustertest.Namespace(t)
	maps := corev1client.NewForConfigOrDie(clustertest.Config(t)).ConfigMaps(namespace)
	const count = 600 // more than a page
	want := map[string]bool{"kube-root-ca.crt": true}
	for i := range count {
		name := fmt.Sprintf("c-%03d", i)
		want[name] = true
		if _, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	client := connect(t)
	items, err := client.List(t.Context(), configMapKind, namespace)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{"kube-root-ca.crt": true}
	for _, item := range items {
		got[item.GetName()] = true
		if item.GroupVersionKind() != configMapKind || item.GetResourceVersion() == "" {
			t.Fatalf("item %s is a %s of version %q", item.GetName(), item.GroupVersionKind(), item.GetResourceVersion())
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"list": 2}, client.Requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestKinds(t *testing.T) {
	client := connect(t)
	for kind, want := range map[schema.GroupVersionKind]bool{configMapKind: true, deploymentKind: true, namespaceKind: false} {
		if got, err := client.Namespaced(t.Context(), kind); got != want || err != nil {
			t.Errorf("%s: namespaced is %t, %v, want %t", kind, got, err, want)
		}
	}
	for _, kind := range []schema.GroupVersionKind{
		{Group: "example.org", Version: "v1", Kind: "Thing"},
		{Group: "apps", Version: "v1beta1", Kind: "Deployment"},
		{Version: "v1", Kind: "DeploymentList"},
	} {
		if _, err := client.Namespaced(t.Context(), kind); !meta.IsNoMatchError(err) {
			t.Errorf("%s: got %v, want no match", kind, err)
		}
		_, err := client.List(t.Context(), kind, "")
		if !meta.IsNoMatchError(err) {
			t.Errorf("list %s: got %v, want no match", kind, err)
		}
		explained(t, err, "the cluster has no kind "+kind.Kind, "CustomResourceDefinition")
	}
	if got := client.Requests()["discovery"]; got > 4 {
		t.Errorf("%d requests for discovery", got)
	}
}

func TestKindsThatAreDefinedMeanwhileAreFound(t *testing.T) {
	client := connect(t)
	kind := schema.GroupVersionKind{Group: "stars.example.org", Version: "v1", Kind: "Star"}
	if _, err := client.Namespaced(t.Context(), kind); !meta.IsNoMatchError(err) {
		t.Fatalf("got %v, want no match", err)
	}
	definition := object(t, "", `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: stars.stars.example.org}
spec:
  group: stars.example.org
  scope: Namespaced
  names: {plural: stars, singular: star, kind: Star, listKind: StarList}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer, default: 3}}}}}}}]
`)
	writer := client.Writer()
	made, err := writer.Apply(t.Context(), definition, providers.ApplyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { clustertest.Kubectl(t, "delete", "crd", "stars.stars.example.org") })
	if err := writer.Wait(t.Context(), providers.RefOf(made), providers.WaitOptions{}); err != nil {
		t.Fatal(err)
	}
	star := object(t, clustertest.Namespace(t), "{apiVersion: stars.example.org/v1, kind: Star, metadata: {name: sun}, spec: {}}")
	applied, err := writer.Apply(t.Context(), star, providers.ApplyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if size, _, _ := unstructured.NestedInt64(applied.Object, "spec", "size"); size != 3 {
		t.Errorf("size is %d, want the default", size)
	}
	if _, err := client.List(t.Context(), kind, ""); err != nil {
		t.Error(err)
	}
}

func TestDryRunShowsWhatApplyWouldDo(t *testing.T) {
	client, namespace := connect(t), clustertest.Namespace(t)
	manifest := object(t, namespace, deployment)
	created, err := client.DryRun(t.Context(), manifest, dryRun)
	if err != nil {
		t.Fatal(err)
	}
	if got := nested(created, "spec", "template", "spec", "restartPolicy"); got != "Always" {
		t.Errorf("restartPolicy is %v, want the default", got)
	}
	if list, err := client.List(t.Context(), deploymentKind, namespace); err != nil || len(list) > 0 {
		t.Fatalf("the dry run left %v, %v", list, err)
	}

	live, err := client.Writer().Apply(t.Context(), manifest, providers.ApplyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	same, err := client.DryRun(t.Context(), manifest, dryRun)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(live.Object["spec"], same.Object["spec"]); diff != "" {
		t.Errorf("an unchanged object (-live +dry run):\n%s", diff)
	}
	_ = unstructured.SetNestedField(manifest.Object, int64(7), "spec", "replicas")
	changed, err := client.DryRun(t.Context(), manifest, dryRun)
	if err != nil {
		t.Fatal(err)
	}
	if got := nested(changed, "spec", "replicas"); got != int64(7) {
		t.Errorf("replicas would be %v, want 7", got)
	}
	if diff := cmp.Diff(map[string]int{"list": 1, "patch": 1, "patch (dry-run)": 3}, client.Requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}

func TestConflictNamesManagersAndFields(t *testing.T) {
	client, namespace := connect(t), clustertest.Namespace(t)
	manifest := object(t, namespace, deployment)
	if _, err := client.Writer().Apply(t.Context(), manifest, providers.ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	clustertest.Kubectl(t, "-n", namespace, "scale", "deployment", "web", "--replicas=5")
	clustertest.Kubectl(t, "-n", namespace, "set", "image", "deployment/web", "web=example.org/web:2", "--field-manager=jane \"the\" admin")
	_, err := client.DryRun(t.Context(), manifest, dryRun)
	var conflict *providers.ConflictError
	if !errors.As(err, &conflict) {
		t.Fatalf("got %v, want a conflict", err)
	}
	want := map[string]string{
		".spec.replicas": "kubectl",
		`.spec.template.spec.containers[name="web"].image`: `jane "the" admin`,
	}
	got := map[string]string{}
	for _, c := range conflict.Conflicts {
		got[c.Path] = c.Manager
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("conflicts (-want +got):\n%s", diff)
	}
	if _, err := client.Writer().Apply(t.Context(), manifest, providers.ApplyOptions{}); !errors.As(err, &conflict) {
		t.Errorf("apply: got %v, want a conflict", err)
	}
	forced, err := client.DryRun(t.Context(), manifest, providers.DryRunOptions{Force: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := nested(forced, "spec", "replicas"); got != int64(2) {
		t.Errorf("replicas would be %v, want 2", got)
	}
}

func TestSurrogateAnswersForWhatIsNotThereYet(t *testing.T) {
	client := connect(t)
	cases := []struct{ name, manifest string }{
		{"Deployment", deployment},
		{"Service", "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: web}, ports: [{port: 80}]}}"},
		{"Secret", "{apiVersion: v1, kind: Secret, metadata: {name: web.v1}, stringData: {a: b}}"},
		{"CronJob with the longest name", "{apiVersion: batch/v1, kind: CronJob, metadata: {name: " + strings.Repeat("a", 52) + "}, spec: {schedule: '* * * * *', jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}}}"},
		{"Role", "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: 'kolla:reader'}, rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]}"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			manifest := object(t, "not-there-yet", c.manifest)
			if _, err := client.DryRun(t.Context(), manifest, dryRun); !apierrors.IsNotFound(err) {
				t.Fatalf("without a surrogate: got %v, want that the namespace is not found", err)
			}
			got, err := client.DryRun(t.Context(), manifest, providers.DryRunOptions{Surrogate: true})
			if err != nil {
				t.Fatal(err)
			}
			if got.GetName() != manifest.GetName() || got.GetNamespace() != "not-there-yet" {
				t.Errorf("the answer is about %s/%s", got.GetNamespace(), got.GetName())
			}
		})
	}
	t.Run("Job", func(t *testing.T) {
		manifest := object(t, "not-there-yet", "{apiVersion: batch/v1, kind: Job, metadata: {name: sync}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}")
		got, err := client.DryRun(t.Context(), manifest, providers.DryRunOptions{Surrogate: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, label := range []string{"job-name", "batch.kubernetes.io/job-name"} {
			if value := nested(got, "spec", "template", "metadata", "labels", label); value != "sync" {
				t.Errorf("label %s is %v, want the name of the job", label, value)
			}
		}
	})
	t.Run("cluster-scoped", func(t *testing.T) {
		manifest := object(t, "", "{apiVersion: v1, kind: Namespace, metadata: {name: kube-system}}")
		got, err := client.DryRun(t.Context(), manifest, providers.DryRunOptions{Surrogate: true})
		if err != nil {
			t.Fatal(err)
		}
		if got.GetName() != "kube-system" || got.GetLabels()["kubernetes.io/metadata.name"] != "kube-system" || got.GetNamespace() != "" {
			t.Errorf("the answer is about %s/%s with labels %v", got.GetNamespace(), got.GetName(), got.GetLabels())
		}
	})
	t.Run("invalid", func(t *testing.T) {
		manifest := object(t, "not-there-yet", "{apiVersion: v1, kind: Service, metadata: {name: web.v1}, spec: {ports: [{port: 80}]}}")
		_, err := client.DryRun(t.Context(), manifest, providers.DryRunOptions{Surrogate: true})
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), `"web.v1"`) {
			t.Errorf("got %v, want that web.v1 is no name for a Service", err)
		}
	})
	t.Run("CustomResourceDefinition", func(t *testing.T) {
		manifest := object(t, "", "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a.example.org}}")
		if _, err := client.DryRun(t.Context(), manifest, providers.DryRunOptions{Surrogate: true}); err == nil {
			t.Error("want an error: its name cannot be another")
		}
	})
}

func TestDryRunTellsWhatIsWrong(t *testing.T) {
	client, namespace := connect(t), clustertest.Namespace(t)
	cases := []struct {
		name, manifest string
		want           string
		kind           func(error) bool
	}{
		{"invalid value", strings.Replace(deployment, "replicas: 2", "replicas: -1", 1), "must be greater than or equal to 0", apierrors.IsInvalid},
		{"unknown field", strings.Replace(deployment, "replicas: 2", "replica: 2", 1), "field not declared in schema", nil},
		{"no namespace", deployment, "has no namespace", nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			manifest := object(t, namespace, c.manifest)
			if c.name == "no namespace" {
				manifest.SetNamespace("")
			}
			start := time.Now()
			_, err := client.DryRun(t.Context(), manifest, dryRun)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "web") {
				t.Errorf("got %v, want something with %q", err, c.want)
			}
			if c.kind != nil && !c.kind(err) {
				t.Errorf("got another kind of error: %#v", err)
			}
			if took := time.Since(start); took > time.Minute {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// nested returns a field of an object, or nil.
func nested(u *unstructured.Unstructured, path ...string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(u.Object, path...)
	return value
}
