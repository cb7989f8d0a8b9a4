package openstack_test

import (
	"fmt"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
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
