package realcloud_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestOperator runs the operator in pods, with nothing but its Role and the rights of its service account. It
// takes the example with servers from nothing to tokens through the VIP, while its processes are killed.
func TestOperator(t *testing.T) {
	c := newCloud(t, "compute-kit", 4, imagesWithKolla(t))
	c.edit(t, "cloud \"compute-kit\" {\n", "cloud \"compute-kit\" {\n  backend \"kubernetes\" {}\n")
	c.write(t, variablesFile, strings.Replace(values(`nas = { type = "nfs", share = "nas.test:/volumes", storage_class = "standard" }`), `["real-1", "real-2", "real-3"]`, `["real-1", "real-4"]`, 1))
	o := &operatorTest{c}
	take(t, c, []step{
		{"installed", o.installs},
		{"applied, and killed again and again", o.goesOn},
	})
	c.haproxy(t)
	take(t, c, []step{
		{"token", o.answers},
		{"by hand", o.refusesPeople},
		{"drift", o.putsBack},
		{"change held", o.holdsChange},
		{"leader cut off", o.otherGoesOn},
		{"deleted", o.destroys},
	})
}

const (
	operatorNamespace = "kolla-operator"
	variablesFile     = "real.auto.vars.hcl"
)

// operatorTest is a cloud that an operator keeps.
type operatorTest struct{ *cloud }

// kubectl runs kubectl in the operator's namespace.
func (o *operatorTest) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	return o.cluster.Kubectl(t, append([]string{"-n", operatorNamespace}, args...)...)
}

// installs applies what kolla prints, and waits for the first plan, which writes nothing.
func (o *operatorTest) installs(t *testing.T, c *cloud) {
	c.write(t, "install.yaml", c.kolla(t, 0, "operator", "manifests", "-image="+kollaImage, "-serviceaccount=kolla").out)
	o.kubectl(t, "cordon", "real-1")                                                           // its failure would be that of all control services
	o.cluster.Kubectl(t, "apply", "--server-side", "-f", filepath.Join(c.dir, "install.yaml")) // of several namespaces
	o.whole.Cleanup(func() {
		if o.whole.Failed() {
			o.whole.Logf("the Cloud:\n%s\nits operators:\n%s", o.kubectl(o.whole, "get", "clouds,cloudplans", "-o", "yaml"), o.kubectl(o.whole, "logs", "-l", "app.kubernetes.io/name=kolla-operator", "--prefix", "--tail=100"))
		}
	})
	o.kubectl(t, "rollout", "status", "deployment/kolla-operator", "--timeout=5m")
	o.kubectl(t, "uncordon", "real-1", "real-4")
	o.publish(t)
	c.write(t, "prod.yaml", `apiVersion: kolla.openstack.org/v1alpha1
kind: Cloud
metadata:
  name: prod
  namespace: kolla-operator
spec:
  source:
    configMaps: [{name: prod}]
  serviceAccountName: kolla
  adopt: [cloud.compute-kit/Namespace/openstack]
  timeout: 20m
  retryInterval: 5s
`)
	began := time.Now()
	o.kubectl(t, "apply", "-f", filepath.Join(c.dir, "prod.yaml"))
	o.until(t, "PlanAwaitsApproval")
	measured(t, "operator in a pod: from a new Cloud to its plan", time.Since(began).Round(100*time.Millisecond))
	if made := c.kubectl(t, "get", "configmaps,deployments,statefulsets", "-l", "kolla.openstack.org/cloud", "-o", "name"); made != "" {
		t.Errorf("a plan that waits has made objects:\n%s", made)
	}
}

// publish gives the source the present configuration.
func (o *operatorTest) publish(t *testing.T) {
	t.Helper()
	text := o.kubectl(t, "create", "configmap", "prod", "--from-file="+filepath.Join(o.dir, "cloud.hcl"), "--from-file="+filepath.Join(o.dir, variablesFile), "--dry-run=client", "-o", "yaml")
	o.write(t, "source.yaml", text)
	o.kubectl(t, "apply", "--server-side", "-f", filepath.Join(o.dir, "source.yaml"))
}

