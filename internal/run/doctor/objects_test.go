package doctor_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"kolla.openstack.org/kolla/lang/configs"
)

// TestClasses checks that the storage classes of all claims are looked for.
func TestClasses(t *testing.T) {
	class := func(name, annotation string) string {
		return fmt.Sprintf(`{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: %s, annotations: {%s}}, provisioner: p}`, name, annotation)
	}
	claim := func(spec string) string {
		return fmt.Sprintf(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: c, namespace: openstack}, spec: {%s}}`, spec)
	}
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
		"another form":   {30080, server(", --service-node-port-range=31000+999"), nil},
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

// TestSilent checks the published ports of services, once these are deployed.
func TestSilent(t *testing.T) {
	service := `{apiVersion: v1, kind: Service, metadata: {name: m, namespace: openstack}, spec: {ports: [{port: 80, nodePort: 30080}]}}`
	deployed := strings.Replace(service, "namespace: openstack", "namespace: openstack, annotations: {kolla.openstack.org/public: 192.0.2.10}", 1)
	for name, c := range map[string]struct {
		live    string
		reached map[string]error
		want    string
	}{
		"silent":       {deployed, map[string]error{"192.0.2.10:8080": errors.New("connection refused")}, "warning exposure.public: 192.0.2.10:8080 of manifest.m does not accept connections from here: connection refused"},
		"answers":      {deployed, map[string]error{"192.0.2.10:8080": nil}, ""},
		"not deployed": {service, map[string]error{"192.0.2.10:8080": errors.New("connection refused")}, ""},
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

// pair makes a certificate that ends at a time, and its key.
func pair(t *testing.T, end time.Time) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: end.AddDate(-1, 0, 0), NotAfter: end}
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

// TestBackups checks the last success of scheduled backups against their schedule.
func TestBackups(t *testing.T) {
	job := func(name, spec, status string) string {
		return fmt.Sprintf(`{apiVersion: batch/v1, kind: CronJob, metadata: {name: backup, namespace: kolla, creationTimestamp: "2026-11-01T00:00:00Z"}, spec: {schedule: "23 2 * * *", %s, jobTemplate: {spec: {template: {metadata: {labels: {app.kubernetes.io/name: %s}}}}}}, status: {%s}}`, spec, name, status)
	}
	const ours, nothing = "kolla-backup", "suspend: false"
	for name, c := range map[string]struct {
		live string
		want string
	}{
		"last night":       {job(ours, nothing, `lastSuccessfulTime: "2026-11-28T02:40:00Z"`), ""},
		"the night before": {job(ours, nothing, `lastSuccessfulTime: "2026-11-27T02:40:00Z"`), "error CronJob kolla/backup: made its last backup 33 h ago, and one run did not succeed since"},
		"still running":    {job(ours, nothing, `lastSuccessfulTime: "2026-11-27T02:40:00Z", active: [{name: x}]`), ""},
		"running in vain":  {job(ours, nothing, `lastSuccessfulTime: "2026-11-26T02:40:00Z", active: [{name: x}]`), "error CronJob kolla/backup: made its last backup 2 days ago, and 2 runs did not succeed since"},
		"never":            {job(ours, nothing, ``), "error CronJob kolla/backup: has made no backup since it was created 27 days ago"},
		"new":              {strings.Replace(job(ours, nothing, ``), "2026-11-01T00", "2026-11-28T08", 1), ""},
		"weekly":           {strings.Replace(job(ours, nothing, `lastSuccessfulTime: "2026-11-22T02:40:00Z"`), "* * *", "* * 0", 1), ""},
		"suspended":        {job(ours, "suspend: true", `lastSuccessfulTime: "2026-11-28T02:40:00Z"`), "warning CronJob kolla/backup: is suspended, so there are no new backups"},
		"another zone":     {job(ours, `timeZone: Asia/Tokyo`, `lastSuccessfulTime: "2026-11-27T02:40:00Z"`), "error CronJob kolla/backup: made its last backup 33 h ago, and one run did not succeed since"},
		"due in its zone":  {strings.Replace(job(ours, `timeZone: Etc/GMT+8`, `lastSuccessfulTime: "2026-11-27T10:40:00Z"`), "23 2", "23 2", 1), ""},
		"of others":        {job("other", nothing, ``), ""},
	} {
		t.Run(name, func(t *testing.T) { expect(t, "backups", facts(t, "", c.live), list(c.want)...) })
	}
}
