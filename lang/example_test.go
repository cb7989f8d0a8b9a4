package lang_test

import (
	"fmt"
	"os"
	"path/filepath"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers/openstack"
)

// A program loads a configuration and finds the addresses of a service: its address in the
// configuration, and the names of its servers in the cluster.
func ExampleLoad() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	const configuration = `
cloud "prod" {
  release = "2025.1"
}

service "memcached" {
  replicas = 2
}
`
	if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(configuration), 0o600); err != nil {
		fmt.Println(err)
		return
	}

	config, diags := lang.Load(dir, lang.Options{Catalogue: openstack.Catalogue()})
	if diags.HasErrors() {
		fmt.Println(diags)
		return
	}
	for _, service := range config.Services {
		fmt.Println(service.Block)
		fmt.Println(service.Outputs["servers"].AsString())
	}

	// Output:
	// service.memcached
	// memcached-server-0.memcached-server.openstack:11211,memcached-server-1.memcached-server.openstack:11211
}
