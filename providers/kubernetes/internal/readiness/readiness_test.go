package readiness_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/providers/kubernetes/internal/readiness"
)

// TestGrowingClaims checks that a claim is ready when its volume is as large as it asks for, when only
// the file system is still to grow, which it says, or when nothing makes the volume grow.
func TestGrowingClaims(t *testing.T) {
	for name, test := range map[string]struct {
		status string // made: a driver made the volume
		want   readiness.Assessment
	}{
		"as large":                        {"capacity: {storage: 2Gi}", readiness.Assessment{Ready: true}},
		"in other words":                  {"capacity: {storage: 2048Mi}", readiness.Assessment{Ready: true}},
		"larger":                          {"capacity: {storage: 3Gi}", readiness.Assessment{Ready: true}},
		"of no size":                      {"accessModes: [ReadWriteOnce]", readiness.Assessment{Ready: true}},
		"of a driver":                     {"capacity: {storage: 1Gi}, made: true", readiness.Assessment{Status: "its volume has 1Gi and grows to 2Gi"}},
		"resizing":                        {"capacity: {storage: 1Gi}, conditions: [{type: Resizing, status: 'True'}]", readiness.Assessment{Status: "its volume has 1Gi and grows to 2Gi"}},
		"bound by hand":                   {"capacity: {storage: 1Gi}", readiness.Assessment{Ready: true}},
		"bound by hand, and resized once": {"capacity: {storage: 1Gi}, allocatedResources: {storage: 1Gi}", readiness.Assessment{Ready: true}},
		"growing":                         {"capacity: {storage: 1Gi}, allocatedResources: {storage: 2Gi}", readiness.Assessment{Status: "its volume has 1Gi and grows to 2Gi"}},
		"grown, except for its file system": {
			"capacity: {storage: 1Gi}, conditions: [{type: FileSystemResizePending, status: 'True'}]",
			readiness.Assessment{Ready: true, Growing: true, Status: "its volume has 2Gi, and its file system still has 1Gi"},
		},
		"that cannot grow": {
			"capacity: {storage: 1Gi}, allocatedResourceStatuses: {storage: ControllerResizeInfeasible}, conditions: [{type: ControllerResizeError, status: 'True', message: quota exceeded}]",
			readiness.Assessment{Failed: true, Status: "its volume cannot grow: quota exceeded"},
		},
		"that cannot grow on its node": {
			"capacity: {storage: 1Gi}, allocatedResourceStatuses: {storage: NodeResizeInfeasible}", readiness.Assessment{Failed: true, Status: "its volume has 1Gi and cannot grow to 2Gi"},
		},
		"whose file system cannot grow": {
			"capacity: {storage: 1Gi}, allocatedResourceStatuses: {storage: NodeResizeInfeasible}, conditions: [{type: FileSystemResizePending, status: 'True'}, {type: NodeResizeError, status: 'True', message: xfs is too old}]",
			readiness.Assessment{Failed: true, Status: "its volume cannot grow: xfs is too old"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{}
			text := "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: a}, spec: {resources: {requests: {storage: 2Gi}}}, status: {phase: Bound, " + test.status + "}}"
			if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
				t.Fatal(err)
			}
			if _, made, _ := unstructured.NestedBool(u.Object, "status", "made"); made {
				u.SetAnnotations(map[string]string{"volume.kubernetes.io/storage-provisioner": "example.org"})
			}
			if got, err := readiness.Assess(u); err != nil || got != test.want {
				t.Errorf("got %+v, %v; want %+v", got, err, test.want)
			}
		})
	}
}

