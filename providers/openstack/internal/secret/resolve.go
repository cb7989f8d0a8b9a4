package secret

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/escape"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
	"kolla.openstack.org/kolla/providers/secrets"
)

// resolver settles the values of secrets, those of a certificate's CA first.
type resolver struct {
	config *configs.Config
	set    *Set
	diags  hcl.Diagnostics
}

// secret returns a secret with its values.
func (r *resolver) secret(service, name string) *Secret {
	s := r.set.Get(service, name)
	if s.resolved {
		return s
	}
	s.resolved = true
	if s.decl.Source != nil {
		r.unrotated(s)
		r.given(s)
	} else {
		r.generated(s)
	}
	return s
}

// generated sets the data of a secret whose values kolla generates.
func (r *resolver) generated(s *Secret) {
	namespace := r.set.cloud.Decl.Namespace
	s.Revision = r.set.facts.Revision(s.Address, namespace, s.Address.Name, nil)
	g := &providers.Generator{Kind: s.decl.Kind, Length: s.decl.Length, Algorithm: s.decl.Algorithm}
	if c := s.decl.Cert; c != nil {
		g.Cert = r.certificate(s, c)
		g.Renew = r.due(s, g)
	}
	if g.Kind == providers.KindFernet {
		g.Renew = r.rotation(s)
	}
	if g.Renew == "" {
		g.Renew = r.requested(s)
	}
	s.renew = g.Renew
	if g.Cert != nil {
		g.Former = r.formerKey(s)
	}
	switch {
	case s.renew == "":
	case g.Kind == providers.KindFernet:
		s.Revision = secrets.RotatedRevision(s.Revision)
	default:
		s.Revision = secrets.RenewedRevision(s.Revision)
	}
	s.data = map[string]providers.SecretData{}
	for _, key := range s.decl.Keys {
		s.data[key] = providers.SecretData{Generate: g}
	}
}

// maxCommonName is the longest common name that X.509 allows.
const maxCommonName = 64

func (r *resolver) certificate(s *Secret, c *configs.Certificate) *providers.Certificate {
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
		out.Issuer = &providers.SecretKey{Namespace: r.set.cloud.Decl.Namespace, Name: ca.Address.Name, Key: configs.KeyCertificate}
	}
	if out.CommonName == "" {
		out.CommonName = cmp.Or(strings.Join(c.DNSNames[:min(1, len(c.DNSNames))], ""), s.Address.Name)
		out.Unnamed = len(c.DNSNames) == 0
		out.CommonName = out.CommonName[:min(len(out.CommonName), maxCommonName)]
	}
	return out
}

// due returns the reason to renew an existing certificate. It is empty if there is no reason.
func (r *resolver) due(s *Secret, g *providers.Generator) string {
	if r.set.facts.Values == nil {
		return ""
	}
	own := r.set.live(s)
	if own == nil || g.Cert.Issuer == nil {
		return secrets.Due(g, own, nil, false, r.set.facts.Now)
	}
	ca := r.secret(s.decl.Cert.CA.Service, s.decl.Cert.CA.Secret)
	issuer := r.set.live(ca)
	anew := ca.renew != "" || len(issuer) == 0
	if source := ca.decl.Source; source != nil && source.Existing != nil {
		// The apply that signs with this CA copies it first.
		if there := r.set.facts.Values(source.Existing.Namespace, source.Existing.Name); there != nil {
			issuer = there
		}
		anew = false
	}
	return secrets.Due(g, own, issuer, anew, r.set.facts.Now)
}

// formerKey returns the former key of a CA that is renewed under a new name. It is nil for all
// other secrets.
func (r *resolver) formerKey(s *Secret) *providers.SecretKey {
	former, renamed := r.set.former[s.Address]
	if !renamed || s.renew == "" || s.decl.Cert.CA != nil {
		return nil
	}
	return &providers.SecretKey{Namespace: former.Namespace, Name: former.Name, Key: configs.KeyKey}
}

