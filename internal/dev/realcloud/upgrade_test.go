package realcloud_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Releases of the images: first is that of bin/images, the others have images in bin/images-RELEASE.
const first, supported, next = "2025.1", "2026.1", "2026.2"

// insisting is the option without which kolla refuses the step from first to next. OpenStack does not
// support it; Debian has no whole release between them.
const insisting = "-force-release=" + next

// insistingOnData is the option without which kolla refuses RabbitMQ 4.3 with the data of 4.0.
const insistingOnData = "-force-data=service.rabbitmq"

// TestUpgrade upgrades examples/compute-kit, stage by stage, while clients outside send requests and a
// server is pinged. It counts the failures and the seconds of each stage. A check that fails stops the upgrade before
// the first change. Afterwards everything that users made is there and works.
func TestUpgrade(t *testing.T) {
	u := &upgrade{to: next, options: []string{insisting}, dataOptions: []string{insistingOnData}, migrated: []string{"heat", "keystone", "neutron", "nova", "nova_cell0"}}
	c := u.begin(t)
	take(t, c, []step{
		{"keys rotate", u.rotates},
		{"tokens outlive rotations", tokensStay},
		{"declared", u.declare},
		{"check fails", u.stops},
		{"checks", u.checksOldHypervisors},
		{"feature flag", enablesKhepri},
		{"data", u.data},
		{"service does not start", u.fails},
		{"control", u.control},
		{"nodes", u.nodes},
		{"rollout", u.rollout},
		{"once more", u.last},
		{"workaround taken away", u.takesWorkaroundAway},
		{"resource provider", oldStyleIsKept},
	})
	u.end(t, c)
}

// TestUpgradeSLURP upgrades as OpenStack supports it, from a release to the one after the next, without any option. Debian
// has five services of the later one. The others run the programs of the first release, as those of the
// later one.
func TestUpgradeSLURP(t *testing.T) {
	u := &upgrade{to: supported, migrated: []string{"heat", "neutron"}}
	c := u.begin(t)
	take(t, c, []step{
		{"declared", u.declareSupported},
		{"checks", u.checks},
		{"data", u.data},
		{"control", u.control},
		{"nodes", u.nodes},
		{"rollout", u.rollout},
		{"once more", u.last},
	})
	u.end(t, c)
}

// begin brings up the cloud in the first release, with what users make.
func (u *upgrade) begin(t *testing.T) *cloud {
	c := newCloud(t, "compute-kit", 3, imagesOf(t, u.to).option(t))
	c.backends = []string{"rbd"}
	c.write(t, "real.auto.vars.hcl", values(`rbd = { type = "rbd" }`))
	c.ceph(t)
	take(t, c, []step{{"apply", appliesAll}})
	c.haproxy(t)
	take(t, c, []step{{"contents", u.make}})
	return c
}

// end checks that everything is there and works in the later release.
func (u *upgrade) end(t *testing.T, c *cloud) {
	take(t, c, []step{
		{"contents kept", beside(
			[]step{{"image", u.kept.imageIsBack}, {"volume", u.kept.volumeIsBack}},
			[]step{{"secret", u.kept.secretIsBack}, {"stack", u.stackIsKept}},
		)},
		{"server", serverIsUsed},
		{"databases", u.databasesAreNew},
		{"all checked", u.allWereChecked},
	})
}

// upgrade is an upgrade from the first release, with the state of the cloud before it.
type upgrade struct {
	to          string   // the release
	options     []string // without which kolla refuses it
	dataOptions []string // without which kolla refuses the stage data
	migrated    []string // databases that get another schema

	kept    losses
	word    string            // an output of the stack
	schemas map[string]string // by database
	load    orders
	silent  []string // services whose check has passed without a result
}

const keptStack = `
heat_template_version: 2018-08-31
resources:
  word: {type: "OS::Heat::RandomString", properties: {length: 12}}
  network: {type: "OS::Neutron::Net", properties: {name: of-the-stack}}
outputs:
  word: {value: {get_attr: [word, value]}}
`

