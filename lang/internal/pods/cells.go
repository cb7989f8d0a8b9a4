package pods

import (
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
)

// cellsType is the type of the argument cells.
var cellsType = cty.List(cty.ObjectWithOptionalAttrs(
	map[string]cty.Type{"name": cty.String, "uuid": cty.String, "transport_url": cty.String, "database_connection": cty.String},
	[]string{"uuid", "transport_url", "database_connection"},
))

// mappedCells evaluates a maps_cells block. It returns nil if a value is not known yet, or wrong.
func mappedCells(e *eval.Env, b *source.Block) *configs.MappedCells {
	if waits(e, b) {
		return nil
	}
	server, ok := podServer(e, b)
	m := &configs.MappedCells{Server: server, Database: eval.String(e, b, "database")}
	v, given := eval.Attribute(e, b, "cells", cellsType)
	if !ok || !given || !eval.AllKnown(e, b, b.Type.AttributeNames()...) || m.Database == "" || len(server.Addresses) == 0 {
		return nil
	}
	at := b.AttributeRange("cells")
	for _, item := range mark.Elements(v) {
		bare, _ := item.Unmark()
		if bare.IsNull() {
			continue
		}
		cell := configs.MappedCell{}
		for i, name := range []string{"name", "uuid"} {
			if !eval.CheckNotSecret(e, bare.GetAttr(name), at, "the "+name+" of a cell") {
				return nil
			}
			if plain, _ := bare.GetAttr(name).Unmark(); !plain.IsNull() {
				*[]*string{&cell.Name, &cell.UUID}[i] = plain.AsString()
			}
		}
		for name, into := range map[string]*configs.Text{"transport_url": &cell.TransportURL, "database_connection": &cell.DatabaseConnection} {
			if url := bare.GetAttr(name); !url.IsNull() {
				*into = eval.TextOf(e, url, at)
			}
		}
		m.Cells = append(m.Cells, cell)
	}
	return m
}
