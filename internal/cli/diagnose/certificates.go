package diagnose

import (
	"cmp"
	"time"

	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/drift"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/secrets"
)

// certificatesOf returns the certificates in the Secrets of a plan and of the exposures.
func certificatesOf(w *command.Workspace, plan *plans.Plan, now time.Time) []drift.Certificate {
	renewals := map[providers.Ref]time.Duration{} // how long before the end kolla renews; 0: never
	secret := kinds.Secret.WithVersion("v1")
	for _, x := range w.Config.Exposures {
		if x.TLS != nil {
			renewals[providers.Ref{GVK: secret, Namespace: w.Config.Cloud.Namespace, Name: x.TLS.Secret}] = 0
		}
	}
	for i := range plan.Actions {
		a := &plan.Actions[i]
		if a.Ref.GVK != secret {
			continue
		}
		renewals[a.Ref] = 0
		if a.Object == nil {
			continue
		}
		if g := a.Object.Data[configs.KeyCertificate].Generate; g != nil && g.Cert != nil {
			renewals[a.Ref] = time.Duration(g.Cert.RenewBefore) * 24 * time.Hour
		}
	}
	var out []drift.Certificate
	for ref, renewal := range renewals {
		chain := secrets.Certificates(w.Cluster.Snapshot().SecretValues(ref.Namespace, ref.Name)[configs.KeyCertificate])
		if len(chain) == 0 {
			continue
		}
		ends := chain[0].NotAfter
		warning := cmp.Or(renewal, secrets.EndsWithin(chain[0]))
		out = append(out, drift.Certificate{Namespace: ref.Namespace, Secret: ref.Name, Ends: ends, Soon: now.Add(warning).After(ends), Made: renewal > 0})
	}
	drift.SortCertificates(out)
	return out
}
