package keystone

import (
	"cmp"
	"context"
	"slices"

	"kolla.openstack.org/kolla/providers"
)

// Catalogue returns all endpoints that Keystone has, sorted by type, interface and region. The administrator of
// the registration reads them. If Keystone cannot be read, the error is a *providers.UncomparedError.
func (r *Registrar) Catalogue(ctx context.Context, by *providers.KeystoneRegistration) ([]providers.CatalogueEndpoint, error) {
	s := r.session(by)
	services, err := s.list(ctx, "services")
	if err != nil {
		return nil, err
	}
	endpoints, err := s.list(ctx, "endpoints")
	if err != nil {
		return nil, err
	}
	named := map[string]entry{}
	for _, service := range services {
		named[service.ID] = service
	}
	var out []providers.CatalogueEndpoint
	for _, e := range endpoints {
		service := named[e.ServiceID]
		out = append(out, providers.CatalogueEndpoint{
			Type: service.Type, Name: service.Name, Interface: e.Interface, Region: e.RegionID, URL: e.URL, Disabled: !e.Enabled || !service.Enabled,
		})
	}
	slices.SortFunc(out, func(a, b providers.CatalogueEndpoint) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Interface, b.Interface), cmp.Compare(a.Region, b.Region), cmp.Compare(a.URL, b.URL))
	})
	return out, nil
}
