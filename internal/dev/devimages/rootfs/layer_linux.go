package rootfs

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"kolla.openstack.org/kolla/internal/dev/devimages/recipe"
)

// Keyring holds the keys that Debian's archives are signed with.
const Keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

// clean removes what is of no use in an image, or differs from build to build.
//
//go:embed clean.sh
var clean string

// unpacked are what dpkg leaves out: documentation and translations, but for licences.
var unpacked = []string{
	"path-exclude=/usr/share/doc/*",
	"path-include=/usr/share/doc/*/copyright",
	"path-exclude=/usr/share/doc-base/*",
	"path-exclude=/usr/share/info/*",
	"path-exclude=/usr/share/lintian/*",
	"path-exclude=/usr/share/locale/*",
	"path-exclude=/usr/share/man/*",
}

// makeLayer runs in its own namespaces, as the first process.
func makeLayer(spec Spec) error {
	chain := recipe.Chain(spec.Layer)
	layer := chain[len(chain)-1]
	if err := privateMounts(); err != nil {
		return err
	}

	root := spec.Upper()
	if layer.Parent == "" {
		step("mmdebstrap, Debian %s", spec.Suite)
		if err := bootstrap(root, layer, spec); err != nil {
			return err
		}
	} else if err := mountOverlay(spec, &root); err != nil {
		return err
	}
	if err := furnish(root, spec.Apt); err != nil {
		return err
	}
	if err := unix.Chroot(root); err != nil {
		return fmt.Errorf("chroot to %s: %w", root, err)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	if layer.Parent != "" {
		if err := install(layer, spec.Update); err != nil {
			return err
		}
	}
	return finish(layer)
}

// step tells the process that started this one what comes next.
func step(format string, args ...any) {
	fmt.Fprintf(os.Stdout, format+"\n", args...)
}

// bootstrap makes the lowest layer.
func bootstrap(root string, layer recipe.Layer, spec Spec) error {
	args := []string{
		"--mode=root", "--variant=apt", "--format=directory",
		"--keyring=" + Keyring,
		"--include=" + strings.Join(layer.Packages, ","),
		`--aptopt=APT::Install-Recommends "false"`,
		`--aptopt=Acquire::Retries "3"`,
		`--aptopt=Acquire::Languages "none"`,
	}
	for _, option := range unpacked {
		args = append(args, "--dpkgopt="+option)
	}
	for _, option := range spec.AptOptions {
		args = append(args, "--aptopt="+option)
	}
	args = append(append(args, spec.Suite, root), spec.Sources...)
	if err := tool("mmdebstrap", args...); err != nil {
		return err
	}
	// mmdebstrap leaves this machine's. A runtime mounts its own over them.
	for _, name := range []string{"etc/resolv.conf", "etc/hostname"} {
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// install adds the packages of a layer, from inside the root directory.
func install(layer recipe.Layer, update bool) error {
	apt := func(args ...string) error {
		options := []string{
			"--quiet", "--yes", "--no-install-recommends",
			"--option=APT::Sandbox::User=root", // the kept packages belong to root
			"--option=APT::Keep-Downloaded-Packages=true",
			"--option=Acquire::Retries=3",
			"--option=Dpkg::Use-Pty=0",
			"--option=Dpkg::Options::=--force-unsafe-io",
			"--option=Dpkg::Options::=--force-confold",
		}
		return tool("apt-get", append(options, args...)...)
	}
	if update {
		step("apt-get update")
		if err := errors.Join(apt("update"), apt("autoclean")); err != nil {
			return err
		}
	}
	step("apt-get install %s", strings.Join(layer.Packages, " "))
	return apt(append([]string{"install"}, layer.Packages...)...)
}

// finish adds the recipe's own files and cleans up, from inside the root directory.
func finish(layer recipe.Layer) error {
	for _, file := range layer.Files() {
		if err := writeFile(file); err != nil {
			return fmt.Errorf("adding the recipe's files: %w", err)
		}
	}
	if script := layer.Setup(); script != "" {
		step("setup script")
		if err := tool("sh", "-euc", script); err != nil {
			return err
		}
	}
	return tool("sh", "-euc", clean)
}

func writeFile(file recipe.File) error {
	name := "/" + file.Path
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
		return err
	}
	if err := os.WriteFile(name, file.Content, file.Mode); err != nil {
		return err
	}
	return os.Chmod(name, file.Mode) // whatever the umask is
}

// tool runs a program with the log as its output.
func tool(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Stdout = os.Stderr
	cmd.Stderr = os.Stderr
	cmd.Env = []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"HOME=/root", "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive", "DEBCONF_NONINTERACTIVE_SEEN=true",
	}
	for _, name := range []string{"http_proxy", "https_proxy", "no_proxy"} {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
