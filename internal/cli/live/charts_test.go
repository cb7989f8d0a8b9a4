package live_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
)

// chart returns manifests like those of openstack-helm's chart of a service. Each job and the
// workload have a service account with its own role, mounted scripts and configuration, and an init
// container that waits for other services. The kinds are in the worst order.
func chart(service, workload string, jobs ...string) string {
	const pod = `
      serviceAccountName: SERVICE-NAME
      restartPolicy: RESTART
      securityContext: {runAsNonRoot: true, runAsUser: 42424, seccompProfile: {type: RuntimeDefault}}
      initContainers:
      - name: init
        image: "example.org/kubernetes-entrypoint:1"
        env: [{name: DEPENDENCY_SERVICE, value: "NAMESPACE:SERVICE"}]
        securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
      containers:
      - name: main
        image: "example.org/SERVICE:1"
        securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
        envFrom: [{secretRef: {name: SERVICE-db}}]
        volumeMounts: [{name: bin, mountPath: /bin/SERVICE}, {name: etc, mountPath: /etc/SERVICE}]
      volumes:
      - {name: bin, configMap: {name: SERVICE-bin}}
      - {name: etc, secret: {secretName: SERVICE-etc}}`
	const account = `
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: SERVICE-NAME}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: SERVICE-NAME}
subjects: [{kind: ServiceAccount, name: SERVICE-NAME, namespace: NAMESPACE}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: SERVICE-NAME}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: SERVICE-NAME}}`
	var b strings.Builder
	add := func(text, name, restart string) {
		b.WriteString(strings.NewReplacer("NAME\n", name+"\n", "SERVICE", service, "-NAME", "-"+name, "RESTART", restart).Replace(text))
	}
	for _, job := range jobs {
		add(`
---
apiVersion: batch/v1
kind: Job
metadata: {name: SERVICE-NAME}
spec:
  template:
    metadata: {annotations: {devcluster.kolla/delay: 2s}}
    spec:`+pod+account, job, "OnFailure")
	}
	set := ""
	if workload == "StatefulSet" {
		set = "\n  serviceName: SERVICE"
	}
	add(`
---
apiVersion: apps/v1
kind: `+workload+`
metadata: {name: SERVICE-NAME}
spec:`+set+`
  selector: {matchLabels: {app: SERVICE}}
  template:
    metadata: {labels: {app: SERVICE}, annotations: {devcluster.kolla/delay: 3s}}
    spec:`+pod+account+`
---
{apiVersion: v1, kind: Service, metadata: {name: SERVICE}, spec: {selector: {app: SERVICE}, ports: [{port: 80}]}}
---
{apiVersion: v1, kind: Secret, metadata: {name: SERVICE-etc}, stringData: {SERVICE.conf: "[DEFAULT]"}}
---
{apiVersion: v1, kind: Secret, metadata: {name: SERVICE-db}, stringData: {DB_CONNECTION: "none"}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: SERVICE-bin}, data: {start.sh: "true"}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: SERVICE}, spec: {minAvailable: 0, selector: {matchLabels: {app: SERVICE}}}}`, "api", "Always")
	add(`
---
apiVersion: v1
kind: Pod
metadata: {name: SERVICE-NAME}
spec:`+strings.ReplaceAll(pod, "\n    ", "\n")+account, "check", "Always")
	return b.String()
}

// TestChartsGoOutInOneGo applies the charts of five services as one manifest. It has more jobs than
// the parallelism, and each job needs objects whose names sort later.
func TestChartsGoOutInOneGo(t *testing.T) {
	t.Setenv("KUBECONFIG", clustertest.Kubeconfig())
	const namespace = "t-charts"
	manifests := strings.Join([]string{
		chart("keystone", "Deployment", "bootstrap", "credential-setup", "db-init", "db-sync", "domain-manage", "fernet-setup", "rabbit-init"),
		chart("glance", "Deployment", "bootstrap", "db-init", "db-sync", "ks-endpoints", "ks-service", "ks-user", "storage-init"),
		chart("mariadb", "StatefulSet", "cluster-wait"),
		chart("rabbitmq", "StatefulSet", "cluster-wait"),
		chart("memcached", "StatefulSet"),
		"\n---\n{apiVersion: v1, kind: ResourceQuota, metadata: {name: all}, spec: {hard: {pods: \"100\"}}}",
	}, "")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"charts.yaml": manifests,
		"cloud.hcl":   "cloud \"NAMESPACE\" {\n  release = \"2025.1\"\n  namespace = \"NAMESPACE\"\n}\nmanifest \"charts\" { files = [\"charts.yaml\"] }\n",
	} {
		if err := os.WriteFile(dir+"/"+name, []byte(strings.ReplaceAll(text, "NAMESPACE", namespace)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	audit := clustertest.TailAudit(t)
	defer kolla(t, "destroy", "-auto-approve", "-delete-data=*")
	kolla(t, "apply", "-auto-approve", "-timeout=60s")
	if refused := clustertest.Kubectl(t, "-n", namespace, "get", "events", "--field-selector=reason=FailedCreate"); strings.Contains(refused, "Failed") {
		t.Errorf("pods could not be created at first:\n%s", refused)
	}
	const used = "what workloads use"
	stages := map[string]string{
		"namespaces": "namespaces", "resourcequotas": "policies", "jobs": "workloads",
		"serviceaccounts": used, "secrets": used, "configmaps": used, "roles": used, "rolebindings": used, "services": used,
	}
	got := written(audit.Kolla(), namespace, slices.Collect(maps.Keys(stages)))
	for i := range got {
		got[i] = stages[got[i]]
	}
	if want := []string{"namespaces", "policies", used, "workloads"}; !slices.Equal(slices.Compact(got), want) {
		t.Errorf("the objects went out as %q, want %q", got, want)
	}
}

var uri = regexp.MustCompile(`^/apis?/(?:[a-z0-9.]+/)?v1/(?:namespaces/[^/]+/)?([a-z]+)/`)

// written lists the resources of the writes in a namespace, in order. A resource is listed again if
// others were written in between.
func written(events []clustertest.Request, namespace string, of []string) []string {
	var order []string
	for _, e := range events {
		match := uri.FindStringSubmatch(e.RequestURI)
		if e.Verb != "patch" || match == nil || strings.Contains(e.RequestURI, "dryRun") || !strings.Contains(e.RequestURI, "/"+namespace) || !slices.Contains(of, match[1]) {
			continue
		}
		if len(order) == 0 || order[len(order)-1] != match[1] {
			order = append(order, match[1])
		}
	}
	return order
}
