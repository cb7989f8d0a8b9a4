package realcloud_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestServices brings up a cloud with every service of the catalogue. It uses each service
// through the VIP, like a user, and breaks the parts under the servers.
func TestServices(t *testing.T) {
	c := newCloud(t, "compute-kit", 3)
	c.encrypt(t)
	c.backends = []string{"rbd", "nas"}
	c.write(t, "real.auto.vars.hcl", values(backends+`, spare = { type = "other", settings = { volume_driver = "cinder.tests.fake_driver.FakeLoggingVolumeDriver" } }`))
	c.ceph(t)
	c.cells(t)
	before := c.tracesOfComputes(t)
	take(t, c, []step{{"apply", appliesAll}})
	c.haproxy(t)
	take(t, c, []step{
		{"endpoints", endpointsAreTheVIPs},
		{"orphans", orphansEnd},
		{"doctor", doctorFindsNothing("initiators")}, // its pods may not see directories of the nodes
		{"image", imageComesBack},
		{"servers", serversBoot},
		{"interface taken down", interfaceComesUp},
		{"soft reboot", softRebootKeepsNetwork},
		{"screen", screenIsDrawn},
		{"load", apisStandLoad},
		{"rollout", rolloutReplaces}, // and starts the second pods for the next step
		{"pods deleted", noRequestFails},
		{"volumes", volumesAreMade},
		{"used", beside(
			[]step{{"roles", rolesDecide}, {"secret", secretComesBack}, {"resource provider", providerIsKept}, {"dashboard", dashboardShowsImage}},
			[]step{{"volume of an image", volumeHoldsImage}, {"backup", backupComesBack}},
			[]step{{"volume moved", volumeMoves}}, // to a server that runs since before the rollout
			[]step{{"stack", stackCompletes}},
		)},
		{"changed inside", insideIsNotCompared},
		{"node added", nodeIsAdded},
		{"hypervisor dead", serverIsEvacuated},
		{"server moved off", serverMovesOff},
		{"server moved", serverMoves},
		{"power cut", serversComeBack},
		{"control plane replaced", controlPlaneIsReplaced},
		{"node taken out", nodeIsTakenOut},
		{"second cell", cellIsAdded},
		{"database away", servicesComeBack},
		{"endpoint deleted", endpointIsMadeAgain},
		{"database user changed", usersAreMadeAgain},
		{"passwords replaced", passwordsRollOut},
		{"data plane held", dataPlaneIsHeld},
		{"destroyed", leavesNodesAsTheyWere(before)},
	})
}

// backends are the stores of volumes that stay.
const backends = `rbd = { type = "rbd" }, nas = { type = "nfs", share = "nas.test:/volumes", storage_class = "standard" }`

// TestSmoke brings up the example with servers, reaches one through its floating IP, and destroys all
// of it. It is the test on real nodes that every change passes.
func TestSmoke(t *testing.T) {
	c := newCloud(t, "compute-kit", 3)
	c.encrypt(t)
	c.write(t, "real.auto.vars.hcl", values(`fake = { type = "other", settings = { volume_driver = "cinder.tests.fake_driver.FakeLoggingVolumeDriver" } }`))
	before := c.tracesOfComputes(t)
	take(t, c, []step{{"apply", appliesAll}})
	c.haproxy(t)
	take(t, c, []step{
		{"endpoints", endpointsAreTheVIPs},
		{"orphans", orphansEnd},
		{"servers", serversBoot},
		{"destroyed", leavesNodesAsTheyWere(before)},
	})
}

// values returns the values of the example's variables, with the given stores of volumes.
func values(volumes string) string {
	return ofChosen(`
control  = ["real-1", "real-2", "real-3"]
compute  = ["real-2", "real-3"]
vip      = "` + vip + `"
distro   = "debian-trixie"
registry = "kolla.test/openstack.kolla"
volumes  = { ` + volumes + ` }

# As no kernel of a test helps.
virt_type          = "qemu"
datapath_type      = "netdev"
tunnel_network     = "10.201.0.0/24"
provider_interface = "eth2"
`)
}

