package openstack_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	gateway "sigs.k8s.io/gateway-api/apis/v1"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack"
)

// TestProtocols checks that the same port number can be open for TCP and UDP, and that a probe has
// the declared scheme and headers.
func TestProtocols(t *testing.T) {
	objects := render(t, written(t, `exposure "outside" {
  vip = "192.0.2.10"
}
definition "d" {
  port "dns" {
    number    = 53
    expose    = true
    node_port = 30053
  }
  port "dns-udp" {
    number    = 53
    protocol  = "udp"
    expose    = true
    node_port = 30053
  }
  workload "w" {
    kind  = "Deployment"
    image = "d"
    ports = ["dns", "dns-udp"]
    ready {
      http    = "/"
      port    = "dns"
      scheme  = "https"
      headers = { B = "2", A = "1" }
    }
  }
}
service "d" {
  expose = exposure.outside
  allow "a" {
    ports = ["dns-udp", "99/udp", "98"]
    cidrs = ["192.0.2.0/24"]
  }
}
`), facts())
	var service v1.Service
	convert(t, find(t, objects, "Service/d").Manifest.Object, &service)
	got := ""
	for _, p := range service.Spec.Ports {
		got += fmt.Sprintf("%s %d/%s at %d, ", p.Name, p.Port, p.Protocol, p.NodePort)
	}
	if want := "dns 53/TCP at 30053, dns-udp 53/UDP at 30053, "; got != want {
		t.Errorf("the service has %s, want %s", got, want)
	}
	spec, _, _ := podOf(t, find(t, objects, "Deployment/d-w"))
	main := spec.Containers[0]
	if len(main.Ports) != 2 || main.Ports[0].Protocol != v1.ProtocolTCP || main.Ports[1].Protocol != v1.ProtocolUDP {
		t.Errorf("the pod has %v", main.Ports)
	}
	get := main.ReadinessProbe.HTTPGet
	if get.Scheme != v1.URISchemeHTTPS || fmt.Sprint(get.HTTPHeaders) != "[{A 1} {B 2}]" {
		t.Errorf("it is asked by %+v", get)
	}
	var policy networking.NetworkPolicy
	convert(t, find(t, objects, "NetworkPolicy/d").Manifest.Object, &policy)
	got = ""
	for _, rule := range policy.Spec.Ingress {
		for _, p := range rule.Ports {
			got += fmt.Sprintf("%s/%s ", p.Port, *p.Protocol)
		}
	}
	if want := "53/TCP 53/UDP 98/TCP 53/UDP 99/UDP "; got != want {
		t.Errorf("the policy opens %s, want %s", got, want)
	}
}

// TestLoadBalancer checks that a load balancer is asked for the address of an exposure, with the public
// port numbers, and that the Service for clients inside has no part in it.
func TestLoadBalancer(t *testing.T) {
	objects := render(t, written(t, `exposure "outside" {
  vip         = "192.0.2.10"
  fqdn        = "cloud.example.org"
  mode        = "loadbalancer"
  class       = "example.org/balancer"
  annotations = { "example.org/share" = "outside" }
}
definition "d" {
  port "api" {
    number    = 8080
    expose    = true
    public    = 80
    node_port = 30080
  }
  workload "w" {
    kind  = "Deployment"
    image = "d"
    ports = ["api"]
  }
}
service "d" { expose = exposure.outside }
`), facts())
	var inside, outside v1.Service
	convert(t, find(t, objects, "Service/d").Manifest.Object, &inside)
	convert(t, find(t, objects, "Service/d-public").Manifest.Object, &outside)
	if inside.Spec.Type != v1.ServiceTypeClusterIP || inside.Spec.Ports[0].Port != 8080 || inside.Annotations[providers.AnnotationPublic] != "" {
		t.Errorf("inside there is %+v", inside)
	}
	spec := outside.Spec
	if spec.Type != v1.ServiceTypeLoadBalancer || *spec.LoadBalancerClass != "example.org/balancer" || spec.LoadBalancerIP != "192.0.2.10" {
		t.Errorf("outside there is %+v", spec)
	}
	if len(spec.IPFamilies) != 1 || spec.IPFamilies[0] != v1.IPv4Protocol || *spec.IPFamilyPolicy != v1.IPFamilyPolicySingleStack {
		t.Errorf("outside the families are %v, %v", spec.IPFamilies, spec.IPFamilyPolicy)
	}
	if needed := find(t, objects, "Deployment/d-w").DependsOn; slices.ContainsFunc(needed, func(a addrs.Object) bool { return a.Name == "d-public" }) {
		t.Errorf("pods wait for a load balancer: %v", needed)
	}
	if p := spec.Ports[0]; p.Port != 80 || p.TargetPort.StrVal != "api" || p.NodePort != 0 {
		t.Errorf("the port outside is %+v", p)
	}
	if got := outside.Annotations; got["example.org/share"] != "outside" || got[providers.AnnotationPublic] != "cloud.example.org (192.0.2.10)" {
		t.Errorf("the annotations are %v", got)
	}
}