// TestLoadBalancers checks that a Service of type LoadBalancer waits for the address that it asks for.
func TestLoadBalancers(t *testing.T) {
	for name, test := range map[string]struct {
		spec, ingress string
		want          readiness.Assessment
	}{
		"none yet":           {"type: LoadBalancer", "[]", readiness.Assessment{Status: "no load balancer has given it an address yet"}},
		"any":                {"type: LoadBalancer", "[{ip: 192.0.2.10}]", readiness.Assessment{Ready: true}},
		"a name":             {"type: LoadBalancer", "[{hostname: a.example.org}]", readiness.Assessment{Ready: true}},
		"its own":            {"type: LoadBalancer, loadBalancerIP: 192.0.2.10", "[{ip: 192.0.2.9}, {ip: 192.0.2.10}]", readiness.Assessment{Ready: true}},
		"its own, in IPv6":   {"type: LoadBalancer, loadBalancerIP: '2001:DB8::0:1'", "[{ip: '2001:db8::1'}]", readiness.Assessment{Ready: true}},
		"another":            {"type: LoadBalancer, loadBalancerIP: 192.0.2.10", "[{ip: 192.0.2.9}]", readiness.Assessment{Status: "the load balancer gave it the address 192.0.2.9, and it asks for 192.0.2.10: configure the load balancer, or set vip of the exposure"}},
		"not a LoadBalancer": {"type: NodePort", "[]", readiness.Assessment{Ready: true}},
	} {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{}
			text := "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {clusterIP: 10.96.0.9, " + test.spec + "}, status: {loadBalancer: {ingress: " + test.ingress + "}}}"
			if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
				t.Fatal(err)
			}
			if got, err := readiness.Assess(u); err != nil || got.Ready != test.want.Ready || !got.Ready && got != test.want {
				t.Errorf("got %+v, %v; want %+v", got, err, test.want)
			}
		})
	}
}

// TestWaysIn checks that an Ingress waits for an address only if its exposure does, and a route for its
// Gateway.
func TestWaysIn(t *testing.T) {
	const (
		ingress   = `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: a, annotations: {MARKS}}, status: {loadBalancer: {ingress: STATUS}}}`
		route     = `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: a, namespace: openstack, generation: 2, annotations: {MARKS}}, spec: {parentRefs: [{name: public, namespace: gateways, sectionName: web}]}, status: {parents: STATUS}}`
		awaited   = "kolla.openstack.org/awaits-address: 'true', kolla.openstack.org/public: 'http://a'"
		published = "kolla.openstack.org/public: 'http://a'"
		parent    = "{parentRef: {name: public, namespace: gateways, sectionName: web}, conditions: "
	)
	condition := func(kind, status string, seen int) string {
		return fmt.Sprintf("{type: %s, status: '%s', observedGeneration: %d, reason: NoMatchingListenerHostname, message: there is none}", kind, status, seen)
	}
	for name, test := range map[string]struct{ object, marks, status, want string }{
		"an Ingress without an address":       {ingress, awaited, "[]", "no Ingress controller has given it an address yet"},
		"one with an address":                 {ingress, awaited, "[{ip: 192.0.2.10}]", ""},
		"one with a name":                     {ingress, awaited, "[{hostname: a.example.org}]", ""},
		"one that waits for none":             {ingress, published, "[]", ""},
		"one of others":                       {ingress, "", "[]", ""},
		"a route without an answer":           {route, published, "[]", "no controller has answered for Gateway public yet"},
		"one with the answer for another":     {route, published, "[{parentRef: {name: public, namespace: gateways, sectionName: other}, conditions: [" + condition("Accepted", "True", 2) + "]}]", "no controller has answered for Gateway public yet"},
		"one with an old answer":              {route, published, "[" + parent + "[" + condition("Accepted", "True", 1) + "]}]", "Gateway public: its controller has not seen the change yet"},
		"one that is refused":                 {route, published, "[" + parent + "[" + condition("Accepted", "False", 2) + "]}]", "Gateway public: the route is not Accepted (NoMatchingListenerHostname): there is none"},
		"one that is accepted and no more":    {route, published, "[" + parent + "[" + condition("Accepted", "True", 2) + "]}]", "Gateway public: its controller has not said yet whether the route is ResolvedRefs"},
		"one that works":                      {route, published, "[" + parent + "[" + condition("ResolvedRefs", "True", 2) + ", " + condition("Accepted", "True", 2) + "]}]", ""},
		"a route of others without an answer": {route, "", "[]", ""},
	} {
		t.Run(name, func(t *testing.T) {
			u := &unstructured.Unstructured{}
			text, err := yaml.YAMLToJSON([]byte(strings.NewReplacer("MARKS", test.marks, "STATUS", test.status).Replace(test.object)))
			if err == nil {
				err = u.UnmarshalJSON(text) // with whole numbers
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, err := readiness.Assess(u); err != nil || got.Ready != (test.want == "") || !got.Ready && got.Status != test.want {
				t.Errorf("got %+v, %v; want %q", got, err, test.want)
			}
		})
	}
}
