package live_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
)

// create creates an object in the cluster until the end of the test.
func create(t *testing.T, kind, text string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "object.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	name := parse(t, text).GetName()
	t.Cleanup(func() { clustertest.Kubectl(t, "delete", kind, name, "--ignore-not-found") })
	clustertest.Kubectl(t, "apply", "-f", file)
}

// between puts a proxy between the bench's client and the server. The proxy answers the requests
// for which answer returns true.
func (b *bench) between(answer func(w http.ResponseWriter, r *http.Request) bool) {
	b.t.Helper()
	config := clustertest.Config(b.t)
	transport, err := rest.TransportFor(config)
	if err != nil {
		b.t.Fatal(err)
	}
	target, err := url.Parse(config.Host)
	if err != nil {
		b.t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !answer(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	b.t.Cleanup(server.Close)
	b.connect(fmt.Sprintf(`
apiVersion: v1
kind: Config
current-context: proxy
contexts: [{name: proxy, context: {cluster: proxy, user: nobody}}]
clusters: [{name: proxy, cluster: {server: %s}}]
users: [{name: nobody, user: {}}]
`, server.URL))
}

// connect connects the bench's client with another kubeconfig.
func (b *bench) connect(kubeconfig string) {
	b.t.Helper()
	file := filepath.Join(b.t.(*testing.T).TempDir(), "kubeconfig")
	if err := os.WriteFile(file, []byte(kubeconfig), 0o600); err != nil {
		b.t.Fatal(err)
	}
	client, err := kubernetes.Connect(kubernetes.Options{Kubeconfig: file})
	if err != nil {
		b.t.Fatal(err)
	}
	b.client = client
}

// status answers with an API server's error.
func status(w http.ResponseWriter, code int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = fmt.Fprintf(w, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": %d, "reason": %q, "message": %q}`, code, reason, message)
}

const atOther = "service.keystone/ServiceAccount/other"

// declareOther declares an object without problems.
func (b *bench) declareOther() {
	b.declare(atOther, "{apiVersion: v1, kind: ServiceAccount, metadata: {name: other, namespace: "+b.namespace+"}}")
}

// unverified fails the test unless the plan has this action for the address, not verified for these
// reasons, and plans the object without problems as usual.
func (b *bench) unverified(plan *plans.Plan, at string, verb plans.Verb, reasons ...string) {
	b.t.Helper()
	a := b.action(plan, at)
	if a.Verb != verb || a.Evidence.Kind != plans.Unverified {
		b.t.Errorf("decided %s, %+v; want %s", a.Verb, a.Evidence, verb)
	}
	for _, reason := range reasons {
		if !strings.Contains(a.Evidence.Detail, reason) {
			b.t.Errorf("the reason is %q, lacks %q", a.Evidence.Detail, reason)
		}
	}
	if a := b.action(plan, atOther); a.Verb != plans.Create || a.Evidence.Kind != plans.DryRun {
		b.t.Errorf("%s: %s, %+v", atOther, a.Verb, a.Evidence)
	}
}

// gate is a webhook without a server.
const gate = `
apiVersion: admissionregistration.k8s.io/v1
kind: %sWebhookConfiguration
metadata: {name: %[2]s}
webhooks:
- name: gate.example.org
  clientConfig: {url: "https://127.0.0.1:1/"}
  sideEffects: None
  failurePolicy: Fail
  timeoutSeconds: 2
  admissionReviewVersions: [v1]
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: %[2]s}}
  rules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}]
`

// TestWebhookThatIsDown checks that a plan goes on when a webhook does not answer. The plan may
// repair the webhook.
func TestWebhookThatIsDown(t *testing.T) {
	for _, kind := range []string{"Mutating", "Validating"} {
		t.Run(kind, func(t *testing.T) {
			b := newBench(t, clustertest.Namespace(t))
			b.declare(atConf, conf(b, "a"))
			b.apply(b.plan())
			b.declareOther()
			b.declare(atConf, conf(b, "b"))
			b.declare("service.keystone/ConfigMap/new", strings.Replace(conf(b, "b"), "name: keystone.conf", "name: new", 1))
			create(t, kind+"WebhookConfiguration", fmt.Sprintf(gate, kind, b.namespace))
			const reason = `the webhook "gate.example.org", without which the object is not let in, does not answer: `
			clustertest.Eventually(t, "the webhook is called", func() bool {
				return b.action(b.plan(), atConf).Evidence.Kind == plans.Unverified
			})
			plan := b.plan()
			b.unverified(plan, atConf, plans.Update, reason, "connection refused")
			b.unverified(plan, "service.keystone/ConfigMap/new", plans.Create, reason)
			if a := b.action(plan, atConf); len(a.Changes) != 1 || a.Changes[0].After != "b" {
				t.Errorf("changes are %+v", a.Changes)
			}
		})
	}
}

// TestWebhookWithSideEffects checks a webhook that declares side effects. New servers accept no
// such webhook, so the test gives the answer itself.
func TestWebhookWithSideEffects(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	b.between(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodPatch || !strings.Contains(r.URL.Path, "/configmaps/") || r.URL.Query().Get("dryRun") == "" {
			return false
		}
		status(w, http.StatusBadRequest, "BadRequest", `admission webhook "effects.example.org" does not support dry run`)
		return true
	})
	b.declareOther()
	b.declare(atConf, conf(b, "a"))
	b.unverified(b.plan(), atConf, plans.Create, `the webhook "effects.example.org" has side effects, and so is not called in a dry run`)
}

const ruleObject = "{apiVersion: down.example.org/v1, kind: Rule, metadata: {name: r, namespace: %s}, spec: {a: 1}}"

// TestGroupThatIsDown checks that a plan treats the kinds of an API group whose server is down as
// unavailable, not as missing.
func TestGroupThatIsDown(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	create(t, "apiservice", fmt.Sprintf(`
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.down.example.org}
spec:
  group: down.example.org
  version: v1
  groupPriorityMinimum: 100
  versionPriority: 100
  insecureSkipTLSVerify: true
  service: {name: nobody, namespace: %s}
`, b.namespace))
	const at = "manifest.r/Rule/r"
	b.declareOther()
	b.declare(at, fmt.Sprintf(ruleObject, b.namespace))
	clustertest.Eventually(t, "the server knows the group", func() bool {
		_, err := b.client.List(t.Context(), b.objects[1].Ref().GVK, b.namespace)
		return err != nil && strings.Contains(err.Error(), "does not answer")
	})
	plan := b.plan()
	b.unverified(plan, at, plans.Create, "objects of kind Rule in down.example.org/v1 cannot be read", "the server behind down.example.org/v1 does not answer")
	if changes := lines(b.action(plan, at).Changes); !strings.Contains(changes, "spec.a: <nil> -> 1") {
		t.Errorf("changes are %s", changes)
	}
	b.leavesAlone(at)
}

// leavesAlone fails the test unless a plan leaves an applied object alone that it cannot read now:
// it makes only requested changes.
func (b *bench) leavesAlone(at string) {
	b.t.Helper()
	object := b.objects[slices.IndexFunc(b.objects, func(o providers.Object) bool { return o.Address == address(at) })]
	live := object.Manifest.DeepCopy()
	live.SetUID("uid-1")
	record := recordOf(&object, live, &proof.Rules{})
	b.state.Objects = append(b.state.Objects, record)
	b.state.Cluster.UID = b.cluster.UID
	b.unverified(b.plan(), at, plans.None)

	b.state.Objects[0].DesiredDigest = "another"
	plan := b.plan()
	b.unverified(plan, at, plans.Update)
	if a := b.action(plan, at); a.Prior.UID != "uid-1" || a.Reasons[0].Kind != plans.ReasonConfig {
		b.t.Errorf("it is bound to %+v, because of %+v", a.Prior, a.Reasons)
	}

	b.objects = slices.DeleteFunc(b.objects, func(o providers.Object) bool { return o.Address == address(at) })
	for _, change := range []func(*planner.Input){
		func(*planner.Input) {},
		func(in *planner.Input) { in.Destroy = true },
		func(in *planner.Input) { in.RefreshOnly = true },
	} {
		in := b.input()
		change(&in)
		plan, problems, err := planner.Make(b.t.Context(), in)
		if err != nil {
			b.t.Fatal(err)
		}
		for _, a := range plan.Actions {
			if a.Address == address(at) {
				b.t.Errorf("a plan would %s it because of %+v", a.Verb, a.Reasons)
			}
		}
		if !in.RefreshOnly && (len(problems) != 1 || !problems[0].Warning || !strings.Contains(problems[0].Summary, "kolla cannot tell whether it exists")) {
			b.t.Errorf("problems are %+v", problems)
		}
	}
}

// TestListIsForbidden checks that a plan goes on without a LIST that the user may not make, and
// says which permission is missing.
func TestListIsForbidden(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	clustertest.Kubectl(t, "create", "clusterrole", b.namespace, "--verb=get,list", "--resource=namespaces,serviceaccounts")
	clustertest.Kubectl(t, "create", "clusterrolebinding", b.namespace, "--clusterrole="+b.namespace, "--user=jane")
	t.Cleanup(func() { clustertest.Kubectl(t, "delete", "clusterrole,clusterrolebinding", b.namespace) })
	clustertest.Kubectl(t, "-n", b.namespace, "create", "role", "writer", "--verb=patch,create", "--resource=serviceaccounts,leases.coordination.k8s.io")
	clustertest.Kubectl(t, "-n", b.namespace, "create", "rolebinding", "writer", "--role=writer", "--user=jane")
	b.as("jane")
	const at = "manifest.l/Lease/l"
	b.declareOther()
	b.declare(at, "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: l, namespace: "+b.namespace+"}}")
	plan, problems, err := planner.Make(t.Context(), b.input())
	if err != nil {
		t.Fatal(err)
	}
	b.unverified(plan, at, plans.Create, `user "jane" is not allowed to list leases.coordination.k8s.io in namespace `+b.namespace)
	if len(problems) > 0 {
		t.Errorf("problems are %+v", problems)
	}
	b.advised(plan, at, "kubectl auth can-i list leases.coordination.k8s.io")

	// There is no plan without access to namespaces.
	clustertest.Kubectl(t, "delete", "clusterrolebinding", b.namespace)
	clustertest.Eventually(t, "jane may not list namespaces", func() bool {
		_, _, err := planner.Make(t.Context(), b.input())
		return err != nil && strings.Contains(err.Error(), `user "jane" is not allowed to list namespaces in the whole cluster`)
	})
	clustertest.Kubectl(t, "create", "clusterrolebinding", b.namespace, "--clusterrole="+b.namespace, "--user=jane")
}

// as lets the bench impersonate another user.
func (b *bench) as(user string) {
	b.t.Helper()
	text := clustertest.Kubectl(b.t, "config", "view", "--raw", "--flatten")
	b.connect(strings.Replace(text, "  user:\n", "  user:\n    as: "+user+"\n", 1))
}

// TestListFails checks that a plan goes on when the LIST of one kind fails, for example because its
// API server or its conversion webhook is overloaded.
func TestListFails(t *testing.T) {
	t.Parallel() // the client retries for seconds
	b := newBench(t, clustertest.Namespace(t))
	b.between(func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method != http.MethodGet || !strings.HasSuffix(r.URL.Path, "/leases") {
			return false
		}
		http.Error(w, "error trying to reach service: dial tcp 10.0.0.9:443: i/o timeout", http.StatusServiceUnavailable)
		return true
	})
	const at = "manifest.l/Lease/l"
	b.declareOther()
	b.declare(at, "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: l, namespace: "+b.namespace+"}}")
	b.unverified(b.plan(), at, plans.Create, "objects of kind Lease in coordination.k8s.io/v1 cannot be read in namespace "+b.namespace, "the server is currently unable to handle the request")
}

// TestKindThatDoesNotExist checks objects of a missing kind. Another object in the plan may bring
// the kind. Until then, kolla knows nothing about its objects, and tells the operator.
func TestKindThatDoesNotExist(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	const at = "manifest.r/Rule/r"
	b.declareOther()
	rule := fmt.Sprintf(ruleObject, b.namespace)
	b.declare(at, rule)
	_, problems := b.problems()
	holds(t, problems, "warning=false the cluster has no kind Rule in down.example.org/v1 (cloud.hcl:7)", "Nothing in this configuration defines it either")

	// An operator may bring it.
	b.declare(at, rule, atOther)
	plan, problems := b.problems()
	b.unverified(plan, at, plans.Create, "the cluster has no kind Rule in down.example.org/v1")
	if len(problems) > 0 {
		t.Errorf("problems are %q", problems)
	}
	b.advised(plan, at, "if something that it depends on brings its kind")
}

// advised fails the test unless the evidence about an object has this advice.
func (b *bench) advised(plan *plans.Plan, at, want string) {
	b.t.Helper()
	for _, a := range plan.Actions {
		if a.Address == address(at) && !strings.Contains(a.Evidence.Advice, want) {
			b.t.Errorf("the advice about %s is %q", at, a.Evidence.Advice)
		}
	}
}