// webs is a definition with a port of a Deployment, one of a further workload, and one of a StatefulSet.
const webs = `
definition "d" {
  port "api" {
    number    = 8080
    expose    = true
    node_port = 30080
    public    = 80
  }
  port "admin" {
    number = 8081
  }
  port "vnc" {
    number    = 6080
    expose    = true
    node_port = 30081
  }
  port "log" {
    number    = 9000
    expose    = true
    node_port = 30082
  }
  workload "w" {
    kind  = "Deployment"
    image = "d"
    ports = ["api", "admin"]
    ready {
      http = "/"
      port = "api"
    }
  }
  workload "vnc" {
    kind  = "Deployment"
    image = "d"
    ports = ["vnc"]
    ready {
      http = "/"
      port = "vnc"
    }
  }
  workload "log" {
    kind  = "StatefulSet"
    image = "d"
    ports = ["log"]
    ready {
      http = "/"
      port = "log"
    }
  }
}
service "d" { expose = exposure.outside }
`

// types lists the Services of objects with their types.
func types(t *testing.T, objects []providers.Object) string {
	t.Helper()
	out := ""
	for _, o := range objects {
		if o.Ref().GVK.Kind == "Service" {
			var service v1.Service
			convert(t, o.Manifest.Object, &service)
			out += fmt.Sprintf("%s %s %s, ", o.Ref().Name, service.Spec.Type, service.Annotations[providers.AnnotationPublic])
		}
	}
	return out
}

// TestIngress checks that the mode ingress leads a host name for each port to Services that stay
// inside, and that no pod waits for the Ingress.
func TestIngress(t *testing.T) {
	objects := render(t, written(t, `exposure "outside" {
  domain      = "cloud.example.org"
  mode        = "ingress"
  class       = "traefik"
  annotations = { "example.org/body" = "0" }
}`+webs), facts())
	if got, want := types(t, objects), "d ClusterIP , d-vnc ClusterIP , d-log-public ClusterIP , d-log ClusterIP , "; got != want {
		t.Errorf("the Services are %s, want %s", got, want)
	}
	o := find(t, objects, "Ingress/d")
	var ingress networking.Ingress
	convert(t, o.Manifest.Object, &ingress)
	got := ""
	for _, rule := range ingress.Spec.Rules {
		for _, path := range rule.HTTP.Paths {
			to := path.Backend.Service
			got += fmt.Sprintf("%s %s%s to %s:%s, ", *path.PathType, rule.Host, path.Path, to.Name, to.Port.Name)
		}
	}
	if want := "Prefix d.cloud.example.org/ to d:api, Prefix d-vnc.cloud.example.org/ to d-vnc:vnc, Prefix d-log.cloud.example.org/ to d-log-public:log, "; got != want {
		t.Errorf("the rules are %s, want %s", got, want)
	}
	if *ingress.Spec.IngressClassName != "traefik" {
		t.Errorf("the class is %s", *ingress.Spec.IngressClassName)
	}
	if got := ingress.Annotations; got["example.org/body"] != "0" || got[providers.AnnotationPublic] != "http://d.cloud.example.org, http://d-vnc.cloud.example.org, http://d-log.cloud.example.org" || !providers.IsWayIn(o.Manifest) {
		t.Errorf("the annotations are %v", got)
	}
	for _, name := range []string{"Deployment/d-w", "StatefulSet/d-log"} {
		if needed := find(t, objects, name).DependsOn; slices.Contains(needed, o.Address) || !slices.ContainsFunc(needed, func(a addrs.Object) bool { return a.Name == "d" && a.Kind == "Service" }) {
			t.Errorf("%s waits for %v", name, needed)
		}
	}
	if !slices.ContainsFunc(o.DependsOn, func(a addrs.Object) bool { return a.Name == "d-log-public" }) {
		t.Errorf("the Ingress does not wait for its Services: %v", o.DependsOn)
	}
	objects = render(t, written(t, `exposure "outside" {
  domain           = "cloud.example.org"
  mode             = "ingress"
  wait_for_address = false
}`+webs), facts())
	o = find(t, objects, "Ingress/d")
	if providers.IsWayIn(o.Manifest) {
		t.Error("an apply waits for an address")
	}
	if _, found, _ := unstructured.NestedFieldNoCopy(o.Manifest.Object, "spec", "ingressClassName"); found {
		t.Error("there is a class")
	}
}

