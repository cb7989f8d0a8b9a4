// Command release builds the published files of a version: `make release`.
//
// For each system it builds kolla without cgo, packs it with its licence and README, and lists
// its modules (CycloneDX). The systems with Linux share a container image. SHA256SUMS has the
// checksums of all files. `make image` makes only the image. The same source and the same Go
// result in the same bytes, regardless of directory, user and time: `make release-check`
// compares two builds.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1) //nolint:forbidigo // this is main
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	version := flags.String("version", "", "`VERSION` in the names of the files")
	ldflags := flags.String("ldflags", "", "`FLAGS` for the linker")
	targets := flags.String("targets", "linux/amd64 linux/arm64 darwin/amd64 darwin/arm64", "build for these `SYSTEMS`")
	out := flags.String("out", "dist", "write to `DIR`, which is emptied before")
	only := flags.String("image", "", "write only the container image, to `FILE`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *version == "" || strings.ContainsAny(*version, "/ ") {
		return errors.New("needs -version, a word that can stand in the name of a file")
	}
	if *only == "" {
		if err := errors.Join(os.RemoveAll(*out), os.MkdirAll(*out, 0o755)); err != nil {
			return err
		}
	}
	var names []string
	programs := map[string][]byte{} // for Linux, by processor
	for target := range strings.FieldsSeq(*targets) {
		system, processor, ok := strings.Cut(target, "/")
		if !ok {
			return fmt.Errorf("%q is no system: linux/amd64", target)
		}
		fmt.Fprintf(stdout, "Building for %s.\n", target)
		name := strings.Join([]string{"kolla", *version, system, processor}, "_")
		program, err := build(ctx, system, processor, *ldflags)
		if err != nil {
			return fmt.Errorf("build for %s: %w", target, err)
		}
		if system == "linux" {
			programs[processor] = program
		}
		if *only != "" {
			continue
		}
		if err := publish(*out, name, *version, program); err != nil {
			return fmt.Errorf("pack for %s: %w", target, err)
		}
		names = append(names, name+".tar.gz", name+".cdx.json")
	}
	switch {
	case *only != "" && len(programs) == 0:
		return fmt.Errorf("an image is for Linux, and the systems are %q", *targets)
	case *only != "":
		return writeImage(*only, *version, programs)
	case len(programs) > 0:
		name := "kolla_" + *version + "_image.tar"
		if err := writeImage(filepath.Join(*out, name), *version, programs); err != nil {
			return err
		}
		names = append(names, name)
	}
	return sums(*out, names)
}

// writeImage writes the container image.
func writeImage(path, version string, programs map[string][]byte) error {
	licence, err := os.ReadFile("LICENSE")
	if err != nil {
		return err
	}
	var archive bytes.Buffer
	if err := image(&archive, version, licence, programs); err != nil {
		return fmt.Errorf("make the container image: %w", err)
	}
	return os.WriteFile(path, archive.Bytes(), 0o644)
}

// build builds the program for a system. It ignores the user's environment.
func build(ctx context.Context, system, processor, ldflags string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "kolla-release-")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "kolla")
	command := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", ldflags, "-o", path, "./cmd/kolla")
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor, "GOFLAGS=",
		"GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=", "GOFIPS140=off", "GOWORK=off")
	command.Stderr = os.Stderr
	err = command.Run()
	var program []byte
	if err == nil {
		program, err = os.ReadFile(path)
	}
	return program, errors.Join(err, os.RemoveAll(dir))
}

// publish writes the archive of a program, and the list of its modules.
func publish(dir, name, version string, program []byte) error {
	packed := []file{{name: "kolla", content: program, program: true}}
	for _, text := range []string{"LICENSE", "README.md"} {
		content, err := os.ReadFile(text)
		if err != nil {
			return err
		}
		packed = append(packed, file{name: text, content: content})
	}
	var archive bytes.Buffer
	if err := pack(&archive, name, packed); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, name+".tar.gz"), archive.Bytes(), 0o644); err != nil {
		return err
	}
	made, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return err
	}
	bill, err := billOf(made, version)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name+".cdx.json"), bill, 0o644)
}

// sums writes the checksums of files, as sha256sum does.
func sums(dir string, names []string) error {
	var lines strings.Builder
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256(content), name)
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(lines.String()), 0o644)
}
