package realcloud_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// slow sends a request to Keystone without its body, so that a process waits for it, and prints
// the seconds until the process is killed. uWSGI itself would wait for 30 seconds.
const slow = `
import socket, time
began = time.monotonic()
s = socket.create_connection(("127.0.0.1", 5000))
s.sendall(b"POST /v3/auth/tokens HTTP/1.1\r\nHost: keystone\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
s.settimeout(60)
s.recv(1)
print(time.monotonic() - began)
`

// leave sends requests to Keystone, which checks a password for each, and closes the connections before
// Keystone answers.
const leave = `
import json, socket, struct, time
user = {"name": "admin", "domain": {"id": "default"}, "password": "wrong"}
body = json.dumps({"auth": {"identity": {"methods": ["password"], "password": {"user": user}}}})
for _ in range(10):
    s = socket.create_connection(("127.0.0.1", 5000))
    s.sendall(f"POST /v3/auth/tokens HTTP/1.1\r\nHost: keystone\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
    time.sleep(0.05)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()
time.sleep(5)
`

// freeze stops all processes of the pod but the first, or lets them go on: the signal is in the
// first argument.
const freeze = `for p in /proc/[0-9]*; do p=${p#/proc/}; [ "$p" = 1 ] || [ "$p" = $$ ] || [ "$(cat /proc/$p/comm)" != uwsgi ] || kill -$0 "$p"; done`

// hangingProcessesAreReplaced checks that uWSGI replaces a process that does not end a request,
// that a client that goes away is no error of Keystone, and that the liveness probe notices a pod in
// which no process answers, and nothing less.
func hangingProcessesAreReplaced(t *testing.T, c *cloud) {
	const limit = "\n  config \"keystone-uwsgi.ini\" {\n    values = { uwsgi = { harakiri = 5 } }\n  }\n"
	c.edit(t, "  replicas = 2\n", "  replicas = 2\n"+limit)
	c.kolla(t, 0, "apply", "-auto-approve")
	pod := strings.TrimSpace(c.kubectl(t, "get", "pods", "-l", "app.kubernetes.io/component=keystone-api", "--field-selector=status.phase=Running",
		"--sort-by=.metadata.creationTimestamp", "-o", "jsonpath={.items[-1].metadata.name}"))
	inPod := func(argv ...string) string { return c.kubectl(t, append([]string{"exec", pod, "--"}, argv...)...) }
	began := time.Now()
	var seconds float64
	if _, err := fmt.Sscan(inPod("python3", "-c", slow), &seconds); err != nil || seconds < 4 || seconds > 20 {
		t.Errorf("a request that does not end ended after %.1f s, want about 5: %v", seconds, err)
	}
	log := c.kubectl(t, "logs", pod, "--since-time="+began.UTC().Format(time.RFC3339))
	if !strings.Contains(log, "HARAKIRI ON WORKER") {
		t.Errorf("uWSGI does not say why it killed the process:\n%s", log)
	}
	c.token(t)

	began = time.Now()
	inPod("python3", "-c", leave)
	log = c.kubectl(t, "logs", pod, "--since-time="+began.UTC().Format(time.RFC3339))
	if strings.Contains(log, "CRITICAL") || !strings.Contains(log, "during POST /v3/auth/tokens") {
		t.Errorf("clients went away; Keystone logs more or less than one line of uWSGI for each:\n%s", log)
	}

	var probe []string
	text := c.kubectl(t, "get", "pod", pod, "-o", "jsonpath={.spec.containers[0].livenessProbe.exec.command}")
	if err := json.Unmarshal([]byte(text), &probe); err != nil || slices.Index(probe, "55") < 0 {
		t.Fatalf("the liveness probe is %s: %v", text, err)
	}
	probe[slices.Index(probe, "55")] = "5"
	inPod(probe...)
	nowhere := slices.Clone(probe)
	nowhere[len(nowhere)-1] += "nowhere" // status 404
	inPod(nowhere...)
	inPod("sh", "-c", freeze, "STOP")
	out := inPod(append([]string{"sh", "-c", `"$@" && echo alive || echo dead: $?`, "sh"}, probe...)...)
	inPod("sh", "-c", freeze, "CONT")
	if strings.TrimSpace(out) != "dead: 28" { // curl's code for a time-out
		t.Errorf("with all processes stopped, the probe says %q", out)
	}
	c.token(t)
	c.edit(t, limit, "")
	c.kolla(t, 0, "apply", "-auto-approve")
	c.noChanges(t)
}
