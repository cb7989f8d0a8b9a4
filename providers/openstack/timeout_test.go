package openstack_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
)

// TestTimeouts checks that a job fails before the apply stops waiting for it, and that a rollout
// does not fail before the apply stops waiting.
func TestTimeouts(t *testing.T) {
	objects := render(t, written(t, `definition "d" {
  job "j" {
    image   = "d"
    timeout = 1800
  }
  workload "slow" {
    kind    = "Deployment"
    image   = "d"
    timeout = 60
  }
  workload "quick" {
    kind  = "Deployment"
    image = "d"
  }
}
service "d" {
  workload "slow" {
    timeout = 900
  }
}
`), facts())
	for _, o := range objects {
		switch o.Family.Name + o.Address.Name {
		case "d-slow":
			var d appsv1.Deployment
			convert(t, o.Manifest.Object, &d)
			if o.Timeout != 900 || *d.Spec.ProgressDeadlineSeconds != 900 {
				t.Errorf("an apply waits %d s, the rollout has %d s", o.Timeout, *d.Spec.ProgressDeadlineSeconds)
			}
		case "d-quick":
			var d appsv1.Deployment
			convert(t, o.Manifest.Object, &d)
			if o.Timeout != 0 || *d.Spec.ProgressDeadlineSeconds != 600 {
				t.Errorf("without a timeout an apply waits %d s, the rollout has %d s", o.Timeout, *d.Spec.ProgressDeadlineSeconds)
			}
		default:
			if !o.IsJob() {
				continue
			}
			var j batchv1.Job
			convert(t, o.Manifest.Object, &j)
			if j.Spec.ActiveDeadlineSeconds == nil || *j.Spec.ActiveDeadlineSeconds != 1800 || o.Timeout <= 1800 {
				t.Errorf("an apply waits %d s, the job has %v s", o.Timeout, j.Spec.ActiveDeadlineSeconds)
			}
		}
	}
}