// reason returns why the Cloud is Ready or not, as seen for its present specification.
func (o *operatorTest) reason(t *testing.T) string {
	t.Helper()
	return o.kubectl(t, "get", "cloud", "prod", "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].reason}`)
}

// until waits until the Cloud has one of the reasons.
func (o *operatorTest) until(t *testing.T, reasons ...string) {
	t.Helper()
	eventually(t, func() error {
		if got := o.reason(t); !slices.Contains(reasons, got) {
			return fmt.Errorf("the Cloud is %s, want %s: %s", got, reasons, o.kubectl(t, "get", "cloud", "prod", "-o", "yaml"))
		}
		return nil
	})
}

// newest returns the name and the phase of the newest plan.
func (o *operatorTest) newest(t *testing.T) (name, phase string) {
	t.Helper()
	name = o.kubectl(t, "get", "cloud", "prod", "-o", "jsonpath=prod-{.status.plans}")
	return name, o.kubectl(t, "get", "cloudplan", name, "-o", "jsonpath={.status.phase}")
}

// leader waits for a leader other than the given one, and returns its pod.
func (o *operatorTest) leader(t *testing.T, but string) (pod string) {
	t.Helper()
	eventually(t, func() error {
		holder := o.kubectl(t, "get", "lease", "kolla-operator", "-o", "jsonpath={.spec.holderIdentity}")
		if pod, _, _ = strings.Cut(holder, "_"); pod == "" || pod == but {
			return fmt.Errorf("the leader is %q", pod)
		}
		return nil
	})
	return pod
}

// kill ends the process of an operator at once, and its pod.
func (o *operatorTest) kill(t *testing.T, pod string) {
	t.Helper()
	folders, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		line, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
		variables, _ := os.ReadFile(filepath.Join(folder, "environ"))
		if !bytes.Contains(line, []byte("\x00-lease-namespace=")) || !bytes.Contains(append([]byte{0}, variables...), []byte("\x00HOSTNAME="+pod+"\x00")) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(folder))
		if err == nil {
			err = syscall.Kill(pid, syscall.SIGKILL)
		}
		if err != nil {
			t.Fatal(err)
		}
		o.kubectl(t, "delete", "pod", pod, "--force", "--grace-period=0", "--ignore-not-found")
		return
	}
	t.Fatalf("%s has no process", pod)
}

// goesOn approves the first plan, and kills the leader at five random instants of the apply, or with
// KOLLA_TEST_LONG=1 at twenty. The next one goes on with the approved plan.
func (o *operatorTest) goesOn(t *testing.T, c *cloud) {
	began := time.Now()
	c.kolla(t, 0, "operator", "approve", "-auto-approve", "prod")
	most := 5
	if os.Getenv("KOLLA_TEST_LONG") != "" {
		most = 20
	}
	kills, last, killed := 0, "", ""
	for kills < most {
		reason := o.reason(t)
		if reason == "AsDeclared" {
			break
		}
		name, phase := o.newest(t)
		if reason == "ApprovedPlanIsNotTheNewest" {
			t.Fatalf("after %d kills the operator asks again about %s", kills, name)
		}
		if phase != "Applying" || name == last {
			time.Sleep(500 * time.Millisecond)
			continue
		}
		time.Sleep(time.Duration(rand.IntN(15000)) * time.Millisecond)
		last, killed = name, o.leader(t, killed)
		o.kill(t, killed)
		kills++
	}
	if kills < 3 {
		t.Errorf("the operator was only killed %d times", kills)
	}
	o.until(t, "AsDeclared")
	measured(t, fmt.Sprintf("apply of compute-kit by the operator, killed %d times", kills), time.Since(began).Round(time.Second))
	o.kubectl(t, "wait", "--for=condition=Ready", "cloud/prod", "--timeout=1m")
	o.kubectl(t, "wait", "--for=condition=Ready", "cloudservices", "--all", "--timeout=1m")
	o.whole.Log(o.kubectl(t, "get", "cloudplans") + o.kubectl(t, "get", "cloudservices"))
	c.noChanges(t)
	o.nothingDoubled(t)
}