// tracesOfComputes returns the traces on the nodes of the role compute. A test calls it before the
// first apply, and compares them after the destroy.
func (c *cloud) tracesOfComputes(t *testing.T) map[string]traces {
	before := map[string]traces{}
	for _, node := range []string{"real-2", "real-3"} {
		before[node] = c.traces(t, node)
	}
	return before
}

// appliesAll checks that one apply creates the whole cloud, and that the next plan is empty.
func appliesAll(t *testing.T, c *cloud) {
	cold := c.kolla(t, 0, "apply", "-auto-approve", "-timeout=20m")
	t.Log(cold.out)
	measured(t, "apply of all services, with images to pull", cold.took.Round(100*time.Millisecond))
	plan := c.kolla(t, 0, "plan", "-detailed-exitcode")
	wantSaid(t, "plan", plan.out, "No changes.")
	measured(t, "unchanged plan of all services", plan.took.Round(100*time.Millisecond))
	measured(t, "pods", strings.Count(c.kubectl(t, "get", "pods", "--field-selector=status.phase=Running", "-o", "name"), "\n"))
	measured(t, "memory of the whole, with three nodes and all services", fmt.Sprintf("%d MB", c.memory(t)>>20))
}

// catalogued maps the types of the registered services to their ports.
var catalogued = map[string]string{
	"identity": "5000", "placement": "8780", "image": "9292", "key-manager": "9311",
	"orchestration": "8004", "cloudformation": "8000", "block-storage": "8776",
	"compute": "8774", "network": "9696",
}

// urls returns the addresses of an interface, by type of service.
func (c *cloud) urls(t *testing.T, which string) map[string]*url.URL {
	t.Helper()
	r := c.openstack(t, "endpoint", "list", "--interface", which, "-f", "json")
	var endpoints []map[string]any
	if err := json.Unmarshal([]byte(r.out), &endpoints); err != nil {
		t.Fatalf("read the endpoints: %v\n%s", err, r.out)
	}
	all := map[string]*url.URL{}
	for _, e := range endpoints {
		u, err := url.Parse(strings.ReplaceAll(fmt.Sprint(e["URL"]), "%(tenant_id)s", "PROJECT"))
		if err != nil {
			t.Fatal(err)
		}
		all[fmt.Sprint(e["Service Type"])] = u
	}
	return all
}

// endpointsAreTheVIPs checks that public endpoints use the VIP, and internal ones the names of
// the services.
func endpointsAreTheVIPs(t *testing.T, c *cloud) {
	public, internal := c.urls(t, "public"), c.urls(t, "internal")
	for kind, port := range catalogued {
		if u := public[kind]; u == nil || u.Scheme+"://"+u.Host != c.at(port) {
			t.Errorf("the public endpoint of %s is %v, want it at %s", kind, u, c.at(port))
		}
		u := internal[kind]
		if u == nil || !strings.HasSuffix(u.Hostname(), "."+namespace) || u.Port() != port {
			t.Errorf("the internal endpoint of %s is %v, want SERVICE.%s:%s", kind, u, namespace, port)
		}
	}
}

// value runs the OpenStack client and returns its output.
func (c *cloud) value(t *testing.T, args ...string) string {
	t.Helper()
	r := c.openstack(t, args...)
	if r.code != 0 {
		t.Fatalf("openstack %s: exit code %d\n%s", strings.Join(args, " "), r.code, r.out)
	}
	return strings.TrimSpace(r.out)
}

// imageName is the name of the image. Horizon shows the image in a later step.
const imageName = "random-bytes"

// imageComesBack checks that an image is kept in Ceph, and comes back as it was.
func imageComesBack(t *testing.T, c *cloud) {
	id := c.imageReturns(t, imageName)
	if kept := c.rbd(t, "ls", "images"); kept != id {
		t.Errorf("the pool of images holds %q, want %s", kept, id)
	}
}

