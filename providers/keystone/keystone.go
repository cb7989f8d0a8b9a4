// Package keystone compares what jobs register with Keystone with what Keystone has: users, roles,
// services and endpoints. It only reads. A job registers, and runs again to repair what differs; so
// the rules here are those of the job, which is providers/openstack/catalogue/keystone/register.py:
// what the job would leave alone is no difference.
//
// A [Registrar] is for one plan. It logs in once, reads each list once, and asks for nothing but
// what the given registrations name:
//
//	registrar := keystone.New(client, snapshot.SecretValues)
//	differences, err := registrar.Compare(ctx, object.Registers)
//
// Mistakes to avoid:
//
//   - Keeping a Registrar when Keystone has changed. It reads each list only once.
//   - Comparing before the job has completed. Everything would be missing.
package keystone

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"kolla.openstack.org/kolla/providers"
)

// Proxy sends requests to Services. A *kubernetes.Client is one.
type Proxy interface {
	Proxy(ctx context.Context, to providers.InternalURL, request providers.ServiceRequest) (*providers.ServiceAnswer, error)
}

// Registrar compares registrations. It implements providers.Registrar.
type Registrar struct {
	proxy  Proxy
	values func(namespace, name string) map[string][]byte

	mu       sync.Mutex
	sessions map[login]*session
}

var _ providers.Registrar = (*Registrar)(nil)

// New returns a Registrar. values returns the values of a Secret; nil: it does not exist.
func New(proxy Proxy, values func(namespace, name string) map[string][]byte) *Registrar {
	return &Registrar{proxy: proxy, values: values, sessions: map[login]*session{}}
}

// Compare returns the differences between a registration and what Keystone has, sorted by path. If
// Keystone cannot be read, the error is a *providers.UncomparedError.
func (r *Registrar) Compare(ctx context.Context, all *providers.Registration) ([]providers.Difference, error) {
	wanted := all.Keystone
	if wanted == nil {
		return nil, nil
	}
	s := r.session(wanted)
	c := &comparison{session: s, wanted: wanted}
	for _, compare := range []func(context.Context) error{c.roles, c.users, c.endpoints} {
		if err := compare(ctx); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(c.found, func(a, b providers.Difference) int { return cmp.Compare(a.Path, b.Path) })
	return slices.CompactFunc(c.found, func(a, b providers.Difference) bool { return a.Path == b.Path }), nil
}

// session returns the session for a registration. All registrations with the same Keystone share it.
func (r *Registrar) session(wanted *providers.KeystoneRegistration) *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	as := login{wanted.Keystone, wanted.Username, wanted.Password}
	if r.sessions[as] == nil {
		r.sessions[as] = newSession(r.proxy, as, string(r.values(as.password.Namespace, as.password.Name)[as.password.Key]))
	}
	return r.sessions[as]
}

// comparison is the comparison of one registration.
type comparison struct {
	*session
	wanted *providers.KeystoneRegistration
	found  []providers.Difference
}

// differs notes a difference.
func (c *comparison) differs(path string, declared, live any) {
	c.found = append(c.found, providers.Difference{Server: "Keystone", Path: path, Declared: declared, Live: live})
}

// compare notes a difference between two values.
func (c *comparison) compare(path string, declared, live any) {
	if declared != live {
		c.differs(path, declared, live)
	}
}
