// Package mariadb compares what jobs make in MariaDB with what it has: databases, their users, the privileges
// of these, and the cells of Nova. It only reads. A job makes them, and runs again to repair what differs; so the
// rules here are those of the job, which is providers/openstack/catalogue/mariadb/create.sh: what the job
// would leave alone is no difference. The same holds for the cells that Nova knows, which are rows of a table,
// and catalogue/nova/db-sync.sh.
//
// A [Registrar] is for one plan. It logs in to each server once, through a forwarded port of one of its
// pods, and reads each table once:
//
//	registrar := mariadb.New(client, snapshot.SecretValues)
//	defer registrar.Close()
//	differences, err := registrar.Compare(ctx, object.Registers)
//
// Mistakes to avoid:
//
//   - Keeping a Registrar when the databases have changed. It reads each table only once.
//   - Comparing before the job has completed. Everything would be missing.
package mariadb

import (
	"cmp"
	"context"
	"slices"

	"kolla.openstack.org/kolla/providers"
)

// product is the name of the server in differences and reasons.
const product = "MariaDB"

// Registrar compares registrations. It implements providers.Registrar.
type Registrar struct{ sessions providers.Sessions[*session] }

var _ providers.Registrar = (*Registrar)(nil)

// New returns a Registrar. values returns the values of a Secret; nil: it does not exist.
func New(forwarder providers.Forwarder, values func(namespace, name string) map[string][]byte) *Registrar {
	return &Registrar{providers.Sessions[*session]{Values: values, Open: func(server providers.PodServer, password string) *session {
		return newSession(forwarder, server, password)
	}}}
}

// Close ends the connections to all servers. The Registrar cannot be used after it.
func (r *Registrar) Close() { r.sessions.Close((*session).close) }

// Compare returns the differences between a registration and what MariaDB has, sorted by path. If
// MariaDB cannot be read, the error is a *providers.UncomparedError.
func (r *Registrar) Compare(ctx context.Context, all *providers.Registration) ([]providers.Difference, error) {
	var found []providers.Difference
	if wanted := all.Database; wanted != nil {
		c := &comparison{session: r.sessions.Of(wanted.Server), wanted: wanted}
		for _, compare := range []func(context.Context) error{c.database, c.user, c.privileges} {
			if err := compare(ctx); err != nil {
				return nil, err
			}
		}
		if err := c.password(ctx, r.sessions.Value(wanted.Password)); err != nil {
			return nil, err
		}
		found = c.found
	}
	if wanted := all.Cells; wanted != nil {
		more, err := r.cells(ctx, wanted)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	slices.SortStableFunc(found, func(a, b providers.Difference) int { return cmp.Compare(a.Path, b.Path) })
	return found, nil
}
