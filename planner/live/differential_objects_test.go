package live_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind is one kind of object that the differential test makes at random.
type kind struct {
	schema.GroupVersionKind
	resource string
	cluster  bool // not in a namespace
	// quiet: no controller writes to such objects, not even their status.
	quiet bool
	// scale and status report whether other clients write through these subresources.
	scale, status bool
	copies        int
	// content returns an object without its identity. The results of two calls are similar enough
	// to copy a part of one into the other.
	content func(g *generator) map[string]any
}

func (k *kind) gvr() schema.GroupVersionResource {
	return k.GroupVersion().WithResource(k.resource)
}

// kindsOf returns the kinds of a world; group is the API group of the world's custom resources.
// Their definitions come first.
func kindsOf(group string) []*kind {
	in := func(group, version, name string) schema.GroupVersionKind {
		return schema.GroupVersionKind{Group: group, Version: version, Kind: name}
	}
	const rbac, net = "rbac.authorization.k8s.io", "networking.k8s.io"
	return []*kind{
		{GroupVersionKind: in("", "v1", "ConfigMap"), resource: "configmaps", quiet: true, copies: 3, content: configMap},
		{GroupVersionKind: in("", "v1", "Secret"), resource: "secrets", quiet: true, copies: 2, content: secret},
		{GroupVersionKind: in("", "v1", "Service"), resource: "services", copies: 3, content: service},
		{GroupVersionKind: in("", "v1", "ServiceAccount"), resource: "serviceaccounts", quiet: true, copies: 2, content: serviceAccount},
		{GroupVersionKind: in("", "v1", "Pod"), resource: "pods", status: true, copies: 2, content: pod},
		{GroupVersionKind: in("", "v1", "PodTemplate"), resource: "podtemplates", quiet: true, copies: 3, content: podTemplate},
		{GroupVersionKind: in("", "v1", "PersistentVolumeClaim"), resource: "persistentvolumeclaims", copies: 2, content: claim},
		{GroupVersionKind: in("", "v1", "ResourceQuota"), resource: "resourcequotas", copies: 1, content: quota},
		{GroupVersionKind: in("", "v1", "LimitRange"), resource: "limitranges", quiet: true, copies: 1, content: limitRange},
		{GroupVersionKind: in("apps", "v1", "Deployment"), resource: "deployments", scale: true, status: true, copies: 4, content: deployment},
		{GroupVersionKind: in("apps", "v1", "StatefulSet"), resource: "statefulsets", scale: true, status: true, copies: 3, content: statefulSet},
		{GroupVersionKind: in("apps", "v1", "DaemonSet"), resource: "daemonsets", status: true, copies: 2, content: daemonSet},
		{GroupVersionKind: in("batch", "v1", "Job"), resource: "jobs", status: true, copies: 2, content: job},
		{GroupVersionKind: in("batch", "v1", "CronJob"), resource: "cronjobs", copies: 2, content: cronJob},
		{GroupVersionKind: in(net, "v1", "Ingress"), resource: "ingresses", quiet: true, status: true, copies: 2, content: ingress},
		{GroupVersionKind: in(net, "v1", "NetworkPolicy"), resource: "networkpolicies", quiet: true, copies: 2, content: networkPolicy},
		{GroupVersionKind: in(net, "v1", "IngressClass"), resource: "ingressclasses", cluster: true, quiet: true, copies: 1, content: ingressClass},
		{GroupVersionKind: in("policy", "v1", "PodDisruptionBudget"), resource: "poddisruptionbudgets", status: true, copies: 2, content: budget},
		{GroupVersionKind: in("autoscaling", "v2", "HorizontalPodAutoscaler"), resource: "horizontalpodautoscalers", status: true, copies: 2, content: autoscaler},
		{GroupVersionKind: in(rbac, "v1", "Role"), resource: "roles", quiet: true, copies: 2, content: rules},
		{GroupVersionKind: in(rbac, "v1", "RoleBinding"), resource: "rolebindings", quiet: true, copies: 1, content: binding},
		{GroupVersionKind: in(rbac, "v1", "ClusterRole"), resource: "clusterroles", cluster: true, quiet: true, copies: 1, content: rules},
		{GroupVersionKind: in("scheduling.k8s.io", "v1", "PriorityClass"), resource: "priorityclasses", cluster: true, quiet: true, copies: 1, content: priorityClass},
		{GroupVersionKind: in("storage.k8s.io", "v1", "StorageClass"), resource: "storageclasses", cluster: true, quiet: true, copies: 1, content: storageClass},
		{GroupVersionKind: in("coordination.k8s.io", "v1", "Lease"), resource: "leases", quiet: true, copies: 2, content: lease},
		{GroupVersionKind: in("discovery.k8s.io", "v1", "EndpointSlice"), resource: "endpointslices", quiet: true, copies: 2, content: endpointSlice},
		{GroupVersionKind: in(group, "v1", "Widget"), resource: "widgets", quiet: true, status: true, copies: 4, content: widget},
		{GroupVersionKind: in(group, "v1", "Blob"), resource: "blobs", quiet: true, copies: 3, content: blob},
	}
}

