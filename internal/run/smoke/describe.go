package smoke

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/run/tempest"
)

// Describe describes the cloud to Tempest, as far as its services are declared and exposed. Both images are the one
// that the check server boots. Only tests of the declared services run.
func Describe(ctx context.Context, cloud *Cloud) (tempest.Cloud, error) {
	limited, cancel := cloud.limited(ctx)
	defer cancel()
	out, err := cloud.describe(limited)
	if err == nil {
		return out, nil
	}
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	var unmade *unmadeError
	if errors.As(err, &unmade) {
		return out, unmade
	}
	return out, errors.New(cloud.told(limited, err))
}

func (c *Cloud) describe(ctx context.Context) (tempest.Cloud, error) {
	out := tempest.Cloud{AuthURL: c.Keystone, Region: c.Region}
	admin, err := c.administrator(ctx, adminProject())
	if err != nil {
		return out, err
	}
	t := &trial{cloud: c, admin: admin, user: admin}
	for _, kind := range slices.Sorted(maps.Keys(admin.urls)) {
		if c.declares(kind) {
			out.Services = append(out.Services, kind)
		}
	}
	for _, read := range []struct {
		service string
		read    func(*trial, context.Context, *tempest.Cloud) error
	}{{compute, (*trial).describeServers}, {network, (*trial).describeNetworks}, {volume, (*trial).describeVolumes}} {
		if slices.Contains(out.Services, read.service) {
			if err := read.read(t, ctx, &out); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

func (t *trial) describeServers(ctx context.Context, out *tempest.Cloud) error {
	image, first, err := t.sizes(ctx)
	if err != nil {
		return err
	}
	larger, err := t.flavor(ctx, func(f flavor) bool { return f.ID != first.ID && f.RAM >= first.RAM && f.Disk >= first.Disk })
	if err != nil {
		return err
	}
	out.Image, out.OtherImage, out.Flavor, out.LargerFlavor = image, image, first.ID, cmp.Or(larger.ID, first.ID)
	var found struct{ Hypervisors []daemon }
	if err := t.admin.call(ctx, http.MethodGet, compute, "os-hypervisors", nil, &found); err != nil {
		return err
	}
	for _, h := range found.Hypervisors {
		if h.State == "up" {
			out.Hypervisors++
		}
	}
	return nil
}

func (t *trial) describeNetworks(ctx context.Context, out *tempest.Cloud) error {
	var err error
	if out.ExternalNetwork, err = t.externalNetwork(ctx); err != nil {
		return err
	}
	var found struct{ Extensions []struct{ Alias string } }
	if err := t.admin.call(ctx, http.MethodGet, network, "extensions", nil, &found); err != nil {
		return err
	}
	for _, e := range found.Extensions {
		out.Extensions = append(out.Extensions, e.Alias)
	}
	return nil
}

func (t *trial) describeVolumes(ctx context.Context, out *tempest.Cloud) error {
	var found struct{ Services []daemon }
	if err := t.admin.call(ctx, http.MethodGet, volume, "os-services", nil, &found); err != nil {
		return err
	}
	for _, s := range found.Services {
		_, backend, _ := strings.Cut(s.Host, "@")
		switch {
		case s.Binary == "cinder-backup":
			out.Backups = out.Backups || s.State == "up"
		case s.Binary == "cinder-volume" && backend != "" && !slices.Contains(out.Backends, backend):
			out.Backends = append(out.Backends, backend)
		}
	}
	slices.Sort(out.Backends)
	return t.describeStores(ctx, out)
}

// describeStores reads what Cinder's scheduler knows of the stores of the backends. Those of the first one count: some
// tests ask for a volume in such a store.
func (t *trial) describeStores(ctx context.Context, out *tempest.Cloud) error {
	var found struct {
		Pools []struct {
			Name         string
			Capabilities struct {
				Protocol any    `json:"storage_protocol"` // a name, or several for the same
				Vendor   string `json:"vendor_name"`
			}
		}
	}
	if err := t.admin.call(ctx, http.MethodGet, volume, "scheduler-stats/get_pools?detail=true", nil, &found); err != nil {
		return err
	}
	first := ""
	for _, pool := range found.Pools {
		if first != "" && first <= pool.Name {
			continue
		}
		protocol := pool.Capabilities.Protocol
		if names, several := protocol.([]any); several && len(names) > 0 {
			protocol = names[0]
		}
		if name, ok := protocol.(string); ok {
			first, out.StorageProtocol, out.Vendor = pool.Name, name, pool.Capabilities.Vendor
		}
	}
	return nil
}
