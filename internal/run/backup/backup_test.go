package backup_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/run/backup"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

func jsonOf(v any) (string, error) {
	text, err := json.Marshal(v)
	return string(text), err
}

// TestComesBack checks that data come back from a directory and from a claim: into the first member of a
// workload that is stopped, while the others become empty, or into a running pod.
func TestComesBack(t *testing.T) {
	for what, test := range map[string]struct {
		members int
		offline bool
		claim   bool
		changes []string
		others  string // the records of the second member afterwards
	}{
		"one member": {members: 1, offline: true, changes: []string{
			"scaled to 0", "recorded " + address, "restore in db-server-restore-0 with 0 pods", "scaled to 1", "recorded " + address,
		}},
		"three members, in a claim": {members: 3, offline: true, claim: true, changes: []string{
			"scaled to 0", "recorded " + address, "restore in db-server-restore-0 with 0 pods", "restore in db-server-restore-1 with 0 pods",
			"restore in db-server-restore-2 with 0 pods", "scaled to 3", "recorded " + address,
		}},
		"running": {members: 2, changes: []string{"restore in db-server-1 with 2 pods"}},
	} {
		t.Run(what, func(t *testing.T) {
			w, identity := newWorld(t, test.members, test.offline), key(t)
			target, _ := w.directory()
			if test.claim {
				if err := os.Mkdir(filepath.Join(w.dir, "safe"), 0o700); err != nil {
					t.Fatal(err)
				}
				var err error
				if target, err = backup.OpenClaim(t.Context(), w.cluster(), "safe", w.workload()); err != nil {
					t.Fatal(err)
				}
			}
			m, err := w.save(target, identity.Recipient())
			if err != nil {
				t.Fatal(err)
			}
			if item := m.Items[0]; item.Unpacked != int64(len(recordsTogether)) || item.Image != "db:1" || item.What != "records" || item.Size == 0 {
				t.Errorf("the manifest has %+v", item)
			}
			if err := backup.Verify(t.Context(), target, name, m.Items[0], []age.Identity{identity}); err != nil {
				t.Error(err)
			}
			last := test.members - 1
			for i := range test.members {
				w.write(i, "records", "record 3\n")
			}
			if err := w.restore(target, identity); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.changes, w.changes()); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			into := 0
			if !test.offline {
				into = last
			}
			if got := w.read(into, "records"); got != recordsTogether {
				t.Errorf("member %d has %q", into, got)
			}
			if size := strings.TrimSpace(w.read(into, "size")); size != fmt.Sprint(len(recordsTogether)) {
				t.Errorf("it is told a size of %s bytes", size)
			}
			if got := w.read(last, "records"); test.offline && last > 0 && got != "" {
				t.Errorf("the last member has %q", got)
			}
			if err := target.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if len(w.made) > 0 {
				t.Errorf("these pods are left: %v", w.made)
			}
		})
	}
}

// TestDataPods checks that pods for data have what the commands need, and neither labels, environment nor
// rights of the workload.
func TestDataPods(t *testing.T) {
	w, identity := newWorld(t, 1, true), key(t)
	target, _ := w.directory()
	if _, err := w.save(target, identity.Recipient()); err != nil {
		t.Fatal(err)
	}
	var made *unstructured.Unstructured
	w.onWait = func(ref providers.Ref) error {
		if ref.GVK.Kind == "Pod" {
			made = w.made[ref.Name].DeepCopy()
		}
		return nil
	}
	if err := w.restore(target, identity); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": "db-server-restore-0", "namespace": "cloud", "labels": map[string]any{providers.LabelCloud: "prod"}},
		"spec": map[string]any{
			"restartPolicy": "Never", "activeDeadlineSeconds": int64(86400), "terminationGracePeriodSeconds": int64(5),
			"automountServiceAccountToken": false, "enableServiceLinks": false, "nodeName": "node-9",
			"securityContext":  map[string]any{"runAsUser": int64(42434)},
			"imagePullSecrets": []any{map[string]any{"name": "registry"}},
			"volumes": []any{
				map[string]any{"name": "config", "configMap": map[string]any{"name": "db"}},
				map[string]any{"name": "data", "persistentVolumeClaim": map[string]any{"claimName": "data-db-server-0"}},
			},
			"containers": []any{map[string]any{
				"name": "data", "image": "db:1", "command": []any{"sh", "-c", "trap 'exit 0' TERM; sleep 86400 & wait"},
				"securityContext": map[string]any{"allowPrivilegeEscalation": false},
				"resources":       map[string]any{"requests": map[string]any{"cpu": "100m", "memory": "256Mi"}, "limits": map[string]any{"memory": "2Gi"}},
				"volumeMounts":    []any{map[string]any{"name": "data", "mountPath": "/var/lib/db"}, map[string]any{"name": "config", "mountPath": "/etc/db"}},
			}},
		},
	}
	if diff := cmp.Diff(want, made.Object); diff != "" {
		t.Errorf("the pod (-want +got):\n%s", diff)
	}
}