// generator makes random values. It draws the values of fields from small sets, so that values
// often repeat.
type generator struct{ *rand.Rand }

func (g *generator) maybe() bool { return g.IntN(2) == 0 }

func (g *generator) rarely() bool { return g.IntN(8) == 0 }

func pick[T any](g *generator, values ...T) T { return values[g.IntN(len(values))] }

// some draws at least so many of the names, in random order.
func (g *generator) some(least int, names ...string) []string {
	drawn := slices.Clone(names)
	g.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	return drawn[:least+g.IntN(len(drawn)-least+1)]
}

// number returns a whole number with the type that a JSON or an HCL decoder would use.
func (g *generator) number(n int) any {
	if g.rarely() {
		return float64(n)
	}
	return int64(n)
}

// text returns a string for a field without restrictions.
func (g *generator) text() string {
	return pick(g, "", "x", "y", "a longer text", "zwölf Ströme", "名前", "💾 \u202e", "true", "1", "0x1F", "null", "~", "a: b\nc: d\n", "tab\there", `"quoted"`, " leading")
}

func (g *generator) cpu() any {
	return pick[any](g, "1", "1000m", "0.5", "500m", "1.0", "2", "2e0", "100m", "0.1", int64(1), int64(2))
}

func (g *generator) memory() any {
	return pick[any](g, "1Gi", "1.0Gi", "1024Mi", "1073741824", "128974848", "129e6", "129M", "123Mi", "1e3", "1k", int64(1000))
}

// intOrPercent returns a value for a field that accepts integers and percentages.
func (g *generator) intOrPercent() any {
	return pick[any](g, int64(1), int64(0), "25%", "100%", int64(2))
}

// port returns a target port: a number or a name.
func (g *generator) port() any { return pick[any](g, int64(80), int64(8080), "http", "metrics") }

// with sets the field with a probability of one half.
func (g *generator) with(m map[string]any, field string, value any) {
	if g.maybe() {
		m[field] = value
	}
}

func (g *generator) texts(names ...string) map[string]any {
	m := map[string]any{}
	for _, name := range g.some(0, names...) {
		m[name] = g.text()
	}
	return m
}

func list[T any](of []T, element func(T) any) []any {
	out := make([]any, 0, len(of))
	for _, e := range of {
		out = append(out, element(e))
	}
	return out
}

func anys(names []string) []any { return list(names, func(n string) any { return n }) }

func configMap(g *generator) map[string]any {
	m := map[string]any{}
	g.with(m, "data", g.texts("a.conf", "b.conf", "c.yaml", "EMPTY"))
	if g.rarely() {
		m["binaryData"] = map[string]any{"blob": pick(g, "AAECAw==", "", "/w==")}
	}
	if g.IntN(30) == 0 {
		m["immutable"] = true
	}
	return m
}

// secret has its values in plain text; see world.encoded.
func secret(g *generator) map[string]any {
	m := map[string]any{"data": g.texts("password", "token", "key")}
	if g.rarely() {
		m["type"] = pick(g, "Opaque", "example.org/other")
	}
	return m
}

