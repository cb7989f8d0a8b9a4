package operator

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
)

// TestPrevails gives a cloud to the Cloud that has it, whatever older Clouds or their states say.
func TestPrevails(t *testing.T) {
	cloud := func(name string, age time.Duration, has string, managed bool) *v1alpha1.Cloud {
		c := &v1alpha1.Cloud{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, CreationTimestamp: metav1.NewTime(time.Unix(1e9, 0).Add(-age))}}
		c.Status.Cloud, c.Status.Namespace, c.Status.Managed = has, has, managed
		return c
	}
	for _, c := range []struct {
		what        string
		this, other *v1alpha1.Cloud
		recorded    bool
		want        bool
	}{
		{"an older newcomer, against a Cloud that applied", cloud("a", 2, "", false), cloud("b", 1, "prod", true), false, false},
		{"an older newcomer with another cloud, against a Cloud that applied", cloud("a", 2, "test", true), cloud("b", 1, "prod", true), false, false},
		{"a newcomer with a state of its own making, against a Cloud that applied", cloud("a", 2, "", false), cloud("b", 1, "prod", true), true, false},
		{"an older newcomer, against a Cloud that never applied", cloud("a", 2, "", false), cloud("b", 1, "prod", false), false, false},
		{"who applied, against an older claim", cloud("b", 1, "prod", true), cloud("a", 2, "prod", false), false, true},
		{"an older claim, against who applied", cloud("a", 2, "prod", false), cloud("b", 1, "prod", true), false, false},
		{"a Cloud that was made again, and that the state names, against a claim", cloud("b", 1, "", false), cloud("a", 2, "prod", false), true, true},
		{"two claims at once, the older", cloud("a", 2, "prod", false), cloud("b", 1, "prod", false), false, true},
		{"two claims at once, the younger", cloud("b", 1, "prod", false), cloud("a", 2, "prod", false), false, false},
	} {
		if got := prevails(c.this, c.other, "prod", "prod", c.recorded); got != c.want {
			t.Errorf("%s: %t, want %t", c.what, got, c.want)
		}
	}
}
