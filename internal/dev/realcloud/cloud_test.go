package realcloud_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
)

// Addresses of the machines outside of the cluster: one holds the VIP, the others send
// requests.
const (
	vip           = "10.200.0.100"
	loaderAddress = "10.200.0.102"
)

const namespace = "openstack"

// cloud is a cloud under test: a configuration and its cluster.
type cloud struct {
	cluster *clustertest.Cluster
	dir     string // directory of the configuration
	root    string // directory of the project
	// proxyLog is HAProxy's log, one line for each request.
	proxyLog  *lockedBuffer
	addresses chan string   // unused addresses of clients outside
	clients   chan *clients // idle clients
	whole     *testing.T    // the test that contains all steps
	backends  []string      // of Cinder, which are up when all answers
	encrypted bool          // clients outside use TLS, and trust only the CA of the exposure
}

// newCloud starts nodes for an example of the project, with more flags of the local cluster.
func newCloud(t *testing.T, example string, nodes int, flags ...string) *cloud {
	t.Helper()
	if name := os.Getenv(imagesVariable); name != "" && len(flags) > 0 {
		t.Fatalf("%s is %s, and this test brings its own images", imagesVariable, name)
	}
	c := emptyCloud(t, nodes, flags...)
	if err := os.CopyFS(c.dir, os.DirFS(filepath.Join(c.root, "examples", example))); err != nil {
		t.Fatal(err)
	}
	c.write(t, "cloud.hcl", ofChosen(spread(c.text(t))))
	if release, _ := chosenImages(); release == next {
		c.routes(t)
	}
	return c
}

// routes gives Glance of the next release uWSGI's HTTP router, if it is there. Debian has it in a plug-in.
func (c *cloud) routes(t *testing.T) {
	t.Helper()
	const glance = "service \"glance\" {\n"
	if strings.Contains(c.text(t), glance) {
		c.edit(t, glance, glance+`
  config "glance-api-uwsgi.ini" {
    values = { uwsgi = { plugins = "python3,http" } }
  }
`)
	}
}

// encrypt gives the exposure TLS.
func (c *cloud) encrypt(t *testing.T) {
	t.Helper()
	c.edit(t, "exposure \"public\" {\n", "exposure \"public\" {\n  tls {}\n")
	c.encrypted = true
}

// at returns the URL of a public port.
func (c *cloud) at(port string) string {
	scheme := "http"
	if c.encrypted {
		scheme = "https"
	}
	return scheme + "://" + vip + ":" + port
}

// keystone returns its URL for clients outside.
func (c *cloud) keystone() string { return c.at("5000") + "/v3" }

// emptyCloud starts nodes for a cloud without a configuration.
func emptyCloud(t *testing.T, nodes int, flags ...string) *cloud {
	t.Helper()
	if name := os.Getenv(imagesVariable); name != "" && len(flags) == 0 {
		flags = []string{imagesOf(t, name).option(t)}
	}
	return withoutConfiguration(t, clustertest.StartReal(t, nodes, flags...), 110)
}

// withoutConfiguration returns the cloud of a cluster. Clients outside get addresses from
// 10.200.0.FIRST on.
func withoutConfiguration(t *testing.T, cluster *clustertest.Cluster, first int) *cloud {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	addresses := make(chan string, 16)
	for i := range cap(addresses) {
		addresses <- fmt.Sprintf("10.200.0.%d", first+i)
	}
	c := &cloud{
		cluster: cluster, dir: t.TempDir(), root: root, proxyLog: &lockedBuffer{},
		addresses: addresses, clients: make(chan *clients, cap(addresses)), whole: t,
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the pods:\n%s", c.kubectl(t, "get", "pods", "-A", "-o", "wide"))
			t.Logf("what happened last:\n%s", c.kubectl(t, "get", "events", "-A", "--sort-by=.lastTimestamp", "--field-selector=type!=Normal"))
		}
	})
	return c
}

// lastWords is how long before the end of a test its commands are interrupted, so that they say
// what they wait for.
const lastWords = time.Minute

// interruptible returns a context for a command of a test. The command is interrupted before the
// time of the whole test is over.
func (c *cloud) interruptible(t *testing.T) context.Context {
	deadline, ok := c.whole.Deadline()
	if !ok {
		return t.Context()
	}
	ctx, cancel := context.WithDeadline(t.Context(), deadline.Add(-lastWords))
	t.Cleanup(cancel)
	return ctx
}

var oneLine = regexp.MustCompile(`(?m)^(service ".+" \{) ?(.*?) ?\}$`)

// spread splits service blocks on a single line into several lines, so that edits can add
// arguments.
func spread(text string) string { return oneLine.ReplaceAllString(text, "$1\n  $2\n}") }

