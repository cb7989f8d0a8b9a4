package doctor_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

// TestClasses checks that the storage classes of all claims are looked for.
func TestClasses(t *testing.T) {
	class := func(name, annotation string) string {
		return fmt.Sprintf(`{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: %s, annotations: {%s}}, provisioner: p}`, name, annotation)
	}
	claim := func(spec string) string {
		return fmt.Sprintf(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: openstack}, spec: {%s}}`, spec)
	}
	bound := func(name, phase string) string {
		return fmt.Sprintf(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: %s, namespace: openstack}, status: {phase: %s}}`, name, phase)
	}
	volume := func(class, phase string) string {
		return fmt.Sprintf(`{apiVersion: v1, kind: PersistentVolume, metadata: {name: v}, spec: {storageClassName: %s}, status: {phase: %s}}`, class, phase)
	}
	const set = `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s, namespace: openstack}, spec: {replicas: 2, volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: gone}}]}}`
	fast := class("fast", "")
	standard := class("standard", `storageclass.kubernetes.io/is-default-class: "true"`)
	for name, c := range map[string]struct {
		config, live string
		want         []string
	}{
		"named":             {claim("storageClassName: fast"), fast, nil},
		"missing":           {claim("storageClassName: fats"), fast, []string{"error StorageClass fats: does not exist"}},
		"in a set":          {`{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s, namespace: openstack}, spec: {volumeClaimTemplates: [{spec: {storageClassName: fats}}]}}`, fast, []string{"error StorageClass fats: does not exist"}},
		"default":           {claim(""), standard, nil},
		"no default":        {claim(""), fast, []string{"error StorageClass: no class is the default, and claims name none"}},
		"no class":          {claim(`storageClassName: ""`), fast, nil},
		"a volume":          {claim("volumeName: pv1"), fast, nil},
		"of the cloud":      {documents(claim("storageClassName: mine"), class("mine", "")), fast, nil},
		"bound":             {claim("storageClassName: gone"), bound("c", "Bound"), nil},
		"lost":              {claim("storageClassName: gone"), bound("c", "Lost"), []string{"error StorageClass gone: does not exist"}},
		"a set, bound":      {set, documents(bound("data-s-0", "Bound"), bound("data-s-1", "Bound")), nil},
		"a set, half bound": {set, bound("data-s-0", "Bound"), []string{"error StorageClass gone: does not exist"}},
		"static volumes":    {claim("storageClassName: manual"), documents(fast, volume("manual", "Available")), nil},
		"used volumes":      {claim("storageClassName: manual"), documents(fast, volume("manual", "Bound")), []string{"error StorageClass manual: does not exist"}},
		"other volumes":     {claim("storageClassName: manual"), documents(fast, volume("other", "Available")), []string{"error StorageClass manual: does not exist"}},
		"declared volume":   {documents(claim("storageClassName: manual"), volume("manual", "")), fast, nil},
		"declared, used":    {documents(claim("storageClassName: manual"), volume("manual", "")), documents(fast, volume("manual", "Bound")), []string{"error StorageClass manual: does not exist"}},
		"bound, no default": {claim(""), documents(fast, bound("c", "Bound")), nil},
		"no claims, no SCs": {`{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: openstack}}`, "", nil},
	} {
		t.Run(name, func(t *testing.T) { expect(t, "storage-class", facts(t, c.config, c.live), c.want...) })
	}
}

// TestRefused checks pods against the level that their namespace has after an apply.
func TestRefused(t *testing.T) {
	pods := deployment("web", 1, ", hostNetwork: true", "")
	namespace := func(level string) string {
		return fmt.Sprintf(`{apiVersion: v1, kind: Namespace, metadata: {name: openstack, labels: {%s}}}`, level)
	}
	enforce := func(level string) string { return "pod-security.kubernetes.io/enforce: " + level }
	refused := `error manifest.m/Deployment/web: its pods need more than the level "baseline" of namespace openstack allows`
	for name, c := range map[string]struct {
		config, live string
		want         []string
	}{
		"refused":                       {pods, namespace(enforce("baseline")), []string{refused}},
		"privileged":                    {pods, namespace(enforce("privileged")), nil},
		"no level":                      {pods, namespace(""), nil},
		"no namespace yet":              {pods, "", nil},
		"the apply lowers the level":    {documents(pods, namespace(enforce("privileged"))), namespace(enforce("baseline")), nil},
		"the apply raises the level":    {documents(pods, namespace(enforce("baseline"))), namespace(""), []string{refused}},
		"the apply makes the namespace": {documents(pods, namespace(enforce("baseline"))), "", []string{refused}},
	} {
		t.Run(name, func(t *testing.T) { expect(t, "pod-security", facts(t, c.config, c.live), c.want...) })
	}
}

