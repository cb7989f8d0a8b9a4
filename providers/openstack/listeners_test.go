package openstack_test

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack"
)

// liveIn returns the objects of a scope in YAML documents.
func liveIn(t *testing.T, documents string, scope providers.Scope) []*unstructured.Unstructured {
	t.Helper()
	var out []*unstructured.Unstructured
	for text := range strings.SplitSeq(documents, "\n") {
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
			t.Fatal(err)
		}
		if u.Object != nil && u.GroupVersionKind() == scope.GVK && u.GetNamespace() == scope.Namespace {
			out = append(out, u)
		}
	}
	return out
}

// TestListeners checks the warnings about listeners of a Gateway that do not take the routes of an exposure.
func TestListeners(t *testing.T) {
	const (
		route = `exposure "outside" {
  domain = "cloud.example.org"
  mode   = "gateway"
  gateway {
    name      = "public"
    namespace = "gateways"
    section   = "web"
  }
}` + webs
		class = "\n" + `{apiVersion: gateway.networking.k8s.io/v1, kind: GatewayClass, metadata: {name: any}, spec: {controllerName: NAME}}`
		label = "\n" + `{apiVersion: v1, kind: Namespace, metadata: {name: openstack, labels: {gateway: public}}}`
		shop  = "\nmanifest \"namespace\" { object = { apiVersion = \"v1\", kind = \"Namespace\", metadata = { name = \"openstack\", labels = { gateway = \"public\" } } } }\n"
	)
	gateway := func(listeners ...string) string {
		return `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: public, namespace: gateways}, spec: {gatewayClassName: any, listeners: [` + strings.Join(listeners, ", ") + `]}}`
	}
	listener := func(fields string) string { return "{name: web, port: 80, protocol: HTTP, " + fields + "}" }
	all := func(fields string) string { return listener("allowedRoutes: {namespaces: {from: All}}" + fields) }
	selector := func(s string) string {
		return gateway(listener("allowedRoutes: {namespaces: {from: Selector, selector: {" + s + "}}}"))
	}
	anywhere := strings.Replace(route, `section   = "web"`, "", 1)
	redirected := strings.Replace(strings.Replace(route, "  gateway {", "  tls {}\n  gateway {", 1), `section   = "web"`, `section   = "https"
    http_section = "web"`, 1)
	const secure = "{name: https, port: 443, protocol: HTTPS, allowedRoutes: {namespaces: {from: All}}, tls: {certificateRefs: [{name: exposure-outside, namespace: openstack}]}}"
	const takesNone = `Gateway "public" has no listener for exposure "outside"`
	for name, test := range map[string]struct {
		text, live string
		want       []string // parts of a diagnostic each
	}{
		"all namespaces":              {route, gateway(all("")), nil},
		"its own by default":          {route, gateway(listener("")), []string{`Listener "web" of Gateway "public" admits no routes from namespace "openstack"`, `admit only namespace "gateways"`, "kubernetes.io/metadata.name: openstack"}},
		"its own":                     {route, gateway(listener("allowedRoutes: {namespaces: {from: Same}}")), []string{"admits no routes"}},
		"the namespace of the cloud":  {strings.Replace(route, `namespace = "gateways"`, "", 1), strings.Replace(gateway(listener("")), "namespace: gateways", "namespace: openstack", 1), nil},
		"no namespace":                {route, gateway(listener("allowedRoutes: {namespaces: {from: None}}")), []string{"admits no routes", `admit namespaces "None"`}},
		"a name":                      {route, selector("matchLabels: {kubernetes.io/metadata.name: openstack}"), nil},
		"another name":                {route, selector("matchLabels: {kubernetes.io/metadata.name: shop}"), []string{"admits no routes", "the labels kubernetes.io/metadata.name=shop"}},
		"a label of kolla":            {route, selector("matchLabels: {app.kubernetes.io/managed-by: kolla}"), nil},
		"a label that is live":        {route, selector("matchLabels: {gateway: public}") + label, nil},
		"a label of a manifest":       {route + shop, selector("matchLabels: {gateway: public}"), nil},
		"a label that nobody sets":    {route, selector("matchLabels: {gateway: public}"), []string{"admits no routes", "the labels gateway=public"}},
		"an expression":               {route, selector("matchExpressions: [{key: kubernetes.io/metadata.name, operator: NotIn, values: [openstack]}]"), []string{"admits no routes", "notin (openstack)"}},
		"routes of HTTP":              {route, gateway(listener("allowedRoutes: {namespaces: {from: All}, kinds: [{kind: GRPCRoute}, {kind: HTTPRoute}]}")), nil},
		"routes of gRPC":              {route, gateway(listener("allowedRoutes: {namespaces: {from: All}, kinds: [{kind: GRPCRoute}]}")), []string{`Listener "web" of Gateway "public" admits no HTTPRoutes`, "kinds has only GRPCRoute."}},
		"its host names":              {route, gateway(all(`, hostname: "*.cloud.example.org"`)), nil},
		"a wildcard above":            {route, gateway(all(`, hostname: "*.example.org"`)), nil},
		"the domain itself":           {route, gateway(all(`, hostname: cloud.example.org`)), []string{`Listener "web" of Gateway "public" is for other host names`, "d-log.cloud.example.org", "Set its hostname to *.cloud.example.org"}},
		"the host name of one":        {route, gateway(all(`, hostname: d.cloud.example.org`)), []string{"is for other host names", "has d-log.cloud.example.org, d-vnc.cloud.example.org."}},
		"TCP":                         {route, gateway(strings.Replace(all(""), "HTTP", "TCP", 1)), []string{`Listener "web" of Gateway "public" is not for HTTP`, "the protocol TCP."}},
		"another port":                {route, gateway(strings.Replace(all(""), "80", "8080", 1)), []string{`Listener "web" of Gateway "public" has port 8080`, "connect to port 80,", "Set `port = 8080`"}},
		"another port of a class":     {route, gateway(strings.Replace(all(""), "80", "8080", 1)) + strings.Replace(class, "NAME", "example.org/any", 1), []string{"has port 8080"}},
		"another port of Traefik":     {route, gateway(strings.Replace(all(""), "80", "8000", 1)) + strings.Replace(class, "NAME", "traefik.io/gateway-controller", 1), nil},
		"one of several listeners":    {anywhere, gateway("{name: other, port: 443, protocol: HTTPS}", all("")), nil},
		"no listener at all":          {anywhere, gateway(), []string{takesNone, "need a listener with the protocol HTTP", "at port 80"}},
		"none of several":             {anywhere, gateway("{name: other, port: 443, protocol: HTTPS}", listener("")), []string{takesNone, `from namespace "openstack"`, `Listener "other" has TLS. Listener "web" admits no routes from namespace "openstack".`}},
		"listeners for each host":     {anywhere, gateway(all(", hostname: d.cloud.example.org"), all(", hostname: d-vnc.cloud.example.org"), all(", hostname: d-log.cloud.example.org")), nil},
		"listeners for some hosts":    {anywhere, gateway(all(", hostname: d.cloud.example.org"), all(", hostname: d-log.cloud.example.org")), []string{takesNone, "The routes for d-vnc.cloud.example.org need"}},
		"a redirect":                  {redirected, gateway(secure, all("")), nil},
		"a redirect without a way in": {redirected, gateway(secure, listener("")), []string{`Listener "web" of Gateway "public" admits no routes from namespace "openstack"`}},
		"a redirect for others":       {redirected, gateway(secure, all(", hostname: example.org")), []string{`Listener "web" of Gateway "public" is for other host names`}},
		"TLS at another port":         {redirected, gateway(strings.Replace(secure, "443", "8443", 1), all("")), []string{`Listener "https" of Gateway "public" has port 8443`, "connect to port 443,"}},
	} {
		t.Run(name, func(t *testing.T) {
			config := written(t, test.text)
			diags, unread := openstack.CheckServed(config, func(scope providers.Scope) ([]*unstructured.Unstructured, error) {
				return liveIn(t, test.live, scope), nil
			})
			if unread != nil || len(diags) != min(len(test.want), 1) {
				t.Fatalf("got %v, %v", diags, unread)
			}
			for _, part := range test.want {
				if got := diags[0].Summary + " " + diags[0].Detail; !strings.Contains(got, part) {
					t.Errorf("%q lacks %q", got, part)
				}
			}
		})
	}
	for name, c := range map[string]struct {
		live, unread string // a Gateway, and the kind that cannot be read
	}{
		"labels unread":  {selector("matchLabels: {gateway: public}"), "Namespace"},
		"classes unread": {gateway(strings.Replace(all(""), "80", "8080", 1)), "GatewayClass"},
	} {
		t.Run(name, func(t *testing.T) {
			denied := errors.New("no right")
			diags, unread := openstack.CheckServed(written(t, route), func(scope providers.Scope) ([]*unstructured.Unstructured, error) {
				if scope.GVK.Kind == c.unread {
					return nil, denied
				}
				return liveIn(t, c.live, scope), nil
			})
			if len(diags) > 0 || !errors.Is(unread, denied) {
				t.Errorf("got %v, %v", diags, unread)
			}
		})
	}
}
