package upgrade

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// NewestBackup finds the newest backup that a CronJob of the cloud made. list lists the CronJobs of a namespace, or
// of all namespaces. Users who may not list all of them get an answer if there is one in the namespace of the cloud.
func NewestBackup(cloud *configs.Cloud, list func(namespace string) ([]*unstructured.Unstructured, error)) *plans.Backup {
	live, err := list("")
	if err != nil {
		live, _ = list(cloud.Namespace)
	}
	var newest *plans.Backup
	for _, u := range live {
		if !providers.BacksUp(u, cloud.Name, cloud.Namespace) {
			continue
		}
		text, _, _ := unstructured.NestedString(u.Object, "status", "lastSuccessfulTime")
		at, _ := time.Parse(time.RFC3339, text) // zero before the first success
		if newest == nil || at.After(newest.At) {
			newest = &plans.Backup{CronJob: u.GetNamespace() + "/" + u.GetName(), At: at}
		}
	}
	switch {
	case newest != nil:
		return newest
	case err != nil:
		return &plans.Backup{Unknown: err.Error()}
	}
	return &plans.Backup{}
}
