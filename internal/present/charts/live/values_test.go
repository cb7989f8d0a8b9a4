package live_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/escape"
)

// TestValues changes values of each kind, and looks at the objects that change.
func TestValues(t *testing.T) {
	chart, _ := export(t, "../../../../examples/compute-kit")
	service := func(name string) string { return chart + "/charts/" + name }
	digest := "sha256:" + strings.Repeat("0123456789abcdef", 4)
	cases := []struct {
		name, set    string
		of, show     string // the service, and one of its templates
		has, hasNone []string
	}{
		{"registry", "global.image.registry=registry.example.org/kolla", "keystone", "deployment-keystone-api.yaml", []string{"image: registry.example.org/kolla/keystone:2025.1-rocky-9"}, []string{"quay.io"}},
		{"release", "global.release=2025.2", "keystone", "deployment-keystone-api.yaml", []string{"/keystone:2025.2-rocky-9"}, nil},
		{"tag", "images.keystone.tag=mine", "keystone", "job-keystone-db-sync.yaml", []string{"/keystone:mine"}, []string{"rocky-9"}},
		{"digest", "images.keystone.digest=" + digest, "keystone", "deployment-keystone-api.yaml", []string{"/keystone:2025.1-rocky-9@" + digest}, nil},
		{"replicas", "workloads.api.replicas=5", "keystone", "deployment-keystone-api.yaml", []string{"replicas: 5"}, nil},
		{"resources", "workloads.api.resources.api.limits.memory=3Gi", "keystone", "deployment-keystone-api.yaml", []string{"memory: 3Gi"}, nil},
		{"tolerations", "workloads.api.tolerations[0].key=special", "keystone", "deployment-keystone-api.yaml", []string{"- key: special"}, nil},
		{"node selector", "workloads.api.nodeSelector.zone=a", "keystone", "deployment-keystone-api.yaml", []string{"zone: a"}, nil},
		{"volume", "workloads.server.volumes.data.size=40Gi,workloads.server.volumes.data.storageClassName=fast", "mariadb", "statefulset-mariadb-server.yaml", []string{"storage: 40Gi", "storageClassName: fast"}, nil},
		{"option", `config.keystone\.conf.token.expiration=60`, "keystone", "configmap-keystone.conf.yaml", []string{"    expiration = 60\n"}, []string{"86400"}},
		{"large number", `config.keystone\.conf.token.expiration=31536000`, "keystone", "configmap-keystone.conf.yaml", []string{"    expiration = 31536000\n"}, nil},
		{"no option", `config.keystone\.conf.token.expiration=null`, "keystone", "configmap-keystone.conf.yaml", []string{"allow_expired_window"}, []string{"    expiration"}},
		{"repeated option", `config.keystone\.conf.new.option={a,b}`, "keystone", "configmap-keystone.conf.yaml", []string{"    [new]\n    option = a\n    option = b\n"}, nil},
		{"VIP", "global.exposures.public.vip=198.51.100.7", "keystone", "job-keystone-bootstrap.yaml", []string{"http://198.51.100.7:5000/v3"}, []string{"192.0.2.10"}},
		{"existing Secret", "global.secrets.keystone-admin=mine", "placement", "job-placement-register-users.yaml", []string{"secretName: mine"}, []string{"secretName: keystone-admin"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := succeeds(t, "template", "cloud", service(c.of), "--namespace=openstack", "--set="+c.set, "--show-only=templates/"+c.show)
			for _, text := range c.has {
				if !strings.Contains(got, text) {
					t.Errorf("there is no %q:\n%s", text, got)
				}
			}
			for _, text := range c.hasNone {
				if strings.Contains(got, text) {
					t.Errorf("there is %q:\n%s", text, got)
				}
			}
		})
	}
	// Values of the umbrella chart.
	out := succeeds(t, "template", "cloud", chart, "--namespace=openstack", "--set=global.exposures.public.vip=198.51.100.7,global.services.heat=false,keystone.workloads.api.replicas=7")
	if strings.Contains(out, "192.0.2.10") {
		t.Error("the old address is still in some objects")
	}
	if strings.Contains(out, "heat-engine") || !strings.Contains(out, "replicas: 7") {
		t.Error("a service that is switched off is rendered, or a value of a service is not")
	}
}

// TestWrongValues gives values of wrong types and with wrong names.
func TestWrongValues(t *testing.T) {
	chart, _ := export(t, "../../../../examples/compute-kit")
	for _, c := range []struct{ of, set, want string }{
		{"/charts/keystone", "workloads.api.replicas=many", "replicas"},
		{"/charts/keystone", "workloads.api.replicas=-1", "replicas"},
		{"/charts/keystone", "workloads.api.replica=3", "replica"},
		{"/charts/keystone", "workloads.api.resources.api.limit.cpu=3", "limit"},
		{"/charts/keystone", "workloads.api.tolerations=all", "tolerations"},
		{"/charts/keystone", "workloads.api.nodeSelector.zone=1", "zone"},
		{"/charts/keystone", "images.keystone.digest=latest", "digest"},
		{"/charts/keystone", "images.keystonee.tag=x", "keystonee"},
		{"/charts/keystone", `config.keystone\.cnf.token.expiration=60`, "keystone.cnf"},
		{"/charts/keystone", `config.keystone\.conf.token=60`, "token"},
		{"/charts/keystone", `config.keystone\.conf.token.expiration.a=60`, "expiration"},
		{"/charts/keystone", "global.exposures.public.vip=http://a/", "vip"},
		{"/charts/keystone", "global.wait.enabled=maybe", "enabled"},
		{"", "keyston.workloads.api.replicas=1", "keyston"},
		{"", "keystone.workloads.api.replicas=many", "replicas"},
	} {
		out, ok := helm(t, "template", "cloud", chart+c.of, "--namespace=openstack", "--set="+c.set)
		if ok || !strings.Contains(out, c.want) || !strings.Contains(out, "values don't meet the specifications of the schema") {
			t.Errorf("%s --set=%s: %v\n%s", c.of, c.set, ok, out[:min(len(out), 2000)])
		}
	}
}

