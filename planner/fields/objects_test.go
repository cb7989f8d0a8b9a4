package fields_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// object reads an object as a server would have sent it.
func object(t testing.TB, text string) *unstructured.Unstructured {
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

const deployment = `
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