func service(g *generator) map[string]any {
	spec := map[string]any{"selector": map[string]any{"app": pick(g, "a", "b")}}
	spec["ports"] = list(g.some(1, "http", "https", "dns", "dns-tcp"), func(name string) any {
		port := map[string]any{"name": name}
		port["port"] = g.number(map[string]int{"http": 80, "https": 443, "dns": 53, "dns-tcp": 53}[name])
		switch {
		case name == "dns":
			port["protocol"] = "UDP"
		case g.maybe():
			port["protocol"] = "TCP"
		}
		g.with(port, "targetPort", g.port())
		if g.rarely() {
			port["appProtocol"] = pick(g, "http", "https")
		}
		return port
	})
	g.with(spec, "type", pick(g, "ClusterIP", "ClusterIP", "NodePort"))
	if g.rarely() {
		spec["clusterIP"] = "None"
		delete(spec, "type")
	}
	if g.rarely() {
		spec["sessionAffinity"] = "ClientIP"
	}
	g.with(spec, "publishNotReadyAddresses", g.maybe())
	if g.rarely() {
		spec["externalIPs"] = anys(g.some(0, "192.0.2.1", "192.0.2.2"))
	}
	return map[string]any{"spec": spec}
}

func serviceAccount(g *generator) map[string]any {
	m := map[string]any{}
	g.with(m, "automountServiceAccountToken", g.maybe())
	g.with(m, "imagePullSecrets", list(g.some(0, "one", "two", "three"), named))
	g.with(m, "secrets", list(g.some(0, "one", "two"), named))
	return m
}

func named(name string) any { return map[string]any{"name": name} }

func claim(g *generator) map[string]any {
	spec := map[string]any{
		"accessModes":      anys(g.some(1, "ReadWriteOnce", "ReadOnlyMany")),
		"storageClassName": "none-such",
		"resources":        map[string]any{"requests": map[string]any{"storage": pick(g, "1Gi", "1.0Gi", "1024Mi")}},
	}
	g.with(spec, "volumeMode", "Filesystem")
	return map[string]any{"spec": spec}
}

func quota(g *generator) map[string]any {
	hard := map[string]any{"count/none.example.org": g.number(3)}
	for _, name := range g.some(1, "pods", "configmaps", "requests.storage") {
		hard[name] = pick[any](g, "10Ti", "1e15", "10P", "1000000000000000", "1000000G")
	}
	return map[string]any{"spec": map[string]any{"hard": hard}}
}

func limitRange(g *generator) map[string]any {
	limits := []any{map[string]any{"type": "PersistentVolumeClaim", "max": map[string]any{"storage": pick(g, "1Ti", "1024Gi", "1e12")}}}
	if g.maybe() {
		limits = append(limits, map[string]any{"type": "Container", "default": map[string]any{"memory": pick[any](g, "8Gi", "8192Mi", int64(8589934592))}})
	}
	return map[string]any{"spec": map[string]any{"limits": limits}}
}

func ingress(g *generator) map[string]any {
	backend := func(name string) map[string]any {
		port := map[string]any{"number": g.number(80)}
		if g.maybe() {
			port = map[string]any{"name": "http"}
		}
		return map[string]any{"service": map[string]any{"name": name, "port": port}}
	}
	spec := map[string]any{"rules": list(g.some(1, "a.example.org", "b.example.org", "c.example.org"), func(host string) any {
		return map[string]any{"host": host, "http": map[string]any{"paths": []any{
			map[string]any{"path": pick(g, "/", "/v3"), "pathType": pick(g, "Prefix", "Exact"), "backend": backend("keystone")},
		}}}
	})}
	g.with(spec, "ingressClassName", pick(g, "nginx", "haproxy"))
	g.with(spec, "defaultBackend", backend("default"))
	g.with(spec, "tls", []any{map[string]any{"hosts": anys(g.some(0, "a.example.org", "b.example.org")), "secretName": "tls"}})
	return map[string]any{"spec": spec}
}

func networkPolicy(g *generator) map[string]any {
	peer := func(app string) any {
		return map[string]any{"podSelector": map[string]any{"matchLabels": map[string]any{"app": app}}}
	}
	spec := map[string]any{"podSelector": map[string]any{}}
	g.with(spec, "ingress", []any{map[string]any{
		"from":  list(g.some(0, "a", "b", "c"), peer),
		"ports": []any{map[string]any{"port": g.port()}, map[string]any{"port": g.number(5000), "endPort": g.number(6000), "protocol": "UDP"}},
	}})
	g.with(spec, "egress", []any{map[string]any{"to": list(g.some(0, "a", "b"), peer)}})
	g.with(spec, "policyTypes", anys(g.some(1, "Ingress", "Egress")))
	return map[string]any{"spec": spec}
}

