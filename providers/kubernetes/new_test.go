package kubernetes_test

import (
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

// newKinds are objects of many kinds. The server has separate code for each of them. NAMESPACE
// stands for the test's namespace.
const newKinds = `
{apiVersion: v1, kind: ConfigMap, metadata: {name: new, namespace: NAMESPACE}, data: {a: one}}
---
{apiVersion: v1, kind: Secret, metadata: {name: new, namespace: NAMESPACE}, stringData: {a: one}}
---
{apiVersion: v1, kind: Service, metadata: {name: new, namespace: NAMESPACE}, spec: {ports: [{port: 80}]}}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: new, namespace: NAMESPACE}}
---
{apiVersion: v1, kind: Pod, metadata: {name: new, namespace: NAMESPACE}, spec: {containers: [{name: a, image: example.org/a}]}}
---
{apiVersion: v1, kind: PodTemplate, metadata: {name: new, namespace: NAMESPACE}, template: {spec: {containers: [{name: a, image: example.org/a}]}}}
---
{apiVersion: v1, kind: ReplicationController, metadata: {name: new, namespace: NAMESPACE}, spec: {replicas: 0, selector: {app: new}, template: {metadata: {labels: {app: new}}, spec: {containers: [{name: a, image: example.org/a}]}}}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: new, namespace: NAMESPACE}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
---
{apiVersion: v1, kind: PersistentVolume, metadata: {name: NAMESPACE-new}, spec: {accessModes: [ReadWriteOnce], capacity: {storage: 1Gi}, hostPath: {path: /srv}}}
---
{apiVersion: v1, kind: ResourceQuota, metadata: {name: new, namespace: NAMESPACE}, spec: {hard: {pods: 100}}}
---
{apiVersion: v1, kind: LimitRange, metadata: {name: new, namespace: NAMESPACE}}
---
{apiVersion: v1, kind: Endpoints, metadata: {name: bare, namespace: NAMESPACE}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: NAMESPACE-new}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: new, namespace: NAMESPACE}, spec: {replicas: 0, selector: {matchLabels: {app: new}}, template: {metadata: {labels: {app: new}}, spec: {containers: [{name: a, image: example.org/a}]}}}}
---
{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: new, namespace: NAMESPACE}, spec: {replicas: 0, serviceName: new, selector: {matchLabels: {app: new}}, template: {metadata: {labels: {app: new}}, spec: {containers: [{name: a, image: example.org/a}]}}}}
---
{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: new, namespace: NAMESPACE}, spec: {selector: {matchLabels: {app: new}}, template: {metadata: {labels: {app: new}}, spec: {nodeSelector: {none: such}, containers: [{name: a, image: example.org/a}]}}}}
---
{apiVersion: batch/v1, kind: Job, metadata: {name: new, namespace: NAMESPACE}, spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: a, image: example.org/a}]}}}}
---
{apiVersion: batch/v1, kind: CronJob, metadata: {name: new, namespace: NAMESPACE}, spec: {schedule: "0 0 1 1 *", jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: example.org/a}]}}}}}}
---
{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: new, namespace: NAMESPACE}, spec: {defaultBackend: {service: {name: a, port: {number: 80}}}}}
---
{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: NAMESPACE-new}, spec: {controller: example.org/a}}
---
{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: new, namespace: NAMESPACE}, spec: {podSelector: {}}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: new, namespace: NAMESPACE}, spec: {minAvailable: 1, selector: {matchLabels: {app: new}}}}
---
{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: new, namespace: NAMESPACE}, spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: none}}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: new, namespace: NAMESPACE}, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: new, namespace: NAMESPACE}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: new}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: NAMESPACE-new}, rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: NAMESPACE-new}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: NAMESPACE-new}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: NAMESPACE-new}, value: 1}
---
{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: NAMESPACE-new}, provisioner: example.org/a}
---
{apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: NAMESPACE-new}, spec: {attachRequired: false}}
---
{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {name: NAMESPACE-new}, handler: a}
---
{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: new, namespace: NAMESPACE}, spec: {holderIdentity: a}}
---
{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: new, namespace: NAMESPACE}, addressType: IPv4, endpoints: []}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: NAMESPACE-new}, webhooks: [{name: a.example.org, clientConfig: {url: "https://example.org"}, sideEffects: None, admissionReviewVersions: [v1]}]}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: NAMESPACE-new}, webhooks: [{name: a.example.org, clientConfig: {url: "https://example.org"}, sideEffects: None, admissionReviewVersions: [v1]}]}
---
{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingAdmissionPolicyBinding, metadata: {name: NAMESPACE-new}, spec: {policyName: none, validationActions: [Deny]}}
---
{apiVersion: flowcontrol.apiserver.k8s.io/v1, kind: FlowSchema, metadata: {name: NAMESPACE-new}, spec: {matchingPrecedence: 9999, priorityLevelConfiguration: {name: exempt}}}
---
{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.new.NAMESPACE.example.org}, spec: {group: new.NAMESPACE.example.org, version: v1, groupPriorityMinimum: 1, versionPriority: 1, service: {namespace: NAMESPACE, name: none}}}
---
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: news.NAMESPACE.example.org}, spec: {group: NAMESPACE.example.org, scope: Namespaced, names: {kind: New, plural: news}, versions: [{name: v1, served: true, storage: true, subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]}}
---
{apiVersion: NAMESPACE.example.org/v1, kind: New, metadata: {name: new, namespace: NAMESPACE}, spec: {a: one}}
`

// TestApplyOfWhatIsNew checks, for all kinds, that an apply with New creates a missing object,
// accepts the object that the same write has created, and leaves an existing object of another
// program alone.
func TestApplyOfWhatIsNew(t *testing.T) {
	client, namespace := connect(t), clustertest.Namespace(t)
	writer := client.Writer()
	var unscoped []string
	t.Cleanup(func() { clustertest.Kubectl(t, append([]string{"delete", "--wait=false"}, unscoped...)...) })
	for text := range strings.SplitSeq(strings.ReplaceAll(newKinds, "NAMESPACE", namespace), "---\n") {
		manifest := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &manifest.Object); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		manifest.SetLabels(map[string]string{"new": "one"}) // every object that kolla makes has labels
		ref := providers.RefOf(manifest)
		t.Run(manifest.GetKind(), func(t *testing.T) {
			made, err := writer.Apply(t.Context(), manifest, providers.ApplyOptions{New: true})
			if err != nil {
				t.Fatal(err)
			}
			if ref.Namespace == "" {
				unscoped = append(unscoped, ref.GVK.Kind+"/"+ref.Name)
			}
			if version := made.GetResourceVersion(); version == "" || len(version) > 10 {
				t.Errorf("its version is %q", version)
			}
			again, err := writer.Apply(t.Context(), manifest, providers.ApplyOptions{New: true})
			if err != nil || again.GetUID() != made.GetUID() {
				t.Errorf("the same write again, as after a lost answer: got %v", err)
			}
			other := manifest.DeepCopy()
			other.SetLabels(map[string]string{"new": "two"})
			_, err = writer.Apply(t.Context(), other, providers.ApplyOptions{New: true})
			exists(t, "another write of kolla's", err)
			_, err = writer.Apply(t.Context(), manifest, providers.ApplyOptions{New: true, Manager: "stranger"})
			exists(t, "the object of another manager", err)
			live, err := writer.Apply(t.Context(), manifest, providers.ApplyOptions{})
			if err != nil || live.GetLabels()["new"] != "one" || managers(live)["stranger"] {
				t.Errorf("a refused write left %v, %v", live, err)
			}
		})
	}
}