// imageReturns uploads an image, checks that a download has the same bytes, and returns its id.
func (c *cloud) imageReturns(t *testing.T, name string) (id string) {
	t.Helper()
	sent := make([]byte, 8<<20)
	if _, err := rand.Read(sent); err != nil {
		t.Fatal(err)
	}
	c.write(t, "up.bin", string(sent))
	c.value(t, "image", "create", name, "--file", "up.bin", "--disk-format", "raw", "--container-format", "bare", "-f", "value", "-c", "status")
	c.value(t, "image", "save", name, "--file", "down.bin")
	got, err := os.ReadFile(filepath.Join(c.dir, "down.bin"))
	if err != nil || !bytes.Equal(got, sent) {
		t.Errorf("%d bytes came back of %d, or others: %v", len(got), len(sent), err)
	}
	return c.value(t, "image", "show", name, "-f", "value", "-c", "id")
}

func secretComesBack(t *testing.T, c *cloud) {
	where := c.value(t, "secret", "store", "--name", "test", "--payload", "eight bits", "-f", "value", "-c", "Secret href")
	if u, err := url.Parse(where); err != nil || u.Host != vip+":9311" {
		t.Errorf("the secret is at %s, want it at the VIP", where)
	}
	if got := c.value(t, "secret", "get", where, "--payload", "-f", "value", "-c", "Payload"); got != "eight bits" {
		t.Errorf("the secret came back as %q", got)
	}
}

func providerIsKept(t *testing.T, c *cloud) {
	id := c.value(t, "resource", "provider", "create", "rack-1", "-f", "value", "-c", "uuid")
	if got := c.value(t, "resource", "provider", "list", "-f", "value", "-c", "uuid"); !strings.Contains(got, id) {
		t.Errorf("the providers are %q, want %q among them", got, id)
	}
	c.value(t, "resource", "provider", "delete", id)
}

// awaitStatus waits until a command prints the status.
func (c *cloud) awaitStatus(t *testing.T, want string, args ...string) {
	t.Helper()
	eventually(t, func() error {
		r := c.openstack(t, args...)
		got := strings.TrimSpace(r.out)
		if strings.HasPrefix(got, "error") {
			t.Fatalf("openstack %s: %s", strings.Join(args, " "), got)
		}
		if r.code != 0 || got != want {
			return fmt.Errorf("openstack %s: exit code %d, %s, want %s", strings.Join(args, " "), r.code, got, want)
		}
		return nil
	})
}

const stack = `
heat_template_version: 2018-08-31
resources:
  word: {type: "OS::Heat::RandomString", properties: {length: 12}}
  handle: {type: "OS::Heat::WaitConditionHandle"}
  wait: {type: "OS::Heat::WaitCondition", properties: {handle: {get_resource: handle}, timeout: 900}}
  port:
    type: OS::Neutron::Port
    properties: {network: inner, security_groups: [open]}
  server:
    type: OS::Nova::Server
    properties: {name: of-the-stack, image: guest, flavor: small, networks: [{port: {get_resource: port}}]}
  address:
    type: OS::Neutron::FloatingIP
    properties: {floating_network: outer, port_id: {get_resource: port}}
outputs:
  address: {value: {get_attr: [address, floating_ip_address]}}
  word: {value: {get_attr: [word, value]}}
  url: {value: {get_attr: [handle, endpoint]}}
  token: {value: {get_attr: [handle, token]}}
`

// stackCompletes checks that a stack completes after a client outside sends a signal to Heat's
// public address, and that its server answers at its floating IP. The signal uses the token of
// a user in Heat's own domain. Signed signals, as in AWS, do not work: Keystone only answers
// services that log in (OSSA-2025-002), and Debian's Heat does not.
func stackCompletes(t *testing.T, c *cloud) {
	c.write(t, "stack.yaml", stack)
	c.value(t, "stack", "create", "-t", "stack.yaml", "test", "-f", "value", "-c", "id")
	output := func(name string) string {
		var value string
		eventually(t, func() error {
			r := c.openstack(t, "stack", "output", "show", "test", name, "-f", "value", "-c", "output_value")
			if value = strings.TrimSpace(r.out); r.code != 0 || value == "" || value == "None" {
				return fmt.Errorf("no output %s: %s", name, r.out)
			}
			return nil
		})
		return value
	}
	signal := output("url")
	if u, err := url.Parse(signal); err != nil || u.Host != vip+":8004" {
		t.Errorf("the signal goes to %s, want the VIP", signal)
	}
	r := c.outside(t, nil, "curl", "-sf", "--cacert", caFile, "-X", "POST", "-H", "Content-Type: application/json", "-H", "X-Auth-Token: "+output("token"), "-d", `{"status": "SUCCESS"}`, signal)
	if r.code != 0 {
		t.Fatalf("signal: exit code %d\n%s", r.code, r.out)
	}
	c.awaitStatus(t, "CREATE_COMPLETE", "stack", "show", "test", "-f", "value", "-c", "stack_status")
	if word := output("word"); len(word) != 12 {
		t.Errorf("the random string is %q", word)
	}
	guests["of-the-stack"] = &server{Floating: output("address")}
	c.answers(t, "of-the-stack")
	c.value(t, "stack", "delete", "--yes", "--wait", "test")
	delete(guests, "of-the-stack")
}

