package dryrun

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
)

// TestCauses checks that refused fields are named as in a plan: by the keys of list elements, and
// only if they change. The server names fields by index, in its own words, or not at all.
func TestCauses(t *testing.T) {
	const before, after = `{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "namespace": "n"}, "spec": {
		"paused": false, "replicas": 1, "selector": {"matchLabels": {"app": "one"}}, "template": {"metadata": {"annotations": {"example.org/a.b": "1"}}, "spec": {"containers": [
			{"name": "side", "image": "side:1"}, {"name": "main", "image": "main:1", "ports": [{"containerPort": 80, "protocol": "TCP", "name": "p"}], "args": ["-v"]}]}}}}`,
		`{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "namespace": "n"}, "spec": {
		"paused": true, "replicas": 2, "selector": {"matchLabels": {"app": "two"}}, "template": {"metadata": {"annotations": {"example.org/a.b": "2"}}, "spec": {"containers": [
			{"name": "side", "image": "side:1"}, {"name": "main", "image": "main:2", "ports": [{"containerPort": 80, "protocol": "TCP", "name": "q"}], "args": ["-vv"]}]}}}}`
	service := func(ip string) string {
		return `{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "namespace": "n"}, "spec": {"clusterIP": "` + ip + `", "ports": [{"port": 80, "protocol": "TCP"}]}}`
	}
	const container = `spec.template.spec.containers["main"]`
	tests := map[string]struct {
		before, after string
		field         string
		message       string
		want          []string
	}{
		"as it is":                   {field: "spec.replicas", want: []string{"spec.replicas"}},
		"an element of a list":       {field: "spec.template.spec.containers[1].image", want: []string{container + ".image"}},
		"an element of two keys":     {field: "spec.template.spec.containers[1].ports[0].name", want: []string{container + ".ports[80/TCP].name"}},
		"inside what is one whole":   {field: "spec.selector.matchLabels", want: []string{"spec.selector"}},
		"an element without a key":   {field: "spec.template.spec.containers[1].args[0]", want: []string{container + ".args"}},
		"a key with dots":            {field: "spec.template.metadata.annotations[example.org/a.b]", want: []string{`spec.template.metadata.annotations["example.org/a.b"]`}},
		"what holds one change":      {field: "spec.template.metadata", want: []string{`spec.template.metadata.annotations["example.org/a.b"]`}},
		"what holds many":            {field: "spec.template.spec", want: []string{"spec.template.spec"}},
		"what does not change":       {field: "spec.template.spec.containers[0].image", want: []string{`spec.template.spec.containers["side"].image`}},
		"with exceptions":            {field: "spec", message: "updates to spec for fields other than 'replicas', 'template' are forbidden", want: []string{"spec.paused", "spec.selector"}},
		"with exceptions and a dump": {field: "spec", message: "spec is immutable after creation except replicas and template.\n@@ selector: @@", want: []string{"spec.paused", "spec.selector"}},
		"in the server's words":      {field: "spec.strangesource", message: "immutable, except template", want: []string{"spec.paused", "spec.replicas", "spec.selector"}},
		"of no field":                {field: "<nil>", message: "immutable, except paused, selector, replicas, template, spec", want: []string{"<nil>"}},
		"another one that goes with it": {
			before: service("10.0.0.1"), after: service("10.0.0.2"),
			field: "spec.clusterIPs[0]", want: []string{"spec.clusterIP"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			was, is := before, after
			if test.before != "" {
				was, is = test.before, test.after
			}
			live := applied(t, was)
			if name == "another one that goes with it" {
				if err := unstructured.SetNestedStringSlice(live.Object, []string{"10.0.0.1"}, "spec", "clusterIPs"); err != nil {
					t.Fatal(err)
				}
			}
			var got []string
			for _, r := range Causes(live, decoded(t, is), providers.FieldManager, []metav1.StatusCause{{Field: test.field, Message: test.message}}) {
				got = append(got, r.Path)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("paths (-want +got):\n%s", diff)
			}
		})
	}
}

// applied is an object as kolla would have made it.
func applied(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u, err := AsApplied(decoded(t, text))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestPlainly(t *testing.T) {
	for message, want := range map[string]string{
		"field is immutable":                                           "field is immutable",
		"Forbidden: may not be changed in an update.":                  "may not be changed in an update",
		`Invalid value: ["None"]: may not change once set`:             "may not change once set",
		`Invalid value: {"a": "b: c"}: field is immutable`:             "field is immutable",
		"Forbidden: spec is immutable after creation\n@@ -1,7 +1,7 @@": "spec is immutable after creation",
	} {
		if got := plainly(message); got != want {
			t.Errorf("plainly(%q) is %q, want %q", message, got, want)
		}
	}
}

// decoded reads an object as a client does.
func decoded(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatalf("read %s: %v", text, err)
	}
	return u
}
