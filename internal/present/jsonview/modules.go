package jsonview

import "kolla.openstack.org/kolla/lang/addrs"

// Module is a module with its resources in the format of Terraform's values. It is the root
// or a module below it.
type Module[Resource any] struct {
	Address   string              `json:"address,omitempty"` // empty: the root
	Resources []Resource          `json:"resources,omitempty"`
	Children  []*Module[Resource] `json:"child_modules,omitempty"`
}

// Put adds a resource to the module of its block, and creates this module if necessary.
func (m *Module[Resource]) Put(block string, r Resource) {
	at := m
	for _, address := range addrs.Modules(addrs.SplitBlock(block).Module) {
		at = at.child(address)
	}
	at.Resources = append(at.Resources, r)
}

func (m *Module[Resource]) child(address string) *Module[Resource] {
	for _, c := range m.Children {
		if c.Address == address {
			return c
		}
	}
	c := &Module[Resource]{Address: address}
	m.Children = append(m.Children, c)
	return c
}