// TestApplyOfWhatIsNewMeetsAStranger checks that an apply with New does not change an object that
// another program made, whether or not their fields conflict.
func TestApplyOfWhatIsNewMeetsAStranger(t *testing.T) {
	client, namespace := connect(t), clustertest.Namespace(t)
	writer := client.Writer()
	for name, literal := range map[string]string{"other keys": "theirs=1", "other values": "a=theirs", "the same": "a=one"} {
		t.Run(name, func(t *testing.T) {
			clustertest.Kubectl(t, "-n", namespace, "create", "configmap", "settings", "--from-literal="+literal)
			t.Cleanup(func() { clustertest.Kubectl(t, "-n", namespace, "delete", "configmap", "settings") })
			manifest := object(t, namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: one}}")
			_, err := writer.Apply(t.Context(), manifest, providers.ApplyOptions{New: true})
			exists(t, "the stranger's", err)
			key, value, _ := strings.Cut(literal, "=")
			if got := clustertest.Kubectl(t, "-n", namespace, "get", "configmap", "settings", "-o", "jsonpath={.data}"); got != `{"`+key+`":"`+value+`"}` {
				t.Errorf("it has %s", got)
			}
		})
	}
}

func exists(t *testing.T, what string, err error) {
	t.Helper()
	var precondition *providers.PreconditionError
	if !errors.As(err, &precondition) || !precondition.Exists {
		t.Errorf("%s: got %v, want that it exists", what, err)
	}
}