// TestWebhooks checks which webhooks block objects of the configuration.
func TestWebhooks(t *testing.T) {
	config := documents(deployment("web", 1, "", ""), `{apiVersion: v1, kind: Namespace, metadata: {name: openstack, labels: {tier: cloud}}}`)
	hook := func(more string) string {
		return `{apiVersion: admissionregistration.k8s.io/v1, kind: ValidatingWebhookConfiguration, metadata: {name: policy}, webhooks: [{name: guard.example.org, clientConfig: {service: {namespace: guard, name: guard}}, rules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}], ` + more + `}]}`
	}
	endpoints := func(ready string) string {
		return `{apiVersion: discovery.k8s.io/v1, kind: EndpointSlice, metadata: {name: guard-x, namespace: guard, labels: {kubernetes.io/service-name: guard}}, endpoints: [{addresses: [10.0.0.1], conditions: {` + ready + `}}]}`
	}
	const blocks = "error ValidatingWebhookConfiguration policy: webhook guard.example.org has no ready endpoint: Service guard/guard"
	pods := "rules: [{apiGroups: [\"\"], apiVersions: [v1], operations: [\"*\"], resources: [pods]}]"
	for name, c := range map[string]struct {
		live string
		want []string
	}{
		"nothing answers":      {hook(""), []string{blocks}},
		"an endpoint":          {documents(hook(""), endpoints("ready: true")), nil},
		"not ready":            {documents(hook(""), endpoints("ready: false")), []string{blocks}},
		"another service":      {documents(hook(""), strings.Replace(endpoints("ready: true"), "service-name: guard", "service-name: other", 1)), []string{blocks}},
		"ignored":              {hook("failurePolicy: Ignore"), nil},
		"other kinds":          {hook("rules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [daemonsets]}]"), nil},
		"deletions":            {hook("rules: [{apiGroups: [apps], apiVersions: [v1], operations: [DELETE], resources: [deployments]}]"), nil},
		"pods of workloads":    {hook(pods), []string{blocks}},
		"all, cluster-wide":    {hook("rules: [{apiGroups: [\"*\"], apiVersions: [\"*\"], operations: [\"*\"], resources: [\"*\"], scope: Cluster}], objectSelector: {matchLabels: {app: web}}"), nil},
		"other namespaces":     {hook("namespaceSelector: {matchLabels: {tier: other}}"), nil},
		"the new label":        {hook("namespaceSelector: {matchLabels: {tier: cloud, kubernetes.io/metadata.name: openstack}}"), []string{blocks}},
		"other objects":        {hook("objectSelector: {matchLabels: {app: other}}"), nil},
		"pods with a label":    {hook(pods + ", objectSelector: {matchLabels: {app: web}}"), []string{blocks}},
		"conditions":           {hook("matchConditions: [{name: c, expression: \"true\"}]"), []string{strings.Replace(blocks, "error", "warning", 1)}},
		"at a URL":             {strings.Replace(hook(""), "service: {namespace: guard, name: guard}", "url: \"https://guard.example.org\"", 1), nil},
		"a mutating one":       {strings.Replace(hook(""), "Validating", "Mutating", 1), []string{strings.Replace(blocks, "Validating", "Mutating", 1)}},
		"of webhooks themself": {hook("rules: [{apiGroups: [admissionregistration.k8s.io], apiVersions: [v1], operations: [\"*\"], resources: [\"*\"]}]"), nil},
	} {
		t.Run(name, func(t *testing.T) { expect(t, "webhooks", facts(t, config, c.live), c.want...) })
	}
}

