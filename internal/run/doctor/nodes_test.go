package doctor_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/run/doctor"
	"kolla.openstack.org/kolla/internal/run/rights"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

// TestVersion checks the supported versions.
func TestVersion(t *testing.T) {
	for version, want := range map[string]string{
		"v1.29.15":     "error API server v1.29.15: is older than Kubernetes 1.30",
		"v1.30.0":      "",
		"v1.33.4+k3s1": "",
		"v1.37.1":      "",
		"v1.38.0":      "warning API server v1.38.0: is newer than Kubernetes 1.37, the newest version that this kolla was tested with",
	} {
		t.Run(version, func(t *testing.T) {
			f := facts(t, "", "")
			f.Cluster.Version = version
			expect(t, "kubernetes-version", f, list(want)...)
		})
	}
	f := facts(t, "", "")
	f.Cluster.Emulates = "1.29"
	expect(t, "kubernetes-version", f, "error API server v1.37.1, which emulates 1.29: is older than Kubernetes 1.30")
}

// TestNewestVersion checks that the newest supported version is that of the client libraries.
func TestNewestVersion(t *testing.T) {
	module, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	minor := regexp.MustCompile(`k8s\.io/client-go v0\.(\d+)\.`).FindSubmatch(module)
	if minor == nil {
		t.Fatal("go.mod has no client-go")
	}
	f := facts(t, "", "")
	f.Cluster.Version = fmt.Sprintf("v1.%s.0", minor[1])
	expect(t, "kubernetes-version", f)
	f.Cluster.Version = "v1.99.0"
	expect(t, "kubernetes-version", f, fmt.Sprintf("warning API server v1.99.0: is newer than Kubernetes 1.%s, the newest version that this kolla was tested with", minor[1]))
}

func list(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// node returns a node that is ready. more are further fields of metadata and spec.
func node(name, labels, spec, status string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Node, metadata: {name: %s, labels: {kubernetes.io/hostname: %[1]s, %s}}, spec: {%s}, status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}, conditions: [{type: Ready, status: "True"}], nodeInfo: {kubeletVersion: v1.37.1}, %s}}`, name, labels, spec, status)
}

// deployment returns a Deployment whose pods run on nodes with the label role=control.
func deployment(name string, replicas int, more, resources string) string {
	return fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment, metadata: {name: %s, namespace: openstack}, spec: {replicas: %d, selector: {matchLabels: {app: %[1]s}}, template: {metadata: {labels: {app: %[1]s}}, spec: {nodeSelector: {role: control}, containers: [{name: c, image: "i:1", resources: {requests: {%[4]s}}}]%[3]s}}}}`, name, replicas, more, resources)
}

const apart = `, affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: db}}}]}}`

func documents(all ...string) string { return strings.Join(all, "\n---\n") }