func (u *upgrade) make(t *testing.T, c *cloud) {
	u.kept.make(t, c)
	c.write(t, "kept.yaml", keptStack)
	c.value(t, "stack", "create", "--wait", "-t", "kept.yaml", "kept", "-f", "value", "-c", "id")
	u.word = c.output(t)
	u.schemas = c.schemas(t)
	measured(t, "schemas of the databases before", u.schemas)
	u.load = c.readers(t)
}

// rotates rotates the keys that encrypt what Barbican and Keystone store, and checks that their jobs have
// encrypted it again, and that it can be read.
func (u *upgrade) rotates(t *testing.T, c *cloud) {
	const stored = "SELECT GROUP_CONCAT(plugin_meta) FROM barbican.kek_data; SELECT GROUP_CONCAT(key_hash) FROM keystone.credential"
	id := c.value(t, "credential", "create", "--type", "totp", "admin", "eight-bits", "-f", "value", "-c", "id")
	before := strings.Fields(c.sql(t, stored))
	options := []string{"apply", "-auto-approve", "-timeout=10m"}
	for address, secret := range map[string]string{"service.barbican": "barbican-kek", "service.keystone": "keystone-credential"} {
		c.kubectl(t, "annotate", "--overwrite", "secret", secret, "kolla.openstack.org/rotated=2020-01-01T00:00:00Z")
		options = append(options, "-rotate="+address+"/Secret/"+secret)
	}
	measured(t, "rotation of Barbican's and Keystone's keys", c.kolla(t, 0, options...).took.Round(time.Second))
	after := strings.Fields(c.sql(t, stored))
	if len(before) != 2 || len(after) != 2 || before[0] == after[0] || before[1] == after[1] {
		t.Errorf("the database had %q, and has %q", before, after)
	}
	u.kept.secretIsBack(t, c)
	if got := c.value(t, "credential", "show", id, "-f", "value", "-c", "blob"); got != "eight-bits" {
		t.Errorf("the credential came back as %q", got)
	}
	c.noChanges(t)
}

// tokensStay rotates Keystone's keys for tokens twice, and checks that a token of before works when the pods have the new
// keys. Memcached would remember that it is valid.
func tokensStay(t *testing.T, c *cloud) {
	for range 2 {
		token := c.value(t, "token", "issue", "-f", "value", "-c", "id")
		c.kubectl(t, "annotate", "--overwrite", "secret", "keystone-fernet", "kolla.openstack.org/rotated=2020-01-01T00:00:00Z")
		c.kolla(t, 0, "apply", "-auto-approve", "-timeout=10m", "-rotate=service.keystone/Secret/keystone-fernet")
		keys := c.kubectl(t, "get", "secret", "keystone-fernet", "-o", `go-template={{range $name, $key := .data}}{{$name}} {{end}}`)
		eventually(t, func() error {
			got := c.kubectl(t, "exec", "deployment/keystone-api", "-c", "api", "--", "ls", "/etc/keystone/fernet-keys")
			if !slices.Equal(strings.Fields(got), strings.Fields(keys)) {
				return fmt.Errorf("Keystone has the keys %q, want %q", got, keys)
			}
			return nil
		})
		c.kubectl(t, "delete", "pod", "-l", "app.kubernetes.io/component=memcached-server")
		c.kubectl(t, "rollout", "status", "statefulset/memcached-server")
		r := c.outside(t, nil, "curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "-H", "X-Auth-Token: "+token, "-H", "X-Subject-Token: "+token, c.keystone()+"/auth/tokens")
		if strings.TrimSpace(r.out) != "200" {
			t.Errorf("a token of before the rotation is answered with %s", r.out)
		}
	}
	c.noChanges(t)
}

// output returns the output of the stack that stays.
func (c *cloud) output(t *testing.T) string {
	t.Helper()
	return c.value(t, "stack", "output", "show", "kept", "word", "-f", "value", "-c", "output_value")
}

// schemas returns the revisions of the schema of each database that has some.
func (c *cloud) schemas(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range strings.Fields(c.sql(t, "SELECT table_schema FROM information_schema.tables WHERE table_name = 'alembic_version'")) {
		all[name] = strings.Join(strings.Fields(c.sql(t, "SELECT version_num FROM "+name+".alembic_version ORDER BY 1")), " ")
	}
	return all
}

// readers returns a client of each API, which reads from the database, and one of Horizon.
func (c *cloud) readers(t *testing.T) orders {
	t.Helper()
	as, project := c.administrator(t)
	o := orders{Pause: 2 * time.Second, Timeout: 30 * time.Second}
	paths := maps.Clone(uwsgi)
	paths["glance-api"], paths["neutron-api"] = "9292/v2/images", "9696/v2.0/networks"
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		ask := request{Method: http.MethodGet, URL: c.at(strings.ReplaceAll(paths[name], "PROJECT", project))}
		o.Clients = append(o.Clients, client{name, as, []request{ask}})
	}
	return o
}