// TestPorts checks node ports that others have, or that are outside of the range.
func TestPorts(t *testing.T) {
	service := func(namespace, name string, port int) string {
		return fmt.Sprintf(`{apiVersion: v1, kind: Service, metadata: {name: %s, namespace: %s}, spec: {ports: [{port: 80, nodePort: %d}]}}`, name, namespace, port)
	}
	server := func(options string) string {
		return `{apiVersion: v1, kind: Pod, metadata: {name: kube-apiserver-n1, namespace: kube-system, labels: {component: kube-apiserver}}, spec: {containers: [{name: kube-apiserver, command: [kube-apiserver` + options + `]}]}}`
	}
	outside := func(want string) []string {
		return []string{"error manifest.m/Service/web: node port 30080 is outside of the range of the cluster, " + want}
	}
	for name, c := range map[string]struct {
		port int
		live string
		want []string
	}{
		"free":           {30080, "", nil},
		"own":            {30080, service("openstack", "web", 30080), nil},
		"taken":          {30080, service("other", "web", 30080), []string{"error manifest.m/Service/web: node port 30080 is taken by Service other/web"}},
		"UDP of other":   {30080, strings.Replace(service("other", "web", 30080), "port: 80", "protocol: UDP, port: 80", 1), nil},
		"unknown range":  {5000, "", nil},
		"default range":  {5000, server(""), []string{"error manifest.m/Service/web: node port 5000 is outside of the range of the cluster, 30000 to 32767"}},
		"in the default": {30080, server(", --secure-port=6443"), nil},
		"another range":  {30080, server(", --service-node-port-range=31000-31999"), outside("31000 to 31999")},
		"own, outside":   {30080, documents(server(", --service-node-port-range=31000-31999"), service("openstack", "web", 30080)), nil},
		"another form":   {30080, server(", --service-node-port-range=31000+999"), outside("31000 to 31999")},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, "node-ports", facts(t, service("openstack", "web", c.port), c.live), c.want...)
		})
	}
}

// TestVIPs checks the addresses of exposures.
func TestVIPs(t *testing.T) {
	live := documents(
		`{apiVersion: networking.k8s.io/v1, kind: ServiceCIDR, metadata: {name: kubernetes}, spec: {cidrs: [10.96.0.0/16]}}`,
		node("n1", "", "podCIDRs: [10.244.1.0/24]", "addresses: [{type: InternalIP, address: 192.0.2.11}]"))
	for vip, want := range map[string]string{
		"192.0.2.10":  "",
		"10.96.3.4":   "error exposure.public: the VIP 10.96.3.4 is inside of the network of Services, 10.96.0.0/16",
		"10.244.1.9":  "error exposure.public: the VIP 10.244.1.9 is inside of the network of pods on node n1, 10.244.1.0/24",
		"192.0.2.11":  "warning exposure.public: the VIP 192.0.2.11 is the address of node n1",
		"2001:db8::1": "",
	} {
		t.Run(vip, func(t *testing.T) {
			f := facts(t, "", live)
			f.Config.Exposures = []configs.Exposure{{Block: "exposure.public", Name: "public", VIP: vip}}
			expect(t, "vip", f, list(want)...)
		})
	}
}

// TestUnreachable checks the published ports of services, once these are deployed.
func TestUnreachable(t *testing.T) {
	service := `{apiVersion: v1, kind: Service, metadata: {name: m, namespace: openstack}, spec: {ports: [{port: 80, nodePort: 30080}]}}`
	deployed := strings.Replace(service, "namespace: openstack", "namespace: openstack, annotations: {kolla.openstack.org/public: 192.0.2.10}", 1)
	for name, c := range map[string]struct {
		live    string
		reached map[string]string
		want    string
	}{
		"silent":       {deployed, map[string]string{"192.0.2.10:8080": "cannot connect: connection refused"}, "warning exposure.public: 192.0.2.10:8080 of manifest.m: cannot connect: connection refused"},
		"answers":      {deployed, map[string]string{"192.0.2.10:8080": ""}, ""},
		"not deployed": {service, map[string]string{"192.0.2.10:8080": "cannot connect: connection refused"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := facts(t, service, c.live)
			f.Config.Exposures = []configs.Exposure{{Block: "exposure.public", Name: "public", VIP: "192.0.2.10"}}
			f.Config.Services = []configs.Service{{
				Block: "manifest.m", Exposure: "public",
				Ports: []configs.Port{{Name: "web", Number: 80, Public: 8080, Exposed: true}, {Name: "inside", Number: 81}, {Name: "udp", Number: 82, Exposed: true, UDP: true}},
			}}
			f.Reached = c.reached
			expect(t, "vip", f, list(c.want)...)
		})
	}
}

