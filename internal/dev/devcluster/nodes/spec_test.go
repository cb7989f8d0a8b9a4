package nodes

import (
	"net/netip"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestParseSpec(t *testing.T) {
	tests := []struct {
		text string
		want Spec
		ok   bool
	}{
		{"a", Spec{Name: "a"}, true},
		{"ctl-1=tier=control", Spec{Name: "ctl-1", Labels: map[string]string{"tier": "control"}}, true},
		{"a=x.io/y=1,z=", Spec{Name: "a", Labels: map[string]string{"x.io/y": "1", "z": ""}}, true},
		{"", Spec{}, false},
		{"A", Spec{}, false},
		{"a=", Spec{}, false},
		{"a=x", Spec{}, false},
		{"a=x=no spaces", Spec{}, false},
		{"a=-x=1", Spec{}, false},
	}
	for _, test := range tests {
		got, err := ParseSpec(test.text)
		if (err == nil) != test.ok || !reflect.DeepEqual(got, test.want) {
			t.Errorf("ParseSpec(%q) is %v, %v; want %v", test.text, got, err, test.want)
		}
	}
}

func TestMerge(t *testing.T) {
	got, err := Merge(Numbered(2), []Spec{{Name: "node-2", Labels: map[string]string{"a": "1"}}, {Name: "x"}})
	none := map[string]string{}
	want := []Spec{{"node-1", none}, {"node-2", map[string]string{"a": "1"}}, {"x", none}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

func TestAddressesAreNotGivenTwice(t *testing.T) {
	node := corev1.Node{Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{{Address: "198.18.0.2"}, {Address: "localhost"}}}}
	a := newAddresses([]corev1.Node{node})
	for _, want := range []string{"198.18.0.1", "198.18.0.3", "198.18.0.4"} {
		if got := a.next(); got != netip.MustParseAddr(want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
