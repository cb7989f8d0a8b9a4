package doctor

import (
	"context"
	"errors"
	"slices"

	"kolla.openstack.org/kolla/internal/base/parallel"
	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
	"kolla.openstack.org/kolla/internal/run/doctor/network"
	"kolla.openstack.org/kolla/internal/run/reach"
	"kolla.openstack.org/kolla/internal/run/rights"
	"kolla.openstack.org/kolla/providers"
)

// Cluster answers the questions of checks that lists do not answer. A *kubernetes.Client is one.
type Cluster interface {
	// Allowed reports whether the user may send a request.
	Allowed(ctx context.Context, access providers.Access) (bool, error)
}

// Read adds to f what the checks need to know of the cluster. f has everything that does not come
// from the cluster, and Live with what was read already. A list that the user may not read is no
// error: the checks that need it say so.
func Read(ctx context.Context, client Cluster, f *cluster.Facts, checks []Check) error {
	f.Unread = map[providers.Scope]error{}
	const rounds = 2 // what the first lists show decides which further ones are needed
	for range rounds {
		for _, check := range checks {
			if check.reads == nil {
				continue
			}
			scopes := check.reads(f)
			if err := f.Live.Try(ctx, scopes...); err != nil {
				return err
			}
			for _, scope := range scopes {
				if err := f.Live.Unread(scope); err != nil {
					f.Unread[scope] = reasonOf(err)
				}
			}
		}
	}
	for _, check := range checks {
		switch check.Name {
		case "permissions":
			f.Denied, f.Unasked = denied(ctx, client, slices.Concat(f.Roles, f.Reading))
		case "vip":
			var err error
			if f.Reached, err = reach.Ports(ctx, network.Published(f), reach.Patience); err != nil {
				return err
			}
			if f.Resolved, err = reach.Names(ctx, network.Named(f), reach.Patience); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// reasonOf returns the part of an error of a list that an operator needs: the missing right, or the
// answer of the server.
func reasonOf(err error) error {
	var denied *providers.PermissionError
	if errors.As(err, &denied) {
		return denied
	}
	return err
}

// denied asks for all rights of the roles, and returns the ones that the user lacks. A user with all
// rights is asked for once.
func denied(ctx context.Context, client Cluster, roles []rights.Role) ([]providers.Access, error) {
	wanted := rights.Accesses(roles)
	all, err := client.Allowed(ctx, providers.Access{Verb: "*", Group: "*", Resource: "*"})
	if err != nil {
		return nil, err
	}
	refused := make([]bool, len(wanted))
	err = parallel.Bounded(ctx, providers.Parallelism, len(wanted), func(ctx context.Context, i int) error {
		if all && wanted[i].URL == "" {
			return nil
		}
		allowed, err := client.Allowed(ctx, wanted[i])
		refused[i] = !allowed
		return err
	})
	if err != nil {
		return nil, err
	}
	var out []providers.Access
	for i, access := range wanted {
		if refused[i] {
			out = append(out, access)
		}
	}
	return out, nil
}