// TestSecrets looks at the values that a chart generates, of each kind, and for given values that must not be
// in a chart.
func TestSecrets(t *testing.T) {
	chart, _ := export(t, "../../../../providers/openstack/testdata/secrets")
	if library, err := os.ReadFile(chart + "/templates/_names.tpl"); err != nil || !strings.Contains(string(library), "kubectl create secret generic license --namespace openstack --from-file=value=FILE") {
		t.Errorf("the chart does not say how to make a Secret that must exist: %v\n%s", err, library)
	}
	if err := filepath.WalkDir(chart, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "from-a-variable") {
			t.Errorf("%s has the value of a sensitive variable", path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	made := map[string]map[string]string{}
	for _, object := range objectsOf(t, succeeds(t, "template", "cloud", chart, "--namespace=openstack")) {
		u := unstructured.Unstructured{Object: object}
		if u.GetKind() != "Secret" {
			continue
		}
		data, _, _ := unstructured.NestedStringMap(object, "data")
		for key, value := range data {
			plain, err := base64.StdEncoding.DecodeString(value)
			if err != nil {
				t.Fatal(err)
			}
			data[key] = string(plain)
		}
		made[hash.ReplaceAllString(u.GetName(), "-HASH")] = data
	}
	for _, given := range []string{"license", "web-admin", "web-login"} {
		if _, ok := made[given]; ok {
			t.Errorf("the chart makes Secret %s, whose value it cannot know", given)
		}
	}
	for of, pattern := range map[[2]string]string{
		{"token", "value"}:              `^[0-9a-f]{64}$`,
		{"other-root", "value"}:         `^[0-9A-Za-z]{32}$`,
		{"root", "tls.crt"}:             `^-----BEGIN CERTIFICATE-----`,
		{"other-api-env-HASH", "TOKEN"}: "^" + made["token"]["value"] + "$",
	} {
		if got := made[of[0]][of[1]]; !regexp.MustCompile(pattern).MatchString(got) {
			t.Errorf("Secret %s has %q under %s", of[0], got, of[1])
		}
	}
	if _, err := tls.X509KeyPair([]byte(made["web-tls"]["tls.crt"]), []byte(made["web-tls"]["tls.key"])); err != nil {
		t.Errorf("the key is not that of the certificate: %v", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(made["root"]["tls.crt"])) || made["web-tls"]["ca.crt"] != made["root"]["tls.crt"] {
		t.Error("the certificate does not come with its CA")
	}
	block, _ := pem.Decode([]byte(made["web-tls"]["tls.crt"]))
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
		if _, err := cert.Verify(x509.VerifyOptions{Roots: roots, DNSName: "web.openstack", KeyUsages: []x509.ExtKeyUsage{usage}}); err != nil {
			t.Errorf("the CA of the chart did not sign the certificate for this: %v", err)
		}
	}
}

// TestEscapes checks that charts write the values of Secrets into texts as kolla does, and refuse the same values.
func TestEscapes(t *testing.T) {
	chart, _ := export(t, "../../../../examples/service-discovery")
	library, err := os.ReadFile(chart + "/templates/_kolla.tpl")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"Chart.yaml":            "apiVersion: v2\nname: escapes\nversion: 1.0.0\n",
		"templates/_kolla.tpl":  string(library),
		"templates/object.yaml": "values:\n{{- range .Values.cases }}\n- {{ include \"kolla.escape\" (list .place .value) | toJson }}\n{{- end }}\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	type pair struct {
		Place escape.Place `json:"place"`
		Value string       `json:"value"`
	}
	write := func(pairs ...pair) (output string, ok bool) {
		values := filepath.Join(dir, "values.json")
		raw, err := json.Marshal(map[string]any{"cases": pairs})
		if err == nil {
			err = os.WriteFile(values, raw, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return helm(t, "template", "escapes", dir, "--values="+values)
	}
	var taken []pair
	var want []any
	refused := 0
	for _, place := range []escape.Place{escape.JSON, escape.SQL, escape.URL, escape.InURL, escape.Literal, escape.INI, escape.Line, escape.Quoted, escape.Bare, escape.Env} {
		for _, value := range []string{"aZ09", "a b", "p@ss/w:rd%+", "it's", `"a"`, `a\b`, "a$b", "a$1", "a$$", "a$é", " a", "a\nb", "a\tb", "<é&>", "`a`", "a\u2028b"} {
			each := pair{place, value}
			text, err := escape.Into(place, value)
			if err == nil {
				taken, want = append(taken, each), append(want, text)
				continue
			}
			refused++
			if out, ok := write(each); ok || !strings.Contains(out, "characters that cannot stand in its place ("+string(place)+")") {
				t.Errorf("place %s: the chart takes %q\n%s", place, value, out)
			}
		}
	}
	out, ok := write(taken...)
	if !ok || refused < 20 {
		t.Fatalf("the chart refuses a value that kolla takes, or kolla only refuses %d:\n%s", refused, out)
	}
	if diff := cmp.Diff(want, objectsOf(t, out)[0]["values"]); diff != "" {
		t.Errorf("the chart writes other texts (-want +got):\n%s", diff)
	}
}
