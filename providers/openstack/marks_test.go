package openstack_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
)

// TestMarks checks that the labels of a service are on its objects and override the cloud's labels,
// and that the labels of a workload are on its pods and do not change the selector.
func TestMarks(t *testing.T) {
	objects := render(t, written(t, `definition "d" {
  secret "key" {}
  workload "w" {
    kind        = "Deployment"
    image       = "d"
    labels      = { tier = "front" }
    annotations = { scrape = "true" }
    mount "key" {
      path = "/etc/key"
    }
  }
}
service "d" {
  labels      = { team = "one", gone = null }
  annotations = { owner = "me" }
}
`, `defaults {
  labels = { team = "all", gone = "yes", site = "a" }
}`), facts())
	for _, name := range []string{"Deployment/d-w", "NetworkPolicy/d", "Secret/d-key"} {
		u := find(t, objects, name).Manifest
		labels := u.GetLabels()
		if labels["team"] != "one" || labels["site"] != "a" || labels["gone"] != "" || labels["tier"] != "" || labels["app.kubernetes.io/managed-by"] != "kolla" {
			t.Errorf("%s has the labels %v", name, labels)
		}
		if u.GetAnnotations()["owner"] != "me" || u.GetAnnotations()["kolla.openstack.org/address"] == "" {
			t.Errorf("%s has the annotations %v", name, u.GetAnnotations())
		}
	}
	var d appsv1.Deployment
	convert(t, find(t, objects, "Deployment/d-w").Manifest.Object, &d)
	pod := d.Spec.Template
	if pod.Labels["tier"] != "front" || pod.Labels["team"] != "" || pod.Annotations["scrape"] != "true" || pod.Annotations["kolla.openstack.org/secret-key"] == "" {
		t.Errorf("the pods have the labels %v and the annotations %v", pod.Labels, pod.Annotations)
	}
	if _, there := d.Spec.Selector.MatchLabels["tier"]; there {
		t.Error("the selector has a label of the workload")
	}
}
