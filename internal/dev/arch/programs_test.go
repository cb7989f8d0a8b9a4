package arch_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// starters lists the packages of kolla that can start other programs, with the programs that they
// start in kolla.
var starters = map[string]string{
	module + "/internal/base/revision":                                   "git, for kolla diff",
	"k8s.io/client-go/plugin/pkg/client/auth/exec":                       "the credential plugin of the kubeconfig",
	"oras.land/oras-go/v2/registry/remote/credentials":                   "nothing: kolla does not look for a default helper",
	"oras.land/oras-go/v2/registry/remote/credentials/internal/executer": "the credential helper of registries",
	"golang.org/x/sys/execabs":                                           "nothing: it is for Git repositories on the disk, and the operator's have URLs of http, https and ssh",
	"github.com/google/gnostic-models/compiler":                          "nothing: kolla registers no extensions of OpenAPI",
	"github.com/mattn/go-shellwords":                                     "nothing: kolla does not set ParseBacktick",
}

// TestPrograms checks the inventory in docs/security.md: which code can start a program.
func TestPrograms(t *testing.T) {
	for _, system := range []string{"linux", "darwin"} {
		list := exec.Command("go", "list", "-deps", "-f", `{{$p := .ImportPath}}{{range .Imports}}{{if eq . "os/exec"}}{{println $p}}{{end}}{{end}}`, module+"/cmd/kolla")
		list.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Fields(string(out))
		slices.Sort(got)
		if want := slices.Sorted(maps.Keys(starters)); !slices.Equal(got, want) {
			t.Errorf("on %s these packages import os/exec: %q, want %q. Add a new one to docs/security.md, with what in the work tree of a stranger can steer it.", system, got, want)
		}
	}
	// Code that starts programs without os/exec, or that makes one of the packages above start one.
	others := regexp.MustCompile(`\.(StartProcess|ForkExec)\b|\b(syscall|unix)\.Exec\b|SYS_(EXECVE|FORK|CLONE)|ParseBacktick|"plugin"`)
	tools := regexp.MustCompile(`^(bin/|internal/dev/)|/testdata/|_test\.go$`)
	files := 0
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		name, relErr := filepath.Rel(root, path)
		if err != nil || relErr != nil || filepath.Ext(name) != ".go" || tools.MatchString(filepath.ToSlash(name)) {
			return errors.Join(err, relErr)
		}
		files++
		if found := others.FindString(read(t, name)); found != "" {
			t.Errorf("%s has %s", name, found)
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Errorf("found %d files: %v", files, err)
	}
}
