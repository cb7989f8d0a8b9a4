package providers_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/providers"
)

func TestOccupants(t *testing.T) {
	in := func(kind, name string, owners ...types.UID) metav1.PartialObjectMetadata {
		o := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "db", Name: name, UID: types.UID(kind + " " + name)}}
		o.APIVersion, o.Kind = "v1", kind
		for _, uid := range owners {
			o.OwnerReferences = append(o.OwnerReferences, metav1.OwnerReference{UID: uid})
		}
		return o
	}
	leaving := in("ConfigMap", "leaving")
	leaving.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	managed := in("Endpoints", "web")
	managed.Labels = map[string]string{"endpoints.kubernetes.io/managed-by": "endpoint-controller"}
	token := in("Secret", "token")
	token.Annotations = map[string]string{"kubernetes.io/service-account.uid": "x"}
	tests := map[string]struct {
		objects []metav1.PartialObjectMetadata
		going   types.UID
		want    []string
	}{
		"nothing":                             {},
		"what every namespace has":            {objects: []metav1.PartialObjectMetadata{in("ConfigMap", "kube-root-ca.crt"), in("ServiceAccount", "default"), token}},
		"what is being deleted":               {objects: []metav1.PartialObjectMetadata{leaving}},
		"what the plan deletes":               {objects: []metav1.PartialObjectMetadata{in("Deployment", "api")}, going: "Deployment api"},
		"what belongs to what it does":        {objects: []metav1.PartialObjectMetadata{in("ReplicaSet", "api-1", "Deployment api"), in("Pod", "api-1-x", "ReplicaSet api-1")}, going: "Deployment api"},
		"somebody's":                          {objects: []metav1.PartialObjectMetadata{in("ConfigMap", "theirs"), in("ServiceAccount", "theirs")}, want: []string{"ConfigMap db/theirs", "ServiceAccount db/theirs"}},
		"what an operator made":               {objects: []metav1.PartialObjectMetadata{in("Cluster", "pg"), in("PersistentVolumeClaim", "pg-1", "Cluster pg")}, want: []string{"Cluster db/pg"}},
		"what belongs to something else":      {objects: []metav1.PartialObjectMetadata{in("PersistentVolumeClaim", "pg-1", "elsewhere")}, want: []string{"PersistentVolumeClaim db/pg-1, orphan"}},
		"what belongs to two":                 {objects: []metav1.PartialObjectMetadata{in("Pod", "x", "Deployment api", "elsewhere")}, going: "Deployment api", want: []string{"Pod db/x, orphan"}},
		"endpoints of a service":              {objects: []metav1.PartialObjectMetadata{in("Service", "web"), in("Endpoints", "web")}, going: "Service web"},
		"endpoints that a controller deletes": {objects: []metav1.PartialObjectMetadata{managed}, want: []string{"Endpoints db/web, orphan"}},
		"endpoints by themselves":             {objects: []metav1.PartialObjectMetadata{in("Endpoints", "web")}, want: []string{"Endpoints db/web"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, o := range (providers.Contents{Objects: test.objects}).Occupants(map[types.UID]bool{test.going: true}) {
				text := o.Ref.String()
				if o.Orphan {
					text += ", orphan"
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("occupants (-want +got):\n%s", diff)
			}
		})
	}
}
