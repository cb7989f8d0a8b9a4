package openstack_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	networking "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	gateway "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// TestIngressTLS checks that an Ingress names the Secret with the certificate for all of its host names.
func TestIngressTLS(t *testing.T) {
	objects := render(t, written(t, `exposure "outside" {
  domain = "cloud.example.org"
  mode   = "ingress"
  tls {}
}`+webs), facts())
	var ingress networking.Ingress
	o := find(t, objects, "Ingress/d")
	convert(t, o.Manifest.Object, &ingress)
	want := []networking.IngressTLS{{SecretName: "exposure-outside", Hosts: []string{"d.cloud.example.org", "d-vnc.cloud.example.org", "d-log.cloud.example.org"}}}
	if diff := cmp.Diff(want, ingress.Spec.TLS); diff != "" {
		t.Errorf("TLS (-want +got):\n%s", diff)
	}
	if got := ingress.Annotations[providers.AnnotationPublic]; !strings.HasPrefix(got, "https://d.cloud.example.org, https://d-vnc") {
		t.Errorf("the URLs are %s", got)
	}
	certificate := find(t, objects, "Secret/exposure-outside").Data["tls.crt"].Generate.Cert
	if !slices.Equal(certificate.DNSNames, []string{"*.cloud.example.org"}) || len(certificate.IPAddresses) > 0 {
		t.Errorf("the certificate is for %v and %v", certificate.DNSNames, certificate.IPAddresses)
	}
}

// TestGatewayTLS checks that routes lead to the services at the listener with TLS, that those at the
// listener for plain HTTP only redirect, and that a Gateway of another namespace may read the certificate.
func TestGatewayTLS(t *testing.T) {
	const text = `exposure "outside" {
  domain = "cloud.example.org"
  mode   = "gateway"
  PORT
  gateway {
    name         = "public"
    namespace    = "gateways"
    section      = "https"
    http_section = "http"
  }
  tls { hsts_max_age = 60 }
}` + webs
	routeOf := func(objects []providers.Object, name string) (route gateway.HTTPRoute, waits bool) {
		o := find(t, objects, "HTTPRoute/"+name)
		convert(t, o.Manifest.Object, &route)
		return route, providers.IsWayIn(o.Manifest)
	}
	objects := render(t, written(t, strings.Replace(text, "PORT", "", 1)), facts())
	route, waits := routeOf(objects, "d-vnc")
	rule := route.Spec.Rules[0]
	if !waits || *route.Spec.ParentRefs[0].SectionName != "https" || route.Annotations[providers.AnnotationPublic] != "https://d-vnc.cloud.example.org" || len(rule.BackendRefs) != 1 {
		t.Errorf("the route is %+v", route)
	}
	if filter := rule.Filters[0]; len(rule.Filters) != 1 || filter.Type != gateway.HTTPRouteFilterResponseHeaderModifier || filter.ResponseHeaderModifier.Set[0] != (gateway.HTTPHeader{Name: "Strict-Transport-Security", Value: "max-age=60"}) {
		t.Errorf("its filters are %+v", rule.Filters)
	}
	redirect, waits := routeOf(objects, "d-to-https")
	rule = redirect.Spec.Rules[0]
	if !waits || *redirect.Spec.ParentRefs[0].SectionName != "http" || len(redirect.Spec.Hostnames) != 3 || len(rule.BackendRefs) > 0 || redirect.Annotations[providers.AnnotationPublic] != "" {
		t.Errorf("the redirect is %+v", redirect)
	}
	if to := rule.Filters[0].RequestRedirect; *to.Scheme != "https" || *to.StatusCode != 301 || to.Port != nil || to.Hostname != nil {
		t.Errorf("it leads to %+v", to)
	}
	var grant gateway.ReferenceGrant
	o := find(t, objects, "ReferenceGrant/exposure-outside")
	convert(t, o.Manifest.Object, &grant)
	if from, to := grant.Spec.From[0], grant.Spec.To[0]; from != (gateway.ReferenceGrantFrom{Group: "gateway.networking.k8s.io", Kind: "Gateway", Namespace: "gateways"}) || to.Group != "" || to.Kind != "Secret" || *to.Name != "exposure-outside" {
		t.Errorf("the permission is %+v", grant.Spec)
	}
	if o.Address.String() != "exposure.outside/ReferenceGrant/exposure-outside" || o.Ref().Namespace != "openstack" || o.Manifest.GetLabels()[providers.LabelCloud] != "c" {
		t.Errorf("the permission has the address %s, and is %v", o.Address, o.Manifest.Object)
	}

	objects = render(t, written(t, strings.Replace(text, "PORT", "port = 8443", 1)), facts())
	redirect, _ = routeOf(objects, "d-to-https")
	if to := redirect.Spec.Rules[0].Filters[0].RequestRedirect; *to.Port != 8443 {
		t.Errorf("with another port, it leads to %+v", to)
	}
	simple := strings.NewReplacer("PORT", "", `    http_section = "http"`, "", `    namespace    = "gateways"`, "", "hsts_max_age = 60", "hsts_max_age = 0")
	objects = render(t, written(t, simple.Replace(text)), facts())
	if route, _ = routeOf(objects, "d"); len(route.Spec.Rules[0].Filters) > 0 {
		t.Errorf("without HSTS, the filters are %+v", route.Spec.Rules[0].Filters)
	}
	for _, o := range objects {
		if o.Ref().GVK.Kind == "ReferenceGrant" || o.Ref().Name == "d-to-https" {
			t.Errorf("there is %s", o.Address)
		}
	}
}

