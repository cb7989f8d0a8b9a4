package view_test

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// now is the time at which the sample plans were made.
var now = time.Date(2026, 11, 21, 3, 1, 0, 0, time.UTC)

// plan prints a sample.
func plan(sample func() *plans.Plan, options view.PlanOptions) func(*view.Printer) {
	return func(p *view.Printer) {
		if err := p.Plan(sample(), options); err != nil {
			panic(err)
		}
	}
}

// newPlan makes a plan of unchanged objects and the given actions.
func newPlan(unchanged int, actions ...plans.Action) *plans.Plan {
	p := &plans.Plan{
		Format:    1,
		ID:        "0199a7c2",
		Tool:      "0.3.0",
		Created:   now,
		Cloud:     "prod",
		Namespace: "openstack",
		Cluster:   providers.Identity{Server: "https://10.0.0.10:6443", Version: "v1.37.1"},
		Elapsed:   412 * time.Millisecond,
		Values:    true,
	}
	for i := range unchanged {
		p.Actions = append(p.Actions, plans.Action{
			Address:  address(fmt.Sprintf("service.nova/ConfigMap/nova.conf-%03d", i)),
			Verb:     plans.None,
			Evidence: plans.Evidence{Kind: plans.Fingerprint},
		})
	}
	p.Actions = append(p.Actions, actions...)
	return p
}

func address(s string) addrs.Object {
	a, err := addrs.ParseObject(s)
	if err != nil {
		panic(err)
	}
	return a
}

// m is a short name for the type of manifests.
type m = map[string]any

// action makes an action on the object with the address.
func action(verb plans.Verb, at string, changes ...plans.Change) plans.Action {
	a := address(at)
	return plans.Action{
		Address:  a,
		Verb:     verb,
		Ref:      providers.Ref{GVK: schema.GroupVersionKind{Version: "v1", Kind: a.Kind}, Namespace: "openstack", Name: a.Name},
		Evidence: plans.Evidence{Kind: plans.DryRun},
		Changes:  changes,
	}
}

// disturbs returns an impact on a block.
func disturbs(block string, effects ...plans.Effect) plans.Impact {
	return plans.Impact{Block: block, Effects: effects}
}

// restarts returns a rolling restart of pods, one pod at a time.
func restarts(pods int, causes ...plans.Cause) plans.Effect {
	return plans.Effect{Kind: plans.EffectRestart, Pods: pods, Strategy: plans.Rolling, AtATime: 1, Causes: causes}
}

// stops returns the effect that pods will be deleted.
func stops(pods int) plans.Effect {
	return plans.Effect{Kind: plans.EffectStop, Pods: pods, Downtime: true, Grave: true}
}

// because sets the reasons of an action.
func because(a plans.Action, reasons ...plans.Reason) plans.Action {
	a.Reasons = reasons
	return a
}

// create makes an action that creates or runs an object with the given content.
func create(at, source string, content m) plans.Action {
	a := action(plans.Create, at)
	if a.Address.Kind == "Job" {
		a.Verb = plans.Run
	}
	a.Reasons = []plans.Reason{{Kind: plans.ReasonNew}}
	manifest := m{"apiVersion": apiVersion(a.Address.Kind), "kind": a.Address.Kind, "metadata": m{"name": a.Address.Name, "namespace": "openstack"}}
	for key, value := range content {
		manifest[key] = value
	}
	a.Object = &providers.Object{Address: a.Address, Manifest: &unstructured.Unstructured{Object: manifest}, Source: source}
	a.Changes = declared("", content)
	return a
}

