package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/run/explain"
	"kolla.openstack.org/kolla/lang/syntax"
)

// FuzzValidate checks that kolla validate ends with a result for any files: from reading to
// rendering objects and printing errors, without a panic, a control character or a sensitive value
// in the output.
func FuzzValidate(f *testing.F) {
	for _, pattern := range []string{"../../examples/*/cloud.hcl", "../../lang/testdata/diagnostics/*/main.hcl", "../../lang/testdata/config/*/cloud.hcl"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			f.Fatalf("no seeds %s: %v", pattern, err)
		}
		for _, name := range names {
			source, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(source, []byte("{}"), []byte("output \"o\" {\n  value = 1\n}\n"))
		}
	}
	const hidden = "qzxjv7-hidden"
	f.Add([]byte("cloud \"c\" {\n  release = var.fuzz_secret\n}\nservice \"memcached\" {}\n"),
		[]byte(`{"role": {"r": {"nodes": ["${var.fuzz_secret}"]}}}`), []byte(`variable "x" {}`))
	dir := f.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "m"), 0o700); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, native, asJSON, module []byte) {
		t.Setenv(explain.DebugVariable, "1")
		t.Chdir(dir)
		for name, source := range map[string][]byte{
			"fuzz.hcl": []byte("variable \"fuzz_secret\" {\n  sensitive = true\n}\n"),
			"main.hcl": native, "x.hcl.json": asJSON, "m/main.hcl": module,
		} {
			if err := os.WriteFile(name, source, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var out, problems bytes.Buffer
		code := Run(context.Background(), []string{"kolla", "validate", "-var", "fuzz_secret=" + hidden}, strings.NewReader(""), &out, &problems)
		shown := problems.String()
		if code != 0 && code != command.ExitError || (code == 0) != strings.HasPrefix(out.String(), "The configuration is valid: ") {
			t.Errorf("exit code %d, output %q", code, &out)
		}
		if code != 0 && !strings.Contains(shown, "Error: ") || strings.Contains(shown, "bug in kolla") {
			t.Errorf("exit code %d, shown:\n%s", code, shown)
		}
		all := string(native) + string(asJSON) + string(module)
		declared := strings.Contains(all, `fuzz_secret"`) || strings.Contains(all, "variable fuzz_secret")
		if strings.Contains(shown, hidden) && !strings.Contains(all, "nonsensitive") && !declared && !strings.Contains(all, "qzxjv7") {
			t.Errorf("a sensitive value is shown:\n%s", shown)
		}
		if at := strings.IndexFunc(shown, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }); at >= 0 {
			t.Errorf("a control character is shown at %d:\n%q", at, shown)
		}
		_ = syntax.Format(native)
	})
}
