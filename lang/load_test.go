package lang_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/lang"
)

func TestExamples(t *testing.T) {
	for _, name := range []string{"all-in-one", "multinode"} {
		dir := filepath.Join("../examples", name)
		if _, diags := lang.Load(dir, lang.Options{Catalogue: builtinCatalogue()}); len(diags) > 0 {
			t.Errorf("%s:\n%s", name, render(diags, dir))
		}
	}
}

func TestLoadWithoutDirectory(t *testing.T) {
	config, diags := lang.Load(filepath.Join(t.TempDir(), "none"), lang.Options{})
	if !diags.HasErrors() || config == nil {
		t.Fatalf("config %v, diagnostics:\n%s", config, render(diags, ""))
	}
}

// TestLoadPartly checks that Load evaluates the valid blocks of a configuration that has errors.
func TestLoadPartly(t *testing.T) {
	config, diags := load(t, lang.Options{}, `
cloud "test" {
  release = "2025.1"
}
role "control" {
  nodes = [var.nowhere]
}
service "memcached" {
  replicas = 2
  workload "sever" {}
}
`)
	if len(diags.Errs()) != 2 {
		t.Errorf("diagnostics:\n%s", render(diags, ""))
	}
	if len(config.Services) != 1 || config.Services[0].Workloads[0].Replicas != 2 || len(config.Roles) != 1 {
		t.Errorf("services %+v, roles %+v", config.Services, config.Roles)
	}
}

// BenchmarkLoad loads clouds of the catalogue's services, ten to a file, and says what
// one more service costs.
func BenchmarkLoad(b *testing.B) {
	for _, services := range []int{20, 200, 2000} {
		b.Run(fmt.Sprint(services), func(b *testing.B) {
			dir := b.TempDir()
			writeMany(b, dir, services)
			options := lang.Options{Catalogue: builtinCatalogue()}
			b.ReportAllocs()
			var held runtime.MemStats
			for b.Loop() {
				config, diags := lang.Load(dir, options)
				if diags.HasErrors() || len(config.Services) != services {
					b.Fatalf("%d services\n%s", len(config.Services), render(diags, dir))
				}
				runtime.ReadMemStats(&held)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*services), "µs/service")
			b.ReportMetric(float64(held.Sys)/(1<<20), "MiB")
		})
	}
}

// writeMany writes a cloud of the catalogue's services in turn, ten to a file.
func writeMany(tb testing.TB, dir string, services int) {
	write := func(name, source string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(source), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	write("cloud.hcl", `
cloud "many" {
  release = "2025.1"
  defaults {
    config "*.conf" {
      values = { DEFAULT = { debug = false } }
    }
  }
}

role "control" {
  nodes = ["a", "b"]
}

service "mariadb" {}
service "memcached" {}
`)
	overrides := []struct{ definition, block string }{
		{"mariadb", `config "my.cnf" { values = { mysqld = { max_connections = %d } } }`},
		{"rabbitmq", `workload "server" { env = { NUMBER = %d } }`},
		{"memcached", `replicas = 1 + %d %% 3`},
		{"keystone", "config \"keystone.conf\" { values = { token = { expiration = 3600 + %[4]d } } }\n  database \"keystone\" { name = \"keystone_%[4]d\" }"},
	}
	var s strings.Builder
	for i := 2; i < services; i++ {
		use := overrides[i%len(overrides)]
		fmt.Fprintf(&s, "service \"%s-%d\" {\n  definition = %q\n  role = role.control\n  "+use.block+"\n}\n", use.definition, i, use.definition, i)
		if i%10 == 9 || i == services-1 {
			write(fmt.Sprintf("services-%d.hcl", i/10), s.String())
			s.Reset()
		}
	}
}