func managers(u *unstructured.Unstructured) map[string]bool {
	names := map[string]bool{}
	if u == nil {
		return names
	}
	for _, entry := range u.GetManagedFields() {
		names[entry.Manager] = true
	}
	return names
}

// TestApplyOfWhatIsNewWithoutAnswer checks an apply with New whose first answer is lost. Either the
// server has carried out the first write, or another program has created the object before.
func TestApplyOfWhatIsNewWithoutAnswer(t *testing.T) {
	for name, stranger := range map[string]bool{"the answer was lost": false, "a stranger was first": true} {
		t.Run(name, func(t *testing.T) {
			namespace := clustertest.Namespace(t)
			var writes atomic.Int32
			client := throughProxy(t, func(proxy http.Handler, w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodPatch || r.URL.Query().Has("dryRun") || writes.Add(1) > 1 {
					proxy.ServeHTTP(w, r)
					return
				}
				if stranger {
					clustertest.Kubectl(t, "-n", namespace, "create", "configmap", "settings", "--from-literal=a=theirs")
				} else {
					proxy.ServeHTTP(httptest.NewRecorder(), r)
				}
				panic(http.ErrAbortHandler)
			})
			if _, err := client.Identity(t.Context()); err != nil {
				t.Fatal(err)
			}
			live, err := client.Writer().Apply(t.Context(), object(t, namespace, configMap), providers.ApplyOptions{New: true})
			switch {
			case writes.Load() < 2:
				t.Errorf("%d writes", writes.Load())
			case stranger:
				exists(t, "the stranger's", err)
			case err != nil || live.GetUID() == "":
				t.Errorf("got %v", err)
			}
		})
	}
}

// throughProxy connects to the cluster through a proxy. answer may pass a request to the proxy, or
// answer it.
func throughProxy(t *testing.T, answer func(proxy http.Handler, w http.ResponseWriter, r *http.Request)) *kubernetes.Client {
	t.Helper()
	config := clustertest.Config(t)
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	upstream, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Transport:     transport,
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(upstream) },
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0), // the cluster may end before the last watch
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(proxy, w, r) }))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return connectTo(t, kubeconfigOf(t, server.URL))
}

// TestApplyThatCannotBeCompleted checks that an apply succeeds if the server refuses the dry run
// that would show missing empty fields.
func TestApplyThatCannotBeCompleted(t *testing.T) {
	namespace := clustertest.Namespace(t)
	client := throughProxy(t, func(proxy http.Handler, w http.ResponseWriter, r *http.Request) {
		if !r.URL.Query().Has("dryRun") {
			proxy.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 400, "reason": "BadRequest", "message": "admission webhook \"w\" does not support dry run"}`))
	})
	writer := client.Writer()
	empty := strings.Replace(deployment, "    spec: {", "    spec: {nodeSelector: {}, ", 1)
	made, err := writer.Apply(t.Context(), object(t, namespace, empty), providers.ApplyOptions{New: true})
	if err != nil {
		t.Fatal(err)
	}
	changed := object(t, namespace, strings.Replace(empty, "replicas: 2", "replicas: 3", 1))
	live, err := writer.Apply(t.Context(), changed, providers.ApplyOptions{Precondition: providers.Precondition{UID: made.GetUID()}})
	if err != nil || nested(live, "spec", "replicas") != int64(3) {
		t.Errorf("got %v, want what was written", err)
	}
}