// screenshotsVariable is the environment variable with the directory for pictures.
const screenshotsVariable = "KOLLA_TEST_SCREENSHOTS"

// keep copies a picture to this directory, if the variable is set.
func (c *cloud) keep(t *testing.T, picture string) {
	t.Helper()
	if kept := os.Getenv(screenshotsVariable); kept != "" {
		if err := os.Rename(filepath.Join(c.dir, picture), filepath.Join(kept, picture)); err != nil {
			t.Error(err)
		}
	}
}

// browse runs a program of testdata with a browser, which trusts the CA of the exposure.
func (c *cloud) browse(t *testing.T, env []string, program string, args ...string) result {
	t.Helper()
	c.script(t, program)
	argv := append([]string{"python3", program}, args...)
	if c.encrypted {
		const trusting = `export HOME=/tmp; mkdir -p "$HOME/.pki/nssdb"; certutil -d "sql:$HOME/.pki/nssdb" -A -t C,, -n exposure -i "$1"; shift; exec "$@"`
		argv = append([]string{"sh", "-ec", trusting, "sh", caFile}, argv...)
	}
	return c.outside(t, append(env, "HOME=/tmp"), argv...)
}

func dashboardShowsImage(t *testing.T, c *cloud) {
	const picture = "horizon.png"
	r := c.browse(t, []string{"OS_PASSWORD=" + c.password(t)}, "horizon.py", c.at("8080")+"/", imageName, picture)
	c.keep(t, picture)
	if r.code != 0 {
		t.Errorf("the browser: exit code %d\n%s", r.code, r.out)
	}
}

// answerAll uses every service once, until each answers and Cinder's backends are up. It logs
// the seconds that it waited for each.
func (c *cloud) answerAll(t *testing.T) {
	t.Helper()
	took := map[string]float64{}
	c.servers(t, &took, append([]string{"answers"}, c.backends...)...)
	t.Logf("seconds until services answered, one after the other: %v", took)
}

// longVariable is the environment variable that enables steps of many minutes on two
// processors: they delete pods of all APIs under load, instead of a few, and take leaders, volumes
// and power from members of OVN's databases.
const longVariable = "KOLLA_TEST_LONG"

// doubled returns the services whose APIs get a second pod.
func doubled() []string {
	services := []string{"keystone", "placement"}
	if os.Getenv(longVariable) != "" {
		services = append(services, "nova", "glance", "neutron", "barbican", "heat", "cinder", "horizon")
	}
	return services
}

