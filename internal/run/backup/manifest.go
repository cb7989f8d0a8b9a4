// Package backup saves the data of a cloud and brings them back. The commands that know a service are in
// an annotation of its StatefulSet (providers.Backup); this package moves, encrypts and checks what they
// write and read.
//
// A backup is a directory in a [Target]: one encrypted file for each StatefulSet, and a [Manifest], which is
// written last. Files go through this process:
//
//	command in a pod ── gzip ── age ──▶ Target      [Save]
//	command in a pod ◀─ gzip ── age ─── Target      [Restore.Stage]
//
// A restore changes nothing before all of its data are in the cluster, checked and put aside:
//
//	r, err := backup.Plan(ctx, cluster, target, name, manifest, workloads, identities)
//	err = r.Stage(ctx)  // after approval; may fail, and changes nothing
//	err = r.Commit(ctx) // stops, exchanges, starts
package backup

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"

	"kolla.openstack.org/kolla/internal/base/failure"
)

// Format is the version of manifests that this kolla writes. It reads those with the same number before
// the dot.
const Format = "1.0"

// Manifest describes a backup. It has no secret, so that backups can be listed without a key.
type Manifest struct {
	Format  string `json:"format"`
	Cloud   string `json:"cloud"`
	Cluster string `json:"cluster"` // UID of the namespace kube-system
	// Release is that of OpenStack with the distribution of the images: "2025.1-rocky-9".
	Release string    `json:"release"`
	Tool    string    `json:"tool"` // version of kolla
	Began   time.Time `json:"began"`
	Ended   time.Time `json:"ended"`
	// Recipients are the public keys for which it is encrypted.
	Recipients []string `json:"recipients"`
	Items      []Item   `json:"items"`
	// Jobs are the addresses of the Jobs that had completed. Jobs of later changes have other addresses.
	Jobs []string `json:"jobs"`
}

// Item is the data of one workload, or a text of kolla.
type Item struct {
	Address  string  `json:"address"`         // "service.mariadb/StatefulSet/mariadb-server", "state"
	What     string  `json:"what"`            // "databases"
	Image    string  `json:"image,omitempty"` // of the container whose command wrote the data
	File     string  `json:"file"`            // in the directory of the backup
	Size     int64   `json:"size"`            // of the file, in bytes
	SHA256   string  `json:"sha256"`          // of the file, in hexadecimal digits
	Unpacked int64   `json:"unpacked"`        // size of the data, in bytes
	Seconds  float64 `json:"seconds"`         // that it took
}

// Size returns the size of all files in bytes.
func (m *Manifest) Size() (size int64) {
	for _, item := range m.Items {
		size += item.Size
	}
	return size
}

const (
	manifestFile = "manifest.json"
	// maxManifest limits the size of a manifest in bytes.
	maxManifest = 4 << 20
	nameTime    = "20060102T150405Z"
)

var (
	validName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?-[0-9]{8}T[0-9]{6}Z$`)
	validFile = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*\.age$`)
	unfit     = regexp.MustCompile(`[^A-Za-z0-9.-]+`)
)

// NameOf returns the name of a backup that begins now: "prod-20261127T221500Z".
func NameOf(cloud string, now time.Time) string { return cloud + "-" + now.UTC().Format(nameTime) }

// fileOf returns the name of the file with the data of a workload.
func fileOf(address string) string {
	return strings.Trim(unfit.ReplaceAllString(address, "-"), "-.") + ".age"
}

// check returns an error if the content of a manifest is not possible.
func (m *Manifest) check() error {
	major, _, _ := strings.Cut(m.Format, ".")
	known, _, _ := strings.Cut(Format, ".")
	switch {
	case m.Format == "" || m.Cloud == "" || m.Release == "" || m.Ended.IsZero():
		return errors.New("it is not complete")
	case major != known:
		return fmt.Errorf("its format is %s, and this kolla knows %s: use a newer kolla", m.Format, Format)
	}
	var seen []string
	for _, item := range m.Items {
		if !validFile.MatchString(item.File) || slices.Contains(seen, item.File) || item.Size < 0 || item.Unpacked < 0 {
			return fmt.Errorf("it names a file %q, which kolla does not write", item.File)
		}
		seen = append(seen, item.File)
	}
	return nil
}

// Read reads the manifest of a backup. The error satisfies errors.Is(err, fs.ErrNotExist) if there is
// none: the backup is not complete, or does not exist.
func Read(ctx context.Context, target Target, name string) (*Manifest, error) {
	if !validName.MatchString(name) {
		return nil, failure.New(fmt.Sprintf("%q is not the name of a backup", name), "A name is that of the cloud with the time, such as prod-20261127T221500Z. `kolla backup list` lists the names.")
	}
	file, err := target.Open(ctx, name, manifestFile)
	if err != nil {
		return nil, fmt.Errorf("read backup %s in %s: %w", name, target, err)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxManifest))
	var m Manifest
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err == nil {
		err = m.check()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read backup %s in %s: %w", name, target, err)
	}
	if err != nil {
		return nil, failure.With(err, fmt.Sprintf("The manifest of backup %s cannot be used", name), failure.Sentence(err.Error())+". Use another backup.")
	}
	return &m, nil
}

// Listed is an entry of a list of backups.
type Listed struct {
	Name string `json:"name"`
	// Manifest is nil if the backup cannot be used; Problem says why.
	Manifest *Manifest `json:"manifest,omitempty"`
	Problem  string    `json:"problem,omitempty"`
}

// List reads all backups of a target, the oldest first.
func List(ctx context.Context, target Target) ([]Listed, error) {
	names, err := target.Backups(ctx)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !validName.MatchString(name) })
	slices.SortFunc(names, func(a, b string) int {
		return strings.Compare(a[len(a)-len(nameTime):]+a, b[len(b)-len(nameTime):]+b)
	})
	out := []Listed{}
	for _, name := range names {
		entry := Listed{Name: name}
		entry.Manifest, err = Read(ctx, target, name)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, fs.ErrNotExist):
			entry.Problem = "not complete"
		case err != nil:
			entry.Problem = "not usable"
			if _, _, explained := failure.Explain(err); !explained {
				entry.Problem = "cannot be read: " + err.Error()
			}
		}
		out = append(out, entry)
	}
	return out, nil
}

// Prune removes complete backups of a cloud but the newest, of which it keeps so many, and returns the names
// of those that it removed. Backups that are not complete stay: they may be being made.
func Prune(ctx context.Context, target Target, cloud string, keep int) (removed []string, err error) {
	all, err := List(ctx, target)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(b Listed) bool { return b.Manifest == nil || b.Manifest.Cloud != cloud })
	for _, b := range all[:max(0, len(all)-keep)] {
		if err := target.Remove(ctx, b.Name); err != nil {
			return removed, fmt.Errorf("remove backup %s from %s: %w", b.Name, target, err)
		}
		removed = append(removed, b.Name)
	}
	return removed, nil
}

// writeManifest completes a backup.
func writeManifest(ctx context.Context, target Target, name string, m *Manifest) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	file, err := target.Create(ctx, name, manifestFile)
	if err != nil {
		return err
	}
	_, err = file.Write(append(text, '\n'))
	return cmp.Or(err, file.Close())
}