// change alters one file of the backup.
func change(t *testing.T, dir, file string, alter func([]byte) []byte) {
	t.Helper()
	path := filepath.Join(dir, name, file)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, alter(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const dataFile = "service.db-StatefulSet-db-server.age"

// TestBadBackups checks that nothing changes if anything is wrong with a backup, a key, a volume or a pod.
func TestBadBackups(t *testing.T) {
	manifest := func(from, to string) func(*world, string) {
		return func(w *world, dir string) {
			change(w.T, dir, "manifest.json", func(text []byte) []byte { return bytes.Replace(text, []byte(from), []byte(to), 1) })
		}
	}
	data := func(alter func([]byte) []byte) func(*world, string) {
		return func(w *world, dir string) { change(w.T, dir, dataFile, alter) }
	}
	for what, test := range map[string]struct {
		damage func(w *world, dir string)
		key    bool // another one
		says   string
	}{
		"another cloud":        {damage: manifest(`"cloud": "prod"`, `"cloud": "test"`), says: `is of cloud "test", and this one is "prod"`},
		"another cluster":      {damage: manifest(`"cluster": "c-1"`, `"cluster": "c-2"`), says: "another cluster"},
		"another release":      {damage: manifest("2025.1-rocky-9", "2024.2-rocky-9"), says: "is of 2024.2-rocky-9, and the cloud runs 2025.1-rocky-9"},
		"a newer format":       {damage: manifest(`"format": "1.0"`, `"format": "2.0"`), says: "its format is 2.0"},
		"a file elsewhere":     {damage: manifest(dataFile, "../secret.age"), says: "which kolla does not write"},
		"no JSON":              {damage: manifest("{", "["), says: "cannot be used"},
		"no manifest":          {damage: func(_ *world, dir string) { os.Remove(filepath.Join(dir, name, "manifest.json")) }, says: "no such file"},
		"no file":              {damage: func(_ *world, dir string) { os.Remove(filepath.Join(dir, name, dataFile)) }, says: "no such file"},
		"another key":          {key: true, says: "encrypted for other keys"},
		"truncated":            {damage: data(func(text []byte) []byte { return text[:len(text)-3] }), says: "is not as it was written"},
		"truncated to nothing": {damage: data(func([]byte) []byte { return nil }), says: "is not as it was written"},
		"altered":              {damage: data(func(text []byte) []byte { text[len(text)-20] ^= 1; return text }), says: "is not as it was written"},
		"longer":               {damage: data(func(text []byte) []byte { return append(text, 0) }), says: "is not as it was written"},
		"another checksum":     {damage: manifest(`"sha256": "`, `"sha256": "0`), says: "another checksum"},
		"another size":         {damage: manifest(`"unpacked": 18`, `"unpacked": 19`), says: "18 bytes instead of 19"},
		"no room": {
			damage: func(w *world, _ string) {
				b := *w.workload().Backup
				b.Stage = []string{"sh", "-c", "echo the volume has 1 MiB free >&2; exit 1"}
				w.setCommands(&b)
			}, says: "the volume has 1 MiB free",
		},
		"not all is read": {
			damage: func(w *world, dir string) {
				manifest(`"sha256": "`, `"sha256": "0`)(w, dir)
				b := *w.workload().Backup
				b.Stage = []string{"true"}
				w.setCommands(&b)
			}, says: "another checksum",
		},
		"a volume that cannot be mounted": {
			damage: func(w *world, _ string) {
				w.onWait = func(ref providers.Ref) error { return &providers.NotReadyError{Ref: ref, Reason: "Multi-Attach error"} }
			}, says: "Multi-Attach error",
		},
		"a connection that breaks": {
			damage: func(w *world, _ string) {
				w.onRun = func(pod string, _ []string) error {
					if pod == "db-server-restore-0" {
						return io.ErrUnexpectedEOF
					}
					return nil
				}
			}, says: "unexpected EOF",
		},
		"volumes that go with the pods": {
			damage: func(w *world, _ string) {
				_ = unstructured.SetNestedField(w.live.Object, "Delete", "spec", "persistentVolumeClaimRetentionPolicy", "whenScaled")
			}, says: "deletes its volumes when it stops",
		},
		"no pods": {
			damage: func(w *world, _ string) {
				_ = unstructured.SetNestedField(w.live.Object, int64(0), "spec", "replicas")
			}, says: "Run kolla apply first",
		},
	} {
		t.Run(what, func(t *testing.T) {
			w, identity := newWorld(t, 3, true), key(t)
			target, dir := w.directory()
			if _, err := w.save(target, identity.Recipient()); err != nil {
				t.Fatal(err)
			}
			for i := range 3 {
				w.write(i, "records", "record 3\n")
			}
			if test.damage != nil {
				test.damage(w, dir)
			}
			if test.key {
				identity = key(t)
			}
			err := w.restore(target, identity)
			text := fmt.Sprint(err)
			if summary, detail, ok := failure.Explain(err); ok {
				text += summary + detail
			}
			if err == nil || !strings.Contains(text, test.says) {
				t.Errorf("it says %s, want %q", text, test.says)
			}
			if changes := w.changes(); len(changes) > 0 {
				t.Errorf("it changes: %v", changes)
			}
			for i := range 3 {
				if got := w.read(i, "records"); got != "record 3\n" {
					t.Errorf("member %d has %q", i, got)
				}
			}
			if len(w.made) > 0 {
				t.Errorf("these pods are left: %v", w.made)
			}
		})
	}
}

// TestInterruptedCommit checks that a failure after the workload was stopped says how to go on, and that
// an interruption does not leave it stopped.
func TestInterruptedCommit(t *testing.T) {
	w, identity := newWorld(t, 1, true), key(t)
	target, _ := w.directory()
	if _, err := w.save(target, identity.Recipient()); err != nil {
		t.Fatal(err)
	}
	commands := *w.workload().Backup
	commands.Restore = []string{"sh", "-c", "echo broken >&2; exit 1"}
	w.setCommands(&commands)
	_, detail, _ := failure.Explain(w.restore(target, identity))
	if !strings.Contains(detail, "broken") || !strings.Contains(detail, "kolla apply starts them") {
		t.Errorf("it says %q", detail)
	}

	w = newWorld(t, 1, true)
	ctx, cancel := context.WithCancel(t.Context())
	w.onRun = func(pod string, command []string) error {
		if w.replicas() == 0 {
			cancel() // Ctrl-C
		}
		return nil
	}
	m, err := backup.Read(ctx, target, name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := backup.Plan(ctx, w.cluster(), target, name, m, []backup.Workload{w.workload()}, []age.Identity{identity})
	if err == nil {
		err = r.Stage(ctx)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Commit(ctx); err != nil {
		t.Error(err)
	}
	if w.replicas() != 1 || w.read(0, "records") != recordsTogether || ctx.Err() == nil {
		t.Errorf("after an interruption: %v", w.events)
	}

	// Whoever has lost the lock changes nothing.
	w = newWorld(t, 1, true)
	lost := errors.New("the lock is lost")
	fenced := providers.Fenced(t.Context(), func() error { return lost })
	r, err = backup.Plan(fenced, w.cluster(), target, name, m, []backup.Workload{w.workload()}, []age.Identity{identity})
	if err == nil {
		err = r.Stage(fenced)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Commit(fenced); !errors.Is(err, lost) || len(w.changes()) > 0 {
		t.Errorf("without the lock: %v, %v", err, w.changes())
	}
}

// TestNotSaved checks that a backup that fails leaves nothing behind.
func TestNotSaved(t *testing.T) {
	for what, test := range map[string]struct {
		damage func(w *world)
		says   string
	}{
		"the command fails":      {func(w *world) { w.setCommand(t, "sh", "-c", `cat "$VOLUME/records"; echo no socket >&2; exit 2`) }, "no socket"},
		"the output is cut off":  {func(w *world) { w.cut = 1 }, "before the output was complete"},
		"the output is missing":  {func(w *world) { w.cut = 1 << 20 }, "before the output was complete"},
		"no pod is ready":        {func(w *world) { _ = unstructured.SetNestedField(w.live.Object, int64(0), "spec", "replicas") }, "No pod of"},
		"the connection is lost": {func(w *world) { w.onRun = func(string, []string) error { return io.ErrUnexpectedEOF } }, "unexpected EOF"},
	} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t, 1, true)
			target, dir := w.directory()
			test.damage(w)
			_, err := w.save(target, key(t).Recipient())
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("it says %v, want %q", err, test.says)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("it leaves %v", left)
			}
		})
	}
}