// withIssuer is an exposure whose certificate comes from cert-manager. EXPOSURE and TLS stand for arguments.
const withIssuer = `exposure "outside" {
  EXPOSURE
  tls {
    issuer = "letsencrypt"
    TLS
  }
}` + webs

// TestIssued checks the request to cert-manager.
func TestIssued(t *testing.T) {
	hosts := "domain = \"cloud.example.org\"\n  mode = \"ingress\""
	for name, test := range map[string]struct{ exposure, tls, want string }{
		"a name":      {"vip = \"192.0.2.1\"\n  fqdn = \"cloud.example.org\"", "", `{dnsNames: [cloud.example.org], issuerRef: {kind: Issuer}}`},
		"an address":  {`vip = "192.0.2.1"`, `algorithm = "rsa"`, `{ipAddresses: [192.0.2.1], privateKey: {algorithm: RSA}}`},
		"further":     {"vip = \"192.0.2.1\"\n  fqdn = \"a.example.org\"", "dns_names = [\"b.example.org\"]\n ip_addresses = [\"192.0.2.1\"]\n issuer_kind = \"ClusterIssuer\"", `{dnsNames: [b.example.org, a.example.org], ipAddresses: [192.0.2.1], issuerRef: {kind: ClusterIssuer}}`},
		"times":       {`vip = "192.0.2.1"`, "validity_days = 60\n renew_before = 20", `{ipAddresses: [192.0.2.1], duration: 1440h, renewBefore: 480h}`},
		"host names":  {hosts, "", `{dnsNames: [d-log.cloud.example.org, d-vnc.cloud.example.org, d.cloud.example.org]}`},
		"a wildcard":  {hosts, `dns_names = ["*.cloud.example.org"]`, `{dnsNames: ["*.cloud.example.org"]}`},
		"another one": {hosts, `dns_names = ["*.example.org"]`, `{dnsNames: ["*.example.org", d-log.cloud.example.org, d-vnc.cloud.example.org, d.cloud.example.org]}`},
	} {
		t.Run(name, func(t *testing.T) {
			objects := render(t, written(t, strings.NewReplacer("EXPOSURE", test.exposure, "TLS", test.tls).Replace(withIssuer)), facts())
			o := find(t, objects, "Certificate/exposure-outside-tls")
			want := map[string]any{"secretName": "exposure-outside-tls", "usages": []any{"digital signature", "key encipherment", "server auth"}, "privateKey": map[string]any{"algorithm": "ECDSA"}}
			var more map[string]any
			if err := yaml.Unmarshal([]byte(test.want), &more); err != nil {
				t.Fatal(err)
			}
			issuer := map[string]any{"group": "cert-manager.io", "kind": "Issuer", "name": "letsencrypt"}
			if given, _ := more["issuerRef"].(map[string]any); given != nil {
				issuer["kind"] = given["kind"]
			}
			for key, value := range more {
				want[key] = value
			}
			want["issuerRef"] = issuer
			if diff := cmp.Diff(want, o.Manifest.Object["spec"]); diff != "" {
				t.Errorf("the Certificate (-want +got):\n%s", diff)
			}
			if o.Address.Block != "exposure.outside" || !providers.IsWayIn(o.Manifest) || !strings.Contains(o.Source, "cloud.hcl:") {
				t.Errorf("its address is %s, from %s", o.Address, o.Source)
			}
			for _, pod := range []string{"Deployment/d-w", "StatefulSet/d-log"} {
				if slices.Contains(find(t, objects, pod).DependsOn, o.Address) {
					t.Errorf("%s waits for the certificate", pod)
				}
			}
			for _, o := range objects {
				if strings.HasPrefix(o.Ref().Name, "exposure-outside") && o.Ref().GVK.GroupKind() == kinds.Secret {
					t.Errorf("kolla makes %s too", o.Address)
				}
			}
		})
	}
}