// nothingDoubled checks that the state has exactly the objects that the cluster has, and that each job ran once.
func (o *operatorTest) nothingDoubled(t *testing.T) {
	t.Helper()
	kinds := []string{"ConfigMap", "Secret", "Service", "Deployment", "StatefulSet", "DaemonSet", "Job", "NetworkPolicy", "PodDisruptionBudget", "ServiceAccount"}
	known := map[string]bool{}
	for address := range strings.Lines(o.cloud.kolla(t, 0, "state", "list").out) {
		if parts := strings.Split(strings.TrimSpace(address), "/"); len(parts) == 3 && slices.Contains(kinds, parts[1]) {
			known[parts[1]+"/"+parts[2]] = true
		}
	}
	live := map[string]bool{}
	for name := range strings.Lines(o.cloud.kubectl(t, "get", strings.ToLower(strings.Join(kinds, ",")), "-l", "kolla.openstack.org/cloud=compute-kit", "-o", `jsonpath={range .items[*]}{.kind}/{.metadata.name}{"\n"}{end}`)) {
		live[strings.TrimSpace(name)] = true
	}
	for name := range live {
		if !known[name] {
			t.Errorf("the state does not know %s", name)
		}
	}
	for name := range known {
		if !live[name] {
			t.Errorf("the state has %s, and the cluster does not", name)
		}
	}
	if len(live) < 100 {
		t.Errorf("only %d objects were compared", len(live))
	}
	for line := range strings.Lines(o.cloud.kubectl(t, "get", "jobs", "-o", `jsonpath={range .items[*]}{.metadata.name} {.spec.completions} {.status.succeeded}{"\n"}{end}`)) {
		// Jobs of an upgrade run nothing for a new service.
		if name, runs, _ := strings.Cut(strings.TrimSpace(line), " "); runs != "1 1" && runs != "0" {
			t.Errorf("the job %s ran, of the wanted times and successfully: %s", name, runs)
		}
	}
}

// answers gets a token through the VIP.
func (o *operatorTest) answers(t *testing.T, c *cloud) {
	measured(t, "first token through the VIP after the apply of the operator", c.eventualToken(t).Round(100*time.Millisecond))
}

// refusesPeople checks that the command line leaves the cloud to the operator.
func (o *operatorTest) refusesPeople(t *testing.T, c *cloud) {
	wantSaid(t, "apply", c.kolla(t, 1, "apply", "-auto-approve").out, "The operator manages this cloud", "-take-over")
}

// putsBack changes objects, and checks that the operator puts them back by itself.
func (o *operatorTest) putsBack(t *testing.T, c *cloud) {
	o.kubectl(t, "patch", "cloud", "prod", "--type=merge", "-p", `{"spec":{"approval":"drift"}}`)
	began := time.Now()
	c.kubectl(t, "label", "service", "memcached", "app.kubernetes.io/name=oops", "--overwrite")
	c.kubectl(t, "delete", "deployment", "placement-api")
	eventually(t, func() error {
		if got := c.kubectl(t, "get", "service", "memcached", "-o", `jsonpath={.metadata.labels.app\.kubernetes\.io/name}`); got != "memcached" {
			return fmt.Errorf("the label is %q", got)
		}
		if c.kubectl(t, "get", "deployment", "placement-api", "--ignore-not-found") == "" {
			return errors.New("the Deployment is gone")
		}
		return nil
	})
	measured(t, "operator in a pod: from drift until it is put back", time.Since(began).Round(100*time.Millisecond))
	o.until(t, "AsDeclared")
	c.noChanges(t)
}

// expires sets an option of Keystone in the source.
func (o *operatorTest) expires(t *testing.T, before, after string) {
	t.Helper()
	option := func(value string) string {
		if value == "" {
			return "service \"keystone\" {\n"
		}
		return "service \"keystone\" {\n  config \"keystone.conf\" {\n    values = { token = { expiration = " + value + " } }\n  }\n"
	}
	o.edit(t, option(before), option(after))
	o.publish(t)
}

// expiration returns the line of the option in a pod.
func (o *operatorTest) expiration(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(o.cloud.kubectl(t, "exec", "deployment/keystone-api", "--", "grep", "^expiration", "/etc/keystone/keystone.conf"))
}