// error reports a secret whose values cannot be used.
func (r *resolver) error(subject hcl.Range, summary, detail string) {
	r.diags = append(r.diags, object.Error(subject, summary, detail))
}

// given sets the data of a secret whose values kolla does not generate.
func (r *resolver) given(s *Secret) {
	s.data = map[string]providers.SecretData{}
	values := map[string]string{}
	s.values = values
	source := s.decl.Source
	s.Deferred = source.Value.Deferred()
	if len(s.Deferred) > 0 || len(s.decl.Keys) == 0 {
		for _, key := range s.decl.Keys {
			s.data[key] = object.Literal(configs.KnownAfterApply)
		}
		s.Revision = configs.KnownAfterApply
		return
	}
	switch {
	case source.Existing != nil:
		r.copied(s, values)
	case source.Files != nil:
		for key, file := range source.Files {
			values[key] = r.read(&configs.SecretSource{File: file, Range: source.Range})
			s.data[key] = object.Literal(values[key])
		}
	default:
		key := s.decl.Keys[0]
		values[key] = r.read(source)
		s.data[key] = object.Literal(values[key])
	}
	for key, data := range s.data {
		data.Origin = originOf(source)
		s.data[key] = data
		if _, err := escape.Into(escape.Line, values[key]); err != nil && len(s.decl.Keys) == 1 {
			r.error(source.Range, "A secret of several lines", fmt.Sprintf("The value from %s has line breaks or other control characters in it, and a %s is one line.", originOf(source), s.decl.Kind))
		}
	}
	s.Revision = r.set.facts.Revision(s.Address, r.set.cloud.Decl.Namespace, s.Address.Name, values)
}

// read returns the value of a source outside of the cluster.
func (r *resolver) read(source *configs.SecretSource) string {
	if source.Value != nil {
		return source.Value[0].Literal
	}
	if r.set.facts.Given == nil {
		return ""
	}
	value, err := r.set.facts.Given(source)
	if err != nil {
		why := err.Error()
		r.error(source.Range, "The value of a secret cannot be read", fmt.Sprintf("%s%s. Both plan and apply read it.", strings.ToUpper(why[:1]), why[1:]))
	}
	return value
}

// copied sets the data of a secret that is copied from an existing Secret. The Secret must
// exist in the cluster, unless the secret depends on a manifest, which may create it.
func (r *resolver) copied(s *Secret, values map[string]string) {
	existing := s.decl.Source.Existing
	from := map[string]string{}
	var lines escape.Place // empty for a key pair: its values have several lines
	if len(s.decl.Keys) == 1 {
		lines = escape.Line
	}
	for _, key := range s.decl.Keys {
		from[key] = cmp.Or(existing.Key, key)
		s.data[key] = providers.SecretData{Parts: []providers.DataPart{
			{From: &providers.SecretKey{Namespace: existing.Namespace, Name: existing.Name, Key: from[key]}, Place: lines},
		}}
	}
	if r.set.facts.Values == nil {
		return
	}
	live := r.set.facts.Values(existing.Namespace, existing.Name)
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

// manifests returns the blocks that are manifests.
func manifests(blocks []string) []string {
	return slices.DeleteFunc(slices.Clone(blocks), func(block string) bool { return !strings.Contains("."+block, ".manifest.") })
}

func keysIn(values map[string][]byte) string {
	if len(values) == 0 {
		return "It is empty."
	}
	return "It has: " + strings.Join(slices.Sorted(maps.Keys(values)), ", ") + "."
}

// originOf describes the source of a given value.
func originOf(source *configs.SecretSource) string {
	switch {
	case source.Env != "":
		return "environment variable " + source.Env
	case source.File != "":
		return "file " + source.File
	case source.Files != nil:
		return "files " + strings.Join(slices.Sorted(maps.Values(source.Files)), ", ")
	case source.Existing != nil:
		return "Secret " + source.Existing.Namespace + "/" + source.Existing.Name
	}
	return "the configuration"
}