// faulty is a Target that fails.
type faulty struct {
	backup.Target
	room    int   // files have at most so many bytes, if it is not 0
	open    error // of each file
	reading error // of each file, after its first half
}

var errRoom = errors.New("QuotaExceeded")

func (f faulty) Create(ctx context.Context, name, file string) (io.WriteCloser, error) {
	to, err := f.Target.Create(ctx, name, file)
	if f.room == 0 || err != nil {
		return to, err
	}
	return &limited{to, f.room}, nil
}

func (f faulty) Open(ctx context.Context, name, file string) (io.ReadCloser, error) {
	if f.open != nil {
		return nil, f.open
	}
	from, err := f.Target.Open(ctx, name, file)
	if f.reading == nil || err != nil || file == "manifest.json" {
		return from, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(io.LimitReader(from, 150), iotest.ErrReader(f.reading)), from}, nil
}

// limited is a file that takes so many bytes.
type limited struct {
	io.WriteCloser
	room int
}

func (l *limited) Write(p []byte) (int, error) {
	if l.room -= len(p); l.room < 0 {
		return 0, errRoom
	}
	return l.WriteCloser.Write(p)
}

// TestFullPlace checks that an error of the place ends the command at once, and is the only error.
func TestFullPlace(t *testing.T) {
	w := newWorld(t, 1, true)
	w.drains = true
	w.setCommand(t, "cat", "/dev/zero")
	target, dir := w.directory()
	_, err := w.save(faulty{Target: target, room: 10_000}, key(t).Recipient())
	if !errors.Is(err, errRoom) || strings.Contains(err.Error(), "\n") {
		t.Errorf("it says %v, want only %q", err, errRoom)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("it leaves %v", left)
	}
}

