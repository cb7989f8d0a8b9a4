package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

// BenchmarkValidate runs `kolla validate` on clouds of 20 to 2,000 services, ten per file. It
// reports the time per service, which is the same for all sizes, and the memory of the program.
func BenchmarkValidate(b *testing.B) {
	clouds := []struct {
		name        string
		definitions []string // used in turn
	}{
		{"mixed", []string{"mariadb", "rabbitmq", "memcached", "keystone"}},
		{"small", []string{"mariadb", "rabbitmq", "memcached"}},
		{"keystones", []string{"keystone"}}, // the largest definition
	}
	for _, cloud := range clouds {
		for _, services := range []int{20, 200, 2000} {
			b.Run(fmt.Sprintf("%s/%d", cloud.name, services), func(b *testing.B) {
				b.Chdir(b.TempDir())
				writeCloud(b, services, cloud.definitions)
				debug.FreeOSMemory()
				b.ReportAllocs()
				for b.Loop() {
					var complaints bytes.Buffer
					if code := Run(context.Background(), []string{"kolla", "validate"}, strings.NewReader(""), io.Discard, &complaints); code != 0 || complaints.Len() > 0 {
						b.Fatalf("exit code %d\n%s", code, complaints.String())
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*services), "µs/service")
				var memory runtime.MemStats
				runtime.ReadMemStats(&memory)
				b.ReportMetric(float64(memory.Sys-memory.HeapReleased)/(1<<20), "MiB")
			})
		}
	}
}

// writeCloud writes a cloud to the current directory. Each service overrides a setting of its own.
func writeCloud(tb testing.TB, services int, definitions []string) {
	tb.Helper()
	write(tb, "cloud.hcl", `
cloud "many" {
  release = "2025.1"
}

role "control" {
  nodes = ["a", "b"]
}

service "mariadb" {}
service "memcached" {}
`)
	overrides := map[string]string{
		"mariadb":   `config "my.cnf" { values = { mysqld = { max_connections = %d } } }`,
		"rabbitmq":  `workload "server" { env = { NUMBER = %d } }`,
		"memcached": `replicas = 1 + %d %% 3`,
		"keystone":  "config \"keystone.conf\" { values = { token = { expiration = 3600 + %[4]d } } }\n  database \"keystone\" { name = \"keystone_%[4]d\" }",
	}
	var s strings.Builder
	for i := 2; i < services; i++ {
		definition := definitions[i%len(definitions)]
		fmt.Fprintf(&s, "service \"%s-%d\" {\n  definition = %q\n  role = role.control\n  "+overrides[definition]+"\n}\n", definition, i, definition, i)
		if i%10 == 9 || i == services-1 {
			write(tb, fmt.Sprintf("services-%d.hcl", i/10), s.String())
			s.Reset()
		}
	}
}
