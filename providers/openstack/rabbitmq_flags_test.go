package openstack_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

// TestRabbitMQFlags checks that the job enables all stable feature flags, tries again while a member is
// away, and finds a flag that one of the others needs.
func TestRabbitMQFlags(t *testing.T) {
	type flag struct {
		Name      string `json:"name"`
		State     string `json:"state"`
		Stability string `json:"stability"`
	}
	flags := []flag{
		{"quorum_queue", "enabled", "required"},
		{"rabbitmq_4.1.0", "disabled", "stable"},
		{"khepri_db", "disabled", "experimental"},
	}
	away := true
	var calls []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "admin" || password != "pässword" {
			t.Errorf("user %q with password %q", user, password)
		}
		calls = append(calls, r.Method+" "+r.URL.Path)
		if r.Method == http.MethodGet {
			if err := json.NewEncoder(w).Encode(flags); err != nil {
				t.Error(err)
			}
			return
		}
		if away {
			away = false
			http.Error(w, `{"error":"bad_request","reason":"missing_clustered_nodes"}`, http.StatusBadRequest)
			return
		}
		for i := range flags {
			if r.URL.Path == "/api/feature-flags/"+flags[i].Name+"/enable" {
				flags[i].State = "enabled"
			}
		}
		if len(flags) == 3 { // as if it were known only now
			flags = append(flags, flag{"rabbitmq_4.2.0", "disabled", "stable"})
		}
	}))
	defer server.Close()
	admin := filepath.Join(t.TempDir(), "admin")
	if err := os.WriteFile(admin, []byte("pässword"), 0o600); err != nil {
		t.Fatal(err)
	}
	output, err := python(t, "rabbitmq/flags.py", "MANAGEMENT_URL="+server.URL, "ADMIN_PASSWORD_FILE="+admin)
	if err != nil || !strings.Contains(output, "missing_clustered_nodes") {
		t.Errorf("%v: %s", err, output)
	}
	const get, first, second = "GET /api/feature-flags", "PUT /api/feature-flags/rabbitmq_4.1.0/enable", "PUT /api/feature-flags/rabbitmq_4.2.0/enable"
	if want := []string{get, first, get, first, get, get, second, get}; !slices.Equal(calls, want) {
		t.Errorf("calls %q, want %q", calls, want)
	}
	if flags[2].State != "disabled" {
		t.Error("an experimental feature is enabled")
	}
}

// TestRabbitMQFlagsCheck checks that an upgrade to another version of RabbitMQ ends at once while stable
// feature flags are off, and names them. The same version goes on: its job enables them.
func TestRabbitMQFlagsCheck(t *testing.T) {
	admin := filepath.Join(t.TempDir(), "admin")
	if err := os.WriteFile(admin, []byte("password"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		image, state, stability string
		ends                    int
	}{
		"all are on":          {"4.2.1", "enabled", "stable", 0},
		"one is off":          {"4.2.1", "disabled", "stable", 2},
		"experimental":        {"4.2.1", "disabled", "experimental", 0},
		"same version":        {"4.0.9", "disabled", "stable", 0},
		"RabbitMQ is stopped": {"4.2.1", "", "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var reply any = []map[string]string{{"name": "rabbitmq_4.0.0", "state": c.state, "stability": c.stability}}
				if r.URL.Path == "/api/overview" {
					reply = map[string]string{"rabbitmq_version": "4.0.5"}
				}
				if err := json.NewEncoder(w).Encode(reply); err != nil {
					t.Error(err)
				}
			}))
			defer server.Close()
			if c.state == "" {
				server.Close()
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "rabbitmqctl"), []byte("#!/bin/sh\necho "+c.image+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			message := filepath.Join(dir, "termination-log")
			run := exec.Command("python3", "-c", strings.Replace(script(t, "rabbitmq/flags.py"), "/dev/termination-log", message, 1), "check")
			run.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH"), "MANAGEMENT_URL=" + server.URL, "ADMIN_PASSWORD_FILE=" + admin}
			out, err := run.CombinedOutput()
			if errors.Is(err, exec.ErrNotFound) {
				t.Skip("NOT RUN: there is no python3 to run flags.py with")
			}
			if run.ProcessState.ExitCode() != c.ends {
				t.Errorf("it ended with %d (%v), want %d, and printed:\n%s", run.ProcessState.ExitCode(), err, c.ends, out)
			}
			told, _ := os.ReadFile(message)
			if want := "Failure: RabbitMQ 4.0.5 lacks feature flags, without which 4.2.1 may not start: rabbitmq_4.0.0."; strings.HasPrefix(string(told), want) != (c.ends == 2) {
				t.Errorf("it tells %q", told)
			}
		})
	}
}

// TestRabbitMQLeave checks that a member that leaves gives up its copies first, on a member that stays,
// and that the text of a refused plan names the script where it is mounted.
func TestRabbitMQLeave(t *testing.T) {
	objects := render(t, written(t, "service \"mq\" {\n  definition = \"rabbitmq\"\n  replicas = 3\n}\n"), facts())
	server := find(t, objects, "StatefulSet/mq-server")
	const path = "/etc/rabbitmq/leave.sh"
	if want := "exec mq-server-N -c server -- sh -e " + path + " &&"; !strings.Contains(server.ScaleDown, want) {
		t.Errorf("the text is %q, want %q in it", server.ScaleDown, want)
	}
	spec, _, _ := podOf(t, server)
	if !slices.ContainsFunc(spec.Containers[0].VolumeMounts, func(m v1.VolumeMount) bool { return m.MountPath == path }) {
		t.Errorf("%s is not mounted", path)
	}
	for fails, want := range map[string]string{
		"":     "-n rabbit@mq-0.mq eval 'rabbit@mq-2.mq'\n-n rabbit@mq-0.mq forget_cluster_node rabbit@mq-2.mq\n",
		"eval": strings.Repeat("-n rabbit@mq-0.mq eval 'rabbit@mq-2.mq'\n", 6),
	} {
		home := t.TempDir()
		for name, value := range map[string]string{"HOME": home, "MEMBERS": "mq-0.mq mq-1.mq mq-2.mq", "RABBITMQ_CONF_ENV_FILE": filepath.Join(home, "env"), "FAILS": fails} {
			t.Setenv(name, value)
		}
		if err := os.WriteFile(filepath.Join(home, "env"), []byte("NODENAME=rabbit@mq-2.mq\nUSE_LONGNAME=true\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := runScript(t, "rabbitmq/leave.sh", map[string]string{"sleep": "", "rabbitmqctl": `case $3 in
eval) echo "$1 $2 eval $(printf %s "$4" | sed -n "s/^N = \(.*\),$/\1/p")" ;;
*) printf '%s\n' "$*" ;;
esac
test "$3" != "$FAILS"`})
		if got != want || (err != nil) != (fails != "") {
			t.Errorf("%v, %q, want %q", err, got, want)
		}
		if _, err := os.Stat(filepath.Join(home, "astray")); (err == nil) != (fails == "") {
			t.Errorf("fails %q: whether the next start deletes the data: %v", fails, err)
		}
	}
}