// TestVIPOfLoadBalancer checks exposures with a load balancer of the cluster: the VIP may be the address of
// a node, and a Service without an address is a finding, instead of its silent ports.
func TestVIPOfLoadBalancer(t *testing.T) {
	service := func(status string) string {
		return `{apiVersion: v1, kind: Service, metadata: {name: m, namespace: openstack, annotations: {kolla.openstack.org/public: 192.0.2.11}}, spec: {type: LoadBalancer, ports: [{port: 8080}]}, status: {` + status + `}}`
	}
	for name, c := range map[string]struct {
		mode, status string
		want         []string
		next         string // a part of the next step
	}{
		"pending":  {configs.ModeLoadBalancer, "loadBalancer: {}", []string{"error manifest.m/Service/m: no load balancer has given it an address yet"}, "kubectl -n openstack describe service m"},
		"silent":   {configs.ModeLoadBalancer, "loadBalancer: {ingress: [{ip: 192.0.2.11}]}", []string{"warning exposure.public: 192.0.2.11:8080 of manifest.m: cannot connect: no answer in time"}, "EXTERNAL-IP"},
		"nodeport": {configs.ModeNodePort, "loadBalancer: {ingress: [{ip: 192.0.2.11}]}", []string{"warning exposure.public: the VIP 192.0.2.11 is the address of node n1", "warning exposure.public: 192.0.2.11:8080 of manifest.m: cannot connect: no answer in time"}, "a load balancer holds"},
	} {
		t.Run(name, func(t *testing.T) {
			f := facts(t, service(""), documents(service(c.status), node("n1", "", "", "addresses: [{type: InternalIP, address: 192.0.2.11}]")))
			f.Config.Exposures = []configs.Exposure{{Block: "exposure.public", Name: "public", VIP: "192.0.2.11", Mode: c.mode}}
			f.Config.Services = []configs.Service{{Block: "manifest.m", Exposure: "public", Ports: []configs.Port{{Name: "web", Number: 8080, Exposed: true}}}}
			f.Reached = map[string]string{"192.0.2.11:8080": "cannot connect: no answer in time"}
			expect(t, "vip", f, c.want...)
			if next := result(t, "vip", f).Findings[0].Next; !strings.Contains(next, c.next) {
				t.Errorf("the next step lacks %q: %s", c.next, next)
			}
		})
	}
}

// TestElsewhere checks host names that lead to other addresses than the VIP.
func TestElsewhere(t *testing.T) {
	const service = `{apiVersion: v1, kind: Service, metadata: {name: m, namespace: openstack, annotations: {kolla.openstack.org/public: cloud.example.org}}, spec: {ports: [{port: 80}]}}`
	for name, c := range map[string]struct {
		live     string
		resolved []string
		want     string
	}{
		"the VIP":      {service, []string{"192.0.2.9", "2001:DB8::10"}, ""},
		"elsewhere":    {service, []string{"192.0.2.9"}, "warning exposure.public: cloud.example.org leads to 192.0.2.9, and the vip is 2001:db8::10"},
		"nowhere":      {service, nil, ""},
		"not deployed": {"", []string{"192.0.2.9"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := facts(t, service, c.live)
			f.Config.Exposures = []configs.Exposure{{Block: "exposure.public", Name: "public", VIP: "2001:db8::10", FQDN: "cloud.example.org"}}
			f.Config.Services = []configs.Service{{Block: "manifest.m", Exposure: "public", Ports: []configs.Port{{Name: "web", Number: 80, Exposed: true}, {Name: "admin", Number: 81, Exposed: true}}}}
			f.Resolved = map[string][]string{"cloud.example.org": c.resolved}
			expect(t, "vip", f, list(c.want)...)
		})
	}
}

