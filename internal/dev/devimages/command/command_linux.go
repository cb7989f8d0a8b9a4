// Package command is the command line of kolla-devimages.
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"
	"time"

	"kolla.openstack.org/kolla/internal/dev/devimages/build"
	"kolla.openstack.org/kolla/internal/dev/devimages/imageset"
	"kolla.openstack.org/kolla/internal/dev/devimages/recipe"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

const usage = `kolla-devimages makes container images for tests from Debian packages, under the
names of the Kolla images.

  build -out DIR [IMAGE...]   make images, and put them into an OCI image layout
  list -out DIR               show the images of a layout
  unpack -out DIR -to DIR IMAGE...
                              make the file system of images, one laid over the other

Flags of a command: kolla-devimages COMMAND -help
`

type usageError struct{ error }

// Run runs one command line: results go to stdout, progress and errors to stderr. It
// returns the exit code.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	err := dispatch(ctx, args, stdout, stderr)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	fmt.Fprintln(stderr, "kolla-devimages:", err)
	if errors.As(err, new(usageError)) {
		return exitUsage
	}
	return exitFailed
}

func dispatch(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return usageError{errors.New("which command? There are build, list and unpack; help says more")}
	}
	switch args[0] {
	case "build":
		return runBuild(ctx, args[1:], stdout, stderr)
	case "list":
		return runList(args[1:], stdout)
	case "unpack":
		return runUnpack(ctx, args[1:], stdout)
	case "help", "-h", "-help", "--help":
		fmt.Fprint(stdout, usage)
		return nil
	}
	return usageError{fmt.Errorf("there is no command %q; there are build, list and unpack", args[0])}
}

func runBuild(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	began := time.Now()
	options := build.Options{
		Progress: func(line string) {
			fmt.Fprintf(stderr, "%6.1f s  %s\n", time.Since(began).Seconds(), line)
		},
	}
	flags := flag.NewFlagSet("build", flag.ContinueOnError)
	flags.StringVar(&options.Out, "out", "", "the `directory` of the OCI image layout (required)")
	flags.StringVar(&options.Cache, "cache", "", "the `directory` that keeps layers and packages (default: kolla-devimages in the user's cache directory)")
	flags.StringVar(&options.Binaries, "binaries", "", "the `directory` with the programs coredns and pause, for the images of these names")
	flags.StringVar(&options.Prefix, "prefix", recipe.Prefix, "the `registry and namespace` of the service images")
	flags.StringVar(&options.Release, "release", recipe.Releases()[0].Name, "the OpenStack `release`")
	flags.StringVar(&options.Tag, "tag", "", "the `tag` of the service images (default: Kolla's tag of the release)")
	flags.StringVar(&options.Mirror, "mirror", "http://deb.debian.org/debian", "the `URL` of a Debian mirror")
	flags.StringVar(&options.Security, "security", "http://deb.debian.org/debian-security", "the `URL` of a mirror of Debian's security archive")
	if err := parse(flags, "[flags] [IMAGE...]", args, stdout); err != nil {
		return err
	}
	if options.Out == "" {
		return usageError{errors.New("build: -out has to name the directory of the image layout")}
	}
	options.Images = flags.Args()
	if options.Cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("no -cache was given, and there is no directory for it: %w", err)
		}
		options.Cache = filepath.Join(user, "kolla-devimages")
	}
	if err := build.Run(ctx, options); err != nil {
		return err
	}
	options.Progress("done: " + options.Out)
	return nil
}

func runUnpack(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("unpack", flag.ContinueOnError)
	out := flags.String("out", "", "the `directory` of the OCI image layout (required)")
	to := flags.String("to", "", "the `directory` to make, or to replace if the images have changed (required)")
	if err := parse(flags, "-out DIR -to DIR IMAGE...", args, stdout); err != nil {
		return err
	}
	if *out == "" || *to == "" || flags.NArg() == 0 {
		return usageError{errors.New("unpack: -out, -to and the names of images are wanted")}
	}
	return imageset.Unpack(ctx, *out, *to, flags.Args())
}

func runList(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("list", flag.ContinueOnError)
	out := flags.String("out", "", "the `directory` of the OCI image layout (required)")
	if err := parse(flags, "-out DIR", args, stdout); err != nil {
		return err
	}
	if *out == "" || flags.NArg() > 0 {
		return usageError{errors.New("list: only -out is wanted, with the directory of an image layout")}
	}
	entries, err := imageset.List(*out)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "IMAGE\tMB\tLAYERS\tDIGEST")
	blobs := map[string]int64{}
	for _, entry := range entries {
		fmt.Fprintf(table, "%s\t%d\t%d\t%s\n", entry.Reference, megabytes(entry.Size()), len(entry.Layers), entry.Digest)
		for _, layer := range entry.Layers {
			blobs[layer.Digest.Hex] = layer.Size
		}
	}
	var total int64
	for _, size := range blobs {
		total += size
	}
	fmt.Fprintf(table, "in all, shared layers once\t%d\t%d\t\n", megabytes(total), len(blobs))
	return table.Flush()
}

// megabytes rounds up.
func megabytes(bytes int64) int64 { return (bytes + 1e6 - 1) / 1e6 }

func parse(flags *flag.FlagSet, arguments string, args []string, stdout io.Writer) error {
	flags.SetOutput(io.Discard)
	flags.Usage = func() {} // a usage error is one line
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(stdout, "usage: kolla-devimages %s %s\n", flags.Name(), arguments)
		flags.SetOutput(stdout)
		flags.PrintDefaults()
		return err
	}
	if err != nil {
		return usageError{fmt.Errorf("%s: %w", flags.Name(), err)}
	}
	return nil
}