// TestGateway checks that the mode gateway makes a route for each port.
func TestGateway(t *testing.T) {
	objects := render(t, written(t, `exposure "outside" {
  domain = "cloud.example.org"
  mode   = "gateway"
  port   = 8080
  gateway {
    name      = "public"
    namespace = "gateways"
    section   = "web"
  }
}`+webs), facts())
	if got, want := types(t, objects), "d ClusterIP , d-vnc ClusterIP , d-log-public ClusterIP , d-log ClusterIP , "; got != want {
		t.Errorf("the Services are %s, want %s", got, want)
	}
	for name, want := range map[string]string{
		"d":     "d.cloud.example.org:8080 d 8080",
		"d-vnc": "d-vnc.cloud.example.org:8080 d-vnc 6080",
		"d-log": "d-log.cloud.example.org:8080 d-log-public 9000",
	} {
		o := find(t, objects, "HTTPRoute/"+name)
		var route gateway.HTTPRoute
		convert(t, o.Manifest.Object, &route)
		to := route.Spec.Rules[0].BackendRefs[0]
		if got := fmt.Sprintf("%s:8080 %s %d", route.Spec.Hostnames[0], to.Name, *to.Port); got != want {
			t.Errorf("%s leads %s, want %s", name, got, want)
		}
		if parent := route.Spec.ParentRefs[0]; parent.Name != "public" || *parent.Namespace != "gateways" || *parent.SectionName != "web" {
			t.Errorf("the parent of %s is %+v", name, parent)
		}
		if got := route.Annotations[providers.AnnotationPublic]; got != "http://"+string(route.Spec.Hostnames[0])+":8080" || !providers.IsWayIn(o.Manifest) {
			t.Errorf("the address of %s is %s", name, got)
		}
	}
}

// TestPublicPorts checks that a Service on the nodes names the ports that have other numbers at the VIP.
func TestPublicPorts(t *testing.T) {
	objects := render(t, written(t, `exposure "outside" { vip = "192.0.2.10" }`+webs), facts())
	if got, want := types(t, objects), "d ClusterIP , d-public NodePort 192.0.2.10, d-vnc NodePort 192.0.2.10, d-log-public NodePort 192.0.2.10, d-log ClusterIP , "; got != want {
		t.Errorf("the Services are %s, want %s", got, want)
	}
	for name, want := range map[string]string{"d-public": "api=80", "d-vnc": ""} {
		if got := find(t, objects, "Service/"+name).Manifest.GetAnnotations()[providers.AnnotationPublicPorts]; got != want {
			t.Errorf("%s has %q, want %q", name, got, want)
		}
	}
}