// text returns the configuration.
func (c *cloud) text(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(c.dir, "cloud.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// step is one step of a test. Each step finds a cloud that answers, and leaves it so.
type step struct {
	name string
	do   func(*testing.T, *cloud)
}

// take runs the steps until one fails.
func take(t *testing.T, c *cloud, steps []step) {
	t.Helper()
	for i, step := range steps {
		if !t.Run(step.name, func(t *testing.T) { step.do(t, c) }) {
			t.Fatalf("%d steps were not taken", len(steps)-i-1)
		}
	}
}

// beside runs sequences of steps in parallel: while one waits, the others use the processors.
func beside(rows ...[]step) func(*testing.T, *cloud) {
	return func(t *testing.T, c *cloud) {
		var all sync.WaitGroup
		for _, row := range rows {
			all.Go(func() {
				for _, step := range row {
					if !t.Run(step.name, func(t *testing.T) { step.do(t, c) }) {
						return
					}
				}
			})
		}
		all.Wait()
	}
}

// result is the result of a finished command. out contains standard output and standard error
// together.
type result struct {
	out  string
	code int
	took time.Duration
}

func (c *cloud) command(t *testing.T, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(c.interruptible(t), filepath.Join(c.root, "bin", "kolla"), args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = lastWords / 2
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.cluster.Kubeconfig(), "NO_COLOR=1")
	return cmd
}

// kolla runs kolla and fails the test if the exit code is not want.
func (c *cloud) kolla(t *testing.T, want int, args ...string) result {
	t.Helper()
	r := finish(t, c.command(t, args...))
	t.Logf("kolla %s took %s", strings.Join(args, " "), r.took.Round(100*time.Millisecond))
	if r.code != want {
		t.Fatalf("kolla %s: exit code %d, want %d\n%s", strings.Join(args, " "), r.code, want, r.out)
	}
	return r
}

// killed runs kolla, and kills it as soon as it has printed something that matches, unless it ends just then.
func (c *cloud) killed(t *testing.T, match string, args ...string) {
	t.Helper()
	printed := regexp.MustCompile(match)
	cmd := c.command(t, args...)
	out := &lockedBuffer{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	for !printed.MatchString(out.String()) {
		select {
		case <-ended:
			if printed.MatchString(out.String()) {
				return
			}
			t.Fatalf("kolla %s: it ended before it printed %s\n%s", strings.Join(args, " "), match, out.String())
		case <-time.After(100 * time.Millisecond):
		}
	}
	_ = cmd.Process.Kill()
	<-ended
}

func finish(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	began := time.Now()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("run %s: %v\n%s", cmd, err, out.String())
	}
	return result{out.String(), cmd.ProcessState.ExitCode(), time.Since(began)}
}

func (c *cloud) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return c.cluster.Kubectl(t, append([]string{"-n", namespace}, args...)...)
}

// write writes a file beside the configuration.
func (c *cloud) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// edit replaces a text in the configuration, which must contain it exactly once.
func (c *cloud) edit(t *testing.T, before, after string) {
	t.Helper()
	text := c.text(t)
	if n := strings.Count(text, before); n != 1 {
		t.Fatalf("%q is %d times in the configuration, want once", before, n)
	}
	c.write(t, "cloud.hcl", strings.Replace(text, before, after, 1))
}

// outside runs a command as a client outside of the cluster.
func (c *cloud) outside(t *testing.T, env []string, argv ...string) result {
	t.Helper()
	address := <-c.addresses
	defer func() { c.addresses <- address }()
	cmd, err := c.cluster.Outside(c.interruptible(t), address, filepath.Join(c.root, "bin", "outside"), argv...)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Dir = c.dir
	cmd.Env = append(os.Environ(), env...)
	return finish(t, cmd)
}

// password returns the administrator's password.
func (c *cloud) password(t *testing.T) string {
	t.Helper()
	return c.kubectl(t, "get", "secret", "keystone-admin", "-o", "go-template={{.data.value | base64decode}}")
}

// clients is a process that runs commands of the OpenStack client one after the other. See
// testdata/clients.py.
type clients struct {
	requests *json.Encoder
	answers  *json.Decoder
}

// openstack runs the OpenStack client as the administrator, through the VIP.
func (c *cloud) openstack(t *testing.T, args ...string) result {
	t.Helper()
	var client *clients
	select {
	case client = <-c.clients:
	default:
		client = c.startClients(t)
	}
	defer func() { c.clients <- client }()
	env := map[string]string{}
	for _, variable := range c.credentials(t) {
		name, value, _ := strings.Cut(variable, "=")
		env[name] = value
	}
	began := time.Now()
	var answer struct {
		Code int
		Out  string
	}
	err := client.requests.Encode(map[string]any{"argv": args, "env": env})
	if err == nil {
		err = client.answers.Decode(&answer)
	}
	if err != nil {
		t.Fatalf("openstack %s: %v", strings.Join(args, " "), err)
	}
	return result{answer.Out, answer.Code, time.Since(began)}
}

// startClients starts the process. The process ends with the test, when its standard input is
// closed.
func (c *cloud) startClients(t *testing.T) *clients {
	t.Helper()
	c.script(t, "clients.py")
	cmd, err := c.cluster.Outside(context.WithoutCancel(t.Context()), <-c.addresses, filepath.Join(c.root, "bin", "outside"), "python3", "clients.py")
	if err != nil {
		t.Fatal(err)
	}
	cmd.Dir, cmd.Stderr = c.dir, os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c.whole.Cleanup(func() {
		stdin.Close()
		_ = cmd.Wait()
	})
	return &clients{json.NewEncoder(stdin), json.NewDecoder(stdout)}
}

// script copies a program of testdata beside the configuration.
func (c *cloud) script(t *testing.T, name string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	c.write(t, name, string(text))
}

// credentials returns the administrator's credentials for clients outside.
func (c *cloud) credentials(t *testing.T) []string {
	t.Helper()
	out := []string{
		"OS_AUTH_URL=" + c.keystone(), "OS_USERNAME=admin", "OS_PASSWORD=" + c.password(t),
		"OS_PROJECT_NAME=admin", "OS_USER_DOMAIN_NAME=Default", "OS_PROJECT_DOMAIN_NAME=Default",
		"OS_IDENTITY_API_VERSION=3", "OS_INTERFACE=public",
	}
	if c.encrypted {
		out = append(out, "OS_CACERT="+caFile)
	}
	return out
}

// token gets a token from Keystone, and fails the test if it cannot.
func (c *cloud) token(t *testing.T) {
	t.Helper()
	r := c.openstack(t, "token", "issue", "-f", "value", "-c", "id")
	if r.code != 0 || !strings.HasPrefix(r.out, "gAAAAA") {
		t.Fatalf("openstack token issue: exit code %d\n%s", r.code, r.out)
	}
}

// eventualToken waits until the cloud answers again, and returns the time.
func (c *cloud) eventualToken(t *testing.T) time.Duration {
	t.Helper()
	began := time.Now()
	for {
		r := c.openstack(t, "token", "issue", "-f", "value", "-c", "id")
		if r.code == 0 {
			return time.Since(began)
		}
		if time.Since(began) > patience {
			t.Fatalf("no token after %s:\n%s", patience, r.out)
		}
		time.Sleep(time.Second)
	}
}

const (
	caFile        = "ca.pem" // beside the configuration
	outsideFolder = "/mnt/"  // where a machine outside has the configuration
)

// haproxy runs HAProxy with the configuration that kolla renders, on a machine that holds the
// VIP, until the test ends.
func (c *cloud) haproxy(t *testing.T) {
	t.Helper()
	const config = "haproxy.cfg"
	options := []string{"exposure", "haproxy", "-out", config}
	if c.encrypted {
		const certificate = "public.pem"
		c.kolla(t, 0, "exposure", "certificate", "-out", certificate)
		c.kolla(t, 0, "exposure", "certificate", "-ca", "-out", caFile)
		options = append(options, "-certificate="+outsideFolder+certificate)
	}
	c.kolla(t, 0, options...)
	cmd, err := c.cluster.Outside(context.WithoutCancel(t.Context()), vip, filepath.Join(c.root, "bin", "outside"), "haproxy", "-db", "-f", config)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Dir = c.dir
	cmd.Stdout, cmd.Stderr = c.proxyLog, c.proxyLog
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("haproxy said:\n%s", c.proxyLog)
		}
	})
}

