package addrs_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang/addrs"
)

func TestParseFieldPath(t *testing.T) {
	tests := map[string]addrs.FieldPath{
		`spec.replicas`: {"spec", "replicas"},
		`spec.template.spec.containers["api"].image`: {"spec", "template", "spec", "containers", "api", "image"},
		`metadata.annotations["example.org/team"]`:   {"metadata", "annotations", "example.org/team"},
		`spec.ports[5000/TCP].nodePort`:              {"spec", "ports", "5000/TCP", "nodePort"},
		`spec.containers[*].env[0]`:                  {"spec", "containers", "*", "env", "0"},
		`data.*`:                                     {"data", "*"},
		`data["a\"]b"]`:                              {"data", `a"]b`},
		`["odd key"].x`:                              {"odd key", "x"},
		``:                                           nil,
		`.spec`:                                      nil,
		`spec.`:                                      nil,
		`spec..a`:                                    nil,
		`metadata.annotations.example.org/team`:      nil,
		`spec["a`:                                    nil,
		`spec[a`:                                     nil,
		`spec containers`:                            nil,
	}
	for text, want := range tests {
		got, err := addrs.ParseFieldPath(text)
		if (err == nil) != (want != nil) {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
		if again, err := addrs.ParseFieldPath(got.String()); want != nil && (err != nil || !cmp.Equal(got, again)) {
			t.Errorf("%s becomes %s: %v", text, got, err)
		}
	}
}

func TestFieldPathCovers(t *testing.T) {
	tests := []struct {
		pattern, field string
		want           bool
	}{
		{`spec.replicas`, `spec.replicas`, true},
		{`spec.replicas`, `spec.replica`, false},
		{`spec.template`, `spec.template.spec.containers["api"].image`, true},
		{`spec.template.spec`, `spec.template`, false},
		{`spec.template.*`, `spec.template.spec`, true},
		{`spec.template.*`, `spec.template`, false},
		{`spec.containers[*].image`, `spec.containers["api"].image`, true},
		{`spec.containers.api`, `spec.containers["api"].image`, true},
		{`metadata.annotations["example.org/*"]`, `metadata.annotations["example.org/team"]`, true},
		{`metadata.annotations["example.org/*"]`, `metadata.annotations["example.com/team"]`, false},
	}
	for _, test := range tests {
		pattern, err := addrs.ParseFieldPath(test.pattern)
		if err != nil {
			t.Fatal(err)
		}
		field, err := addrs.ParseFieldPath(test.field)
		if err != nil {
			t.Fatal(err)
		}
		if got := pattern.Covers(field); got != test.want {
			t.Errorf("%s covers %s: %v", test.pattern, test.field, got)
		}
	}
}