// TestServed checks the warnings about programs of the cluster that exposures need and nobody has
// installed.
func TestServed(t *testing.T) {
	const (
		ingress = `exposure "outside" {
  domain = "cloud.example.org"
  mode   = "ingress"
  CLASS
}` + webs
		route = `exposure "outside" {
  domain = "cloud.example.org"
  mode   = "gateway"
  gateway {
    name      = "public"
    namespace = "gateways"
    section   = "web"
  }
}` + webs
		class      = `{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: traefik}}`
		byDefault  = `{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: traefik, annotations: {ingressclass.kubernetes.io/is-default-class: "true"}}}`
		secure     = `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: public, namespace: gateways}, spec: {gatewayClassName: any, listeners: [{name: web, port: 443, protocol: HTTPS, allowedRoutes: {namespaces: {from: All}}, tls: {certificateRefs: [{name: exposure-outside, namespace: openstack}]}}, {name: http, port: 8080, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]}}`
		entry      = `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: public, namespace: gateways}, spec: {gatewayClassName: any, listeners: [{name: web, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]}}`
		definition = "\nmanifest \"api\" { object = { apiVersion = \"apiextensions.k8s.io/v1\", kind = \"CustomResourceDefinition\", metadata = { name = \"httproutes.gateway.networking.k8s.io\" } } }\n"
	)
	named := strings.Replace(ingress, "CLASS", `class = "traefic"`, 1)
	encrypted := strings.Replace(strings.Replace(route, "  gateway {", "  tls {}\n  gateway {", 1), `section   = "web"`, `section   = "web"
    http_section = "http"`, 1)
	for name, test := range map[string]struct {
		text, live string
		err        error
		want       []string // parts of a diagnostic each
	}{
		"a class":                {strings.Replace(ingress, "CLASS", `class = "traefik"`, 1), class, nil, nil},
		"the default":            {strings.Replace(ingress, "CLASS", "", 1), byDefault, nil, nil},
		"no default":             {strings.Replace(ingress, "CLASS", "", 1), class, nil, []string{"no default Ingress class", "There are the classes: traefik."}},
		"another class":          {named, class, nil, []string{`no Ingress class "traefic"`, `Did you mean "traefik"?`}},
		"no class at all":        {named, "", nil, []string{`no Ingress class "traefic"`, "There are no classes."}},
		"classes unread":         {named, "", errors.New("no right"), nil},
		"a class by a manifest":  {strings.Replace(ingress, "CLASS", `class = "own"`, 1) + "\nmanifest \"own\" { object = { apiVersion = \"networking.k8s.io/v1\", kind = \"IngressClass\", metadata = { name = \"own\" }, spec = { controller = \"a.example.org/b\" } } }\n", "", nil, nil},
		"a gateway":              {route, entry, nil, nil},
		"another gateway":        {route, strings.Replace(entry, "public", "publik", 1), nil, []string{`Namespace "gateways" has no Gateway "public"`, `Did you mean "publik"?`}},
		"another listener":       {route, strings.Replace(entry, "name: web", "name: webs", 1), nil, []string{`Gateway "public" has no listener "web"`, `Did you mean "webs"?`}},
		"TLS":                    {encrypted, secure, nil, nil},
		"a listener without TLS": {encrypted, strings.Replace(secure, "protocol: HTTPS", "protocol: HTTP", 1), nil, []string{`Listener "web" of Gateway "public" has no TLS`, "the protocol HTTP."}},
		"a listener with TLS":    {route, secure, nil, []string{`Listener "web" of Gateway "public" has TLS`, "Add the block"}},
		"another certificate":    {encrypted, strings.Replace(secure, "name: exposure-outside", "name: other", 1), nil, []string{"does not have the certificate", "Secret openstack/exposure-outside", "namespace: openstack"}},
		"a Secret elsewhere":     {encrypted, strings.Replace(secure, ", namespace: openstack}]", "}]", 1), nil, []string{"does not have the certificate"}},
		"no listener for HTTP":   {encrypted, strings.Replace(secure, "name: http,", "name: https,", 1), nil, []string{`has no listener "http"`, `Did you mean "https"?`}},
		"a redirect from TLS":    {encrypted, strings.Replace(secure, "8080, protocol: HTTP", "8080, protocol: HTTPS", 1), nil, []string{`Listener "http" of Gateway "public" is not for plain HTTP`}},
		"no Gateway API":         {route, "", &meta.NoKindMatchError{}, []string{"does not have the Gateway API", "CustomResourceDefinitions"}},
		"Gateway API to come":    {route + definition, "", &meta.NoKindMatchError{}, nil},
		"an exposure not in use": {strings.Replace(named, "expose = exposure.outside", "", 1), "", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := facts()
			config := written(t, test.text)
			f.List = func(scope providers.Scope) ([]*unstructured.Unstructured, error) {
				if !slices.Contains(openstack.ServedBy(config), scope) {
					t.Errorf("it lists %v", scope)
				}
				if test.err != nil {
					return nil, test.err
				}
				return liveIn(t, test.live, scope), nil
			}
			_, diags := rendered(config, f)
			var got []string
			for _, d := range diags {
				if strings.Contains(d.Summary, "Gateway") || strings.Contains(d.Summary, "Ingress") {
					got = append(got, d.Summary+" "+d.Detail)
				}
			}
			if len(got) != min(len(test.want), 1) {
				t.Fatalf("got %q", got)
			}
			for _, part := range test.want {
				if !strings.Contains(got[0], part) {
					t.Errorf("%q lacks %q", got[0], part)
				}
			}
		})
	}
}