// approves waits for the plan of a change, approves it, and returns when that was.
func (o *operatorTest) approves(t *testing.T) time.Time {
	t.Helper()
	o.until(t, "PlanAwaitsApproval", "ApprovedPlanIsNotTheNewest")
	o.cloud.kolla(t, 0, "operator", "approve", "-auto-approve", "prod")
	return time.Now()
}

// holdsChange checks that a change of the source waits for a person.
func (o *operatorTest) holdsChange(t *testing.T, c *cloud) {
	before := o.expiration(t)
	began := time.Now()
	o.expires(t, "", "1234")
	o.until(t, "PlanAwaitsApproval", "ApprovedPlanIsNotTheNewest")
	measured(t, "operator in a pod: from a change of the source to its plan", time.Since(began).Round(100*time.Millisecond))
	wantSaid(t, "plan", c.kolla(t, 0, "operator", "plan", "prod").out, "service.keystone/Deployment/keystone-api", "1234")
	if got := o.expiration(t); got != before {
		t.Errorf("before the approval the pod has %q", got)
	}
	began = o.approves(t)
	o.until(t, "AsDeclared")
	measured(t, "operator in a pod: apply of the change", time.Since(began).Round(time.Second))
	if got := o.expiration(t); got != "expiration = 1234" {
		t.Errorf("after the approval the pod has %q", got)
	}
	c.eventualToken(t)
}

// otherGoesOn takes the node of the leader from the network during an apply. The other operator completes it, and the
// former leader writes nothing more when its network is back.
func (o *operatorTest) otherGoesOn(t *testing.T, c *cloud) {
	o.kubectl(t, "cordon", "real-1", "real-4")
	o.kubectl(t, "rollout", "restart", "deployment/kolla-operator")
	o.kubectl(t, "rollout", "status", "deployment/kolla-operator", "--timeout=5m")
	o.kubectl(t, "uncordon", "real-1", "real-4")
	o.expires(t, "1234", "2345")
	o.approves(t)
	eventually(t, func() error {
		if name, phase := o.newest(t); phase != "Applying" {
			return fmt.Errorf("%s is %s", name, phase)
		}
		return nil
	})
	leader := o.leader(t, "")
	node := o.kubectl(t, "get", "pod", leader, "-o", "jsonpath={.spec.nodeName}")
	heal := c.cutOff(t, node)
	cut := time.Now()
	next := o.leader(t, leader)
	measured(t, "leader cut off: until another one leads", time.Since(cut).Round(time.Second))
	eventually(t, func() error {
		if name, phase := o.newest(t); phase != "Applied" {
			return fmt.Errorf("%s is %s", name, phase)
		}
		return nil
	})
	measured(t, "leader cut off: until the other one has applied the plan", time.Since(cut).Round(time.Second))
	heal()
	o.until(t, "AsDeclared")
	o.kubectl(t, "wait", "--for=condition=Ready", "pods", "-l", "app.kubernetes.io/name=kolla-operator", "--timeout=5m")
	if now := o.leader(t, ""); now != next {
		t.Errorf("%s leads, and %s did while the other one was cut off", now, next)
	}
	if got := o.expiration(t); got != "expiration = 2345" {
		t.Errorf("the pod has %q", got)
	}
	c.noChanges(t)
	o.nothingDoubled(t)
	c.eventualToken(t)
}

// destroys deletes the Cloud. The destroy waits for a person, and data stays.
func (o *operatorTest) destroys(t *testing.T, c *cloud) {
	o.kubectl(t, "delete", "cloud", "prod", "--wait=false")
	began := o.approves(t)
	o.kubectl(t, "wait", "--for=delete", "cloud/prod", "--timeout=10m")
	measured(t, "operator in a pod: destroy", time.Since(began).Round(time.Second))
	if left := c.kubectl(t, "get", "deployments,daemonsets,jobs", "-l", "kolla.openstack.org/cloud", "-o", "name"); left != "" {
		t.Errorf("left:\n%s", left)
	}
	if claims := c.kubectl(t, "get", "persistentvolumeclaims", "-o", "name"); !strings.Contains(claims, "mariadb") {
		t.Errorf("the data is gone: the claims are %q", claims)
	}
}