// TestServedExposures checks exposures that programs of the cluster serve.
func TestServedExposures(t *testing.T) {
	const ingress = `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: m, namespace: openstack, annotations: {kolla.openstack.org/public: "http://m.example.org", kolla.openstack.org/awaits-address: "true"}}, status: {loadBalancer: {STATUS}}}`
	const route = `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: m, namespace: openstack, annotations: {kolla.openstack.org/public: "http://m.example.org"}}, spec: {parentRefs: [{name: public}]}, status: {parents: [STATUS]}}`
	class := `{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: traefik}}`
	exposure := func(mode, vip, class string) configs.Exposure {
		return configs.Exposure{Block: "exposure.public", Name: "public", Mode: mode, VIP: vip, Domain: "example.org", Class: class, AwaitsAddress: true, Gateway: configs.Gateway{Name: "public", Namespace: "openstack"}}
	}
	for name, c := range map[string]struct {
		check, object, status, more string
		exposure                    configs.Exposure
		reached                     map[string]string
		want                        []string
	}{
		"waits for an address": {"vip", ingress, "", "", exposure(configs.ModeIngress, "", "traefik"), nil, []string{"error manifest.m/Ingress/m: no Ingress controller has given it an address yet"}},
		"silent":               {"vip", ingress, "ingress: [{ip: 192.0.2.1}]", "", exposure(configs.ModeIngress, "", "traefik"), map[string]string{"m.example.org:80": "cannot connect: no such host"}, []string{"warning exposure.public: m.example.org:80 of manifest.m: cannot connect: no such host"}},
		"silent at its VIP":    {"vip", ingress, "ingress: [{ip: 192.0.2.1}]", "", exposure(configs.ModeIngress, "192.0.2.1", "traefik"), map[string]string{"192.0.2.1:80": "cannot connect: no answer in time"}, []string{"warning exposure.public: 192.0.2.1:80 of manifest.m: cannot connect: no answer in time"}},
		"no answer":            {"vip", route, "", "", exposure(configs.ModeGateway, "", ""), nil, []string{"error manifest.m/HTTPRoute/m: no controller has answered for Gateway public yet"}},
		"the class":            {"ways-in", ingress, "", class, exposure(configs.ModeIngress, "", "traefik"), nil, nil},
		"another class":        {"ways-in", ingress, "", class, exposure(configs.ModeIngress, "", "nginx"), nil, []string{`warning cloud.hcl:3,1-1: The cluster has no Ingress class "nginx"`}},
		"no Gateway":           {"ways-in", route, "", "", exposure(configs.ModeGateway, "", ""), nil, []string{`warning cloud.hcl:3,1-1: Namespace "openstack" has no Gateway "public"`}},
	} {
		t.Run(name, func(t *testing.T) {
			live := strings.Replace(c.object, "STATUS", c.status, 1)
			if c.more != "" {
				live = documents(live, c.more)
			}
			f := facts(t, strings.Replace(c.object, "STATUS", "", 1), live)
			c.exposure.Range = hcl.Range{Filename: "cloud.hcl", Start: hcl.Pos{Line: 3, Column: 1}, End: hcl.Pos{Line: 3, Column: 1}}
			c.exposure.Gateway.Range = c.exposure.Range
			f.Config.Exposures = []configs.Exposure{c.exposure}
			f.Config.Services = []configs.Service{{Block: "manifest.m", Name: "m", Exposure: "public", Ports: []configs.Port{{Name: "web", Number: 8080, Exposed: true}}}}
			f.Reached = c.reached
			expect(t, c.check, f, c.want...)
		})
	}
}

// TestPartlyRead checks that a list that cannot be read hides only the findings that need it.
func TestPartlyRead(t *testing.T) {
	denied := func(kind schema.GroupVersionKind, namespace string) map[providers.Scope]error {
		return map[providers.Scope]error{{GVK: kind, Namespace: namespace}: &providers.PermissionError{User: "ann", Verb: "list", Resource: strings.ToLower(kind.Kind) + "s"}}
	}
	check := func(t *testing.T, name string, f *cluster.Facts, want, right string) {
		t.Helper()
		got := result(t, name, f)
		if len(got.Findings) != 1 || !strings.Contains(got.Findings[0].Problem, want) {
			t.Errorf("findings %+v, want %q", got.Findings, want)
		}
		if !strings.Contains(got.NotChecked, "not allowed to list "+right) {
			t.Errorf("not checked: %q, want %q", got.NotChecked, right)
		}
	}
	t.Run("vip", func(t *testing.T) {
		f := facts(t, "", node("n1", "", "podCIDRs: [10.244.1.0/24]", ""))
		f.Config.Exposures = []configs.Exposure{{Block: "exposure.public", Name: "public", VIP: "10.244.1.9"}}
		f.Unread = denied(schema.GroupVersionKind{Group: "networking.k8s.io", Version: "v1", Kind: "ServiceCIDR"}, "")
		check(t, "vip", f, "is inside of the network of pods on node n1", "servicecidrs")
	})
	t.Run("certificates", func(t *testing.T) {
		cert, key := pair(t, now.AddDate(0, 0, -1))
		made := `{apiVersion: v1, kind: Secret, metadata: {name: tls, namespace: %s}, data: {tls.crt: ` + cert + `, tls.key: ` + key + `}}`
		two := documents(fmt.Sprintf(made, "other"), fmt.Sprintf(made, "openstack"))
		f := facts(t, two, two)
		f.Unread = denied(schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, "other")
		check(t, "certificates", f, "has ended", "secrets")
	})
	t.Run("storage-class", func(t *testing.T) {
		claim := `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: openstack}, spec: {storageClassName: manual}}`
		f := facts(t, claim, "")
		f.Unread = denied(schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolume"}, "")
		if got := result(t, "storage-class", f); len(got.Findings) > 0 || !strings.Contains(got.NotChecked, "not allowed to list persistentvolumes") {
			t.Errorf("got %+v", got)
		}
		f.Live = providers.SnapshotOf(parse(t, `{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: manual}, provisioner: p}`)...)
		expect(t, "storage-class", f) // the right is not needed
	})
}

// pair makes a certificate that is valid for a year and ends at a time, and its key.
func pair(t *testing.T, end time.Time) (cert, key string) {
	t.Helper()
	return pairFor(t, end.AddDate(-1, 0, 0), end)
}

// pairFor makes a certificate that is valid between two times, and its key.
func pairFor(t *testing.T, begin, end time.Time) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: begin, NotAfter: end}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	own, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	encode := func(kind string, der []byte) string {
		return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return encode("CERTIFICATE", der), encode("PRIVATE KEY", own)
}

