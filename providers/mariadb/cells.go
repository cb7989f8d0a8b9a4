package mariadb

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/secrets"
)

// nova is the product whose cells are compared.
const nova = "Nova"

// cells compares the cells that Nova knows. The job leaves further cells and disabled cells alone, so both are no
// difference.
func (r *Registrar) cells(ctx context.Context, wanted *providers.CellRegistration) (found []providers.Difference, err error) {
	table := "`" + strings.ReplaceAll(wanted.Database, "`", "``") + "`.cell_mappings"
	all, err := r.sessions.Of(wanted.Server).query(ctx, "SELECT uuid, name, transport_url, database_connection FROM "+table)
	if err != nil {
		return nil, err
	}
	for _, cell := range wanted.Cells {
		path := fmt.Sprintf("cells[%q]", cell.Name)
		at := slices.IndexFunc(all, func(row row) bool {
			return cell.UUID != "" && row["uuid"] == cell.UUID || cell.UUID == "" && row["name"] == cell.Name
		})
		if at < 0 {
			found = append(found, providers.Difference{Server: nova, Path: path + ".name", Declared: cell.Name})
			continue
		}
		live := all[at]
		if live["name"] != cell.Name {
			found = append(found, providers.Difference{Server: nova, Path: path + ".name", Declared: cell.Name, Live: live["name"]})
		}
		for column, parts := range map[string][]providers.DataPart{"transport_url": cell.TransportURL, "database_connection": cell.DatabaseConnection} {
			url, known, err := secrets.Join(parts, r.sessions.Values)
			if err == nil && known && len(parts) > 0 && string(url) != live[column] {
				found = append(found, providers.Difference{Server: nova, Path: path + "." + column, Secret: true})
			}
		}
	}
	return found, nil
}