func (c *cloud) noChanges(t *testing.T) {
	t.Helper()
	r := c.kolla(t, 0, "plan", "-detailed-exitcode")
	if !strings.Contains(r.out, "No changes.") {
		t.Errorf("the plan is not empty:\n%s", r.out)
	}
}

// patience is how long a test waits for anything. It ends a test that would hang; it is no
// measure of speed.
const patience = 10 * time.Minute

// eventually repeats a check until it returns no error.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		began := time.Now()
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		// A client of OpenStack computes for seconds, which the cloud needs.
		time.Sleep(max(200*time.Millisecond, 3*time.Since(began)))
	}
}

// measured prints a number for the table at the end of a run.
func measured(t *testing.T, what string, value any) {
	t.Helper()
	fmt.Printf("measured: %s: %v\n", what, value)
}

// wantSaid fails the test if the output lacks any of the words. Line breaks do not matter.
func wantSaid(t *testing.T, who, out string, words ...string) {
	t.Helper()
	flat := strings.Join(strings.Fields(out), " ")
	for _, want := range words {
		if !strings.Contains(flat, want) {
			t.Errorf("the %s does not say %q:\n%s", who, want, out)
		}
	}
}

// memory returns the memory of the processes of the control plane, the nodes and the cloud, in
// bytes. Shared memory is counted once (PSS).
func (c *cloud) memory(t *testing.T) int64 {
	t.Helper()
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	for _, folder := range folders {
		line, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
		cgroup, _ := os.ReadFile(filepath.Join(folder, "cgroup"))
		ours := strings.Contains(string(line), c.cluster.Dir()) || strings.Contains(string(cgroup), "/kolla-devcluster-") ||
			strings.Contains(string(line), "/run/machine") || strings.Contains(string(line), "/run/programs")
		rollup, err := os.ReadFile(filepath.Join(folder, "smaps_rollup"))
		if !ours || err != nil {
			continue
		}
		for text := range strings.Lines(string(rollup)) {
			var kilobytes int64
			if n, _ := fmt.Sscanf(text, "Pss: %d kB", &kilobytes); n == 1 {
				sum += kilobytes << 10
			}
		}
	}
	return sum
}
