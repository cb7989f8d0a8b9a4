package lang_test

import (
	"os"
	"path/filepath"
	"testing"

	"kolla.openstack.org/kolla/lang"
)

// TestFS checks that a configuration is the same from another file system: all that it reads
// with relative paths comes from there.
func TestFS(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"cloud.hcl": `cloud "c" {
  release    = "2025.1"
  config_dir = "config"
}

variable "size" {
  type = number
}

locals {
  read = [file("files/a.txt"), templatefile("files/t.tmpl", { x = var.size }), fileexists("files/none"), fileset("files", "**")]
}

output "read" {
  value = local.read
}

manifest "from-files" {
  files = ["manifests/*.yaml"]
}

module "inner" {
  source = "./inner"
}
`,
		"kolla.vars.hcl": "size = 3\n", "files/a.txt": "a", "files/t.tmpl": "${x}", "files/deep/b.txt": "b", "config/global.conf": "[DEFAULT]\ndebug = true\n",
		"manifests/m.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n", "inner/main.hcl": "locals {\n  x = 1\n}\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	want, diags := lang.Load(".", lang.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	files := os.DirFS(dir)
	t.Chdir(t.TempDir()) // which has no files
	got, diags := lang.Load(".", lang.Options{FS: files})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if got.Digest != want.Digest || len(got.Manifests) != 1 || got.Outputs[0].Value.Equals(want.Outputs[0].Value).False() {
		t.Errorf("the configuration differs: %#v, want %#v", got.Outputs, want.Outputs)
	}
}

// TestFSAndDisk checks that a file of -var-file is read from the disk if the file system does
// not have it, and absolute paths always.
func TestFSAndDisk(t *testing.T) {
	tree, disk := t.TempDir(), t.TempDir()
	absolute := filepath.Join(disk, "note.txt")
	for path, content := range map[string]string{
		filepath.Join(tree, "cloud.hcl"): "cloud \"c\" {\n  release = \"2025.1\"\n}\nvariable \"a\" {}\nvariable \"b\" {}\noutput \"o\" {\n  value = [var.a, var.b, file(\"" + absolute + "\")]\n}\n",
		filepath.Join(tree, "a.vars"):    "a = \"tree\"\n", filepath.Join(disk, "a.vars"): "a = \"disk\"\n", filepath.Join(disk, "b.vars"): "b = \"disk\"\n", absolute: "note",
	} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(disk)
	config, diags := lang.Load(".", lang.Options{FS: os.DirFS(tree), Vars: []lang.Var{{File: "a.vars"}, {File: "b.vars"}}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var got []string
	for _, v := range config.Outputs[0].Value.AsValueSlice() {
		got = append(got, v.AsString())
	}
	if len(got) != 3 || got[0] != "tree" || got[1] != "disk" || got[2] != "note" {
		t.Errorf("got %q", got)
	}
}
