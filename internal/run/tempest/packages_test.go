package tempest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"kolla.openstack.org/kolla/internal/run/probe"
	"kolla.openstack.org/kolla/internal/run/tempest"
)

// outside is the file system of the machines outside, with Debian's packages of Tempest. `make images` makes
// it.
const outside = "../../../bin/outside"

// inside returns the output of a program of this file system, on a machine without a network, with the directory as its
// working directory. The program may fail.
func inside(t *testing.T, dir string, argv ...string) string {
	t.Helper()
	const furnish = `root=$1 dir=$2; shift 2; mount -t tmpfs tmpfs "$root/tmp" && mount --rbind /dev "$root/dev" &&
		mount -t proc proc "$root/proc" && mount --bind "$dir" "$root/mnt" && HOME=/tmp exec chroot "$root" env --chdir=/mnt "$@"`
	root, err := filepath.Abs(outside)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "unshare", append([]string{"--mount", "--net", "--pid", "--fork", "--kill-child", "sh", "-c", furnish, "sh", root, dir}, argv...)...)
	cmd.Env = append(os.Environ(), tempest.Passwords("secret")...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Logf("%s: %v\n%s", strings.Join(argv, " "), err, said.String())
	}
	return string(out)
}

// options prints the options of tempest.conf that Tempest and its plug-ins do not know, or whose values they refuse, and
// the administrator's password.
const options = `
import configparser
from tempest import config

config.CONF.set_config_path("tempest.conf")
config.CONF.compute
known = config._CONF
given = configparser.RawConfigParser(default_section="none")
given.read("tempest.conf")
for section in given.sections():
    for option in given.options(section):
        try:
            known[option] if section == "DEFAULT" else known[section][option]
        except Exception as problem:
            print(section, option, repr(problem))
print(config.CONF.auth.admin_password, config.CONF.heat_plugin.password)
`

// TestPackages holds the lists, the configuration and the reader of results of this package against Tempest as Debian packages it.
func TestPackages(t *testing.T) {
	if _, err := os.Stat(outside + "/usr/bin/tempest"); err != nil || os.Getuid() != 0 {
		t.Skip("NOT RUN: Tempest needs root, and bin/outside, which make images makes")
	}
	text, err := os.ReadFile("../../../providers/openstack/catalogue/tempest/known.txt")
	if err != nil {
		t.Fatal(err)
	}
	known, err := tempest.Known(string(text))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "tempest.conf"), []byte(full.Config()), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Run("configuration", func(t *testing.T) {
		if got := inside(t, dir, "python3", "-c", options); got != "secret secret\n" {
			t.Errorf("Tempest says of its configuration:\n%s", got)
		}
	})
	inside(t, dir, "stestr", "init")
	all := tempest.Lists(inside(t, dir, "tempest", "run", "--config-file", "tempest.conf", "--list-tests"))
	t.Run("lists", func(t *testing.T) {
		if len(all) < 1000 {
			t.Fatalf("Tempest lists %d tests, want 1,000 at least", len(all))
		}
		for _, problem := range all.Check(known) {
			t.Error(problem)
		}
		if n, want := len(all.Required()), len(tempest.Required()); n != want {
			t.Errorf("Tempest lists %d of the required tests, want %d", n, want)
		}
	})
	t.Run("pod", func(t *testing.T) {
		pod := tempest.Pod(probe.Base{}, full, tempest.Choice{Regex: "test_versions.NetworksApiDiscovery|object_storage.test_account_quotas", AtOnce: 1, Without: tempest.Omissions(known)})
		container := pod.Spec.Containers[0]
		argv := []string{"env", "--chdir=/tmp"}
		for _, variable := range container.Env {
			if variable.ValueFrom == nil {
				argv = append(argv, variable.Name+"="+variable.Value)
			}
			if variable.Name == "TEMPEST_REQUIRED" {
				isRequired := func(full string) bool {
					return slices.ContainsFunc(strings.Split(variable.Value, "\n"), func(name string) bool { return strings.Contains(full, name) })
				}
				chosen := slices.DeleteFunc(slices.Clone(all), func(full string) bool { return !isRequired(full) })
				if diff := cmp.Diff(all.Required(), chosen); diff != "" {
					t.Errorf("the pod chooses other required tests (-want +got):\n%s", diff)
				}
			}
		}
		out := inside(t, dir, append(argv, container.Command...)...)
		results, err := tempest.Read(out)
		if err != nil || len(results) != 3 || results[0].Status != tempest.Failed || results[1].Status != tempest.Skipped {
			t.Fatalf("%v, %v\n%s", err, results, out)
		}
		if trace := results[0].Trace; len(trace) < 3 || trace[0] != "Traceback (most recent call last):" {
			t.Errorf("the traceback is\n%s\n%s", strings.Join(trace, "\n"), out)
		}
	})
	t.Run("results", func(t *testing.T) {
		chosen := slices.DeleteFunc(slices.Clone(all), func(name string) bool {
			return !strings.Contains(name, "test_versions.NetworksApiDiscovery") && !strings.Contains(name, "object_storage.test_account_quotas")
		})
		if err := os.WriteFile(filepath.Join(dir, "chosen"), []byte(strings.Join(chosen, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
		out := inside(t, dir, "tempest", "run", "--config-file", "tempest.conf", "--concurrency", "1", "--load-list", "chosen")
		results, err := tempest.Read(out)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		want := []tempest.Result{
			{Name: "setUpClass (tempest.api.network.test_versions.NetworksApiDiscovery)", Status: tempest.Failed},
			{Name: "setUpClass (tempest.api.object_storage.test_account_quotas.AccountQuotasTest)", Status: tempest.Skipped, Reason: "AccountQuotasTest skipped as swift is not available"},
			{Name: "setUpClass (tempest.api.object_storage.test_account_quotas_negative.AccountQuotasNegativeTest)", Status: tempest.Skipped, Reason: "AccountQuotasNegativeTest skipped as swift is not available"},
		}
		if diff := cmp.Diff(want, results, cmpopts.IgnoreFields(tempest.Result{}, "Trace")); diff != "" {
			t.Errorf("without a network (-want +got):\n%s\n%s", diff, out)
		}
	})
}
