package plans_test

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
)

var (
	here = providers.Identity{UID: "cluster-1", Server: "https://10.0.0.10:6443", Version: "v1.37.1"}
	now  = time.Date(2026, 11, 21, 3, 0, 0, 0, time.UTC)
	then = time.Date(2026, 11, 21, 2, 11, 0, 0, time.UTC)
)

// address parses a valid address.
func address(text string) addrs.Object {
	a, err := addrs.ParseObject(text)
	if err != nil {
		panic(err)
	}
	return a
}

// declared returns a desired object.
func declared(at string, manifest *unstructured.Unstructured, dependsOn ...string) providers.Object {
	o := providers.Object{Address: address(at), Manifest: manifest, Source: "cloud.hcl:41"}
	for _, on := range dependsOn {
		o.DependsOn = append(o.DependsOn, address(on))
	}
	return o
}