// TestCertificates checks the ends of certificates, and their keys, in the Secrets that the
// configuration uses.
func TestCertificates(t *testing.T) {
	mounts := func(name string) string {
		return deployment("web", 1, ", volumes: [{name: v, secret: {secretName: "+name+"}}]", "")
	}
	good, key := pair(t, now.AddDate(0, 6, 0))
	soon, soonKey := pair(t, now.AddDate(0, 0, 29))
	past, pastKey := pair(t, now.AddDate(0, 0, -1))
	secret := func(cert, key string) string {
		return fmt.Sprintf(`{apiVersion: v1, kind: Secret, metadata: {name: tls, namespace: openstack}, data: {tls.crt: %s, tls.key: %s}}`, cert, key)
	}
	for name, c := range map[string]struct {
		config, live string
		want         []string
	}{
		"good":      {mounts("tls"), secret(good, key), nil},
		"ends soon": {mounts("tls"), secret(soon, soonKey), []string{"warning Secret openstack/tls, tls.crt: the certificate ends on 2026-12-27 12:00 UTC"}},
		"has ended": {mounts("tls"), secret(past, pastKey), []string{"error Secret openstack/tls, tls.crt: the certificate has ended on 2026-11-27 12:00 UTC"}},
		"other key": {mounts("tls"), secret(good, pastKey), []string{"error Secret openstack/tls: tls.key does not fit tls.crt"}},
		"not used":  {mounts("other"), secret(past, pastKey), nil},
		"made":      {`{apiVersion: v1, kind: Secret, metadata: {name: tls, namespace: openstack}}`, secret(past, pastKey), []string{"error Secret openstack/tls, tls.crt: the certificate has ended on 2026-11-27 12:00 UTC"}},
		"of an Ingress": {
			`{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: i, namespace: openstack}, spec: {tls: [{secretName: tls}]}}`, secret(past, pastKey),
			[]string{"error Secret openstack/tls, tls.crt: the certificate has ended on 2026-11-27 12:00 UTC"},
		},
		"no certificate": {mounts("tls"), strings.Replace(secret(good, key), "tls.crt: "+good, "tls.crt: eA==", 1), nil},
	} {
		t.Run(name, func(t *testing.T) { expect(t, "certificates", facts(t, c.config, c.live), c.want...) })
	}
}

