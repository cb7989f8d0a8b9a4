package syntax_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang/syntax"
)

func TestFormat(t *testing.T) {
	tests := []struct{ name, source, want string }{
		{"spacing and alignment", "a=1\nlonger =  2\n", "a      = 1\nlonger = 2\n"},
		{"indentation", "x \"y\" {\na = 1\n    b {\n}\n}\n", "x \"y\" {\n  a = 1\n  b {\n  }\n}\n"},
		{"end of file", "a = 1\n\n\n", "a = 1\n"},
		{"no end of line", "a = 1", "a = 1\n"},
		{"line breaks", "a = 1\r\nb = 2\r\n", "a = 1\nb = 2\n"},
		{"empty", "\n\n", ""},
		{"comments stay", "# x\n\na = 1 # y\n", "# x\n\na = 1 # y\n"},
		{"heredocs stay", "a = <<-X\n    b   c\n  X\n", "a = <<-X\n    b   c\n  X\n"},
		{"one expression", "a = \"${var.x}\"\n", "a = var.x\n"},
		{"one expression in blocks", "x {\n  y {\n    a = \"${f(\"${b}\", \"c${d}\")}\" # e\n  }\n}\n", "x {\n  y {\n    a = f(\"${b}\", \"c${d}\") # e\n  }\n}\n"},
		{"one expression in one", "a = \"${\"${x}\"}\"\n", "a = x\n"},
		{"more than one expression stays", "a = \"${x}${y}\"\nb = \"${x} \"\nc = \"${x}\" == \"${y}\"\n", "a = \"${x}${y}\"\nb = \"${x} \"\nc = \"${x}\" == \"${y}\"\n"},
		{"what is no plain expression stays", "a = \"${~x~}\"\nb = \"$${x}\"\nc = \"%{if x}y%{endif}\"\nd = [\"${x}\"]\n", "a = \"${~x~}\"\nb = \"$${x}\"\nc = \"%{if x}y%{endif}\"\nd = [\"${x}\"]\n"},
		{"what is not valid stays", "a = = 1\r\n", "a = = 1\r\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := string(syntax.Format([]byte(test.source)))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if again := string(syntax.Format([]byte(got))); again != got {
				t.Errorf("formatted again:\n%s", cmp.Diff(got, again))
			}
		})
	}
}

// TestFormatted checks that what users copy is in canonical form.
func TestFormatted(t *testing.T) {
	var files []string
	for _, root := range []string{"../../providers/openstack/catalogue", "../../examples"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if filepath.Ext(path) == ".hcl" {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(files) == 0 {
		t.Fatal("no files")
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(source), string(syntax.Format(source))); diff != "" {
			t.Errorf("%s is not formatted (-have +want):\n%s", file, diff)
		}
	}
}

func FuzzFormat(f *testing.F) {
	f.Add([]byte("a=1\r\n\r\nb {\nc=[1,\n2]\n}\n"))
	f.Add([]byte("a = <<X\n ${b}\nX\n"))
	f.Fuzz(func(t *testing.T, source []byte) {
		once := syntax.Format(source)
		if twice := syntax.Format(once); string(twice) != string(once) {
			t.Errorf("formatted once: %q\nformatted twice: %q", once, twice)
		}
	})
}
