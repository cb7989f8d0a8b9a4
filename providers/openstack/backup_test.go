package openstack_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack"
)

// onVolume runs a script of the catalogue with a directory in place of the volume of MariaDB. Commands
// are scripts of programs, by name.
func onVolume(t *testing.T, volume, name string, commands map[string]string, args ...string) (string, error) {
	t.Helper()
	source, err := fs.ReadFile(openstack.Catalogue(), name)
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	for command, text := range commands {
		if err := os.WriteFile(filepath.Join(bin, command), []byte("#!/bin/sh\n"+text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	sh := exec.Command("sh", append([]string{"-ec", strings.ReplaceAll(string(source), "/var/lib/mysql", volume)}, args...)...)
	sh.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	sh.Stdin = strings.NewReader("stream")
	out, err := sh.CombinedOutput()
	return string(out), err
}

// content returns the files below a directory with their texts: "mysql/user.frm: new".
func content(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files = append(files, name+": "+string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	return files
}

// fill writes files below a directory.
func fill(t *testing.T, dir, text string, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMariaDBExchange checks that the data are exchanged completely after a kill at any of the moves, and
// not at all before the mark is there.
func TestMariaDBExchange(t *testing.T) {
	old := []string{"ibdata1", "keystone/user.ibd", "mysql/db.frm", ".hidden"}
	restored := []string{"ibdata1", "mysql/db.frm", "nova/instances.ibd"}
	var want []string
	for _, name := range restored {
		want = append(want, name+": new")
	}
	for _, name := range old {
		want = append(want, ".replaced/"+name+": old")
	}
	slices.Sort(want)
	kills := 0
	for kill := 1; ; kill++ {
		volume := t.TempDir()
		fill(t, volume, "old", old...)
		fill(t, volume, "older", ".replaced/ibdata1", ".replaced/heat/stack.ibd")
		fill(t, volume, "new", ".restore/ibdata1", ".restore/mysql/db.frm", ".restore/nova/instances.ibd")
		before := content(t, volume)
		if out, err := onVolume(t, volume, "mariadb/restored.sh", nil); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if diff := cmp.Diff(before, content(t, volume)); diff != "" {
			t.Fatalf("without the mark (-before +after):\n%s", diff)
		}
		if out, err := onVolume(t, volume, "mariadb/restore.sh", nil); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		// The shell is killed after so many moves and removals.
		counter := filepath.Join(t.TempDir(), "count")
		killing := func(program string) string {
			return fmt.Sprintf(`/bin/%[1]s "$@" || exit
echo >> %[2]s
[ "$(wc -l < %[2]s)" != %[3]d ] || kill -KILL "$PPID"
`, program, counter, kill)
		}
		commands := map[string]string{"mv": killing("mv"), "rm": killing("rm"), "mkdir": killing("mkdir")}
		_, killed := onVolume(t, volume, "mariadb/restored.sh", commands)
		if out, err := onVolume(t, volume, "mariadb/restored.sh", nil); err != nil {
			t.Errorf("after a kill at move %d: %v: %s", kill, err, out)
		}
		if diff := cmp.Diff(want, content(t, volume)); diff != "" {
			t.Errorf("after a kill at move %d (-want +got):\n%s", kill, diff)
		}
		if killed == nil {
			break
		}
		kills++
	}
	if kills < 10 {
		t.Errorf("killed at %d moves only", kills)
	}
}

// TestMariaDBMembers checks that a member without data becomes empty, and that remains of an earlier
// restore do not matter.
func TestMariaDBMembers(t *testing.T) {
	volume := t.TempDir()
	fill(t, volume, "old", "ibdata1", "grastate.dat", "mysql/db.frm")
	fill(t, volume, "older", ".replaced/mysql/db.frm")
	fill(t, volume, "", ".restore/begun")
	for _, script := range []string{"mariadb/restore.sh", "mariadb/restored.sh"} {
		if out, err := onVolume(t, volume, script, nil); err != nil {
			t.Fatalf("%s: %v: %s", script, err, out)
		}
	}
	want := []string{".replaced/grastate.dat: old", ".replaced/ibdata1: old", ".replaced/mysql/db.frm: old"}
	if diff := cmp.Diff(want, content(t, volume)); diff != "" {
		t.Errorf("the volume (-want +got):\n%s", diff)
	}
}

// TestMariaDBStage checks that a backup is unpacked beside the data, and refused without room, if it
// cannot be prepared, and while an exchange waits.
func TestMariaDBStage(t *testing.T) {
	df := func(kib int) string { return fmt.Sprintf("echo Filesystem; echo dev 9 9 %d 9%% /", kib) }
	unpacks := `cat > /dev/null; mkdir "${2#--directory=}/mysql"; echo new > "${2#--directory=}/mysql/db.frm"`
	for what, test := range map[string]struct {
		room            int // KiB
		unpack, prepare string
		there           []string
		says            string
	}{
		"staged":       {room: 200000, unpack: unpacks, there: []string{".restore/old"}},
		"no room":      {room: 66000, unpack: unpacks, says: "the volume has 64 MiB free, and the backup needs 74 MiB"},
		"cut off":      {room: 200000, unpack: "echo 'unexpected end' >&2; exit 1", says: "unexpected end"},
		"not prepared": {room: 200000, unpack: unpacks, prepare: "echo 'cannot open xtrabackup_logfile' >&2; exit 1", says: "cannot open"},
		"nothing":      {room: 200000, unpack: "cat > /dev/null"},
		"waits":        {room: 200000, unpack: unpacks, there: []string{".restore/ready"}, says: "a restore that was begun"},
		"half way":     {room: 200000, unpack: unpacks, there: []string{".restore/emptied"}, says: "a restore that was begun"},
	} {
		t.Run(what, func(t *testing.T) {
			volume := t.TempDir()
			fill(t, volume, "old", append([]string{"ibdata1"}, test.there...)...)
			out, err := onVolume(t, volume, "mariadb/stage.sh", map[string]string{
				"df": df(test.room), "mbstream": test.unpack, "mariadb-backup": test.prepare + "\n" + `[ "$*" = "--prepare --target-dir=` + volume + `/.restore" ]`,
			}, "stage", "10240000")
			if (err == nil) != (what == "staged") || !strings.Contains(out, test.says) {
				t.Errorf("%v: %s, want %q", err, out, test.says)
			}
			files := content(t, volume)
			if !slices.Contains(files, "ibdata1: old") {
				t.Errorf("the data are %v", files)
			}
			if want := []string{".restore/mysql/db.frm: new\n", "ibdata1: old"}; what == "staged" && !slices.Equal(files, want) {
				t.Errorf("the volume has %q, want %q", files, want)
			}
			if len(test.there) > 0 && what != "staged" && !slices.Contains(files, test.there[0]+": old") {
				t.Errorf("an exchange that waits is disturbed: %v", files)
			}
		})
	}
}

// TestMariaDBSave checks that the output is the stream alone, and that a failure is one.
func TestMariaDBSave(t *testing.T) {
	out, err := runScript(t, "mariadb/save.sh", map[string]string{"mariadb-backup": `for last; do :; done; [ -d "${last#--target-dir=}" ] && printf stream`})
	if err != nil || out != "stream" {
		t.Errorf("%q, %v", out, err)
	}
	if out, err := runScript(t, "mariadb/save.sh", map[string]string{"mariadb-backup": "exit 3"}); err == nil {
		t.Errorf("a failure ends with 0: %s", out)
	}
}

// onImages runs a script with a directory in place of the volume of Glance, and tar itself.
func onImages(t *testing.T, volume, name, stdin string, args ...string) (string, error) {
	t.Helper()
	source, err := fs.ReadFile(openstack.Catalogue(), name)
	if err != nil {
		t.Fatal(err)
	}
	sh := exec.Command("sh", append([]string{"-ec", strings.ReplaceAll(string(source), "/var/lib/glance", volume)}, args...)...)
	sh.Stdin = strings.NewReader(stdin)
	var out, complaint strings.Builder
	sh.Stdout, sh.Stderr = &out, &complaint
	if err := sh.Run(); err != nil {
		return "", fmt.Errorf("%w: %s", err, complaint.String())
	}
	return out.String(), nil
}

// TestGlanceBackup checks that the files of all stores come back, and nothing else does, and that files
// of other images stay.
func TestGlanceBackup(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	fill(t, from, "image", "images/1", "images/2", "fast/3")
	fill(t, from, "other", "staging/4", "tmp/lock", "tasks_work_dir/5", ".restore/images/6", "lost+found/7")
	data, err := onImages(t, from, "glance/save.sh", "")
	if err != nil {
		t.Fatal(err)
	}
	fill(t, to, "here", "images/8", "staging/4")
	fill(t, to, "half", ".restore/images/9")
	if _, err := onImages(t, to, "glance/stage.sh", data, "stage", fmt.Sprint(len(data))); err != nil {
		t.Fatal(err)
	}
	if got := content(t, to); !slices.Contains(got, "images/8: here") || slices.Contains(got, "images/1: image") {
		t.Errorf("staged: %v", got)
	}
	if _, err := onImages(t, to, "glance/restore.sh", ""); err != nil {
		t.Fatal(err)
	}
	want := []string{"fast/3: image", "images/1: image", "images/2: image", "images/8: here", "staging/4: here"}
	if diff := cmp.Diff(want, content(t, to)); diff != "" {
		t.Errorf("the volume (-want +got):\n%s", diff)
	}
	if _, err := onImages(t, to, "glance/stage.sh", data, "stage", "99999999999999999"); err == nil || !strings.Contains(err.Error(), "beside the present images") {
		t.Errorf("without room: %v", err)
	}
	if _, err := onImages(t, to, "glance/stage.sh", data[:len(data)/3], "stage", fmt.Sprint(len(data))); err == nil {
		t.Error("a part of an archive is no error")
	}
}

// TestStage checks that a copy is kept only if it is complete.
func TestStage(t *testing.T) {
	source, err := fs.ReadFile(openstack.Catalogue(), "stage.sh")
	if err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(t.TempDir(), "restore")
	script := strings.ReplaceAll(string(source), "/tmp/restore", kept)
	for size, fits := range map[string]bool{"6": true, "7": false} {
		sh := exec.Command("sh", "-ec", script, "stage", size)
		sh.Stdin = strings.NewReader("stream")
		if out, err := sh.CombinedOutput(); (err == nil) != fits {
			t.Errorf("%s bytes: %v: %s", size, err, out)
		}
	}
	if text, _ := os.ReadFile(kept); string(text) != "stream" {
		t.Errorf("the copy is %q", text)
	}
}

// TestBackups checks which services have commands for a backup, and that these are complete.
func TestBackups(t *testing.T) {
	var found []string
	for _, o := range render(t, inRelease(t, "testdata/servers", "2025.1"), openstack.Offline()) {
		b, err := providers.BackupOf(o.Manifest)
		if err != nil {
			t.Error(err)
		}
		if b == nil {
			continue
		}
		found = append(found, o.Address.String())
	}
	slices.Sort(found)
	want := []string{
		"service.glance/StatefulSet/glance-api", "service.mariadb-cell2/StatefulSet/mariadb-cell2-server",
		"service.mariadb/StatefulSet/mariadb-server", "service.ovn/StatefulSet/ovn-nb",
		"service.rabbitmq-cell2/StatefulSet/rabbitmq-cell2-server", "service.rabbitmq/StatefulSet/rabbitmq-server",
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("services with a backup (-want +got):\n%s", diff)
	}
}