// TestCertificateTime checks from when on a certificate is reported.
func TestCertificateTime(t *testing.T) {
	made := func(days int) map[string]providers.SecretData {
		g := &providers.Generator{Kind: "x509", Cert: &providers.Certificate{RenewBefore: days, Issuer: &providers.SecretKey{Namespace: "openstack", Name: "ca", Key: "tls.crt"}}}
		return map[string]providers.SecretData{"tls.crt": {Generate: g}, "ca.crt": {Generate: g}}
	}
	issued := map[string]providers.SecretData{} // stands for an exposure whose issuer is cert-manager's
	for name, c := range map[string]struct {
		lifetime, left int // days
		key            string
		data           map[string]providers.SecretData
		want           bool
	}{
		"a week of five":            {5 * 7, 10, "tls.crt", nil, true},
		"two thirds left":           {90, 31, "tls.crt", nil, false},
		"a third of 30 days":        {30, 11, "tls.crt", nil, false},
		"less than a third":         {30, 9, "tls.crt", nil, true},
		"short-lived":               {1, 1, "tls.crt", nil, false},
		"30 days of a year":         {365, 29, "tls.crt", nil, true},
		"31 days of a year":         {365, 31, "tls.crt", nil, false},
		"made, not due":             {365, 29, "tls.crt", made(7), false},
		"made, due":                 {365, 6, "tls.crt", made(7), true},
		"made, due early":           {365, 59, "tls.crt", made(60), true},
		"cert-manager's, not due":   {90, 30, "tls.crt", issued, false},
		"cert-manager's, overdue":   {90, 28, "tls.crt", issued, true},
		"the CA of a made one":      {3650, 29, "ca.crt", made(7), false},
		"the CA of a made one, due": {3650, 19, "ca.crt", made(7), true},
	} {
		t.Run(name, func(t *testing.T) {
			end := now.AddDate(0, 0, c.left)
			cert, _ := pairFor(t, end.AddDate(0, 0, -c.lifetime), end)
			live := fmt.Sprintf(`{apiVersion: v1, kind: Secret, metadata: {name: tls, namespace: openstack}, data: {%s: %s}}`, c.key, cert)
			f := facts(t, documents(live, `{apiVersion: v1, kind: Secret, metadata: {name: ca, namespace: openstack}}`), live)
			if f.Objects[0].Data = c.data; c.data != nil && len(c.data) == 0 {
				f.Config.Exposures = []configs.Exposure{{TLS: &configs.TLS{Secret: "tls", Issuer: &configs.Issuer{}}}}
			}
			f.Objects[1].Data = map[string]providers.SecretData{"tls.crt": {Generate: &providers.Generator{Kind: "x509-ca", Cert: &providers.Certificate{RenewBefore: 20}}}}
			if got := len(found(t, "certificates", f)); got != map[bool]int{true: 1}[c.want] {
				t.Errorf("%d findings, want one: %t", got, c.want)
			}
		})
	}
}

// TestBundles checks that all certificates of a value count, and blocks of other kinds do not.
func TestBundles(t *testing.T) {
	decode := func(text string) string {
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	good, key := pair(t, now.AddDate(0, 6, 0))
	past, _ := pair(t, now.AddDate(0, 0, -1))
	soon, _ := pair(t, now.AddDate(0, 0, 5))
	for name, c := range map[string]struct {
		parts []string
		want  string
	}{
		"good chain":       {[]string{good, good}, ""},
		"key first":        {[]string{key, past}, "error Secret openstack/tls, haproxy.pem: the certificate has ended on 2026-11-27 12:00 UTC"},
		"intermediate":     {[]string{good, past}, "error Secret openstack/tls, haproxy.pem: certificate 2 of 2 has ended on 2026-11-27 12:00 UTC"},
		"the earliest end": {[]string{key, good, soon, past, soon}, "error Secret openstack/tls, haproxy.pem: certificate 3 of 4 has ended on 2026-11-27 12:00 UTC"},
	} {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			for _, part := range c.parts {
				text.WriteString(decode(part))
			}
			secret := fmt.Sprintf(`{apiVersion: v1, kind: Secret, metadata: {name: tls, namespace: openstack}, data: {haproxy.pem: %s}}`, base64.StdEncoding.EncodeToString([]byte(text.String())))
			expect(t, "certificates", facts(t, secret, secret), list(c.want)...)
		})
	}
}

