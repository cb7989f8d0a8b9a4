package dryrun

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

func service(t *testing.T, spec string) *unstructured.Unstructured {
	t.Helper()
	text, err := yaml.YAMLToJSON([]byte("{apiVersion: v1, kind: Service, metadata: {name: x}, spec: " + spec + "}"))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	return u
}

// TestWithoutAllocated checks that addresses and ports that a dry run made up are not sent back to
// the server. The addresses and ports of the live Service stay.
func TestWithoutAllocated(t *testing.T) {
	for name, test := range map[string]struct{ live, answer, want string }{
		"placeholders": {
			"{type: ExternalName, externalName: x.example.org}",
			"{type: NodePort, clusterIP: 10.96.0.0, clusterIPs: [10.96.0.0], healthCheckNodePort: 32000, ports: [{port: 80, nodePort: 32001}]}",
			"{type: NodePort, ports: [{port: 80}]}",
		},
		"its own": {
			"{clusterIP: 10.96.0.7, clusterIPs: [10.96.0.7], ports: [{port: 80, nodePort: 30080}]}",
			"{clusterIP: 10.96.0.7, clusterIPs: [10.96.0.7], ports: [{port: 80, nodePort: 30080}]}",
			"{clusterIP: 10.96.0.7, clusterIPs: [10.96.0.7], ports: [{port: 80, nodePort: 30080}]}",
		},
		"no address": {"{clusterIP: None, clusterIPs: [None]}", "{clusterIP: None, clusterIPs: [None]}", "{clusterIP: None, clusterIPs: [None]}"},
	} {
		t.Run(name, func(t *testing.T) {
			answer := service(t, test.answer)
			trial := WithoutAllocated(answer, service(t, test.live))
			if diff := cmp.Diff(service(t, test.want).Object, trial.Manifest.Object); diff != "" {
				t.Errorf("sent (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(answer.Object, trial.Complete(trial.Manifest).Object); diff != "" {
				t.Errorf("completed (-want +got):\n%s", diff)
			}
		})
	}
}