// workaround lets Nova's new services start beside the old hypervisors. Nova supports hypervisors of
// the release before only.
const workaround = `
  config "%s" {
    values = { workarounds = { disable_compute_service_check_for_ffu = true } }
  }
`

// declare declares the next release. kolla refuses it without the option, and names the releases between
// and the data of RabbitMQ.
func (u *upgrade) declare(t *testing.T, c *cloud) {
	c.edit(t, `release  = "`+first+`"`, `release  = "`+next+`"`)
	c.edit(t, "service \"nova\" {\n", "service \"nova\" {\n"+fmt.Sprintf(workaround, "nova.conf"))
	c.edit(t, "service \"nova-compute\" {\n", "service \"nova-compute\" {\n"+fmt.Sprintf(workaround, "nova-compute.conf"))
	refused := c.kolla(t, 1, "plan")
	wantSaid(t, "plan", refused.out, "OpenStack cannot go from 2025.1 to 2026.2 in one step", "RabbitMQ 4.3 does not start with the data of 4.0", insisting, insistingOnData)
	plan := c.kolla(t, 0, "plan", insisting, insistingOnData)
	t.Log(plan.out)
	wantSaid(t, "plan", plan.out, "Upgrade of OpenStack 2025.1 → 2026.2", "First: checks of", "RabbitMQ 4.0 → 4.3")
}

// oldBarbican runs Barbican 2025.1 with the configuration of a later release. It lacks the module
// barbican.wsgi.api.
const oldBarbican = `
  config "barbican-api-uwsgi.ini" {
    values = { uwsgi = { module = null, wsgi-file = "/var/lib/kolla/venv/bin/barbican-wsgi-api" } }
  }
`

// declareSupported declares a release that kolla accepts without an option. Barbican and Glance keep their programs.
func (u *upgrade) declareSupported(t *testing.T, c *cloud) {
	c.edit(t, `release  = "`+first+`"`, `release  = "`+u.to+`"`)
	c.edit(t, "service \"glance\" {\n", "service \"glance\" {\n"+oldGlance)
	c.edit(t, "service \"barbican\" {\n", "service \"barbican\" {\n"+oldBarbican)
	plan := c.kolla(t, 0, "plan")
	t.Log(plan.out)
	wantSaid(t, "plan", plan.out, "Upgrade of OpenStack 2025.1 → 2026.1", "First: checks of")
}

// condition is what an upgrade changes first: the release that the cloud counts as, and the images of
// its workloads. Databases have their schemas beside.
func (c *cloud) condition(t *testing.T) string {
	t.Helper()
	return c.cluster.Kubectl(t, "get", "namespace", namespace, "-o", `jsonpath={.metadata.annotations.kolla\.openstack\.org/release}`) + "\n" +
		c.kubectl(t, "get", "deployments,statefulsets,daemonsets", "-o", `jsonpath={range .items[*]}{.kind}/{.metadata.name} {.spec.template.spec.containers[*].image}{"\n"}{end}`)
}

// stops puts a row into Placement's database as old releases wrote them, and checks that the check of the new
// release stops the apply before anything changes. Nova's check does not accept old hypervisors, whatever
// the workaround; it passes over those that are forced down. Their servers go on.
func (u *upgrade) stops(t *testing.T, c *cloud) {
	c.force(t, "--down")
	c.sql(t, "INSERT INTO placement.resource_providers (uuid, name, generation) VALUES (UUID(), 'old-style', 0)")
	before := c.condition(t)
	stopped := c.kolla(t, 1, "apply", "-auto-approve", insisting, "-until=checks", "-timeout=20m")
	t.Log(stopped.out)
	wantSaid(t, "apply", stopped.out, "placement-upgrade-check", "PodFailurePolicy", "exited with code 2: Failure: Missing Root Provider IDs")
	if after := c.condition(t); after != before {
		t.Errorf("a check failed, and the cloud was\n%s\nand is\n%s", before, after)
	}
	if after := c.schemas(t); !maps.Equal(after, u.schemas) {
		t.Errorf("a check failed, and the schemas were %v and are %v", u.schemas, after)
	}
	wantSaid(t, "check", c.kubectl(t, "logs", "-l", "app.kubernetes.io/component=placement-upgrade-check", "--tail=-1"), "Missing Root Provider IDs", "Failure")
}

