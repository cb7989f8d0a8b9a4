package recipe_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"testing"
)

// container is a directory that kolla_set_configs uses as the file system of a container.
type container struct {
	t      *testing.T
	root   string
	script string
	owner  string // "user:group" of the user who runs the test
}

func newContainer(t *testing.T) container {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("NOT RUN: there is no python3 to run kolla_set_configs with")
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	group, err := user.LookupGroupId(me.Gid)
	if err != nil {
		t.Fatal(err)
	}
	c := container{t: t, root: t.TempDir(), owner: me.Username + ":" + group.Name}
	c.script = filepath.Join(t.TempDir(), "kolla_set_configs")
	if err := os.WriteFile(c.script, file(t, "base", "usr/local/bin/kolla_set_configs"), 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

func (c container) write(name, content string) {
	c.t.Helper()
	name = filepath.Join(c.root, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

// object is a JSON object.
type object = map[string]any

// configure writes config.json and runs the script; it returns the exit code and the log.
func (c container) configure(config object, strategy string, args ...string) (code int, log string) {
	c.t.Helper()
	encoded, err := json.Marshal(config)
	if err != nil {
		c.t.Fatal(err)
	}
	c.write("var/lib/kolla/config_files/config.json", string(encoded))
	cmd := exec.Command("python3", append([]string{c.script, "--root", c.root}, args...)...)
	cmd.Env = append(os.Environ(), "KOLLA_CONFIG_STRATEGY="+strategy)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

// wantCode fails the test if the exit code is not want.
func (c container) wantCode(want int) func(code int, log string) {
	return func(code int, log string) {
		c.t.Helper()
		if code != want {
			c.t.Fatalf("exit code %d, want %d:\n%s", code, want, log)
		}
	}
}

// has compares files in the container. For each path, want contains "MODE CONTENT" or "none".
func (c container) has(want map[string]string) {
	c.t.Helper()
	for name, want := range want {
		got := "none"
		full := filepath.Join(c.root, name)
		if info, err := os.Stat(full); err == nil {
			got = fmt.Sprintf("%04o", info.Mode().Perm())
			if content, err := os.ReadFile(full); err == nil {
				got += " " + string(content)
			}
		}
		if got != want {
			c.t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
}

func TestSetConfigsCopies(t *testing.T) {
	c := newContainer(t)
	const staging = "var/lib/kolla/config_files/"
	c.write(staging+"my.conf", "new")
	c.write(staging+"parts/a.conf", "a")
	c.write(staging+"parts/b.conf", "b")
	c.write(staging+"tree/below/file", "deep")
	c.write("etc/svc/my.conf", "the image's")
	c.write("etc/svc/tree/old", "the image's")
	c.write("etc/svc/merged/old", "the image's")
	c.write("etc/svc/other", "the image's")

	entry := func(source, dest string, more object) object {
		e := object{"source": "/" + staging + source, "dest": dest, "owner": c.owner, "perm": "0640"}
		for key, value := range more {
			e[key] = value
		}
		return e
	}
	c.wantCode(0)(c.configure(object{
		"command":  "/usr/bin/svc --config x",
		"whatever": "unknown keys here mean nothing",
		"config_files": []object{
			entry("my.conf", "/etc/svc/my.conf", nil),
			entry("parts/*.conf", "/etc/svc/conf.d/", nil),
			entry("tree", "/etc/svc/tree", nil),
			entry("tree", "/etc/svc/merged", object{"merge": true}),
			entry("absent", "/etc/svc/absent", object{"optional": true}),
			{"source": "/" + staging + "my.conf", "dest": "/etc/svc/kept", "preserve_properties": true},
		},
		"directories": []object{{"path": "/var/lib/svc/tmp", "owner": c.owner, "perm": "0750"}},
		"permissions": []object{
			{"path": "/etc/svc/merged", "owner": c.owner, "perm": "0600", "recurse": true, "exclude": []string{"below"}},
		},
	}, "COPY_ALWAYS"))

	c.has(map[string]string{
		"run_command":               "0644 /usr/bin/svc --config x",
		"etc/svc/my.conf":           "0640 new",
		"etc/svc/conf.d/a.conf":     "0640 a",
		"etc/svc/conf.d/b.conf":     "0640 b",
		"etc/svc/tree/below":        "0750",
		"etc/svc/tree/below/file":   "0640 deep",
		"etc/svc/tree/old":          "none",
		"etc/svc/merged/old":        "0600 the image's",
		"etc/svc/merged/below/file": "0640 deep",
		"etc/svc/absent":            "none",
		"etc/svc/kept":              "0644 new",
		"etc/svc/other":             "0644 the image's",
		"var/lib/svc/tmp":           "0750",
		// The script keeps the files that it replaced.
		"etc/kolla/defaults/etc/svc/my.conf":    "0644 the image's",
		"etc/kolla/defaults/etc/svc/tree/old":   "0644 the image's",
		"etc/kolla/defaults/etc/svc/other":      "none",
		"etc/kolla/defaults/etc/svc/conf.d/foo": "none",
	})
}

// TestSetConfigsAgain checks that a restart of a container with another configuration gives the
// same result as a new container.
func TestSetConfigsAgain(t *testing.T) {
	c := newContainer(t)
	const staging = "var/lib/kolla/config_files/"
	c.write(staging+"my.conf", "first")
	c.write("etc/svc/my.conf", "the image's")
	config := func(files ...object) object {
		return object{"command": "svc", "config_files": append([]object{}, files...)}
	}
	mine := object{"source": "/" + staging + "my.conf", "dest": "/etc/svc/my.conf", "owner": c.owner, "perm": "0600"}

	c.wantCode(0)(c.configure(config(mine), "COPY_ALWAYS"))
	c.has(map[string]string{"etc/svc/my.conf": "0600 first"})

	c.write(staging+"my.conf", "second")
	c.wantCode(0)(c.configure(config(mine), "COPY_ONCE"))
	c.has(map[string]string{"etc/svc/my.conf": "0600 first"})

	c.wantCode(0)(c.configure(config(mine), "COPY_ALWAYS"))
	c.has(map[string]string{"etc/svc/my.conf": "0600 second"})

	c.wantCode(0)(c.configure(config(), "COPY_ALWAYS"))
	c.has(map[string]string{"etc/svc/my.conf": "0644 the image's"})
}

func TestSetConfigsCheck(t *testing.T) {
	const staging = "var/lib/kolla/config_files/"
	tests := map[string]struct {
		change func(c container, entry object)
		want   int
	}{
		"nothing":           {func(container, object) {}, 0},
		"another content":   {func(c container, _ object) { c.write(staging+"my.conf", "other") }, 1},
		"another mode":      {func(_ container, entry object) { entry["perm"] = "0644" }, 1},
		"another spelling":  {func(_ container, entry object) { entry["perm"] = "600" }, 1},
		"the file is gone":  {func(c container, _ object) { os.Remove(filepath.Join(c.root, "etc/svc/my.conf")) }, 1},
		"the source is":     {func(c container, _ object) { os.Remove(filepath.Join(c.root, staging+"my.conf")) }, 1},
		"another command":   {func(c container, _ object) { c.write("run_command", "other") }, 1},
		"no command at all": {func(c container, _ object) { os.Remove(filepath.Join(c.root, "run_command")) }, 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newContainer(t)
			c.write(staging+"my.conf", "mine")
			entry := object{"source": "/" + staging + "my.conf", "dest": "/etc/svc/my.conf", "owner": c.owner, "perm": "0600"}
			config := object{"command": "svc", "config_files": []object{entry}}
			c.wantCode(0)(c.configure(config, "COPY_ALWAYS"))

			test.change(c, entry)
			c.wantCode(test.want)(c.configure(config, "COPY_ALWAYS", "--check"))
		})
	}
}

func TestSetConfigsMistakes(t *testing.T) {
	const source = "/var/lib/kolla/config_files/my.conf"
	tests := map[string]struct {
		config   object
		strategy string
		want     int
	}{
		"no command":      {object{}, "COPY_ALWAYS", 1},
		"no strategy":     {object{"command": "svc"}, "", 1},
		"an odd strategy": {object{"command": "svc"}, "COPY_TWICE", 1},
		"no such source": {
			object{"command": "svc", "config_files": []object{{"source": "/nowhere", "dest": "/x", "owner": "root", "perm": "0600"}}},
			"COPY_ALWAYS", 1,
		},
		"no owner": {
			object{"command": "svc", "config_files": []object{{"source": source, "dest": "/x", "perm": "0600"}}},
			"COPY_ALWAYS", 1,
		},
		"an unknown owner": {
			object{"command": "svc", "config_files": []object{{"source": source, "dest": "/x", "owner": "nobody-at-all", "perm": "0600"}}},
			"COPY_ALWAYS", 1,
		},
		"an unknown key": {
			object{"command": "svc", "config_files": []object{{"source": source, "dest": "/x", "owner": "root", "perm": "0600", "mode": "x"}}},
			"COPY_ALWAYS", 2,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newContainer(t)
			c.write(source, "mine")
			c.wantCode(test.want)(c.configure(test.config, test.strategy))
			c.has(map[string]string{"run_command": "none"})
		})
	}
}
