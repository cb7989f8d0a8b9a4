// Package secret decides the contents of Secrets. Resolve settles the values of all secret blocks,
// as far as a plan knows them. Derived makes Secrets whose values are joined from these.
package secret

import (
	"time"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
	"kolla.openstack.org/kolla/providers/secrets"
)

// Facts are the facts about the live cluster that the values of Secrets depend on. See
// openstack.Facts.
type Facts struct {
	Revision func(address addrs.Object, namespace, name string, given map[string]string) string
	Ours     func(address addrs.Object, namespace, name string) bool
	Values   providers.Values
	Former   func(generated []providers.Object) map[addrs.Object]providers.Ref
	Given    func(source *configs.SecretSource) (string, error)
	Age      func(namespace, name string) secrets.Age
	Rotate   func(address addrs.Object) bool
	Ran      func(job addrs.Object) bool
	Now      time.Time
}

// Set has the secrets of a configuration.
type Set struct {
	cloud   object.Cloud
	facts   Facts
	secrets map[id]*Secret
	former  map[addrs.Object]providers.Ref // see Facts
}

// id identifies a secret block. service is empty for a block outside of services.
type id struct{ service, name string }

// Secret is a secret block with its values.
type Secret struct {
	Address addrs.Object
	// Revision is the name for the values that the Secret will have.
	Revision string
	// Deferred are the reads that must happen before the value is known.
	Deferred []string
	decl     configs.Secret
	needs    []string // blocks that must be ready first
	data     map[string]providers.SecretData
	renew    string            // reason to make new values; empty: they are kept
	service  string            // the service that declares it; empty: a block outside of services
	rotated  string            // when the keys were rotated, as the annotation says; may be empty
	values   map[string]string // given values, as far as they are known
	resolved bool
}

// Lasting returns the part of the revision that rotations of keys keep; see secrets.Lasting.
func (s *Secret) Lasting() string { return secrets.Lasting(s.Revision) }

// Get returns a secret. service is empty for a block outside of services.
func (set *Set) Get(service, name string) *Secret { return set.secrets[id{service, name}] }

// Names returns the names of the secrets of a service: the declared ones, and the passwords of
// its databases, queues and users.
func Names(s *configs.Service) []string {
	var names []string
	for _, decl := range s.Secrets {
		names = append(names, decl.Name)
	}
	for _, p := range s.Passwords() {
		names = append(names, p.Secret)
	}
	return names
}

// Resolve settles the values of all secrets of the configuration.
func Resolve(cloud object.Cloud, config *configs.Config, facts Facts) (*Set, hcl.Diagnostics) {
	r := &resolver{config: config, set: &Set{cloud: cloud, facts: facts, secrets: declared(config)}}
	if facts.Former != nil {
		r.set.former = facts.Former(r.set.generated())
	}
	for _, s := range config.Secrets {
		r.secret("", s.Name)
	}
	for i := range config.Services {
		s := &config.Services[i]
		for _, name := range Names(s) {
			r.secret(s.Name, name)
		}
	}
	for i := range config.Exposures {
		r.exposure(config, &config.Exposures[i])
	}
	return r.set, r.diags
}

// generated returns the Secrets whose values kolla generates, without these values.
func (set *Set) generated() []providers.Object {
	var out []providers.Object
	for id, s := range set.secrets {
		if s.decl.Source != nil {
			continue
		}
		g := &providers.Generator{Kind: s.decl.Kind}
		if s.decl.Cert != nil {
			g.Cert = &providers.Certificate{}
		}
		o := providers.Object{Address: s.Address, Manifest: set.cloud.Secret(s.Address), Data: map[string]providers.SecretData{"": {Generate: g}}}
		if id.service != "" {
			labels := o.Manifest.GetLabels()
			labels[providers.LabelService] = id.service
			o.Manifest.SetLabels(labels)
		}
		out = append(out, o)
	}
	return out
}

// declared returns all secrets of the configuration, without their values.
func declared(config *configs.Config) map[id]*Secret {
	out := map[id]*Secret{}
	for _, s := range config.Secrets {
		out[id{"", s.Name}] = &Secret{
			decl: s.Secret, needs: s.Needs,
			Address: addrs.Object{Block: s.Block, Kind: "Secret", Name: s.Name},
		}
	}
	for _, service := range config.Services {
		add := func(decl configs.Secret) {
			out[id{service.Name, decl.Name}] = &Secret{
				decl: decl, needs: service.Needs, service: service.Name,
				Address: addrs.Object{Block: service.Block, Kind: "Secret", Name: service.Name + "-" + decl.Name},
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

// live returns the values of a secret in the cluster. If its name changed, it returns the
// values of the Secret with the former name. Nil: there are none.
func (set *Set) live(s *Secret) map[string][]byte {
	namespace := set.cloud.Decl.Namespace
	if set.facts.Ours == nil || set.facts.Ours(s.Address, namespace, s.Address.Name) {
		if own := set.facts.Values(namespace, s.Address.Name); own != nil {
			return own
		}
	}
	former, renamed := set.former[s.Address]
	if !renamed {
		return nil
	}
	return set.facts.Values(former.Namespace, former.Name)
}

// Manifests returns the manifests that must be ready before the secret can be copied from an
// existing Secret.
func (s *Secret) Manifests() []string {
	if s.decl.Source == nil || s.decl.Source.Existing == nil {
		return nil
	}
	return manifests(s.needs)
}

// Declared returns the place of the value of a secret, if kolla does not generate it.
func (s *Secret) Declared() hcl.Range {
	if s.decl.Source == nil {
		return hcl.Range{}
	}
	return s.decl.Source.Range
}

// Fill adds the values of a secret to its object. manifests are the objects of s.Manifests.
func (set *Set) Fill(o providers.Object, s *Secret, at hcl.Range, manifests []addrs.Object) providers.Object {
	o.Data, o.Deferred = s.data, s.Deferred
	if s.decl.Source == nil {
		o.Holds = "generated values"
		o.Loss = s.decl.Loss
		if s.decl.Cert != nil && s.decl.Cert.CA != nil {
			o.DependsOn = object.Unique(append(o.DependsOn, set.Get(s.decl.Cert.CA.Service, s.decl.Cert.CA.Secret).Address))
		}
	}
	set.revise(&o, s.Revision)
	if s.rotated != "" {
		object.Mark(o.Manifest, "annotations", map[string]string{providers.AnnotationRotated: s.rotated})
	}
	if len(manifests) > 0 {
		o.DependsOn = object.Unique(append(o.DependsOn, manifests...))
	}
	if at.Filename != "" {
		o.From(object.Source(at))
	}
	return o
}

// revise records the revision of a Secret's values, which also gives it a checksum.
func (set *Set) revise(o *providers.Object, revision string) {
	object.Mark(o.Manifest, "annotations", map[string]string{providers.AnnotationRevision: revision})
	o.DependsOn = object.Unique(append(o.DependsOn, Checksums(set.cloud)))
}

// Checksums returns the address of the Secret with the key for checksums.
func Checksums(cloud object.Cloud) addrs.Object {
	return cloud.Address("Secret", secrets.ChecksumSecret(cloud.Decl.Name))
}

// ChecksumKey returns the Secret with the key for checksums. Every Secret with a revision depends
// on it.
func ChecksumKey(cloud object.Cloud) providers.Object {
	address := Checksums(cloud)
	return providers.Object{
		Address:   address,
		Manifest:  cloud.Secret(address),
		Data:      secrets.ChecksumData(),
		DependsOn: []addrs.Object{cloud.Namespace()},
		Source:    object.Source(cloud.Decl.Range),
	}
}