// force forces the hypervisors down, or up again.
func (c *cloud) force(t *testing.T, way string) {
	t.Helper()
	for _, node := range []string{"real-2", "real-3"} {
		c.value(t, "--os-compute-api-version", "2.29", "compute", "service", "set", way, node, "nova-compute")
	}
}

// checksOldHypervisors mends the row with the program of the release that runs, takes the stage checks, and lets the
// hypervisors be up again.
func (u *upgrade) checksOldHypervisors(t *testing.T, c *cloud) {
	c.kubectl(t, "exec", "deployment/placement-api", "--", "placement-manage", "db", "online_data_migrations")
	u.checks(t, c)
	c.force(t, "--up")
}

// checks checks that the checks pass, and that they change nothing.
func (u *upgrade) checks(t *testing.T, c *cloud) {
	before := c.condition(t)
	u.stage(t, c, "checks", `upgrade-check-\w+: (created|replac|completed)`, u.apply("-until=checks")...)
	if after := c.condition(t); after != before {
		t.Errorf("the stage checks changed the cloud; it was\n%s\nand is\n%s", before, after)
	}
	u.silent = c.silentChecks(t)
}

// apply returns the arguments of an apply with the options of the upgrade and more.
func (u *upgrade) apply(more ...string) []string {
	return append(append([]string{"apply", "-auto-approve", "-timeout=20m"}, u.options...), more...)
}

// warning matches a check with a warning in the log of a job.
var warning = regexp.MustCompile(`\| Check: (.*?) *\|\n\| Result: Warning`)

// expectedWarnings are the warnings of the checks of each service.
var expectedWarnings = map[string][]string{}

// silentChecks returns the services whose check has passed without a result, and compares the warnings of the
// others. A program that breaks may end with the same code as one with warnings.
func (c *cloud) silentChecks(t *testing.T) []string {
	t.Helper()
	var silent []string
	for _, service := range []string{"barbican", "cinder", "heat", "keystone", "neutron", "nova", "placement"} {
		log := c.kubectl(t, "logs", "-l", "app.kubernetes.io/component="+service+"-upgrade-check", "--tail=-1")
		t.Logf("the check of %s:\n%s", service, log)
		if !strings.Contains(log, "Upgrade Check Results") {
			silent = append(silent, service)
		}
		var warnings []string
		for _, found := range warning.FindAllStringSubmatch(log, -1) {
			warnings = append(warnings, found[1])
		}
		if want := expectedWarnings[service]; !slices.Equal(warnings, want) {
			t.Errorf("the check of %s warns of %q, want %q", service, warnings, want)
		}
	}
	return silent
}

// allWereChecked is the last step, so that the others are taken in any case.
func (u *upgrade) allWereChecked(t *testing.T, _ *cloud) {
	if len(u.silent) > 0 {
		t.Errorf("the checks of %v have passed without a result", u.silent)
	}
}

// stage runs kolla twice. The first run is killed as soon as it has printed something that matches. The
// second one goes on.
func (u *upgrade) stage(t *testing.T, c *cloud, name, killedAt string, args ...string) {
	t.Helper()
	u.underLoad(t, c, "stage "+name, func() {
		c.killed(t, killedAt, args...)
		c.kolla(t, 0, args...)
	})
}

const stageData = "stage data"

