package secret

import (
	"fmt"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
	"kolla.openstack.org/kolla/providers/secrets"
)

// exposure checks the certificate of an exposure that kolla does not generate.
func (r *resolver) exposure(config *configs.Config, x *configs.Exposure) {
	if x.TLS == nil || x.TLS.Source == configs.TLSGenerated {
		return
	}
	values := map[string][]byte{}
	where := ""
	if x.TLS.ByOthers() {
		if r.set.facts.Values == nil {
			return
		}
		where = fmt.Sprintf("Secret %s/%s. ", r.set.cloud.Decl.Namespace, x.TLS.Secret)
		if values = r.set.facts.Values(r.set.cloud.Decl.Namespace, x.TLS.Secret); values == nil {
			if x.TLS.Source == configs.TLSIssued {
				return // an apply asks cert-manager for it
			}
			r.diags = append(r.diags, object.Warning(x.TLS.SecretRange, "The Secret of the certificate does not exist yet",
				fmt.Sprintf("Secret %s/%s is not in the cluster. Exposure %q has no certificate until somebody makes it.", r.set.cloud.Decl.Namespace, x.TLS.Secret, x.Name)))
			return
		}
	} else {
		s := r.set.Get("", x.TLS.Secret)
		if s == nil || r.set.facts.Given == nil || s.Deferred != nil {
			return
		}
		for key, value := range s.values {
			if value == "" {
				return // the file cannot be read, which was reported
			}
			values[key] = []byte(value)
		}
	}
	for _, mistake := range secrets.CheckServer(values, config.Hosts(x), r.set.facts.Now) {
		at, detail := x.TLS.Place(mistake.Key), where+mistake.Detail
		if x.TLS.Source == configs.TLSIssued { // cert-manager mends the others, after an apply at the latest
			if mistake.Kind == secrets.Ended {
				r.diags = append(r.diags, object.Warning(at, mistake.Summary, detail+" cert-manager has not renewed it."))
			}
			continue
		}
		if mistake.Kind == secrets.EndsSoon || mistake.Kind == secrets.Ended && x.TLS.Source == configs.TLSSecret {
			r.diags = append(r.diags, object.Warning(at, mistake.Summary, detail))
			continue
		}
		r.error(at, mistake.Summary, detail)
	}
}