func ingressClass(g *generator) map[string]any {
	spec := map[string]any{"controller": "example.org/controller"}
	g.with(spec, "parameters", map[string]any{"apiGroup": "example.org", "kind": "Parameters", "name": pick(g, "one", "two")})
	return map[string]any{"spec": spec}
}

func budget(g *generator) map[string]any {
	spec := map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"app": pick(g, "a", "b")}}}
	spec[pick(g, "minAvailable", "maxUnavailable")] = g.intOrPercent()
	g.with(spec, "unhealthyPodEvictionPolicy", "AlwaysAllow")
	return map[string]any{"spec": spec}
}

func autoscaler(g *generator) map[string]any {
	spec := map[string]any{
		"scaleTargetRef": map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "name": "none-such"},
		"maxReplicas":    g.number(pick(g, 5, 7)),
	}
	g.with(spec, "minReplicas", g.number(pick(g, 1, 2)))
	g.with(spec, "metrics", list(g.some(0, "cpu", "memory"), func(name string) any {
		return map[string]any{"type": "Resource", "resource": map[string]any{"name": name, "target": map[string]any{
			"type": "AverageValue", "averageValue": pick(g, "500m", "0.5", "1", "1000m"),
		}}}
	}))
	g.with(spec, "behavior", map[string]any{"scaleDown": map[string]any{"stabilizationWindowSeconds": g.number(pick(g, 0, 60))}})
	return map[string]any{"spec": spec}
}

func rules(g *generator) map[string]any {
	return map[string]any{"rules": list(g.some(0, "pods", "services", "secrets"), func(resource string) any {
		rule := map[string]any{"apiGroups": []any{""}, "resources": []any{resource}, "verbs": anys(g.some(1, "get", "list", "watch"))}
		g.with(rule, "resourceNames", anys(g.some(0, "a", "b")))
		return rule
	})}
}

func binding(g *generator) map[string]any {
	m := map[string]any{"roleRef": map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "one"}}
	if g.rarely() {
		m["roleRef"] = map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
	}
	g.with(m, "subjects", list(g.some(0, "alice", "bob"), func(name string) any {
		subject := map[string]any{"kind": "User", "name": name}
		g.with(subject, "apiGroup", "rbac.authorization.k8s.io")
		return subject
	}))
	return m
}

func priorityClass(g *generator) map[string]any {
	m := map[string]any{"value": g.number(1000)}
	if g.rarely() {
		m["value"] = g.number(2000)
	}
	g.with(m, "description", g.text())
	g.with(m, "preemptionPolicy", pick(g, "Never", "PreemptLowerPriority"))
	return m
}

func storageClass(g *generator) map[string]any {
	m := map[string]any{"provisioner": "example.org/none"}
	g.with(m, "parameters", map[string]any{"pool": pick(g, "a", "b")})
	g.with(m, "allowVolumeExpansion", g.maybe())
	g.with(m, "mountOptions", anys(g.some(0, "ro", "noatime")))
	g.with(m, "volumeBindingMode", pick(g, "Immediate", "WaitForFirstConsumer"))
	return m
}

func lease(g *generator) map[string]any {
	spec := map[string]any{}
	g.with(spec, "holderIdentity", pick(g, "one", "two"))
	g.with(spec, "leaseDurationSeconds", g.number(pick(g, 15, 30)))
	g.with(spec, "renewTime", pick(g, "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000000Z", "2026-01-02T04:04:05.500000+01:00"))
	return map[string]any{"spec": spec}
}

func endpointSlice(g *generator) map[string]any {
	m := map[string]any{"addressType": "IPv4"}
	m["endpoints"] = list(g.some(0, "10.0.0.1", "10.0.0.2", "10.0.0.3"), func(address string) any {
		endpoint := map[string]any{"addresses": []any{address}}
		g.with(endpoint, "conditions", map[string]any{"ready": g.maybe()})
		g.with(endpoint, "nodeName", "node-1")
		return endpoint
	})
	g.with(m, "ports", list(g.some(0, "http", "dns"), func(name string) any {
		port := map[string]any{"name": name, "port": g.number(80)}
		g.with(port, "protocol", "UDP")
		return port
	}))
	return m
}

// widget has a field for every sort of schema.
func widget(g *generator) map[string]any {
	spec := map[string]any{}
	g.with(spec, "size", g.number(pick(g, 1, 7)))
	g.with(spec, "ratio", pick[any](g, 1.5, int64(2), 2.0, 0.1, 1e21))
	g.with(spec, "note", g.text())
	g.with(spec, "either", pick[any](g, int64(1), "one", "1"))
	g.with(spec, "amount", pick[any](g, "1000m", "1", int64(1), "1.0Gi"))
	g.with(spec, "parts", list(g.some(0, "a", "b", "c"), func(name string) any {
		part := map[string]any{"name": name}
		g.with(part, "zone", pick(g, "x", "y"))
		g.with(part, "count", g.number(pick(g, 1, 2)))
		g.with(part, "tags", map[string]any{"k": g.text()})
		return part
	}))
	g.with(spec, "set", anys(g.some(0, "a", "b", "c")))
	g.with(spec, "numbers", list(g.some(0, "1", "2"), func(n string) any { return int64(n[0] - '0') }))
	g.with(spec, "atomicList", anys(g.some(0, "a", "b", "c")))
	g.with(spec, "atomicMap", g.texts("a", "b"))
	g.with(spec, "map", g.texts("a", "b", "c"))
	g.with(spec, "nested", map[string]any{"enabled": g.maybe(), "inner": g.texts("a")})
	g.with(spec, "free", g.anything(2))
	return map[string]any{"spec": spec}
}

func blob(g *generator) map[string]any {
	m := map[string]any{"spec": g.object(3)}
	if g.rarely() {
		m["extra"] = g.anything(2)
	}
	return m
}

func (g *generator) object(depth int) map[string]any {
	m := map[string]any{}
	for _, name := range g.some(0, "a", "b", "c", "d.e/f", "ü") {
		m[name] = g.anything(depth - 1)
	}
	return m
}

// anything returns any JSON value except null, which kolla never sends.
func (g *generator) anything(depth int) any {
	if depth > 0 && g.maybe() {
		if g.maybe() {
			return g.object(depth)
		}
		return list(g.some(0, "x", "y", "z"), func(string) any { return g.anything(depth - 1) })
	}
	return pick[any](g, g.text(), true, false, int64(0), int64(-1), int64(9007199254740993), 1.5, 3.0, 1e300, "")
}

// definitions are the CustomResourceDefinitions of a world, by name.
func definitions(group string) map[string]string {
	define := func(kind, resource, schema string) string {
		return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %s.%s}
spec:
  group: %s
  names: {kind: %s, plural: %s}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema: %s
`, resource, group, group, kind, resource, strings.ReplaceAll(schema, "\n", "\n        "))
	}
	return map[string]string{
		"widgets." + group: define("Widget", "widgets", widgetSchema),
		"blobs." + group:   strings.Replace(define("Blob", "blobs", "{type: object, x-kubernetes-preserve-unknown-fields: true}"), "    subresources: {status: {}}\n", "", 1),
	}
}

const widgetSchema = `
type: object
properties:
  status: {type: object, x-kubernetes-preserve-unknown-fields: true}
  spec:
    type: object
    default: {}
    properties:
      size: {type: integer, default: 7}
      ratio: {type: number}
      note: {type: string, nullable: true}
      either: {x-kubernetes-int-or-string: true}
      amount: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}
      parts:
        type: array
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name, zone]
        items:
          type: object
          required: [name]
          properties:
            name: {type: string}
            zone: {type: string, default: x}
            count: {type: integer, default: 1}
            tags: {type: object, additionalProperties: {type: string}}
      set: {type: array, x-kubernetes-list-type: set, items: {type: string}}
      numbers: {type: array, x-kubernetes-list-type: set, items: {type: integer}}
      atomicList: {type: array, x-kubernetes-list-type: atomic, items: {type: string}}
      atomicMap: {type: object, x-kubernetes-map-type: atomic, additionalProperties: {type: string}}
      map: {type: object, additionalProperties: {type: string}}
      nested:
        type: object
        properties:
          enabled: {type: boolean}
          mode: {type: string, default: auto}
          inner: {type: object, additionalProperties: {type: string}}
      free: {x-kubernetes-preserve-unknown-fields: true}
`