// TestRoles checks that pods without a node are found, with the reason.
func TestRoles(t *testing.T) {
	control := "role: control"
	for name, c := range map[string]struct {
		config, live string
		want         []string
	}{
		"a node": {config: deployment("web", 2, "", ""), live: node("n1", control, "", "")},
		"no node": {
			config: documents(deployment("web", 1, "", ""), deployment("api", 1, "", "")), live: node("n1", "role: compute", "", ""),
			want: []string{"error role.control: no node has the label role=control, or gets it with an apply"},
		},
		"a node that the apply labels": {
			config: documents(deployment("web", 1, "", ""), `{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {role: control}}}`),
			live:   node("n1", "", "", ""),
		},
		"a cordoned node": {
			config: deployment("web", 1, "", ""), live: node("n1", control, "unschedulable: true", ""),
			want: []string{"error role.control: none of its nodes is ready and takes new pods: n1"},
		},
		"a node that is not ready": {
			config: deployment("web", 1, "", ""), live: node("n1", control, "", `conditions: [{type: Ready, status: "False"}]`),
			want: []string{"error role.control: none of its nodes is ready and takes new pods: n1"},
		},
		"a taint": {
			config: deployment("web", 1, "", ""), live: node("n1", control, "taints: [{key: dedicated, value: db, effect: NoSchedule}]", ""),
			want: []string{"error role.control: its nodes have taints that the pods do not tolerate: dedicated=db:NoSchedule (n1)"},
		},
		"a taint that the apply adds": {
			config: documents(deployment("web", 1, "", ""), `{apiVersion: v1, kind: Node, metadata: {name: n1, labels: {role: control}, annotations: {taints.kolla.openstack.org/prod: "a=b:NoSchedule"}}}`),
			live:   node("n1", "", "", ""),
			want:   []string{"error role.control: its nodes have taints that the pods do not tolerate: a=b:NoSchedule (n1)"},
		},
		"a tolerated taint": {
			config: deployment("web", 1, ", tolerations: [{key: dedicated, operator: Exists}]", ""),
			live:   node("n1", control, "taints: [{key: dedicated, value: db, effect: NoSchedule}]", ""),
		},
		"another node is open": {
			config: deployment("web", 1, "", ""), live: documents(node("n1", control, "unschedulable: true", ""), node("n2", control, "", "")),
		},
		"members apart": {
			config: deployment("db", 3, apart, ""), live: documents(node("n1", control, "", ""), node("n2", control, "", ""), node("n3", control, "", "")),
		},
		"too few nodes for members": {
			config: deployment("db", 3, apart, ""),
			live:   documents(node("n1", control, "", ""), node("n2", control, "", ""), node("n3", control, "unschedulable: true", "")),
			want:   []string{"error manifest.m/Deployment/db: has 3 pods that must be apart, and role.control has 2 nodes for them"},
		},
		"apart from others only": {
			config: deployment("web", 3, apart, ""), live: node("n1", control, "", ""),
		},
		"a job without pods": {
			config: `{apiVersion: batch/v1, kind: Job, metadata: {name: j, namespace: openstack}, spec: {completions: 0, template: {spec: {nodeSelector: {no: where}}}}}`,
			live:   node("n1", control, "", ""),
		},
		"a daemon on a cordoned node": {
			config: `{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d, namespace: openstack}, spec: {template: {spec: {nodeSelector: {role: control}}}}}`,
			live:   node("n1", control, "unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]", ""),
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := facts(t, c.config, c.live)
			f.Config.Roles = []configs.Role{{Block: "role.control", Name: "control", Labels: map[string]string{"role": "control"}}}
			expect(t, "roles", f, c.want...)
		})
	}
}