// noRequestFails checks that no request fails while one of the two pods of each API is deleted.
func noRequestFails(t *testing.T, c *cloud) {
	urls := []string{c.at("8080") + "/auth/login/"}
	for _, port := range catalogued {
		urls = append(urls, c.at(port)+"/")
	}
	deployments := strings.Fields(c.kubectl(t, "get", "deployments", "-l", "app.kubernetes.io/name in ("+strings.Join(doubled(), ",")+")", "-o", "jsonpath={.items[*].metadata.name}"))
	result := c.underLoad(t, func() {
		for few := range slices.Chunk(deployments, 4) { // two cores cannot start more at once
			for _, deployment := range few {
				pods := strings.Fields(c.kubectl(t, "get", "pods", "-l", "app.kubernetes.io/component="+deployment, "--sort-by=.metadata.creationTimestamp",
					"-o", "go-template={{range .items}}{{if not .metadata.deletionTimestamp}}{{.metadata.name}} {{end}}{{end}}"))
				if len(pods) != 2 {
					t.Fatalf("%s has the pods %v, want two", deployment, pods)
				}
				c.kubectl(t, "delete", "pod", pods[0], "--wait=false")
			}
			time.Sleep(time.Second) // until the Deployments notice
			for _, deployment := range few {
				c.kubectl(t, "rollout", "status", "deployment/"+deployment, "--timeout="+patience.String())
			}
		}
		time.Sleep(5 * time.Second)
	}, urls...)
	measured(t, "requests while pods of "+strings.Join(doubled(), ", ")+" were deleted, and of them failed", fmt.Sprintf("%d, %d (slowest %s)", result.Requests, result.Failed, result.Slowest))
	if result.Failed > 0 || result.Requests < 100 {
		t.Errorf("of %d requests %d failed, such as %s", result.Requests, result.Failed, strings.Join(result.Failures, "; "))
	}
	c.noChanges(t)
}

// servicesComeBack checks that services work again when their database comes back after half
// a minute.
func servicesComeBack(t *testing.T, c *cloud) {
	node := c.kubectl(t, "get", "pod", "mariadb-server-0", "-o", "jsonpath={.spec.nodeName}")
	c.cluster.Kubectl(t, "cordon", node)
	t.Cleanup(func() { c.cluster.Kubectl(t, "uncordon", node) })
	c.kubectl(t, "delete", "pod", "mariadb-server-0")
	gone := time.Now()
	if r := c.openstack(t, "project", "list"); r.code == 0 {
		t.Error("Keystone answers without its database")
	}
	time.Sleep(time.Until(gone.Add(30 * time.Second)))
	c.cluster.Kubectl(t, "uncordon", node)
	began := time.Now()
	c.answerAll(t)
	measured(t, "from the database's return until all services answer", time.Since(began).Round(time.Second))
	c.noChanges(t)
}

// jobOf returns the address of a job, whose name ends with a hash.
func (c *cloud) jobOf(t *testing.T, service, job string) string {
	t.Helper()
	prefix := fmt.Sprintf("service.%s/Job/%s-%s-", service, service, job)
	for line := range strings.Lines(c.kolla(t, 0, "state", "list").out) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, prefix) {
			return line
		}
	}
	t.Fatalf("the state has no %s", prefix)
	return ""
}

// endpointIsMadeAgain deletes endpoints, also one of Keystone itself, and disables a user. It checks
// that a plan and kolla drift show each of them, and that an apply puts them back by running the jobs
// again that registered them. It measures a plan with and without the comparison.
func endpointIsMadeAgain(t *testing.T, c *cloud) {
	for service, side := range map[string]string{"placement": "public", "keystone": "internal"} {
		c.value(t, "endpoint", "delete", c.value(t, "endpoint", "list", "--service", service, "--interface", side, "-f", "value", "-c", "ID"))
	}
	c.value(t, "user", "set", "--disable", "glance")
	c.value(t, "role", "remove", "--user", "cinder", "--project", "service", "admin")
	want := []string{
		`endpoints["placement/public/RegionOne"].url`, c.at("8780"), `endpoints["identity/internal/RegionOne"].url`,
		`users["glance"].enabled`, `users["cinder"].roles["admin"].project`, "in Keystone",
	}
	jobs := []string{
		c.jobOf(t, "placement", "register-endpoints"), c.jobOf(t, "keystone", "bootstrap"), c.jobOf(t, "glance", "register-users"), c.jobOf(t, "cinder", "register-users"),
	}
	wantSaid(t, "plan", c.kolla(t, 2, "plan", "-detailed-exitcode").out, slices.Concat(want, jobs)...)
	wantSaid(t, "drift", c.kolla(t, 2, "drift").out, slices.Concat(want, jobs)...)
	c.kolla(t, 0, "apply", "-auto-approve")
	if u := c.urls(t, "public")["placement"]; u == nil || u.Host != vip+":8780" {
		t.Errorf("the endpoint of Placement is %v", u)
	}
	if u := c.urls(t, "internal")["identity"]; u == nil || u.Hostname() != "keystone."+namespace {
		t.Errorf("the endpoint of Keystone is %v", u)
	}
	if enabled := c.value(t, "user", "show", "glance", "-f", "value", "-c", "enabled"); enabled != "True" {
		t.Errorf("user glance is enabled: %s", enabled)
	}
	if roles := c.value(t, "role", "assignment", "list", "--user", "cinder", "--project", "service", "--names", "-f", "value", "-c", "Role"); !strings.Contains(roles, "admin") {
		t.Errorf("user cinder has the roles %q", roles)
	}
	c.noChanges(t)
	for name, option := range map[string]string{"with": "-registrations", "without": "-registrations=false"} {
		r := c.kolla(t, 0, "plan", "-detailed-exitcode", option)
		measured(t, "a plan "+name+" the comparison with Keystone", r.took.Round(10*time.Millisecond))
	}
}

