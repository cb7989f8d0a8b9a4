// Package objecttest provides objects for tests.
package objecttest

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/lang/addrs"
)

// Read reads an object from YAML, with the types of values that a server sends. It returns nil
// for an empty text and fails the test for invalid YAML.
func Read(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	if text == "" {
		return nil
	}
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("read %s: %v", text, err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(raw); err != nil {
		t.Fatalf("read %s: %v", text, err)
	}
	return u
}

// Address reads the address of an object, and fails the test for an invalid one.
func Address(t testing.TB, text string) addrs.Object {
	t.Helper()
	address, err := addrs.ParseObject(text)
	if err != nil {
		t.Fatal(err)
	}
	return address
}

// Deployment is a Deployment in the form of a server's answer. It has lists of all kinds: keyed
// by name, keyed by two fields, and atomic.
const Deployment = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: keystone-api
  namespace: openstack
  resourceVersion: "7"
  uid: u1
  generation: 3
  labels: {app: keystone}
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: '{"all":"of it"}'
spec:
  replicas: 3
  selector: {matchLabels: {app: keystone}}
  template:
    metadata: {labels: {app: keystone}}
    spec:
      imagePullSecrets: [{name: one}, {name: two}]
      initContainers:
      - {name: first, image: busybox}
      - {name: second, image: busybox}
      containers:
      - name: api
        image: keystone:1
        args: [a, b]
        env:
        - {name: A, value: "1"}
        - {name: B, value: "2"}
        ports:
        - {containerPort: 5000, protocol: TCP, name: public}
        - {containerPort: 5000, protocol: UDP, name: odd}
        resources: {limits: {memory: 1Gi}}
status: {replicas: 3}
`
