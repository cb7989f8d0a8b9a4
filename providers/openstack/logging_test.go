package openstack_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers/openstack"
)

// TestCollectorCannot checks errors and warnings about what a collector of the catalogue cannot do. They
// point at the block logging or at its argument.
func TestCollectorCannot(t *testing.T) {
	for name, c := range map[string]struct {
		arguments, kind string
		severity        hcl.DiagnosticSeverity
		line            int
		want            string
	}{
		"no image":   {`collector = "rsyslog"`, "opensearch", hcl.DiagError, 3, "Kolla has no image of rsyslog in any release"},
		"null":       {"collector = \"rsyslog\"\n    image     = null", "opensearch", hcl.DiagError, 5, "Kolla has no image of rsyslog in any release"},
		"no Loki":    {"collector = \"rsyslog\"\n    image     = \"r.example.org/rsyslog:8\"", "loki", hcl.DiagWarning, 3, "rsyslog cannot send to Loki"},
		"no problem": {"", "loki", hcl.DiagWarning, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			text := "cloud \"c\" {\n  release = \"2025.1\"\n  logging {\n    " + c.arguments + "\n    target \"a\" {\n      type = \"" + c.kind + "\"\n      url  = \"http://a.example.org\"\n    }\n  }\n}\n"
			if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, diags := lang.Load(dir, lang.Options{Catalogue: openstack.Catalogue()})
			if c.want == "" {
				if len(diags) > 0 {
					t.Fatal(diags)
				}
				return
			}
			if !slices.ContainsFunc(diags, func(d *hcl.Diagnostic) bool {
				return d.Severity == c.severity && strings.Contains(d.Detail, c.want) && d.Subject.Start.Line == c.line
			}) {
				t.Errorf("want %q at line %d, got %v", c.want, c.line, diags)
			}
		})
	}
}