// underLoad does something while clients send requests and guest-1 is pinged. It prints the seconds, and
// the failures of each API. Only in the stage data may requests fail, while the only MariaDB starts again.
func (u *upgrade) underLoad(t *testing.T, c *cloud, name string, do func()) {
	t.Helper()
	var took time.Duration
	all := c.clientsRun(t, func() {
		survive(t, []string{"guest-1"}, func() {
			c.whilePinging(t, "guest-1", name, flowsAreBack, func() {
				began := time.Now()
				do()
				took = time.Since(began)
			})
		})
	}, u.load)
	measured(t, name, took.Round(time.Second))
	for _, api := range slices.Sorted(maps.Keys(all)) {
		l := all[api]
		measured(t, name+": requests of "+api+", of them failed, and the longest time without an answer",
			fmt.Sprintf("%d, %d, %s", l.Requests, l.Failed, l.Gap.Round(time.Second)))
		report := t.Errorf
		if name == stageData {
			report = t.Logf
		}
		if l.Failed > 0 {
			report("%s: requests of %s failed: %s", name, api, strings.Join(l.Failures, "; "))
		}
	}
}

// enablesKhepri gives RabbitMQ the experimental feature without which 4.3 does not start with the data of 4.0. Jobs
// enable the stable ones.
func enablesKhepri(t *testing.T, c *cloud) {
	c.kubectl(t, "exec", "rabbitmq-server-0", "-c", "server", "--", "rabbitmqctl", "--quiet", "enable_feature_flag", "--opt-in", "khepri_db")
}

// data checks that the stage data changes databases and queues only.
func (u *upgrade) data(t *testing.T, c *cloud) {
	u.stage(t, c, "data", `/mariadb-server: updated`, u.apply(append(u.dataOptions, "-until=data")...)...)
	flags := c.kubectl(t, "exec", "rabbitmq-server-0", "-c", "server", "--", "rabbitmqctl", "--quiet", "list_feature_flags", "stability", "state", "name")
	for line := range strings.Lines(flags) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == "stable" && fields[1] != "enabled" {
			t.Errorf("after the stage data, RabbitMQ's feature flag %s is %s", fields[2], fields[1])
		}
	}
	c.runs(t, "data", map[string]string{"StatefulSet/mariadb-server": u.to, "StatefulSet/rabbitmq-server": u.to, "StatefulSet/memcached-server": u.to}, first)
	c.answerAll(t)
}

// runs checks the release of the images of each workload. Those that are not listed have the other
// release.
func (c *cloud) runs(t *testing.T, stage string, listed map[string]string, other string) {
	t.Helper()
	_, workloads, _ := strings.Cut(c.condition(t), "\n")
	for line := range strings.Lines(workloads) {
		name, images, _ := strings.Cut(strings.TrimSpace(line), " ")
		want := cmp.Or(listed[name], other)
		for _, image := range strings.Fields(images) {
			if !strings.Contains(image, ":"+want+"-") {
				t.Errorf("after the stage %s, %s has the image %s, want one of %s", stage, name, image, want)
			}
		}
	}
}

// onNodes are the workloads of the stage nodes.
var onNodes = map[string]string{
	"Deployment/ovn-northd":     first,
	"DaemonSet/openvswitch-ovs": first, "DaemonSet/ovn-controller-controller": first,
	"DaemonSet/neutron-ovn-metadata-agent": first, "DaemonSet/nova-compute-compute": first,
}

// fails goes on without the router that the new Glance needs. The apply names the service, the cause and
// the way on, and the old one goes on.
func (u *upgrade) fails(t *testing.T, c *cloud) {
	var r result
	u.underLoad(t, c, "stage control, with a service that does not start", func() {
		r = c.kolla(t, 1, "apply", "-auto-approve", insisting, "-until=control", "-timeout=4m")
	})
	t.Log(r.out)
	wantSaid(t, "apply", r.out, "with service.glance/Deployment/glance-api, declared at cloud.hcl:",
		"Error: Container api keeps crashing: it exited with code 1: The -s/--socket option is missing",
		"Services of this plan still with images of "+first+": cinder, heat, horizon.",
		"To go back, declare "+first+" again, with -force-release="+first,
		`Fix what failed and run "kolla apply `+insisting+` -until=control" again`)
	c.answerAll(t)
	c.routes(t)
}

func (u *upgrade) control(t *testing.T, c *cloud) {
	u.stage(t, c, "control", `/glance-api: updated`, u.apply("-until=control")...)
	c.runs(t, "control", onNodes, u.to)
	c.answerAll(t)
}

