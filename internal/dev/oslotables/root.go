package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"
)

// introspection is the output of introspect.py.
type introspection struct {
	Distributions map[string]*asked `json:"distributions"`
	// Plugins are keystoneauth's plugins, each with its options and their former names.
	Plugins     map[string]map[string][]string `json:"plugins"`
	Connections []string                       `json:"connections"`
}

// asked is the data of one distribution.
type asked struct {
	Version  string            `json:"version"`
	Requires []string          `json:"requires"` // direct and indirect requirements with options
	Missing  map[string]string `json:"missing"`  // the errors of namespaces that could not be loaded
	// Options is the output of oslo-config-generator for each namespace, by group.
	Options []map[string]optionGroup `json:"options"`
	// Elsewhere is the same output on another machine.
	Elsewhere      []map[string]optionGroup `json:"elsewhere"`
	WrittenOptions []string                 `json:"written_options"`
	WrittenGroups  []string                 `json:"written_groups"`
}

type optionGroup struct {
	Opts []generated `json:"opts"`
}

// generated is one option in the output of oslo-config-generator.
type generated struct {
	Name       string     `json:"name"`
	Dest       string     `json:"dest"`
	Type       string     `json:"type"`
	Min        *float64   `json:"min"`
	Max        *float64   `json:"max"`
	Choices    [][]any    `json:"choices"` // value and help
	Deprecated []fullName `json:"deprecated_opts"`
	Removal    bool       `json:"deprecated_for_removal"`
	Reason     string     `json:"deprecated_reason"`
}

type fullName struct {
	Group string `json:"group"`
	Name  string `json:"name"`
}

//go:embed introspect.py
var script []byte

// keyring has the keys that sign Debian's archives.
const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

// tools are the programs that the packages run when Python loads them.
var tools = []string{"base-files", "dash", "grep", "ca-certificates"}

// unpack unpacks the packages of a suite and their dependencies into a directory.
func unpack(ctx context.Context, s suite, dir, mirror string) (string, error) {
	root, done := filepath.Join(dir, s.name), filepath.Join(dir, s.name+".done")
	if _, err := os.Stat(done); err == nil {
		return root, nil
	}
	if err := os.RemoveAll(root); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	packages := slices.Clone(tools)
	for _, name := range s.packages {
		packages = append(packages, "python3-"+name)
	}
	args := []string{
		"--variant=extract", "--format=directory", "--keyring=" + keyring, "--include=" + strings.Join(packages, ","),
		`--aptopt=APT::Install-Recommends "false"`,
		`--aptopt=Acquire::Languages "none"`,
		// An outdated mirror also has signed packages.
		`--aptopt=Acquire::Check-Valid-Until "false"`,
	}
	for _, path := range []string{"doc", "locale", "man"} {
		args = append(args, "--dpkgopt=path-exclude=/usr/share/"+path+"/*")
	}
	cmd := exec.CommandContext(ctx, "mmdebstrap", append(args, s.name, root, fmt.Sprintf("deb %s %s main", mirror, s.name))...)
	// An interrupt of the terminal reaches it too, and it cleans up.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("mmdebstrap: %w\n%s", err, log.Bytes())
	}
	if err := certificates(root); err != nil {
		return "", err
	}
	return root, os.WriteFile(done, nil, 0o644)
}

// certificates makes the file that the scripts of ca-certificates would make. The Python
// module requests reads it at import.
func certificates(root string) error {
	names, err := filepath.Glob(filepath.Join(root, "usr/share/ca-certificates/mozilla/*.crt"))
	if err != nil {
		return err
	}
	var all []byte
	for _, name := range names {
		one, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		all = append(all, one...)
	}
	dir := filepath.Join(root, "etc/ssl/certs")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "ca-certificates.crt"), all, 0o644)
}

// introspect runs the script in a root.
func introspect(ctx context.Context, root string) (*introspection, error) {
	// Without a network, and with a host name that the script may set.
	cmd := exec.CommandContext(ctx, "unshare", "--net", "--uts", "chroot", root, "/usr/bin/python3", "-")
	cmd.Stdin = bytes.NewReader(script)
	var output, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &log
	cmd.Env = []string{
		"PATH=/usr/bin:/usr/sbin", "HOME=/root", "LC_ALL=C.UTF-8", "TZ=UTC",
		"PYTHONHASHSEED=0",                 // otherwise the order of sets is random
		"PYTHONPYCACHEPREFIX=/var/tmp/pyc", // modules are loaded many times
	}
	// numpy loads a library through a link that update-alternatives would have made.
	var dirs []string
	for _, library := range []string{"blas", "lapack"} {
		found, err := filepath.Glob(filepath.Join(root, "usr/lib/*-linux-gnu", library))
		if err != nil {
			return nil, err
		}
		for _, dir := range found {
			dirs = append(dirs, strings.TrimPrefix(dir, root))
		}
	}
	cmd.Env = append(cmd.Env, "LD_LIBRARY_PATH="+strings.Join(dirs, ":"))
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, log.Bytes())
	}
	var out introspection
	if err := json.Unmarshal(output.Bytes(), &out); err != nil {
		return nil, fmt.Errorf("reading what introspect.py prints: %w", err)
	}
	for name, d := range out.Distributions {
		if err := d.forget(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for namespace, why := range d.Missing {
			if !slices.Contains(unloadable, namespace) {
				return nil, fmt.Errorf("namespace %s of %s: %s", namespace, name, why)
			}
		}
	}
	return &out, nil
}

// forget removes the limits and choices that depend on this machine, such as the number of its
// CPUs.
func (a *asked) forget() error {
	if len(a.Options) != len(a.Elsewhere) {
		return errors.New("not every namespace can be loaded on every machine")
	}
	for i, namespace := range a.Options {
		for group, declared := range namespace {
			for j := range declared.Opts {
				o := &declared.Opts[j]
				for _, other := range a.Elsewhere[i][group].Opts {
					if other.Dest == o.Dest {
						o.agree(other)
					}
				}
			}
		}
	}
	return nil
}

// agree keeps the values that another machine confirms. Values that the other machine lists in
// another order are sorted.
func (g *generated) agree(other generated) {
	if !same(g.Min, other.Min) {
		g.Min = nil
	}
	if !same(g.Max, other.Max) {
		g.Max = nil
	}
	if reflect.DeepEqual(g.Choices, other.Choices) {
		return
	}
	for _, choices := range [][][]any{g.Choices, other.Choices} {
		slices.SortFunc(choices, func(a, b []any) int { return cmp.Compare(fmt.Sprint(a...), fmt.Sprint(b...)) })
	}
	if !reflect.DeepEqual(g.Choices, other.Choices) {
		g.Choices = nil
	}
}