// apiVersion returns the API version of a kind.
func apiVersion(kind string) string {
	switch kind {
	case "Deployment", "StatefulSet", "DaemonSet":
		return "apps/v1"
	case "Job", "CronJob":
		return "batch/v1"
	case "PodDisruptionBudget":
		return "policy/v1"
	case "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding":
		return "rbac.authorization.k8s.io/v1"
	case "NetworkPolicy":
		return "networking.k8s.io/v1"
	case "ValidatingWebhookConfiguration", "ValidatingAdmissionPolicy":
		return "admissionregistration.k8s.io/v1"
	case "CustomResourceDefinition":
		return "apiextensions.k8s.io/v1"
	}
	return "v1"
}

// declared lists the fields of a new object like a plan does.
func declared(path string, v any) []plans.Change {
	switch v := v.(type) {
	case m:
		var out []plans.Change
		for _, key := range sorted(v) {
			step := "." + key
			if strings.Contains(key, ".") {
				step = fmt.Sprintf("[%q]", key)
			}
			out = append(out, declared(strings.TrimPrefix(path+step, "."), v[key])...)
		}
		return out
	case []any:
		var out []plans.Change
		for i, e := range v {
			step := fmt.Sprintf("[%d]", i)
			if element, ok := e.(m); ok {
				if name, ok := element["name"].(string); ok {
					step = fmt.Sprintf("[%q]", name)
				}
			}
			out = append(out, declared(path+step, e)...)
		}
		return out
	case string:
		return []plans.Change{{Path: path, After: v, Text: strings.Count(v, "\n") > 1}}
	default:
		return []plans.Change{{Path: path, After: v}}
	}
}

func sorted(v m) []string {
	keys := make([]string, 0, len(v))
	for key := range v {
		keys = append(keys, key)
	}
	for i := range keys {
		for j := i; j > 0 && keys[j] < keys[j-1]; j-- {
			keys[j], keys[j-1] = keys[j-1], keys[j]
		}
	}
	return keys
}

func image(name string) string { return "quay.io/openstack.kolla/" + name + ":2025.1-rocky-9" }

// pod returns the pod template's spec of a sample workload.
func pod(role, container, image string, command ...any) m {
	c := m{"name": container, "image": image, "securityContext": m{"allowPrivilegeEscalation": false, "runAsNonRoot": true}}
	if len(command) > 0 {
		c["command"] = command
	}
	return m{
		"nodeSelector": m{"kolla.openstack.org/role-" + role: "true"},
		"containers":   []any{c},

		"automountServiceAccountToken": false,
	}
}

func workload(kind, at, source string, replicas int64, pod m) plans.Action {
	spec := m{"template": m{"spec": pod}}
	if replicas > 0 {
		spec["replicas"] = replicas
	}
	if kind == "StatefulSet" {
		spec["volumeClaimTemplates"] = []any{m{
			"metadata": m{"name": "data"},
			"spec":     m{"resources": m{"requests": m{"storage": "10Gi"}}, "storageClassName": "ceph-rbd"},
		}}
	}
	return create(at, source, m{"spec": spec})
}

func secret(at, source string, data map[string]providers.SecretData) plans.Action {
	a := create(at, source, m{"type": "Opaque"})
	a.Object.Data = data
	for _, key := range []string{"password", "keystone.conf", "0", "1", "2"} {
		if _, ok := data[key]; ok {
			a.Changes = append(a.Changes, plans.Change{Path: fmt.Sprintf("data[%q]", key), After: plans.Masked, Sensitive: true})
		}
	}
	return a
}

func password() map[string]providers.SecretData {
	return map[string]providers.SecretData{"password": {Generate: &providers.Generator{Kind: "password", Length: 32}}}
}

// keystoneConf returns a long config file.
func keystoneConf(expiration int, provider string) string {
	var b strings.Builder
	b.WriteString("[DEFAULT]\ndebug = false\nlog_file =\nuse_stderr = true\n\n[cache]\nbackend = oslo_cache.memcache_pool\nenabled = true\nmemcache_servers = memcached.openstack.svc.cluster.local:11211\n\n")
	b.WriteString("[database]\nconnection_recycle_time = 10\nmax_pool_size = 1\nmax_retries = -1\n\n[token]\n")
	for i := range 12 {
		fmt.Fprintf(&b, "setting_%02d = value\n", i)
	}
	fmt.Fprintf(&b, "expiration = %d\nprovider = %s\n", expiration, provider)
	return b.String()
}