// TestUnreadable checks that a backup does not count as damaged because its place cannot be read now.
func TestUnreadable(t *testing.T) {
	w, identity := newWorld(t, 1, true), key(t)
	target, _ := w.directory()
	m, err := w.save(target, identity.Recipient())
	if err != nil {
		t.Fatal(err)
	}
	for what, place := range map[string]faulty{
		"denied":  {Target: target, open: errors.New("AccessDenied")},
		"cut off": {Target: target, reading: io.ErrUnexpectedEOF},
	} {
		for _, identities := range [][]age.Identity{nil, {identity}} {
			err := backup.Verify(t.Context(), place, name, m.Items[0], identities)
			if summary, _, _ := failure.Explain(err); summary != "The backup cannot be read" {
				t.Errorf("%s, %d keys: %v", what, len(identities), err)
			}
		}
	}
	all, err := backup.List(t.Context(), faulty{Target: target, open: errors.New("AccessDenied")})
	if err != nil || len(all) != 1 || !strings.Contains(all[0].Problem, "AccessDenied") {
		t.Errorf("the list is %+v, %v", all, err)
	}
}

// TestSlowReader reads a file in a claim more slowly than it is sent.
func TestSlowReader(t *testing.T) {
	w := newWorld(t, 1, true)
	w.impatient = true
	want := strings.Repeat("a record\n", 30000)
	if err := os.MkdirAll(filepath.Join(w.dir, "safe", name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "safe", name, "file"), []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
	target, err := backup.OpenClaim(t.Context(), w.cluster(), "safe", w.workload())
	if err != nil {
		t.Fatal(err)
	}
	file, err := target.Open(t.Context(), name, "file")
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond) // the file is sent meanwhile
	got, err := io.ReadAll(file)
	if err := errors.Join(err, file.Close()); err != nil || string(got) != want {
		t.Errorf("%d bytes arrive of %d: %v", len(got), len(want), err)
	}
}

