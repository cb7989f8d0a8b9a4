package objects

import (
	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
)

// Mistakes reports the errors in the configuration that only the cluster shows.
func Mistakes(f *cluster.Facts) ([]cluster.Finding, error) {
	var out []cluster.Finding
	for _, d := range f.Mistakes {
		if d.Severity != hcl.DiagError {
			continue
		}
		subject := "cloud." + f.Config.Cloud.Name
		if d.Subject != nil {
			subject = d.Subject.String()
		}
		out = append(out, cluster.Finding{
			Severity: cluster.Error, Subject: subject, Problem: d.Summary,
			Reason: "kolla plan stops with this error.", Next: d.Detail,
		})
	}
	return out, f.Unrendered
}
