package cluster

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"kolla.openstack.org/kolla/state"
)

// versions are the present version of a state and earlier ones. They are never changed.
type versions struct {
	site *site

	mu    sync.Mutex
	parts map[string]int // number of parts of the versions that are known to exist
}

// know remembers that a version exists.
func (v *versions) know(sum string, parts int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.parts[sum] = parts
}

func (v *versions) known(sum string) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.parts[sum]
}

func versionSuffix(sum string, n int) string { return ".v." + sum + "." + strconv.Itoa(n) }

// read reads a version of the state.
func (v *versions) read(sum string, parts int) ([]byte, error) {
	var packed []byte
	for n := 1; n <= parts; n++ {
		s, err := v.site.client.Secret(v.site.ctx, v.site.name()+versionSuffix(sum, n))
		if apierrors.IsNotFound(err) {
			return nil, v.site.damaged(fmt.Sprintf("a part of it is missing, Secret %s", v.site.name()+versionSuffix(sum, n)))
		}
		if err != nil {
			return nil, err
		}
		packed = append(packed, s.Data[dataKey]...)
	}
	content, err := unpack(packed)
	if err != nil || checksum(content) != sum {
		return nil, v.site.damaged("the checksum of its version " + sum + " is wrong, so it was edited by hand")
	}
	v.know(sum, parts)
	return content, nil
}

// checksum identifies a version. The whole SHA-256 is too long for a label.
func checksum(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:16])
}

func pack(content []byte) ([]byte, error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(content); err != nil {
		return nil, fmt.Errorf("compress the state: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress the state: %w", err)
	}
	return packed.Bytes(), nil
}

// maxSize is the maximum size of a state, in bytes.
const maxSize = 1 << 28

func unpack(packed []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err == nil && len(content) > maxSize {
		err = fmt.Errorf("it is larger than %d bytes", maxSize)
	}
	return content, err
}

// keep adds a version.
func (v *versions) keep(serial uint64, content []byte) error {
	sum := checksum(content)
	if v.known(sum) > 0 {
		return nil
	}
	packed, err := pack(content)
	if err != nil {
		return err
	}
	chunks := slices.Collect(slices.Chunk(packed, v.site.PartSize))
	for i, chunk := range chunks {
		s := v.site.secret(versionSuffix(sum, i+1), partVersion, chunk)
		s.Annotations[serialNote] = strconv.FormatUint(serial, 10)
		s.Immutable = new(bool)
		*s.Immutable = true
		_, err := v.site.put(s)
		if apierrors.IsAlreadyExists(err) && i == 0 {
			var whole bool
			if whole, err = v.clear(sum); whole || err != nil {
				return err
			}
			_, err = v.site.put(s)
		}
		if err != nil {
			return fmt.Errorf("write a version of the state: %w", err)
		}
	}
	v.know(sum, len(chunks))
	return nil
}

// clear deletes the parts of a version that kolla cannot read, because of a kill or an edit. If
// the version is whole, clear deletes nothing and returns true.
func (v *versions) clear(sum string) (whole bool, err error) {
	found, err := v.list()
	if err != nil {
		return false, err
	}
	at := slices.IndexFunc(found, func(f stored) bool { return f.sum == sum })
	if at < 0 {
		return false, nil
	}
	names := found[at].names
	if _, err := v.read(sum, len(names)); err == nil {
		return true, nil
	}
	for _, name := range names {
		if err := v.site.remove(name, ""); err != nil {
			return false, err
		}
	}
	return false, nil
}

// maxVersions is the number of versions that are kept.
const maxVersions = 10

// stored is a version of the state in the cluster.
type stored struct {
	sum     string
	serial  uint64
	written time.Time
	names   []string // of the existing parts
}

// list lists the versions, newest first. It looks for their names, because somebody may
// have taken their labels away.
func (v *versions) list() ([]stored, error) {
	list, err := v.site.client.SecretNames(v.site.ctx)
	if err != nil {
		return nil, fmt.Errorf("list the versions of the state: %w", err)
	}
	index := map[string]int{}
	var found []stored
	for i := range list {
		m := &list[i]
		name, ok := strings.CutPrefix(m.Name, v.site.name()+".v.")
		if !ok {
			continue
		}
		sum, _, _ := strings.Cut(name, ".")
		at, known := index[sum]
		if !known {
			serial, _ := strconv.ParseUint(m.Annotations[serialNote], 10, 64)
			at, index[sum] = len(found), len(found)
			found = append(found, stored{sum: sum, serial: serial, written: m.CreationTimestamp.UTC()})
		}
		found[at].names = append(found[at].names, m.Name)
	}
	slices.SortFunc(found, func(x, y stored) int {
		return cmp.Or(y.written.Compare(x.written), cmp.Compare(y.serial, x.serial), strings.Compare(x.sum, y.sum))
	})
	return found, nil
}

// rotate deletes all but the newest versions, and never the present one.
func (v *versions) rotate(present string) error {
	found, err := v.list()
	if err != nil {
		return err
	}
	for _, old := range found[min(len(found), maxVersions):] {
		if old.sum == present {
			continue
		}
		for _, name := range old.names {
			if err := v.site.remove(name, ""); err != nil {
				return err
			}
		}
		v.know(old.sum, 0)
	}
	return nil
}

// backups returns the versions as backups, newest first. Some may lack a part.
func (v *versions) backups() ([]state.Backup, error) {
	found, err := v.list()
	if err != nil {
		return nil, err
	}
	var backups []state.Backup
	for _, f := range found {
		backups = append(backups, state.Backup{Path: v.site.place(v.site.name() + versionSuffix(f.sum, 1)), Written: f.written, ID: f.sum + "/" + strconv.Itoa(len(f.names))})
	}
	return backups, nil
}

// readBackup reads a version.
func (v *versions) readBackup(backup state.Backup) ([]byte, error) {
	sum, count, _ := strings.Cut(backup.ID, "/")
	parts, err := strconv.Atoi(count)
	if err != nil {
		return nil, fmt.Errorf("%s is no version of the state", backup.Path)
	}
	return v.read(sum, parts)
}