// TestClaim checks that files in a claim are complete or an error, and that the pod for them ends.
func TestClaim(t *testing.T) {
	w, identity := newWorld(t, 1, true), key(t)
	if err := os.Mkdir(filepath.Join(w.dir, "safe"), 0o700); err != nil {
		t.Fatal(err)
	}
	target, err := backup.OpenClaim(t.Context(), w.cluster(), "safe", w.workload())
	if err != nil {
		t.Fatal(err)
	}
	w.onRun = func(_ string, command []string) error {
		for i := range command {
			command[i] = strings.ReplaceAll(command[i], `cat > "$1.part"`, `head -c 5 > "$1.part"; cat > /dev/null`)
		}
		return nil
	}
	if _, err := w.save(target, identity.Recipient()); err == nil || !strings.Contains(err.Error(), "the file was cut off") {
		t.Errorf("a file that is cut off: %v", err)
	}
	if left, _ := os.ReadDir(filepath.Join(w.dir, "safe")); len(left) > 0 {
		t.Errorf("it leaves %v", left)
	}
	w.onRun = nil
	m, err := w.save(target, identity.Recipient())
	if err != nil {
		t.Fatal(err)
	}
	w.onRun = func(_ string, command []string) error {
		if command[0] == "sh" && slices.Contains(command, "cat") {
			command[slices.Index(command, "cat")] = "true"
		}
		return nil
	}
	if err := backup.Verify(t.Context(), target, name, m.Items[0], nil); err == nil {
		t.Error("a file that is read in part is as it was written")
	}
	w.onRun = nil
	if _, err := target.Open(t.Context(), name, "missing.age"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	all, err := backup.List(t.Context(), target)
	if err != nil || len(all) != 1 || all[0].Manifest == nil {
		t.Errorf("the list is %+v, %v", all, err)
	}
	if err := target.Remove(t.Context(), name); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(filepath.Join(w.dir, "safe")); len(left) > 0 {
		t.Errorf("after a removal there is %v", left)
	}
	if err := target.Close(t.Context()); err != nil || len(w.made) > 0 {
		t.Errorf("the pods %v are left, %v", w.made, err)
	}
	w.onWait = func(ref providers.Ref) error {
		return &providers.NotReadyError{Ref: ref, Reason: "claim safe does not exist"}
	}
	_, err = backup.OpenClaim(t.Context(), w.cluster(), "safe", w.workload())
	if summary, detail, _ := failure.Explain(err); summary != "The backups cannot be reached" || !strings.Contains(detail, "claim safe does not exist") || len(w.made) > 0 {
		t.Errorf("a claim that cannot be mounted: %v; %v", err, w.made)
	}
}

// setCommand replaces the command that saves.
func (w *world) setCommand(t *testing.T, command ...string) {
	t.Helper()
	b := *w.workload().Backup
	b.Save = command
	w.setCommands(&b)
}

// TestNotTwice checks that a backup does not touch one of the same name.
func TestNotTwice(t *testing.T) {
	w, identity := newWorld(t, 1, true), key(t)
	target, _ := w.directory()
	m, err := w.save(target, identity.Recipient())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.save(target, identity.Recipient()); err == nil || !strings.Contains(err.Error(), "with this name") {
		t.Errorf("a second backup of the name: %v", err)
	}
	if err := backup.Verify(t.Context(), target, name, m.Items[0], []age.Identity{identity}); err != nil {
		t.Error(err)
	}
}

// TestEncrypted checks that the place of the backups has no byte of the data, and no file for others.
func TestEncrypted(t *testing.T) {
	w := newWorld(t, 1, true)
	w.write(0, "records", strings.Repeat("password of the administrator\n", 1<<15))
	target, dir := w.directory()
	if _, err := w.save(target, key(t).Recipient()); err != nil {
		t.Fatal(err)
	}
	files := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %s", path, info.Mode())
		}
		if entry.IsDir() {
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte("administrator")) {
			t.Errorf("%s has the data", path)
		}
		return err
	})
	if err != nil || files != 2 {
		t.Errorf("%d files, %v", files, err)
	}
}

