package discovery

import (
	"slices"

	"kolla.openstack.org/kolla/providers"
)

// Entry is an endpoint that Keystone's catalogue has, or should have.
type Entry struct {
	providers.CatalogueEndpoint
	Missing  bool   // Keystone does not have it
	Address  string // of the block that declares it; empty: none of the blocks does
	Declared string // the URL that the block declares
}

// Problem describes the fault of an endpoint; empty: the endpoint has none, or no block declares it.
func (e Entry) Problem() string {
	switch {
	case e.Address == "":
		return ""
	case e.Missing:
		return "missing"
	case e.URL != e.Declared:
		return "declared as " + e.Declared
	case e.Disabled:
		return "disabled"
	}
	return ""
}

// Wrong counts the endpoints of blocks, and those of them that have a problem.
func Wrong(entries []Entry) (all, wrong int) {
	for _, e := range entries {
		if e.Address != "" {
			all++
		}
		if e.Problem() != "" {
			wrong++
		}
	}
	return all, wrong
}

// Registered reports whether Keystone was read, if it was to be, and has all endpoints of the blocks.
func (d *Directory) Registered() bool {
	_, wrong := Wrong(d.Keystone)
	return wrong == 0 && d.NoKeystone == ""
}

// Catalogue returns the endpoints that objects declare, block by block, and then all others of Keystone. Only the
// given blocks count, without the others; nil: all do. live are the endpoints that Keystone has.
func Catalogue(blocks []Block, objects []providers.Object, live []providers.CatalogueEndpoint) []Entry {
	var out []Entry
	seen := map[providers.CatalogueEndpoint]bool{}
	for i := range objects {
		registers, address := objects[i].Registers, objects[i].Address.Block
		if registers == nil || registers.Keystone == nil || blocks != nil && !slices.ContainsFunc(blocks, func(b Block) bool { return b.Address == address }) {
			continue
		}
		wanted := registers.Keystone
		for _, e := range wanted.Endpoints {
			for _, side := range []struct{ is, url string }{{"internal", e.Internal}, {"public", e.Public}} {
				at := slices.IndexFunc(live, func(l providers.CatalogueEndpoint) bool {
					return l.Type == e.Type && l.Name == e.Name && l.Interface == side.is && l.Region == wanted.Region
				})
				entry := Entry{Address: address, Declared: side.url, Missing: at < 0}
				if at < 0 {
					entry.CatalogueEndpoint = providers.CatalogueEndpoint{Type: e.Type, Name: e.Name, Interface: side.is, Region: wanted.Region}
				} else {
					entry.CatalogueEndpoint = live[at]
					seen[live[at]] = true
				}
				out = append(out, entry)
			}
		}
	}
	for _, l := range live {
		if blocks == nil && !seen[l] {
			out = append(out, Entry{CatalogueEndpoint: l})
		}
	}
	return out
}
