package backup_test

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/dev/s3test"
	"kolla.openstack.org/kolla/internal/run/backup"
)

// environment returns variables with the credentials of the object storage.
func environment(url, secret string) func(string) string {
	return func(name string) string {
		return map[string]string{"AWS_ENDPOINT_URL": url, "AWS_ACCESS_KEY_ID": s3test.AccessKey, "AWS_SECRET_ACCESS_KEY": secret}[name]
	}
}

// filesIn returns the names of the files below a directory.
func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(dir), ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestBucket checks that a restore from a bucket brings the data back, and that failed and removed backups
// leave no object. The longest file of the backup has two parts.
func TestBucket(t *testing.T) {
	url, bucket := s3test.Start(t)
	w, identity := newWorld(t, 1, true), key(t)
	target, err := backup.OpenBucket(t.Context(), "s3://safe/../clouds//prod/", environment(url, s3test.SecretKey))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := target.String(), "s3://safe/clouds/prod"; got != want {
		t.Errorf("its name is %s, want %s", got, want)
	}
	if err := os.WriteFile(filepath.Join(bucket, "other"), nil, 0o600); err != nil {
		t.Fatal(err)
	}

	good := w.workload().Backup.Save
	w.setCommand(t, "sh", "-c", "echo half; exit 1")
	if _, err := w.save(target, identity.Recipient()); err == nil {
		t.Error("a command that fails makes a backup")
	}
	if got := filesIn(t, bucket); !slices.Equal(got, []string{"other"}) {
		t.Errorf("a backup that failed leaves %v", got)
	}
	w.setCommand(t, good...)

	long := make([]byte, 33<<20)
	if _, err := rand.Read(long); err != nil {
		t.Fatal(err)
	}
	w.texts = []backup.Text{{Address: "state", What: "state", Content: long}}
	m, err := w.save(target, identity.Recipient())
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range m.Items {
		if err := backup.Verify(t.Context(), target, name, item, []age.Identity{identity}); err != nil {
			t.Error(err)
		}
	}
	w.write(0, "records", "newer\n")
	if err := w.restore(target, identity); err != nil {
		t.Error(err)
	}
	if got := w.read(0, "records"); got != recordsTogether {
		t.Errorf("the data are %q", got)
	}
	if _, err := target.Open(t.Context(), name, "missing.age"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	if all, err := backup.List(t.Context(), target); err != nil || len(all) != 1 || all[0].Manifest == nil {
		t.Errorf("the list is %+v, %v", all, err)
	}
	if err := target.Remove(t.Context(), name); err != nil {
		t.Error(err)
	}
	if got := filesIn(t, bucket); !slices.Equal(got, []string{"other"}) {
		t.Errorf("after a removal there are %v", got)
	}
}

// TestNoBucket checks the errors of buckets that cannot be used. None has the secret key.
func TestNoBucket(t *testing.T) {
	url, _ := s3test.Start(t)
	for name, c := range map[string]struct {
		place, endpoint, secret, want string
	}{
		"missing":         {"s3://other", url, s3test.SecretKey, "The backups cannot be reached: s3://other: NoSuchBucket"},
		"wrong secret":    {"s3://safe", url, s3test.SecretKey + "2", "s3://safe: SignatureDoesNotMatch"},
		"no secret":       {"s3://safe", url, "", "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"},
		"no region":       {"s3://safe", "", s3test.SecretKey, "Set AWS_REGION"},
		"nobody there":    {"s3://safe", "http://127.0.0.1:1", s3test.SecretKey, "connection refused"},
		"no bucket":       {"s3:///prod", url, s3test.SecretKey, "is not a bucket"},
		"a port":          {"s3://safe:9000/prod", url, s3test.SecretKey, "is not a bucket"},
		"credentials":     {"s3://operator:" + s3test.SecretKey + "@safe/prod", url, s3test.SecretKey, "is not a bucket"},
		"in the address":  {"s3://safe", "http://operator:" + s3test.SecretKey + "@127.0.0.1:1", s3test.SecretKey, "AWS_ENDPOINT_URL is not the address"},
		"an option":       {"s3://safe/prod?region=x", url, s3test.SecretKey, "is not a bucket"},
		"no scheme":       {"s3://safe", "127.0.0.1:9000", s3test.SecretKey, "AWS_ENDPOINT_URL is not the address"},
		"another scheme":  {"s3://safe", "ftp://127.0.0.1", s3test.SecretKey, "AWS_ENDPOINT_URL is not the address"},
		"no possible one": {"s3://Safe_/", url, s3test.SecretKey, "The backups cannot be reached: s3://Safe_: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := backup.OpenBucket(t.Context(), c.place, environment(c.endpoint, c.secret))
			summary, detail, _ := failure.Explain(err)
			if got := summary + ": " + detail; err == nil || !strings.Contains(got, c.want) || strings.Contains(got, s3test.SecretKey) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