// TestIssuerServed checks the diagnostics about cert-manager and its issuers.
func TestIssuerServed(t *testing.T) {
	const (
		issuer = `{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: letsencrypt, namespace: openstack}}`
		all    = `{apiVersion: cert-manager.io/v1, kind: ClusterIssuer, metadata: {name: letsencrypt}}`
		crd    = "\nmanifest \"api\" { object = { apiVersion = \"apiextensions.k8s.io/v1\", kind = \"CustomResourceDefinition\", metadata = { name = \"certificates.cert-manager.io\" } } }\n"
		own    = "\nmanifest \"ca\" { object = { apiVersion = \"cert-manager.io/v1\", kind = \"Issuer\", metadata = { name = \"letsencrypt\" }, spec = { selfSigned = {} } } }\n"
	)
	text := strings.NewReplacer("EXPOSURE", `vip = "192.0.2.1"`, "TLS", "").Replace(withIssuer)
	cluster := strings.Replace(text, `issuer = "letsencrypt"`, "issuer = \"letsencrypt\"\n issuer_kind = \"ClusterIssuer\"", 1)
	for name, test := range map[string]struct {
		text, live string
		err        error
		want       []string // parts of a diagnostic
		fails      bool
	}{
		"an issuer":            {text, issuer, nil, nil, false},
		"one of the cluster":   {cluster, all, nil, nil, false},
		"one by a manifest":    {text + own, "", nil, nil, false},
		"another name":         {text, strings.Replace(issuer, "letsencrypt", "letsencrypted", 1), nil, []string{`Namespace "openstack" has no Issuer "letsencrypt"`, `Did you mean "letsencrypted"?`, "There are the Issuers: letsencrypted."}, false},
		"another kind":         {cluster, issuer, nil, []string{`The cluster has no ClusterIssuer "letsencrypt"`, "There are no ClusterIssuers."}, false},
		"no cert-manager":      {text, "", &meta.NoKindMatchError{}, []string{"does not have cert-manager", "Install cert-manager first"}, true},
		"cert-manager to come": {text + crd, "", &meta.NoKindMatchError{}, nil, false},
		"unread":               {text, "", errors.New("no right"), nil, false},
		"not in use":           {strings.Replace(text, "expose = exposure.outside", "", 1), "", &meta.NoKindMatchError{}, []string{"does not have cert-manager"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := facts()
			f.List = func(scope providers.Scope) ([]*unstructured.Unstructured, error) {
				u := &unstructured.Unstructured{}
				if err := yaml.Unmarshal([]byte(test.live), &u.Object); err != nil {
					t.Fatal(err)
				}
				if test.err != nil || test.live == "" || u.GroupVersionKind() != scope.GVK || u.GetNamespace() != scope.Namespace {
					return nil, test.err
				}
				return []*unstructured.Unstructured{u}, nil
			}
			_, diags := rendered(written(t, test.text), f)
			var got []string
			for _, d := range diags {
				if strings.Contains(d.Summary, "ssuer") || strings.Contains(d.Summary, "cert-manager") {
					got = append(got, d.Summary+" "+d.Detail)
				}
			}
			if len(got) != min(len(test.want), 1) || diags.HasErrors() != test.fails {
				t.Fatalf("got %v", diags)
			}
			for _, part := range test.want {
				if !strings.Contains(got[0], part) {
					t.Errorf("%q lacks %q", got[0], part)
				}
			}
		})
	}
}

