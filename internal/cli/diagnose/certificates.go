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

// renewal says who renews a certificate.
type renewal struct {
	before time.Duration   // the end; 0: nobody has said
	issuer *configs.Issuer // of cert-manager; nil: kolla renews it, or others do
}

// certificatesOf returns the certificates in the Secrets of a plan and of the exposures.
func certificatesOf(w *command.Workspace, plan *plans.Plan, now time.Time) []drift.Certificate {
	renewals := map[providers.Ref]renewal{}
	secret := kinds.Secret.WithVersion("v1")
	for _, x := range w.Config.Exposures {
		if x.TLS == nil {
			continue
		}
		r := renewal{issuer: x.TLS.Issuer}
		if r.issuer != nil {
			r.before = days(r.issuer.RenewBefore)
		}
		renewals[providers.Ref{GVK: secret, Namespace: w.Config.Cloud.Namespace, Name: x.TLS.Secret}] = r
	}
	for i := range plan.Actions {
		a := &plan.Actions[i]
		if a.Ref.GVK != secret {
			continue
		}
		renewals[a.Ref] = renewal{}
		if a.Object == nil {
			continue
		}
		if g := a.Object.Data[configs.KeyCertificate].Generate; g != nil && g.Cert != nil {
			renewals[a.Ref] = renewal{before: days(g.Cert.RenewBefore)}
		}
	}
	var out []drift.Certificate
	for ref, renewal := range renewals {
		chain := secrets.Certificates(w.Cluster.Snapshot().SecretValues(ref.Namespace, ref.Name)[configs.KeyCertificate])
		if len(chain) == 0 {
			continue
		}
		c := drift.Certificate{Namespace: ref.Namespace, Secret: ref.Name, Ends: chain[0].NotAfter.UTC(), Issued: renewal.issuer != nil}
		c.Made = renewal.before > 0 && !c.Issued
		warning := cmp.Or(renewal.before, secrets.EndsWithin(chain[0]))
		if c.Issued {
			warning = secrets.OverdueWithin(chain[0], renewal.before)
		}
		c.Soon = now.Add(warning).After(c.Ends)
		out = append(out, c)
	}
	drift.SortCertificates(out)
	return out
}

// days returns a number of days as a duration.
func days(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }
