package openstack

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/escape"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/secrets"
)

// secretID names a secret block; service is empty for one beside the services.
type secretID struct{ service, name string }

// secret is a secret block on its way to a Secret.
type secret struct {
	decl    configs.Secret
	needs   []string // blocks that must be ready before
	address addrs.Object
	data    map[string]providers.SecretData
	renew   string            // why its values are made anew; empty: they are kept
	values  map[string]string // those that are given, as far as they are known
	// revision names the values that it is going to have.
	revision string
	// deferred is what has to be read before its value is known.
	deferred []string
	done     bool
}

// declaredSecrets are all secrets of the configuration.
func declaredSecrets(config *configs.Config) map[secretID]*secret {
	out := map[secretID]*secret{}
	for _, s := range config.Secrets {
		out[secretID{"", s.Name}] = &secret{
			decl: s.Secret, needs: s.Needs,
			address: addrs.Object{Block: s.Block, Kind: "Secret", Name: s.Name},
		}
	}
	for _, service := range config.Services {
		add := func(decl configs.Secret) {
			out[secretID{service.Name, decl.Name}] = &secret{
				decl: decl, needs: service.Needs,
				address: addrs.Object{Block: service.Block, Kind: "Secret", Name: service.Name + "-" + decl.Name},
			}
		}
		for _, decl := range service.Secrets {
			add(decl)
		}
		for _, p := range service.Passwords() {
			add(configs.Secret{Name: p.Secret, Kind: "password", Length: 32, Keys: []string{p.Key}, Source: p.Source})
		}
	}
	return out
}

// secret finds out how the values of a secret come about, and what their revision is.
func (r *renderer) secret(service, name string) *secret {
	s := r.secrets[secretID{service, name}]
	if s.done {
		return s
	}
	s.done = true
	if s.decl.Source != nil {
		r.given(s)
	} else {
		r.generated(s)
	}
	return s
}

// generated is for values that kolla makes.
func (r *renderer) generated(s *secret) {
	namespace := r.config.Cloud.Namespace
	s.revision = r.facts.Revision(s.address, namespace, s.address.Name, nil)
	g := &providers.Generator{Kind: s.decl.Kind, Length: s.decl.Length, Algorithm: s.decl.Algorithm}
	if c := s.decl.Cert; c != nil {
		g.Cert = r.certificate(s, c)
		g.Renew = r.due(s, g)
		s.renew = g.Renew
		g.Former = r.formerKey(s)
	}
	if s.renew != "" {
		s.revision = secrets.RenewedRevision(s.revision)
	}
	s.data = map[string]providers.SecretData{}
	for _, key := range s.decl.Keys {
		s.data[key] = providers.SecretData{Generate: g}
	}
}

// longestCommonName is what X.509 has room for.
const longestCommonName = 64

func (r *renderer) certificate(s *secret, c *configs.Certificate) *providers.Certificate {
	out := &providers.Certificate{
		CommonName:  c.CommonName,
		DNSNames:    c.DNSNames,
		IPAddresses: c.IPAddresses,
		Days:        c.Days,
		RenewBefore: c.RenewBefore,
		Usages:      c.Usages,
	}
	if c.CA != nil {
		ca := r.secret(c.CA.Service, c.CA.Secret)
		out.Issuer = &providers.SecretKey{Namespace: r.config.Cloud.Namespace, Name: ca.address.Name, Key: configs.KeyCertificate}
	}
	if out.CommonName == "" {
		out.CommonName = cmp.Or(strings.Join(c.DNSNames[:min(1, len(c.DNSNames))], ""), s.address.Name)
		out.Unnamed = len(c.DNSNames) == 0
		out.CommonName = out.CommonName[:min(len(out.CommonName), longestCommonName)]
	}
	return out
}

// due says why a certificate that there is has to be made anew.
func (r *renderer) due(s *secret, g *providers.Generator) string {
	if r.facts.Values == nil {
		return ""
	}
	own := r.live(s)
	if own == nil || g.Cert.Issuer == nil {
		return secrets.Due(g, own, nil, false, r.facts.Now)
	}
	ca := r.secret(s.decl.Cert.CA.Service, s.decl.Cert.CA.Secret)
	issuer := r.live(ca)
	anew := ca.renew != "" || len(issuer) == 0
	if source := ca.decl.Source; source != nil && source.Existing != nil {
		// It is copied by the same apply that signs with it.
		if there := r.facts.Values(source.Existing.Namespace, source.Existing.Name); there != nil {
			issuer = there
		}
		anew = false
	}
	return secrets.Due(g, own, issuer, anew, r.facts.Now)
}

// live are the values that a secret has in the cluster, or that it takes over from the
// one that it comes after; nil: there are none.
func (r *renderer) live(s *secret) map[string][]byte {
	namespace := r.config.Cloud.Namespace
	if r.facts.Ours == nil || r.facts.Ours(s.address, namespace, s.address.Name) {
		if own := r.facts.Values(namespace, s.address.Name); own != nil {
			return own
		}
	}
	former, renamed := r.facts.Former[s.address]
	if !renamed {
		return nil
	}
	return r.facts.Values(former.Namespace, former.Name)
}

// formerKey is the key of a CA that is renewed under another name; nil: it is not.
func (r *renderer) formerKey(s *secret) *providers.SecretKey {
	former, renamed := r.facts.Former[s.address]
	if !renamed || s.renew == "" || s.decl.Cert.CA != nil {
		return nil
	}
	return &providers.SecretKey{Namespace: former.Namespace, Name: former.Name, Key: configs.KeyKey}
}

// given is for values that come from elsewhere.
func (r *renderer) given(s *secret) {
	s.data = map[string]providers.SecretData{}
	values := map[string]string{}
	s.values = values
	source := s.decl.Source
	s.deferred = source.Value.Deferred()
	if len(s.deferred) > 0 || len(s.decl.Keys) == 0 {
		for _, key := range s.decl.Keys {
			s.data[key] = literal(configs.KnownAfterApply)
		}
		s.revision = configs.KnownAfterApply
		return
	}
	if source.Existing != nil {
		r.copied(s, values)
	} else {
		key := s.decl.Keys[0]
		values[key] = r.read(source)
		s.data[key] = literal(values[key])
	}
	for key, data := range s.data {
		data.Origin = originOf(source)
		s.data[key] = data
		if _, err := escape.Into(escape.Line, values[key]); err != nil && len(s.decl.Keys) == 1 {
			r.error(source.Range, "A secret of several lines", fmt.Sprintf("The value from %s has line breaks or other control characters in it, and a %s is one line.", originOf(source), s.decl.Kind))
		}
	}
	s.revision = r.facts.Revision(s.address, r.config.Cloud.Namespace, s.address.Name, values)
}

// read gives the value of a source that is not in the cluster.
func (r *renderer) read(source *configs.SecretSource) string {
	if source.Value != nil {
		return source.Value[0].Literal
	}
	if r.facts.Given == nil {
		return ""
	}
	value, err := r.facts.Given(source)
	if err != nil {
		why := err.Error()
		r.error(source.Range, "The value of a secret cannot be read", fmt.Sprintf("%s%s. Both plan and apply read it.", strings.ToUpper(why[:1]), why[1:]))
	}
	return value
}

// copied is for values of a Secret that somebody else makes. It is there, unless a
// manifest is said to bring it.
func (r *renderer) copied(s *secret, values map[string]string) {
	existing := s.decl.Source.Existing
	from := map[string]string{}
	var lines escape.Place // several, in a key pair
	if len(s.decl.Keys) == 1 {
		lines = escape.Line
	}
	for _, key := range s.decl.Keys {
		from[key] = cmp.Or(existing.Key, key)
		s.data[key] = providers.SecretData{Parts: []providers.DataPart{
			{From: &providers.SecretKey{Namespace: existing.Namespace, Name: existing.Name, Key: from[key]}, Place: lines},
		}}
	}
	if r.facts.Values == nil {
		return
	}
	live := r.facts.Values(existing.Namespace, existing.Name)
	if live == nil && len(manifests(s.needs)) == 0 {
		r.error(s.decl.Source.Range, "There is no such Secret", fmt.Sprintf(
			"Secret %s/%s is not in the cluster, and its values are to be taken. If a manifest of this configuration brings it, say so: depends_on = [manifest.NAME].", existing.Namespace, existing.Name))
	}
	for key, name := range from {
		value, there := live[name]
		if live != nil && (!there || len(value) == 0) {
			r.error(s.decl.Source.Range, "There is no such key", fmt.Sprintf("Secret %s/%s has no value under %q. %s",
				existing.Namespace, existing.Name, name, keysIn(live)))
		}
		if there {
			values[key] = string(value)
		}
	}
}

// manifests are those of some blocks that bring objects as they are.
func manifests(blocks []string) []string {
	return slices.DeleteFunc(slices.Clone(blocks), func(block string) bool { return !strings.Contains("."+block, ".manifest.") })
}

func keysIn(values map[string][]byte) string {
	if len(values) == 0 {
		return "It is empty."
	}
	return "It has: " + strings.Join(slices.Sorted(maps.Keys(values)), ", ") + "."
}

// originOf says where a given value comes from.
func originOf(source *configs.SecretSource) string {
	switch {
	case source.Env != "":
		return "environment variable " + source.Env
	case source.File != "":
		return "file " + source.File
	case source.Existing != nil:
		return "Secret " + source.Existing.Namespace + "/" + source.Existing.Name
	}
	return "the configuration"
}

// finish gives the object of a secret its values.
func (r *renderer) finish(o providers.Object, s *secret, at hcl.Range) providers.Object {
	o.Data, o.Deferred = s.data, s.deferred
	if s.decl.Source == nil {
		o.Holds = "generated values"
		o.Loss = s.decl.Loss
	}
	if s.decl.Cert != nil && s.decl.Cert.CA != nil && s.decl.Source == nil {
		o.DependsOn = unique(append(o.DependsOn, r.secret(s.decl.Cert.CA.Service, s.decl.Cert.CA.Secret).address))
	}
	r.revised(&o, s.revision)
	if source := s.decl.Source; source != nil && source.Existing != nil {
		o.DependsOn = unique(append(o.DependsOn, r.needed(manifests(s.needs))...))
	}
	if at.Filename != "" {
		o.From(source(at))
	}
	return o
}

// addSecrets adds the Secrets of the service: its own, and the passwords of its
// databases, queues and users.
func (s *service) addSecrets() {
	var names []string
	for _, decl := range s.decl.Secrets {
		names = append(names, decl.Name)
	}
	for _, p := range s.decl.Passwords() {
		names = append(names, p.Secret)
	}
	for _, name := range names {
		secret := s.secret(s.decl.Name, name)
		o := s.object(opaque(secret.address.Name))
		var at hcl.Range
		if secret.decl.Source != nil {
			at = secret.decl.Source.Range
		}
		s.add(s.finish(o, secret, at))
	}
}

// sharedSecret adds the Secret of a block beside the services.
func (r *renderer) sharedSecret(decl configs.SharedSecret) {
	s := r.secret("", decl.Name)
	r.finals[decl.Block] = []addrs.Object{s.address}
	needed := r.needed(s.needs)
	u := r.convert(opaque(decl.Name))
	u.SetNamespace(r.config.Cloud.Namespace)
	u.SetLabels(r.labels(""))
	u.SetAnnotations(addressAnnotation(s.address))
	r.add(r.finish(providers.Object{
		Address:   s.address,
		Manifest:  u,
		DependsOn: unique(append([]addrs.Object{r.namespaceAddress()}, needed...)),
		Lifecycle: lifecycleOf(decl.Lifecycle),
	}, s, decl.Range))
}