// nodeLabel labels a node for its role.
func nodeLabel(role, node string) plans.Action {
	a := action(plans.Update, "role."+role+"/Node/"+node,
		plans.Change{Path: `metadata.labels["kolla.openstack.org/role-` + role + `"]`, After: "true"})
	a.Object = &providers.Object{Address: a.Address, Partial: true, Source: "cloud.hcl:17"}
	return because(a, plans.Reason{Kind: plans.ReasonConfig})
}

// firstPlan creates a small cloud in an empty cluster.
func firstPlan() *plans.Plan {
	actions := []plans.Action{create("cloud.prod/Namespace/openstack", "cloud.hcl:1", m{"metadata": m{"labels": m{"pod-security.kubernetes.io/enforce": "privileged"}}})}
	for _, node := range []string{"ctl-1", "ctl-2", "ctl-3"} {
		actions = append(actions, nodeLabel("control", node))
	}
	for _, node := range []string{"hv-1", "hv-2"} {
		actions = append(actions, nodeLabel("compute", node))
	}
	actions = append(actions, mariadb()...)
	actions = append(actions, keystone()...)
	for i, name := range []string{"glance", "placement", "neutron"} {
		actions = append(actions, apiService(name, fmt.Sprintf("cloud.hcl:%d", 60+7*i), int64(9292+i))...)
	}
	libvirt := pod("compute", "libvirt", image("nova-libvirt"))
	libvirt["hostNetwork"], libvirt["hostPID"] = true, true
	libvirt["containers"].([]any)[0].(m)["securityContext"] = m{"privileged": true}
	actions = append(actions, workload("DaemonSet", "service.nova/DaemonSet/nova-libvirt", "cloud.hcl:81", 0, libvirt))
	p := newPlan(0, actions...)
	p.Elapsed = 1380 * time.Millisecond
	return p
}

func mariadb() []plans.Action {
	const source = "cloud.hcl:38"
	root := secret("service.mariadb/Secret/mariadb-root", "secrets.hcl:3", password())
	root.Object.Within = source
	return []plans.Action{
		root,
		create("service.mariadb/ConfigMap/galera.cnf-93ab01", source, m{"data": m{"galera.cnf": "[mysqld]\nbind-address = 0.0.0.0\nskip-name-resolve\n"}}),
		create("service.mariadb/Service/mariadb", source, m{"spec": m{"ports": []any{m{"name": "mysql", "port": int64(3306)}}}}),
		workload("StatefulSet", "service.mariadb/StatefulSet/mariadb", source, 3, pod("control", "mariadb", image("mariadb-server"))),
		create("service.mariadb/PodDisruptionBudget/mariadb", source, m{"spec": m{"maxUnavailable": int64(1)}}),
	}
}

func keystone() []plans.Action {
	const source = "cloud.hcl:41"
	return append([]plans.Action{
		secret("service.keystone/Secret/keystone-admin", source, password()),
		secret("service.keystone/Secret/keystone-fernet", source, map[string]providers.SecretData{
			"0": {Generate: &providers.Generator{Kind: "fernet"}},
			"1": {Generate: &providers.Generator{Kind: "fernet"}},
			"2": {Generate: &providers.Generator{Kind: "fernet"}},
		}),
	}, apiService("keystone", source, 5000)...)
}

// apiService creates a service like most services of OpenStack.
func apiService(name, source string, port int64) []plans.Action {
	block := "service." + name
	public := m{"name": "public", "port": port}
	if name == "keystone" {
		public["nodePort"] = int64(30500)
	}
	return []plans.Action{
		secret(block+"/Secret/"+name+"-db", source, password()),
		secret(block+"/Secret/"+name+".conf-secrets-51c7", source, map[string]providers.SecretData{
			"keystone.conf": {Parts: []providers.DataPart{{Literal: "[database]\nconnection = mysql://"}, {Sensitive: "hunter2"}}},
		}),
		create(block+"/ConfigMap/"+name+".conf-7c1f90", source, m{"data": m{name + ".conf": keystoneConf(7200, "fernet")}}),
		create(block+"/Job/"+name+"-db-create-1c22", source, m{"spec": m{"template": m{"spec": pod("control", "db-create", image("mariadb-server"), "mariadb", "-h", "mariadb.openstack", "-e", "CREATE DATABASE IF NOT EXISTS "+name)}}}),
		create(block+"/Job/"+name+"-db-sync-88e0", source, m{"spec": m{"template": m{"spec": pod("control", "db-sync", image(name), name+"-manage", "db_sync")}}}),
		create(block+"/Service/"+name, source, m{"spec": m{"type": "NodePort", "ports": []any{public}}}),
		workload("Deployment", block+"/Deployment/"+name+"-api", source, 3, pod("control", "api", image(name))),
		create(block+"/PodDisruptionBudget/"+name+"-api", source, m{"spec": m{"maxUnavailable": int64(1)}}),
	}
}

// driftAndConfig changes one option of a service. Before that, another client scaled a service and
// deleted an object.
func driftAndConfig() *plans.Plan {
	conf := action(plans.Create, "service.keystone/ConfigMap/keystone.conf-7c1f90",
		plans.Change{Path: `data["keystone.conf"]`, Before: keystoneConf(3600, "fernet"), After: keystoneConf(7200, "fernet"), Text: true})
	conf.Supersedes = address("service.keystone/ConfigMap/keystone.conf-4be2a1")
	conf.Object = &providers.Object{Address: conf.Address, Family: address("service.keystone/ConfigMap/keystone.conf"), Source: "cloud.hcl:41"}

	api := action(plans.Update, "service.keystone/Deployment/keystone-api",
		plans.Change{Path: `spec.template.metadata.annotations["kolla.openstack.org/config"]`, Before: "4be2a1", After: "7c1f90"},
		plans.Change{Path: `spec.template.spec.volumes["keystone.conf"].configMap.name`, Before: "keystone.conf-4be2a1", After: "keystone.conf-7c1f90"})

	scaled := plans.Change{Path: "spec.replicas", Before: int64(5), After: int64(3), Drift: true, Manager: "kubectl", Time: now.Add(-50 * time.Minute)}
	edited := plans.Change{Path: `spec.template.spec.containers["api"].env["OS_DEBUG"].value`, Before: "true", After: "false", Drift: true, Manager: "kubectl-edit", Time: now.Add(-29 * time.Hour)}
	glance := because(action(plans.Update, "service.glance/Deployment/glance-api", scaled, edited), plans.Reason{Kind: plans.ReasonDrift})

	gone := create("service.nova/Service/nova-metadata", "cloud.hcl:81", m{"spec": m{"ports": []any{m{"name": "metadata", "port": int64(8775)}}}})
	gone.Reasons = []plans.Reason{{Kind: plans.ReasonGone}}

	p := newPlan(60, because(conf, plans.Reason{Kind: plans.ReasonConfig}), because(api, plans.Reason{Kind: plans.ReasonConfig}), glance, gone)
	p.Impact = []plans.Impact{
		disturbs("service.keystone", restarts(3, plans.Cause{Kind: plans.CauseFile, Name: "keystone.conf", Settings: []string{"[token] expiration"}})),
		disturbs("service.glance", restarts(3, plans.Cause{Kind: plans.CauseEnvironment, Name: "OS_DEBUG"}), plans.Effect{Kind: plans.EffectScaleDown, Pods: 2}),
	}
	return p
}
