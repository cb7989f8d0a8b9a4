package live_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/internal/run/executor"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// deadly carries out each write, and reports it as failed.
type deadly struct{ providers.Writer }

func (d deadly) Apply(ctx context.Context, object *unstructured.Unstructured, options providers.ApplyOptions) (*unstructured.Unstructured, error) {
	if _, err := d.Writer.Apply(ctx, object, options); err != nil {
		return nil, err
	}
	return nil, errors.New("killed")
}

const atSecret = "service.keystone/Secret/admin"

// secret declares a Secret with a generated value.
func (b *bench) secret() {
	o := b.declare(atSecret, "{apiVersion: v1, kind: Secret, metadata: {name: admin, namespace: "+b.namespace+"}}")
	o.Data = map[string]providers.SecretData{"value": {Generate: &providers.Generator{Kind: "password", Length: 20}}}
}

// carryOut applies the plan of the bench through writer, and saves the state.
func (b *bench) carryOut(store *state.Store, writer providers.Writer, want executor.Status) {
	b.t.Helper()
	session, err := store.Lock(b.t.Context(), state.LockInfo{Operation: "test"}, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	b.state = *session.State()
	result, err := executor.Apply(b.t.Context(), b.plan(), executor.Options{Reader: b.client, Writer: writer, Session: session})
	if err != nil {
		b.t.Fatal(err)
	}
	for _, o := range result.Outcomes {
		if o.Status != want {
			b.t.Errorf("%s ended with %d (%v), want %d", o.Action.Address, o.Status, o.Err, want)
		}
	}
	if err := session.Close(); err != nil {
		b.t.Fatal(err)
	}
	read, err := store.Read()
	if err != nil {
		b.t.Fatal(err)
	}
	b.state = *read
}

// TestKilledBeforeTheResult checks that the next plan recognizes objects that a killed apply
// created, by the token in its journal.
func TestKilledBeforeTheResult(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	b.declare(atConf, conf(b, "x"))
	b.secret()
	store := state.Open(filepath.Join(t.TempDir(), state.DefaultFile))
	b.carryOut(store, deadly{b.client.Writer()}, executor.Failed)
	for _, o := range b.state.Objects {
		if o.UID != "" || o.Token == "" {
			t.Errorf("the state has %+v, want a token and no UID", o)
		}
	}
	value := clustertest.Kubectl(t, "get", "-n", b.namespace, "secret/admin", "-o", "jsonpath={.data.value}")

	for _, a := range b.plan().Actions {
		if a.Verb != plans.None || !a.Pending {
			t.Errorf("%s: %s, pending %v", a.Address, a.Verb, a.Pending)
		}
	}
	b.carryOut(store, b.client.Writer(), executor.Applied)
	for _, o := range b.state.Objects {
		if o.UID == "" || o.Token != "" {
			t.Errorf("the state has %+v, want a UID and no token", o)
		}
	}
	if now := clustertest.Kubectl(t, "get", "-n", b.namespace, "secret/admin", "-o", "jsonpath={.data.value}"); now != value {
		t.Errorf("the value changed")
	}
	b.settled()

	// The token stays on the object after later changes, and is not a change itself.
	b.declare(atConf, conf(b, "z"))
	b.carryOut(store, b.client.Writer(), executor.Applied)
	if token := clustertest.Kubectl(t, "get", "-n", b.namespace, "configmap/keystone.conf", "-o", `jsonpath={.metadata.annotations.kolla\.openstack\.org/intent}`); token == "" {
		t.Error("the token is gone")
	}
	b.settled()
}

// TestForgedAfterAKill checks that a plan does not trust a forged object with the name that a
// killed apply was about to create, even if it names kolla as its manager and copies all public
// fields.
func TestForgedAfterAKill(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	b.secret()
	store := state.Open(filepath.Join(t.TempDir(), state.DefaultFile))
	b.carryOut(store, deadly{b.client.Writer()}, executor.Failed)
	clustertest.Kubectl(t, "delete", "-n", b.namespace, "secret/admin")
	b.forge("AAAAAAAAAAAAAAAAAAAAAAAAAA")
	if got := b.problem(b.input()); !strings.Contains(got, "exists, and the state does not know it") || !strings.Contains(got, "Nothing was read from it") {
		t.Errorf("problem is %q", got)
	}

	// A token that the state no longer waits for does not count either.
	clustertest.Kubectl(t, "delete", "-n", b.namespace, "secret/admin")
	b.carryOut(store, b.client.Writer(), executor.Applied)
	token := clustertest.Kubectl(t, "get", "-n", b.namespace, "secret/admin", "-o", `jsonpath={.metadata.annotations.kolla\.openstack\.org/intent}`)
	clustertest.Kubectl(t, "delete", "-n", b.namespace, "secret/admin")
	b.forge(token)
	if got := b.problem(b.input()); !strings.Contains(got, "exists, and the state does not know it") {
		t.Errorf("problem is %q", got)
	}
}

// forge creates the Secret with a token, as kolla would.
func (b *bench) forge(token string) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "forged.yaml")
	text := strings.NewReplacer("$NS", b.namespace, "$TOKEN", token, "$AT", atSecret).Replace(`
apiVersion: v1
kind: Secret
metadata:
  name: admin
  namespace: $NS
  labels: {kolla.openstack.org/cloud: $NS}
  annotations: {kolla.openstack.org/address: $AT, kolla.openstack.org/intent: $TOKEN}
data: {value: c3dvcmRmaXNo}
`)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
	clustertest.Kubectl(b.t, "apply", "--server-side", "--field-manager=kolla", "-f", file)
}