// TestCapacity checks that requests are compared with the resources that other pods leave free.
func TestCapacity(t *testing.T) {
	control := "role: control"
	other := func(node, labels, requests string) string {
		return fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: openstack, labels: {%s}}, spec: {nodeName: %s, containers: [{name: c, image: i, resources: {requests: {%s}}}]}, status: {phase: Running}}`, labels, node, requests)
	}
	for name, c := range map[string]struct {
		config, live string
		want         []string
		lines        string // in the reason
	}{
		"room": {config: deployment("web", 2, "", "cpu: 2, memory: 1Gi"), live: node("n1", control, "", "")},
		"too little CPU": {
			config: deployment("web", 3, "", "cpu: 2, memory: 1Gi"), live: node("n1", control, "", ""),
			want: []string{"error role.control: 1 node has not enough room for the pods"}, lines: "cpu: 6 requested, 4 free, too little",
		},
		"too little memory": {
			config: deployment("web", 1, "", "memory: 9Gi"), live: node("n1", control, "", ""),
			want: []string{"error role.control: 1 node has not enough room for the pods"}, lines: "memory: 9.0 GiB requested, 8.0 GiB free, too little",
		},
		"too many pods": {
			config: deployment("web", 11, "", ""), live: node("n1", control, "", ""),
			want: []string{"error role.control: 1 node has not enough room for the pods"}, lines: "pods: 11 requested, 10 free, too little",
		},
		"pods of others": {
			config: deployment("web", 1, "", "cpu: 3"), live: documents(node("n1", control, "", ""), other("n1", "app: other", "cpu: 2")),
			want: []string{"error role.control: 1 node has not enough room for the pods"}, lines: "cpu: 3 requested, 2 free, too little",
		},
		"pods of the cloud itself": {
			config: deployment("web", 1, "", "cpu: 3"), live: documents(node("n1", control, "", ""), other("n1", "app: web", "cpu: 3")),
		},
		"pods that have ended": {
			config: deployment("web", 1, "", "cpu: 3"),
			live:   documents(node("n1", control, "", ""), strings.Replace(other("n1", "app: other", "cpu: 2"), "Running", "Succeeded", 1)),
		},
		"pods on other nodes": {
			config: deployment("web", 1, "", "cpu: 3"), live: documents(node("n1", control, "", ""), node("n2", "", "", ""), other("n2", "app: other", "cpu: 2")),
		},
		"pods on a node that reports no resources yet": {
			config: deployment("web", 1, "", "cpu: 3"),
			live:   documents(node("n1", control, "", ""), "{apiVersion: v1, kind: Node, metadata: {name: n2}}", other("n2", "app: other", "cpu: 2")),
		},
		"enough in all, but not on one node": {
			config: deployment("web", 1, "", "cpu: 5"), live: documents(node("n1", control, "", ""), node("n2", control, "", "")),
			want: []string{"error role.control: 2 nodes have not enough room for the pods"}, lines: "cpu: 5 requested, 8 free",
		},
		"enough in all, but in pieces": {
			config: deployment("web", 3, "", "cpu: 2500m"), live: documents(node("n1", control, "", ""), node("n2", control, "", "")),
			want: []string{"warning role.control: 2 nodes have not enough room for the pods"}, lines: "cpu: 7500m requested, 8 free",
		},
		"a daemon on each node": {
			config: documents(deployment("web", 1, "", "cpu: 2"),
				`{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d, namespace: openstack}, spec: {template: {spec: {nodeSelector: {role: control}, containers: [{name: c, resources: {requests: {cpu: 3}}}]}}}}`),
			live: documents(node("n1", control, "", ""), node("n2", control, "", "")),
			want: []string{"warning role.control: 2 nodes have not enough room for the pods"}, lines: "cpu: 8 requested, 8 free",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := facts(t, c.config, c.live)
			f.Config.Roles = []configs.Role{{Block: "role.control", Name: "control", Labels: map[string]string{"role": "control"}}}
			expect(t, "capacity", f, c.want...)
			if c.lines != "" && !strings.Contains(result(t, "capacity", f).Findings[0].Reason, c.lines) {
				t.Errorf("the reason lacks %q:\n%s", c.lines, result(t, "capacity", f).Findings[0].Reason)
			}
		})
	}
}

// TestConditions checks the conditions, kubelets and clocks of the nodes that the cloud uses.
func TestConditions(t *testing.T) {
	control := "role: control"
	lease := func(renewed, written string) string {
		return fmt.Sprintf(`{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: n1, namespace: kube-node-lease, managedFields: [{manager: kubelet, operation: Update, apiVersion: coordination.k8s.io/v1, time: "%s", fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:renewTime": {}}}}, {manager: other, operation: Update, apiVersion: coordination.k8s.io/v1, time: "2026-11-28T11:00:00Z", fieldsType: FieldsV1, fieldsV1: {"f:metadata": {}}}]}, spec: {holderIdentity: n1, renewTime: "%s"}}`, written, renewed)
	}
	for name, c := range map[string]struct {
		live string
		want []string
	}{
		"fine":               {live: documents(node("n1", control, "", ""), lease("2026-11-28T11:59:50.123456Z", "2026-11-28T11:59:51Z"))},
		"not ready":          {live: node("n1", control, "", `conditions: [{type: Ready, status: "False"}]`), want: []string{"error Node n1: is not ready"}},
		"silent":             {live: node("n1", control, "", `conditions: [{type: Ready, status: Unknown}]`), want: []string{"error Node n1: does not report"}},
		"disk":               {live: node("n1", control, "", `conditions: [{type: Ready, status: "True"}, {type: DiskPressure, status: "True"}]`), want: []string{"error Node n1: has too little disk space (DiskPressure)"}},
		"network":            {live: node("n1", control, "", `conditions: [{type: Ready, status: "True"}, {type: NetworkUnavailable, status: "True"}]`), want: []string{"error Node n1: has no pod network (NetworkUnavailable)"}},
		"trouble elsewhere":  {live: documents(node("n1", control, "", ""), node("n2", "", "", `conditions: [{type: Ready, status: "False"}]`))},
		"kubelet, old":       {live: node("n1", control, "", `nodeInfo: {kubeletVersion: v1.33.2}`), want: []string{"warning Node n1: runs kubelet v1.33.2 with an API server v1.37.1"}},
		"kubelet, oldest":    {live: node("n1", control, "", `nodeInfo: {kubeletVersion: v1.34.0}`)},
		"kubelet, newer":     {live: node("n1", control, "", `nodeInfo: {kubeletVersion: v1.38.0}`), want: []string{"warning Node n1: runs kubelet v1.38.0 with an API server v1.37.1"}},
		"clock ahead":        {live: documents(node("n1", control, "", ""), lease("2026-11-28T12:00:51.000000Z", "2026-11-28T11:59:51Z")), want: []string{"error Node n1: has a clock that is 1 min 0 s ahead of that of the API server"}},
		"clock behind":       {live: documents(node("n1", control, "", ""), lease("2026-11-28T11:59:21.000000Z", "2026-11-28T11:59:51Z")), want: []string{"error Node n1: has a clock that is 30 s behind that of the API server"}},
		"an old lease":       {live: documents(node("n1", control, "", ""), lease("2026-11-27T10:00:00.000000Z", "2026-11-27T10:00:01Z"))},
		"a lease of nobody":  {live: documents(node("n1", control, "", ""), strings.ReplaceAll(lease("2026-11-28T12:10:51.000000Z", "2026-11-28T11:59:51Z"), "name: n1", "name: n9"))},
		"no record of times": {live: documents(node("n1", control, "", ""), strings.ReplaceAll(lease("2026-11-28T12:10:51.000000Z", "2026-11-28T11:59:51Z"), "f:renewTime", "f:other"))},
	} {
		t.Run(name, func(t *testing.T) {
			f := facts(t, deployment("web", 1, "", ""), c.live)
			expect(t, "node-conditions", f, c.want...)
		})
	}
}

// TestBuildsOnNodes checks that builds of an image are told apart.
func TestBuildsOnNodes(t *testing.T) {
	with := func(name, digest string) string {
		return node(name, "", "", fmt.Sprintf(`images: [{names: ["i:1", "i@sha256:%s"]}]`, strings.Repeat(digest, 64)))
	}
	expect(t, "images", facts(t, deployment("web", 1, "", ""), documents(with("n1", "a"), with("n2", "a"))))
	expect(t, "images", facts(t, deployment("web", 1, "", ""), documents(with("n1", "a"), with("n2", "b"))), "warning i:1: nodes have 2 builds of this image")
}

// TestDenied checks that missing rights are listed by namespace.
func TestDenied(t *testing.T) {
	f := facts(t, "", "")
	expect(t, "permissions", f)
	f.Denied = []providers.Access{
		{Verb: "create", Group: "apps", Resource: "deployments", Namespace: "openstack"},
		{Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "openstack"},
		{Verb: "get", Resource: "pods/log", Namespace: "openstack"},
		{Verb: "list", Resource: "nodes"},
		{Verb: "get", URL: "/metrics"},
	}
	expect(t, "permissions", f, "error Whole cluster: the user lacks rights", "error Namespace openstack: the user lacks rights")
	reason := result(t, "permissions", f).Findings[1].Reason
	for _, want := range []string{"create, patch deployments.apps", "get pods/log"} {
		if !strings.Contains(reason, want) {
			t.Errorf("the reason lacks %q:\n%s", want, reason)
		}
	}
}

// TestDeniedReader checks that lacking rights of an apply are warnings for a user who may read, and
// errors for others.
func TestDeniedReader(t *testing.T) {
	f := facts(t, "", "")
	f.Reading = []rights.Role{{Namespace: "openstack", Rules: []rights.Rule{{Groups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"get", "list"}}}}}
	patch := providers.Access{Verb: "patch", Group: "apps", Resource: "deployments", Namespace: "openstack"}
	f.Denied = []providers.Access{patch}
	expect(t, "permissions", f, "warning Namespace openstack: the user lacks a right")
	finding := result(t, "permissions", f).Findings[0]
	for _, want := range []string{"kolla apply, rollout, destroy, backup and restore stop", "kolla plan makes no dry runs", "patch deployments.apps"} {
		if !strings.Contains(finding.Reason, want) {
			t.Errorf("the reason lacks %q:\n%s", want, finding.Reason)
		}
	}
	if !strings.Contains(finding.Next, "-skip=permissions") {
		t.Errorf("next step: %s", finding.Next)
	}
	list := patch
	list.Verb = "list"
	f.Denied = []providers.Access{list, patch}
	expect(t, "permissions", f, "error Namespace openstack: the user lacks a right")
}

// TestAutoscaler checks that the next step for missing nodes mentions an autoscaler.
func TestAutoscaler(t *testing.T) {
	f := facts(t, deployment("web", 3, "", "cpu: 2"), node("n1", "role: other", "", ""))
	g := facts(t, deployment("web", 3, "", "cpu: 2"), node("n1", "role: control", "", ""))
	h := facts(t, deployment("db", 3, apart, ""), node("n1", "role: control", "", ""))
	for name, got := range map[string]doctor.Result{"label": result(t, "roles", f), "apart": result(t, "roles", h), "capacity": result(t, "capacity", g)} {
		if len(got.Findings) != 1 || !strings.Contains(got.Findings[0].Next, "cluster autoscaler may add nodes") {
			t.Errorf("%s: %+v", name, got.Findings)
		}
	}
}
