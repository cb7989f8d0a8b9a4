package realcloud_test

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// uwsgi maps the APIs that uWSGI runs in 2025.1, except Nova's metadata, to a request of an
// administrator.
var uwsgi = map[string]string{
	"keystone-api": "5000/v3/users", "placement-api": "8780/resource_providers", "barbican-api": "9311/v1/secrets",
	"heat-api": "8004/v1/PROJECT/stacks", "heat-api-cfn": "8000/", "horizon-web": "8080/auth/login/", "cinder-api": "8776/v3/PROJECT/volumes/detail", "nova-api": "8774/v2.1/servers/detail",
}

// apisStandLoad sends requests without a pause to Nova's API and to its metadata API. For most
// requests, Nova's API asks a hypervisor. A process whose thread hangs never answers again, so
// every process must answer afterwards. Then the step measures all APIs.
func apisStandLoad(t *testing.T, c *cloud) {
	as, project := c.administrator(t)
	ask := func(name string, seconds time.Duration, requests ...request) *load {
		var eight []client
		for range 8 {
			eight = append(eight, client{name, as, requests})
		}
		return c.clientsRun(t, func() { time.Sleep(seconds * time.Second) }, orders{Clients: eight})[name]
	}
	nova := c.at("8774") + "/v2.1"
	var calls []request
	for _, guest := range []string{"guest-1", "guest-2"} {
		at := nova + "/servers/" + guests[guest].ID
		calls = append(calls,
			request{Method: http.MethodPost, URL: at + "/action", Body: `{"os-getConsoleOutput": {"length": 5}}`, Status: http.StatusOK, Says: "output"},
			request{Method: http.MethodGet, URL: at + "/diagnostics", Status: http.StatusOK},
			request{Method: http.MethodGet, URL: nova + "/servers/detail", Status: http.StatusOK, Says: guest},
		)
	}
	r := ask("nova", 30, calls...)
	measured(t, "requests of eight clients of Nova without a pause, and of them failed", fmt.Sprintf("%d, %d (slowest %s)", r.Requests, r.Failed, r.Slowest))
	if r.Failed > 0 || r.Requests < 100 {
		t.Errorf("of %d requests of Nova %d failed, such as %v", r.Requests, r.Failed, r.Failures)
	}
	c.metadataStandsLoad(t, guests["guest-1"].ID, project)

	for _, name := range slices.Sorted(maps.Keys(uwsgi)) {
		began := time.Now()
		r := ask(name, 5, request{Method: http.MethodGet, URL: c.at(strings.ReplaceAll(uwsgi[name], "PROJECT", project))})
		took := time.Since(began)
		measured(t, name+", requests a second and the slowest", fmt.Sprintf("%.1f, %s", float64(r.Requests)/took.Seconds(), r.Slowest))
		if memory := c.memoryOf(t, name); memory > 0 { // zero: the processes belong to another user
			measured(t, name+", memory of a pod", fmt.Sprintf("%d MB", memory>>20))
		}
		if r.Failed > 0 {
			t.Errorf("%s: of %d requests %d failed, such as %v", name, r.Requests, r.Failed, r.Failures)
		}
		c.allAnswer(t, name, began)
	}
}

// metadata queries Nova's metadata API about a server, like the agents of Neutron do, with eight
// clients. It prints the number of right and wrong answers, and some of the wrong ones.
const metadata = `
import configparser, hashlib, hmac, sys, threading, time, urllib.request
server, project = sys.argv[1:]
conf = configparser.RawConfigParser()
conf.read("/etc/nova/nova.conf.d/secrets.conf")
secret = conf["neutron"]["metadata_proxy_shared_secret"]
signature = hmac.new(secret.encode(), server.encode(), hashlib.sha256).hexdigest()
headers = {"X-Instance-ID": server, "X-Tenant-ID": project, "X-Instance-ID-Signature": signature, "X-Forwarded-For": "10.9.0.9"}
end, right, wrong = time.monotonic() + 10, [], []
def ask():
    while time.monotonic() < end:
        try:
            url = urllib.request.Request("http://127.0.0.1:8775/openstack/latest/meta_data.json", headers=headers)
            answer = urllib.request.urlopen(url, timeout=60).read().decode()
            (right if server in answer else wrong).append(answer[:200])
        except Exception as failure:
            wrong.append(str(failure))
threads = [threading.Thread(target=ask) for _ in range(8)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(len(right), len(wrong), wrong[:3])
`

// metadataStandsLoad sends requests to the metadata API, for the same purpose as apisStandLoad.
func (c *cloud) metadataStandsLoad(t *testing.T, server, project string) {
	t.Helper()
	began := time.Now()
	said := c.kubectl(t, "exec", "deployment/nova-metadata", "--", "python3", "-c", metadata, server, project)
	var right, wrong int
	if n, err := fmt.Sscan(said, &right, &wrong); n != 2 || wrong > 0 || right < 20 {
		t.Errorf("of the answers of the metadata API, %s (%v)", said, err)
	}
	measured(t, "requests of eight clients of the metadata API without a pause, and of them failed", fmt.Sprintf("%d, %d (memory of a pod: %d MB)", right, wrong, c.memoryOf(t, "nova-metadata")>>20))
	c.allAnswer(t, "nova-metadata", began)
}

// answered matches the beginning of the line that uWSGI logs for each request.
var answered = regexp.MustCompile(`\[pid: ([0-9]+)\|`)

// allAnswer checks that each process of an API has answered a request since the given time.
func (c *cloud) allAnswer(t *testing.T, deployment string, since time.Time) {
	t.Helper()
	log := c.kubectl(t, "logs", "deployment/"+deployment, "--since-time="+since.UTC().Format(time.RFC3339))
	processes := map[string]int{}
	for _, match := range answered.FindAllStringSubmatch(log, -1) {
		processes[match[1]]++
	}
	want, err := strconv.Atoi(strings.TrimSpace(c.kubectl(t, "exec", "deployment/"+deployment, "--", "sh", "-c", "sed -n 's/^processes = //p' /etc/*/*-uwsgi.ini")))
	if err != nil || len(processes) != want {
		t.Errorf("%d processes of %s answered, want %d (%v): %v", len(processes), deployment, want, err, processes)
	}
}

// memoryOf returns the memory of the processes of a pod, in bytes. Shared memory is counted once.
func (c *cloud) memoryOf(t *testing.T, deployment string) int64 {
	t.Helper()
	var sum int64
	for line := range strings.Lines(c.kubectl(t, "exec", "deployment/"+deployment, "--", "sh", "-c", "cat /proc/[0-9]*/smaps_rollup 2> /dev/null || true")) {
		var kilobytes int64
		if n, _ := fmt.Sscanf(line, "Pss: %d kB", &kilobytes); n == 1 {
			sum += kilobytes << 10
		}
	}
	return sum
}