// usersAreMadeAgain changes users of MariaDB and RabbitMQ, so that their services fail. It checks that a plan
// and kolla drift show each change, and that an apply puts it back by running the jobs again that made the
// users.
func usersAreMadeAgain(t *testing.T, c *cloud) {
	c.sql(t, "REVOKE LOCK TABLES ON placement.* FROM placement@'%'; ALTER USER glance@'%' IDENTIFIED BY 'another'")
	c.kubectl(t, "exec", "rabbitmq-server-0", "-c", "server", "--", "rabbitmqctl", "--quiet", "clear_permissions", "--vhost", "cinder", "cinder")
	want := []string{
		`users["placement"].privileges["placement"]`, `users["glance"].password`, `users["cinder"].permissions["cinder"].write`, "in MariaDB", "in RabbitMQ",
		c.jobOf(t, "placement", "db-create"), c.jobOf(t, "glance", "db-create"), c.jobOf(t, "cinder", "queue-create"),
	}
	wantSaid(t, "plan", c.kolla(t, 2, "plan", "-detailed-exitcode").out, want...)
	wantSaid(t, "drift", c.kolla(t, 2, "drift").out, want...)
	c.kolla(t, 0, "apply", "-auto-approve")
	c.answerAll(t)
	c.noChanges(t)
}

// passwordsRollOut replaces a service's password in Keystone and a queue's password, and checks
// the plan and the apply. It kills the first pod of a job, and another pod finishes the job.
// As Cinder restarts anyway, a backend is taken out: answerAll finds none that is down.
func passwordsRollOut(t *testing.T, c *cloud) {
	c.write(t, "real.auto.vars.hcl", values(backends))
	for _, secret := range []string{"placement-user-placement", "cinder-queue-cinder"} {
		c.kubectl(t, "patch", "secret", secret, "--type=merge", "-p", `{"stringData":{"password":"replaced-by-the-operator"}}`)
	}
	plan := c.kolla(t, 2, "plan", "-detailed-exitcode").out
	wantSaid(t, "plan", plan, "job placement-register-users runs", "job cinder-queue-create runs", "restart")
	if strings.Contains(plan, "replaced-by-the-operator") {
		t.Error("the plan shows a password")
	}
	cmd := c.command(t, "apply", "-auto-approve")
	out := &lockedBuffer{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		pods := strings.Fields(c.kubectl(t, "get", "pods", "-l", "batch.kubernetes.io/job-name", "--field-selector=status.phase=Running", "-o", "name"))
		of := slices.IndexFunc(pods, func(pod string) bool { return strings.HasPrefix(pod, "pod/placement-register-users-") })
		if of < 0 {
			return errors.New("the job does not run")
		}
		c.kubectl(t, "delete", pods[of], "--now")
		return nil
	})
	if err := cmd.Wait(); err != nil {
		t.Fatalf("the apply: %v\n%s", err, out)
	}
	c.answerAll(t)
	c.delete(t, c.volume(t, "again", "--type", "rbd"))
	c.noChanges(t)
}