// nodes checks that the apply of the last stage leaves the pods of the data plane alone.
func (u *upgrade) nodes(t *testing.T, c *cloud) {
	services := []string{"openvswitch", "ovn-controller", "nova-compute"}
	before := map[string]string{}
	for _, service := range services {
		before[service] = c.podsOf(t, service)
	}
	u.stage(t, c, "nodes", `/openvswitch-ovs: updated`, u.apply()...)
	c.runs(t, "nodes", nil, u.to)
	for _, service := range services {
		if after := c.podsOf(t, service); after != before[service] {
			t.Errorf("the pods of %s were %s, and are %s before the rollout", service, before[service], after)
		}
	}
}

// rollout replaces the pods of the nodes, and waits until both hypervisors are up.
func (u *upgrade) rollout(t *testing.T, c *cloud) {
	u.stage(t, c, "rollout", `node real-[23]: ready`, "rollout", "-auto-approve", "-timeout=20m")
	eventually(t, func() error {
		var found struct{ Up []string }
		c.servers(t, &found, "hypervisors")
		if len(found.Up) != 2 {
			return fmt.Errorf("the hypervisors %v are up, want two", found.Up)
		}
		return nil
	})
}

// last checks that the last apply starts the pods again that talked to old hypervisors, and that nothing is
// left to do.
func (u *upgrade) last(t *testing.T, c *cloud) {
	wantSaid(t, "plan", c.kolla(t, 2, "plan", "-detailed-exitcode").out, "pod restarts", `"`+first+`" → "`+u.to+`"`)
	u.stage(t, c, "last apply", `/nova-conductor: updated`, "apply", "-auto-approve", "-timeout=20m")
	c.noChanges(t)
	c.answerAll(t)
}

// takesWorkaroundAway checks that nothing is left to do without the workaround, too.
func (u *upgrade) takesWorkaroundAway(t *testing.T, c *cloud) {
	for _, file := range []string{"nova.conf", "nova-compute.conf"} {
		c.edit(t, fmt.Sprintf(workaround, file), "\n")
	}
	c.kolla(t, 0, "apply", "-auto-approve", "-timeout=20m")
	c.kolla(t, 0, "rollout", "-auto-approve", "-timeout=20m")
	c.kolla(t, 0, "apply", "-auto-approve", "-timeout=20m")
	c.noChanges(t)
	c.answerAll(t)
}

// stackIsKept checks that the stack has its output, and that the new engine deletes it.
func (u *upgrade) stackIsKept(t *testing.T, c *cloud) {
	if word := c.output(t); word != u.word {
		t.Errorf("the output of the stack was %s, and is %s", u.word, word)
	}
	c.awaitStatus(t, "CREATE_COMPLETE", "stack", "show", "kept", "-f", "value", "-c", "stack_status")
	c.value(t, "stack", "delete", "--yes", "--wait", "kept")
}

// oldStyleIsKept checks that Placement uses the row that was mended.
func oldStyleIsKept(t *testing.T, c *cloud) {
	id := c.value(t, "resource", "provider", "list", "--name", "old-style", "-f", "value", "-c", "uuid")
	c.value(t, "resource", "provider", "delete", id)
}

// serverIsUsed checks that the server answers, stops and starts, and that another one boots.
func serverIsUsed(t *testing.T, c *cloud) {
	c.answers(t, "guest-1")
	c.servers(t, nil, "act", "guest-1", "stop")
	c.servers(t, nil, "act", "guest-1", "start")
	c.answers(t, "guest-1")
	guest := &server{}
	c.servers(t, guest, "boot", "guest-2", "real-3", userData)
	guests["guest-2"] = guest
	c.answers(t, "guest-2")
}

// databasesAreNew checks which schemas have changed: those with migrations between the two releases.
func (u *upgrade) databasesAreNew(t *testing.T, c *cloud) {
	after := c.schemas(t)
	measured(t, "schemas of the databases after", after)
	var changed []string
	for _, name := range slices.Sorted(maps.Keys(u.schemas)) {
		if after[name] != u.schemas[name] {
			changed = append(changed, name)
		}
	}
	if !slices.Equal(changed, u.migrated) {
		t.Errorf("the schemas of %v have changed, want those of %v", changed, u.migrated)
	}
}