// TestCertificateReadiness checks when a Certificate is ready: cert-manager has said so of its present
// specification.
func TestCertificateReadiness(t *testing.T) {
	for name, test := range map[string]struct{ status, want string }{
		"new":      {"{}", "cert-manager: its controller has not said yet whether the certificate is Ready"},
		"changed":  {`{conditions: [{type: Ready, status: "True", observedGeneration: 1}]}`, "cert-manager: its controller has not seen the change yet"},
		"pending":  {`{conditions: [{type: Ready, status: "False", observedGeneration: 2, reason: DoesNotExist, message: "Issuing certificate as Secret does not exist"}]}`, "cert-manager: the certificate is not Ready (DoesNotExist): Issuing certificate as Secret does not exist"},
		"failed":   {`{conditions: [{type: Issuing, status: "False", observedGeneration: 2, reason: Failed, message: "the order is errored"}, {type: Ready, status: "False", observedGeneration: 2, reason: DoesNotExist, message: "the Secret does not exist"}]}`, "cert-manager: the certificate is not Ready (DoesNotExist): the Secret does not exist. The last attempt failed: the order is errored"},
		"retried":  {`{conditions: [{type: Issuing, status: "False", observedGeneration: 1, reason: Failed, message: "the order is errored"}, {type: Ready, status: "False", observedGeneration: 2, reason: DoesNotExist, message: "the Secret does not exist"}]}`, "cert-manager: the certificate is not Ready (DoesNotExist): the Secret does not exist"},
		"is ready": {`{conditions: [{type: Issuing, status: "False"}, {type: Ready, status: "True", observedGeneration: 2}]}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{}
			text := fmt.Sprintf("{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: a, generation: 2}, status: %s}", test.status)
			document, err := yaml.YAMLToJSON([]byte(text))
			if err == nil {
				err = u.UnmarshalJSON(document)
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := providers.WayInProblem(u); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// TestIssuedCertificateEnds checks that a plan warns only of a certificate of cert-manager that has ended:
// cert-manager makes another one for other names.
func TestIssuedCertificateEnds(t *testing.T) {
	now := time.Now()
	values := certificateFor(t, "other.example.org")
	for name, test := range map[string]struct {
		later time.Duration
		want  string
	}{"ends soon": {80 * 24 * time.Hour, ""}, "has ended": {91 * 24 * time.Hour, "The certificate has ended"}} {
		t.Run(name, func(t *testing.T) {
			f := facts()
			f.Now = now.Add(test.later)
			f.Values = func(_, name string) map[string][]byte {
				if name == "exposure-public-tls" {
					return values
				}
				return nil
			}
			_, diags := rendered(loadDashboard(t, "tls {\n    issuer = \"letsencrypt\"\n  }"), f)
			var got []string
			for _, d := range diags {
				got = append(got, d.Summary)
			}
			if strings.Join(got, " ") != test.want || diags.HasErrors() {
				t.Errorf("got %v", diags)
			}
		})
	}
}

// TestGivenForHostNames checks that a given certificate has to cover the host name of each exposed port.
func TestGivenForHostNames(t *testing.T) {
	config := written(t, `exposure "outside" {
  domain = "cloud.example.org"
  mode   = "ingress"
  tls { secret_name = "given" }
}`+webs)
	for host, want := range map[string]int{"*.cloud.example.org": 0, "d.cloud.example.org": 2} {
		values := certificateFor(t, host)
		f := facts()
		f.Now = time.Now()
		f.Values = func(_, name string) map[string][]byte {
			if name == "given" {
				return values
			}
			return nil
		}
		_, diags := rendered(config, f)
		got := 0
		for _, d := range diags {
			if d.Summary == "The certificate is for other names" {
				got++
			}
		}
		if got != want {
			t.Errorf("a certificate for %s: %d names are missing, want %d: %v", host, got, want, diags)
		}
	}
}