// TestElsewhere checks that a backup of another cluster is accepted on request, but never one of another
// cloud or release.
func TestElsewhere(t *testing.T) {
	for what, test := range map[string]struct {
		cloud backup.Cloud
		fits  bool
	}{
		"another cluster": {backup.Cloud{Name: "prod", Cluster: "c-2", Release: cloud.Release}, true},
		"another cloud":   {backup.Cloud{Name: "test", Cluster: "c-2", Release: cloud.Release}, false},
		"another release": {backup.Cloud{Name: "prod", Cluster: "c-2", Release: "2026.1-rocky-10"}, false},
	} {
		m := backup.Manifest{Cloud: cloud.Name, Cluster: cloud.Cluster, Release: cloud.Release}
		if err := m.Check(name, test.cloud, true); (err == nil) != test.fits {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestTexts checks that texts come back as they were, and that a restore leaves them alone.
func TestTexts(t *testing.T) {
	w, identity := newWorld(t, 1, true), key(t)
	w.texts = []backup.Text{{Address: "state", What: "state of kolla", Content: []byte(`{"format":1}`)}}
	target, _ := w.directory()
	m, err := w.save(target, identity.Recipient())
	if err != nil {
		t.Fatal(err)
	}
	item := m.Items[1]
	data, err := backup.Open(t.Context(), target, name, item, []age.Identity{identity})
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	if text, err := io.ReadAll(data); err != nil || string(text) != `{"format":1}` || item.Address != "state" || item.File != "state.age" || item.Image != "" {
		t.Errorf("%s, %v, %+v", text, err, item)
	}
	if err := w.restore(target, identity); err != nil {
		t.Error(err)
	}
}

// TestVerify checks that files can be compared with the manifest without a key.
func TestVerify(t *testing.T) {
	w := newWorld(t, 1, true)
	target, dir := w.directory()
	m, err := w.save(target, key(t).Recipient())
	if err != nil {
		t.Fatal(err)
	}
	if err := backup.Verify(t.Context(), target, name, m.Items[0], nil); err != nil {
		t.Error(err)
	}
	change(t, dir, dataFile, func(text []byte) []byte { text[len(text)-1] ^= 1; return text })
	if err := backup.Verify(t.Context(), target, name, m.Items[0], nil); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("an altered file: %v", err)
	}
	change(t, dir, dataFile, func(text []byte) []byte { return text[:10] })
	if err := backup.Verify(t.Context(), target, name, m.Items[0], nil); err == nil || !strings.Contains(err.Error(), "10 bytes") {
		t.Errorf("a truncated file: %v", err)
	}
}

// TestBackupList checks that the list has complete and other backups by time, and nothing else.
func TestBackupList(t *testing.T) {
	w := newWorld(t, 1, true)
	target, dir := w.directory()
	if _, err := w.save(target, key(t).Recipient()); err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{"a-20270101T000000Z", "zz-20250101T000000Z", "lost+found", "prod", "other-20260101T000000Z"} {
		if err := os.Mkdir(filepath.Join(dir, other), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "other-20260101T000000Z", "manifest.json"), []byte(`{"format":"9.9"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := backup.List(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range all {
		got = append(got, fmt.Sprintf("%s %s %v", b.Name, b.Problem, b.Manifest != nil))
	}
	want := []string{"zz-20250101T000000Z not complete false", "other-20260101T000000Z not usable false", name + "  true", "a-20270101T000000Z not complete false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the list (-want +got):\n%s", diff)
	}
	if _, err := backup.Read(t.Context(), target, "../"+name); err == nil || !strings.Contains(err.Error(), "not the name of a backup") {
		t.Errorf("a path as a name: %v", err)
	}
	if _, err := backup.OpenDirectory(filepath.Join(dir, "missing"), false); err == nil || !strings.Contains(fmt.Sprint(failure.Explain(err)), "cannot be reached") {
		t.Errorf("a missing place: %v", err)
	}
}

// TestPrune checks that the newest backups of the cloud stay, and those that are not its or not complete.
func TestPrune(t *testing.T) {
	w := newWorld(t, 1, true)
	target, dir := w.directory()
	if _, err := w.save(target, key(t).Recipient()); err != nil {
		t.Fatal(err)
	}
	made := filepath.Join(dir, name)
	for _, other := range []string{"prod-20250101T000000Z", "prod-20270101T000000Z", "other-20240101T000000Z"} {
		if err := os.CopyFS(filepath.Join(dir, other), os.DirFS(made)); err != nil {
			t.Fatal(err)
		}
	}
	manifest := filepath.Join(dir, "other-20240101T000000Z", "manifest.json")
	text, err := os.ReadFile(manifest)
	if err == nil {
		err = os.WriteFile(manifest, bytes.Replace(text, []byte(`"prod"`), []byte(`"other"`), 1), 0o600)
	}
	if err = errors.Join(err, os.Mkdir(filepath.Join(dir, "prod-20200101T000000Z"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for keep, want := range map[int][]string{5: nil, 2: {"prod-20250101T000000Z"}} {
		removed, err := backup.Prune(t.Context(), target, "prod", keep)
		if diff := cmp.Diff(want, removed); diff != "" || err != nil {
			t.Errorf("keep %d: %v, (-want +got):\n%s", keep, err, diff)
		}
	}
	left, err := target.Backups(t.Context())
	if want := []string{"other-20240101T000000Z", "prod-20200101T000000Z", name, "prod-20270101T000000Z"}; err != nil || !cmp.Equal(left, want) {
		t.Errorf("these are left: %v, want %v; %v", left, want, err)
	}
}

// TestBackupLinks checks that a backup does not lead out of its place.
func TestBackupLinks(t *testing.T) {
	w, identity := newWorld(t, 1, true), key(t)
	target, dir := w.directory()
	m, err := w.save(target, identity.Recipient())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name, dataFile)
	outside := filepath.Join(t.TempDir(), "data")
	if err := errors.Join(os.Rename(path, outside), os.Symlink(outside, path)); err != nil {
		t.Fatal(err)
	}
	if err := backup.Verify(t.Context(), target, name, m.Items[0], []age.Identity{identity}); err == nil {
		t.Error("it follows a link")
	}
}

// TestManifest is the golden round trip of the format.
func TestManifest(t *testing.T) {
	target, err := backup.OpenDirectory("testdata", false)
	if err != nil {
		t.Fatal(err)
	}
	got, err := backup.Read(t.Context(), target, name)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 27, 22, 15, 0, 0, time.UTC)
	want := &backup.Manifest{
		Format: "1.0", Cloud: "prod", Cluster: "c-1", Release: "2025.1-rocky-9", Tool: "0.1.0", Began: at, Ended: at.Add(4 * time.Second),
		Recipients: []string{"age1qqqq"}, Jobs: []string{"service.keystone/Job/keystone-bootstrap-0123456789"},
		Items: []backup.Item{{
			Address: address, What: "records", Image: "db:1", File: dataFile, Size: 230, SHA256: "ab12", Unpacked: 18, Seconds: 1.5,
		}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the manifest (-want +got):\n%s", diff)
	}
	if got.Size() != 230 {
		t.Errorf("its size is %d", got.Size())
	}
	if got := backup.NameOf("prod", at); got != name {
		t.Errorf("its name is %s", got)
	}
}

// TestKnownWorkloads checks that commands come only from objects that the state knows.
func TestKnownWorkloads(t *testing.T) {
	w := newWorld(t, 1, true)
	known := state.Object{Address: address, APIVersion: "apps/v1", Kind: "StatefulSet", Namespace: "cloud", Name: "db-server", UID: "u-1"}
	other, job := known, known
	other.UID = "u-2"
	job.Kind = "Job"
	for what, test := range map[string]struct {
		object state.Object
		get    error
		found  int
		warned int
	}{
		"known":         {object: known, found: 1},
		"another":       {object: other, warned: 1},
		"gone":          {object: known, get: errNotFound, warned: 1},
		"another kind":  {object: job},
		"no commands":   {object: known},
		"unanswered":    {object: known, get: io.ErrUnexpectedEOF, found: -1},
		"half a record": {object: known, found: -1},
	} {
		t.Run(what, func(t *testing.T) {
			live := w.live.DeepCopy()
			switch what {
			case "no commands":
				live.SetAnnotations(nil)
			case "half a record":
				live.SetAnnotations(map[string]string{providers.AnnotationBackup: `{"what":"records"}`})
			}
			get := func(context.Context, providers.Ref) (*unstructured.Unstructured, error) { return live, test.get }
			warned := 0
			found, err := backup.Find(t.Context(), get, []*state.Object{&test.object}, func(string, string) { warned++ })
			if (err != nil) != (test.found < 0) || err == nil && len(found) != test.found || warned != test.warned {
				t.Errorf("found %v, %d warnings, %v", found, warned, err)
			}
		})
	}
}

// TestBackupKeys checks that keys are made, read and refused, and that no error quotes a private key.
func TestBackupKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	public, err := backup.NewKey(path, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := backup.NewKey(path, time.Now()); err == nil {
		t.Error("a key is overwritten")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key has the mode %v, %v", info.Mode(), err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(text))
	private := lines[len(lines)-1]
	if _, err := backup.Recipients([]string{public}); err != nil {
		t.Error(err)
	}
	if identities, err := backup.Identities([]string{path}); err != nil || len(identities) != 1 {
		t.Errorf("%v, %v", identities, err)
	}
	damaged := filepath.Join(t.TempDir(), "damaged")
	if err := os.WriteFile(damaged, []byte(private[:len(private)-1]), 0o600); err != nil {
		t.Fatal(err)
	}
	_, none := backup.Recipients(nil)
	_, given := backup.Recipients([]string{private})
	_, wrong := backup.Recipients([]string{"age1xyz"})
	_, cut := backup.Identities([]string{damaged})
	_, missing := backup.Identities([]string{path + "s"})
	for says, err := range map[string]error{
		"kolla backup key": none, "private key on a command line": given, "is not a public key": wrong,
		"has no private key": cut, "no such file": missing,
	} {
		if err == nil || !strings.Contains(fmt.Sprint(failure.Explain(err)), says) {
			t.Errorf("%v, want %q", err, says)
		}
		if err != nil && strings.Contains(err.Error(), private[20:40]) {
			t.Errorf("it quotes the key: %v", err)
		}
	}
}
