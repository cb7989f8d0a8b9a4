package blocks

import (
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/schema"
)

// ProvidedObjects returns the value that the cleanup job of a provides block reads: the objects of
// one kind, such as databases, that a server provides for the services of the cloud. Released
// reports whether a removed block leaves objects in the cluster.
func ProvidedObjects(services []configs.Service, server, kind string, released bool) cty.Value {
	clients, names := map[string]bool{}, map[string]bool{}
	var users, endpoints []cty.Value
	for _, s := range services {
		for _, p := range s.Provided {
			if p.Server != server || p.Type != kind && (p.Type != schema.UserType.Name || kind != "registration") {
				continue
			}
			clients[s.Name] = true
			if p.Type == schema.UserType.Name {
				users = append(users, cty.ObjectVal(map[string]cty.Value{"domain": cty.StringVal(p.Domain), "name": cty.StringVal(p.Name)}))
			} else if p.Label != "" {
				names[p.Name] = true
			}
		}
		for _, e := range s.Endpoints {
			if kind == "registration" && e.Server == server && s.Name != server {
				endpoints = append(endpoints, cty.ObjectVal(map[string]cty.Value{"type": cty.StringVal(e.Type), "name": cty.StringVal(e.Name)}))
			}
		}
	}
	return cty.ObjectVal(map[string]cty.Value{
		"services":  StringList(slices.Sorted(maps.Keys(clients))),
		"names":     StringList(slices.Sorted(maps.Keys(names))),
		"users":     cty.TupleVal(users),
		"endpoints": cty.TupleVal(endpoints),
		"released":  cty.BoolVal(released),
	})
}
