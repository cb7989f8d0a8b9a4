package keystone

import (
	"context"
	"fmt"
	"slices"

	"kolla.openstack.org/kolla/providers"
)

// endpoints compares the services and their endpoints in the region, and looks for endpoints that the
// owner has marked and does not declare.
func (c *comparison) endpoints(ctx context.Context) error {
	if len(c.wanted.Endpoints) == 0 {
		return nil
	}
	regions, err := c.list(ctx, "regions")
	if err != nil {
		return err
	}
	services, err := c.list(ctx, "services")
	if err != nil {
		return err
	}
	endpoints, err := c.list(ctx, "endpoints")
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(regions, func(e entry) bool { return e.ID == c.wanted.Region }) {
		c.differs(fmt.Sprintf("regions[%q].id", c.wanted.Region), c.wanted.Region, nil)
	}
	kept := map[string]bool{}
	for _, wanted := range c.wanted.Endpoints {
		id := c.service(services, wanted)
		kept[id] = true
		for _, side := range []struct{ is, url string }{{"internal", wanted.Internal}, {"public", wanted.Public}} {
			kept[c.endpoint(endpoints, id, wanted.Type, side.is, side.url)] = true
		}
	}
	if c.wanted.Owner != "" {
		c.undeclared(services, endpoints, kept)
	}
	return nil
}

// service compares a service, and returns its ID; empty: there is none. Without an owner, a service of
// the type with any name will do.
func (c *comparison) service(services []entry, wanted providers.RegisteredEndpoint) (id string) {
	path := fmt.Sprintf("services[%q]", wanted.Type)
	found := c.first(services, func(e entry) bool {
		return e.Type == wanted.Type && (e.Name == wanted.Name || c.wanted.Owner == "")
	}, func(e entry) any { return e.Owner })
	if found == nil {
		c.differs(path+".name", wanted.Name, nil)
		return ""
	}
	if c.wanted.Owner != "" {
		c.compare(path+".enabled", true, found.Enabled)
		if !c.foreign(found.Owner) { // regions share services
			c.compare(path+".kolla_owner", c.mark(), found.Owner)
		}
	}
	return found.ID
}

// endpoint compares an endpoint, and returns its ID; empty: there is none.
func (c *comparison) endpoint(endpoints []entry, service, kind, side, url string) (id string) {
	path := c.endpointPath(kind, side)
	found := c.first(endpoints, func(e entry) bool {
		return service != "" && e.ServiceID == service && e.Interface == side && e.RegionID == c.wanted.Region
	}, func(e entry) any { return e.Description })
	if found == nil {
		c.differs(path+".url", url, nil)
		return ""
	}
	c.compare(path+".url", url, found.URL)
	if c.wanted.Owner != "" {
		c.compare(path+".enabled", true, found.Enabled)
		c.compare(path+".description", c.mark(), found.Description)
	}
	return found.ID
}

// endpointPath returns the path of an endpoint.
func (c *comparison) endpointPath(kind, side string) string {
	return fmt.Sprintf("endpoints[%q]", kind+"/"+side+"/"+c.wanted.Region)
}

// first returns the entry that the job chooses of several: one of the owner, with the smallest ID.
func (c *comparison) first(all []entry, fits func(entry) bool, markOf func(entry) any) *entry {
	var found *entry
	for i := range all {
		e := &all[i]
		ours := markOf(*e) == c.mark()
		if fits(*e) && (found == nil || ours && markOf(*found) != c.mark() || ours == (markOf(*found) == c.mark()) && e.ID < found.ID) {
			found = e
		}
	}
	return found
}

// undeclared looks for endpoints in the region, and services, that the owner has marked and does not
// declare. The job deletes them.
func (c *comparison) undeclared(services, endpoints []entry, kept map[string]bool) {
	kinds, used := map[string]string{}, map[string]bool{}
	for _, s := range services {
		kinds[s.ID] = s.Type
	}
	for _, e := range endpoints {
		ours := e.Description == c.mark()
		if ours && e.RegionID == c.wanted.Region && !kept[e.ID] {
			c.differs(fmt.Sprintf("endpoints[%q].url", kinds[e.ServiceID]+"/"+e.Interface+"/"+e.RegionID+"/"+e.ID), nil, e.URL)
		}
		if kept[e.ID] || !ours {
			used[e.ServiceID] = true
		}
	}
	for _, s := range services {
		if s.Owner == c.mark() && !kept[s.ID] && !used[s.ID] {
			c.differs(fmt.Sprintf("services[%q].name", s.Type+"/"+s.ID), nil, s.Name)
		}
	}
}
