package settings_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/langtest"
	"kolla.openstack.org/kolla/lang/internal/settings"
	"kolla.openstack.org/kolla/lang/syntax"
)

// layer returns the values that a block sets for a config file.
func layer(name, values string) *settings.Layer {
	expr, diags := syntax.Expression([]byte(values), "cloud.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		log.Fatal(diags)
	}
	return &settings.Layer{Name: name, Expr: expr}
}

// A service overrides one key of its definition and removes another one.
func ExampleMerge() {
	definition := layer(configs.LayerDefinition, `{ api = { workers = "2", debug = "false" }, token = { expiration = "3600" } }`)
	service := layer(configs.LayerService, `{ api = { workers = "8", debug = null } }`)

	const sections = 2 // an ini file has sections and keys
	merged := settings.Merge(settings.LeafMemo{}, sections, []*settings.Layer{definition, service})
	entries, _ := merged.Entries(langtest.Env(diag.New()))
	for _, entry := range entries {
		fmt.Println(strings.Join(entry.Path, "."), "=", entry.Value.AsString())
	}

	// Output:
	// api.workers = 8
	// token.expiration = 3600
}
