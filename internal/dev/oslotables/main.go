// Command oslotables makes kolla's tables of options from Debian's packages of OpenStack:
// `make oslo-tables`.
//
// It takes Linux, root, mmdebstrap and unshare. For each suite it unpacks the services and
// their dependencies into a directory, and runs introspect.py there without a network. It
// installs and starts nothing. It writes only below -work and the file -out.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "oslotables:", err)
		os.Exit(1) //nolint:forbidigo // this is main
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("oslotables", flag.ContinueOnError)
	work := flags.String("work", "bin/oslotables", "work in `DIR`; a suite that was unpacked there is used again")
	out := flags.String("out", "providers/openstack/options/tables.zip", "write the tables to `FILE`")
	mirror := flags.String("mirror", "http://deb.debian.org/debian", "Debian mirror")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return errors.New("needs root, to run Python inside of what it unpacks")
	}
	for program, from := range map[string]string{"mmdebstrap": "mmdebstrap debian-archive-keyring", "unshare": "util-linux"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("%s is missing: apt-get install %s", program, from)
		}
	}
	dir, err := filepath.Abs(*work)
	if err != nil {
		return err
	}
	found := map[string]*introspection{}
	for _, s := range suites {
		fmt.Fprintf(stdout, "%s: unpacking.\n", s.name)
		root, err := unpack(ctx, s, dir, *mirror)
		if err != nil {
			return fmt.Errorf("unpacking the packages of %s: %w", s.name, err)
		}
		fmt.Fprintf(stdout, "%s: asking for options.\n", s.name)
		if found[s.name], err = introspect(ctx, root); err != nil {
			return fmt.Errorf("asking the packages of %s for their options: %w", s.name, err)
		}
	}
	index, distributions := combine(found)
	if err := write(*out, index, distributions); err != nil {
		return fmt.Errorf("writing the tables: %w", err)
	}
	info, err := os.Stat(*out)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s: %d services, %d distributions, %d bytes.\n", *out, len(index.Services), len(distributions), info.Size())
	return nil
}