// TestBackups checks the last success of scheduled backups against their schedule.
func TestBackups(t *testing.T) {
	job := func(name, spec, status string) string {
		return fmt.Sprintf(`{apiVersion: batch/v1, kind: CronJob, metadata: {name: backup, namespace: openstack, creationTimestamp: "2026-11-01T00:00:00Z"}, spec: {schedule: "23 2 * * *", %s, jobTemplate: {spec: {template: {metadata: {labels: {app.kubernetes.io/name: %s}}}}}}, status: {%s}}`, spec, name, status)
	}
	const ours, nothing = "kolla-backup", "suspend: false"
	for name, c := range map[string]struct {
		live string
		want string
	}{
		"last night":       {job(ours, nothing, `lastSuccessfulTime: "2026-11-28T02:40:00Z"`), ""},
		"the night before": {job(ours, nothing, `lastSuccessfulTime: "2026-11-27T02:40:00Z"`), "error CronJob openstack/backup: made its last backup 33 h ago, and one run did not succeed since"},
		"still running":    {job(ours, nothing, `lastSuccessfulTime: "2026-11-27T02:40:00Z", active: [{name: x}]`), ""},
		"running in vain":  {job(ours, nothing, `lastSuccessfulTime: "2026-11-26T02:40:00Z", active: [{name: x}]`), "error CronJob openstack/backup: made its last backup 2 days ago, and 2 runs did not succeed since"},
		"never":            {job(ours, nothing, ``), "error CronJob openstack/backup: has made no backup since it was created 27 days ago"},
		"new":              {strings.Replace(job(ours, nothing, ``), "2026-11-01T00", "2026-11-28T08", 1), ""},
		"weekly":           {strings.Replace(job(ours, nothing, `lastSuccessfulTime: "2026-11-22T02:40:00Z"`), "* * *", "* * 0", 1), ""},
		"suspended":        {job(ours, "suspend: true", `lastSuccessfulTime: "2026-11-28T02:40:00Z"`), "warning CronJob openstack/backup: is suspended, so there are no new backups"},
		"another zone":     {job(ours, `timeZone: Asia/Tokyo`, `lastSuccessfulTime: "2026-11-27T02:40:00Z"`), "error CronJob openstack/backup: made its last backup 33 h ago, and one run did not succeed since"},
		"due in its zone":  {job(ours, `timeZone: Etc/GMT+8`, `lastSuccessfulTime: "2026-11-27T10:40:00Z"`), ""},
		"of others":        {job("other", nothing, ``), ""},
	} {
		t.Run(name, func(t *testing.T) { expect(t, "backups", facts(t, "", c.live), list(c.want)...) })
	}
}

// TestBackupsOfCloud checks that scheduled backups of other clouds are left out.
func TestBackupsOfCloud(t *testing.T) {
	const late = "error CronJob %s/backup: has made no backup since it was created 27 days ago"
	for name, c := range map[string]struct {
		namespace, label string
		want             bool
	}{
		"namespace of the cloud":                    {"openstack", "", true},
		"another namespace":                         {"kolla", "", false},
		"label of the cloud":                        {"kolla", "prod", true},
		"label of another":                          {"kolla", "test", false},
		"label of another, namespace of this cloud": {"openstack", "test", false},
	} {
		t.Run(name, func(t *testing.T) {
			labels := "app.kubernetes.io/name: kolla-backup"
			if c.label != "" {
				labels += ", kolla.openstack.org/cloud: " + c.label
			}
			live := fmt.Sprintf(`{apiVersion: batch/v1, kind: CronJob, metadata: {name: backup, namespace: %s, creationTimestamp: "2026-11-01T00:00:00Z"}, spec: {schedule: "23 2 * * *", jobTemplate: {spec: {template: {metadata: {labels: {%s}}}}}}}`, c.namespace, labels)
			var want []string
			if c.want {
				want = []string{fmt.Sprintf(late, c.namespace)}
			}
			expect(t, "backups", facts(t, "", live), want...)
		})
	}
}

// TestBackupsZone checks that a schedule without a time zone is in UTC, wherever kolla runs.
func TestBackupsZone(t *testing.T) {
	here := time.Local
	t.Cleanup(func() { time.Local = here })
	for _, hours := range []int{-6, 0, 9} {
		time.Local = time.FixedZone("here", hours*60*60)
		job := func(last string) string {
			return fmt.Sprintf(`{apiVersion: batch/v1, kind: CronJob, metadata: {name: backup, namespace: openstack, creationTimestamp: "2026-11-01T00:00:00Z"}, spec: {schedule: "23 2 * * *", jobTemplate: {spec: {template: {metadata: {labels: {app.kubernetes.io/name: kolla-backup}}}}}}, status: {lastSuccessfulTime: "%s"}}`, last)
		}
		expect(t, "backups", facts(t, "", job("2026-11-28T02:40:00Z")))
		expect(t, "backups", facts(t, "", job("2026-11-27T21:00:00Z")), "error CronJob openstack/backup: made its last backup 15 h ago, and one run did not succeed since")
	}
}
