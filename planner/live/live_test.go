// Package live_test makes plans against a real API server: only a real server knows the results of
// server-side apply.
package live_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
	"kolla.openstack.org/kolla/state"
)

func TestMain(m *testing.M) { os.Exit(clustertest.Run(m)) }

// bench is one cloud with its own namespace and a state that the test keeps.
type bench struct {
	t         testing.TB
	client    *kubernetes.Client
	namespace string
	cluster   providers.Identity
	state     state.State
	objects   []providers.Object
	// ahead is how far the clock of a plan is ahead of the real time.
	ahead time.Duration
}

// newBench returns a cloud in the namespace, which need not exist.
func newBench(t testing.TB, namespace string) *bench {
	t.Helper()
	client, err := kubernetes.Connect(kubernetes.Options{Kubeconfig: clustertest.Kubeconfig()})
	if err != nil {
		t.Fatal(err)
	}
	identity, err := client.Identity(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t: t, client: client, namespace: namespace, cluster: identity}
}

// declare adds a desired object, or replaces the one with the same address.
func (b *bench) declare(at, text string, dependsOn ...string) *providers.Object {
	b.t.Helper()
	var content map[string]any
	if err := yaml.Unmarshal([]byte(text), &content); err != nil {
		b.t.Fatalf("read %s: %v", text, err)
	}
	raw, err := json.Marshal(content)
	if err != nil {
		b.t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(raw); err != nil {
		b.t.Fatal(err)
	}
	labels := u.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[providers.LabelCloud] = b.cloud()
	u.SetLabels(labels)
	o := providers.Object{Address: address(at), Manifest: u, Source: "cloud.hcl:7"}
	for _, on := range dependsOn {
		o.DependsOn = append(o.DependsOn, address(on))
	}
	for i := range b.objects {
		if b.objects[i].Address == o.Address {
			b.objects[i] = o
			return &b.objects[i]
		}
	}
	b.objects = append(b.objects, o)
	return &b.objects[len(b.objects)-1]
}

// cloud returns a unique name: the label of this cloud differs from those of other tests.
func (b *bench) cloud() string { return b.namespace }

func address(text string) addrs.Object {
	a, err := addrs.ParseObject(text)
	if err != nil {
		panic(err)
	}
	return a
}

func (b *bench) input() planner.Input {
	return planner.Input{
		Cloud: b.cloud(), Namespace: b.namespace, Objects: b.objects,
		Reader: b.client, Snapshot: providers.NewSnapshot(b.client),
		State: &b.state, Cluster: b.cluster, Now: time.Now().Add(b.ahead),
	}
}

// plan makes a plan, and fails the test if the plan has any problem.
func (b *bench) plan() *plans.Plan {
	b.t.Helper()
	plan, problems, err := planner.Make(b.t.Context(), b.input())
	if err != nil || len(problems) > 0 {
		b.t.Fatalf("Make: %v, problems %+v", err, problems)
	}
	return plan
}

// problem makes a plan that must have one problem, and returns the problem as a string.
func (b *bench) problem(in planner.Input) string {
	b.t.Helper()
	_, problems, err := planner.Make(b.t.Context(), in)
	if err != nil || len(problems) != 1 || problems[0].Warning {
		b.t.Fatalf("Make: %v, problems %+v", err, problems)
	}
	return problems[0].Summary + "\n" + problems[0].Detail
}

// apply carries out the actions of a plan in order, without the executor.
func (b *bench) apply(plan *plans.Plan) {
	b.t.Helper()
	writer := b.client.Writer()
	rules, err := proof.ReadRules(b.t.Context(), b.client, b.cluster, time.Now())
	if err != nil {
		b.t.Fatal(err)
	}
	b.state.Cluster.UID = b.cluster.UID
	for _, a := range plan.Actions {
		if a.Verb == plans.Delete || a.Verb == plans.Replace {
			// Controllers may have written to the object since the plan.
			if err := writer.Delete(b.t.Context(), a.Ref, providers.DeleteOptions{Precondition: providers.Precondition{UID: a.Prior.UID}}); err != nil {
				b.t.Fatalf("%s %s: %v", a.Verb, a.Address, err)
			}
		}
		b.forget(a.Address)
		if a.Object == nil {
			continue
		}
		manifest, err := fields.Trim(a.Object.Manifest, a.Yields)
		if err != nil {
			b.t.Fatalf("%s %s: %v", a.Verb, a.Address, err)
		}
		if a.Removes != "" && a.Verb != plans.Replace {
			for moves := 0; ; moves++ {
				_, err := writer.Claim(b.t.Context(), a.Ref, providers.Precondition{UID: a.Prior.UID}, providers.FieldManager, a.Removes)
				var moved *providers.PreconditionError
				if err == nil {
					break
				}
				if !errors.As(err, &moved) || moved.Live == nil || moves == 5 { // else a controller wrote
					b.t.Fatalf("claim fields of %s: %v", a.Address, err)
				}
			}
		}
		token := a.Token
		if a.Verb == plans.Create || a.Verb == plans.Run || a.Verb == plans.Replace {
			token = trust.NewToken()
		}
		live, err := writer.Apply(b.t.Context(), trust.WithToken(manifest, token), providers.ApplyOptions{Force: a.Force})
		if err != nil {
			b.t.Fatalf("%s %s: %v", a.Verb, a.Address, err)
		}
		record := recordOf(a.Object, live, rules)
		record.Yields = yieldsOf(a)
		record.Fingerprint = rules.Written(live, providers.FieldManager, proof.TermsOf(a.Object, a.Scaled, plan.ForeignPolicy == plans.IgnoreForeign))
		b.state.Objects = append(b.state.Objects, record)
	}
}

// recordOf returns the state's record of an applied object.
func recordOf(o *providers.Object, live *unstructured.Unstructured, rules *proof.Rules) state.Object {
	return state.Object{
		Address: o.Address.String(), APIVersion: live.GetAPIVersion(), Kind: live.GetKind(),
		Namespace: live.GetNamespace(), Name: live.GetName(), UID: string(live.GetUID()),
		DesiredDigest: o.Digest(), Ready: true, Applied: time.Now(), Partial: o.Partial,
		Fingerprint: rules.Written(live, providers.FieldManager, proof.Terms{}),
	}
}

func (b *bench) forget(at addrs.Object) {
	for i := range b.state.Objects {
		if b.state.Objects[i].Address == at.String() {
			b.state.Objects = append(b.state.Objects[:i], b.state.Objects[i+1:]...)
			return
		}
	}
}

// action returns the action with an address.
func (b *bench) action(plan *plans.Plan, at string) plans.Action {
	b.t.Helper()
	for _, a := range plan.Actions {
		if a.Address == address(at) {
			return a
		}
	}
	b.t.Fatalf("no action on %s", at)
	return plans.Action{}
}

// settled fails the test unless a plan, with and without -verify=full, has nothing to do.
func (b *bench) settled() {
	b.t.Helper()
	verified := b.input()
	verified.VerifyAll = true
	for _, in := range []planner.Input{b.input(), verified} {
		plan, problems, err := planner.Make(b.t.Context(), in)
		if err != nil || len(problems) > 0 {
			b.t.Fatalf("Make: %v, problems %+v", err, problems)
		}
		for _, a := range plan.Actions {
			if a.Verb != plans.None || a.Pending {
				b.t.Errorf("after the apply, a plan would %s %s because of %+v:\n%s", a.Verb, a.Address, a.Reasons, lines(a.Changes))
			}
		}
	}
}

// lines formats changes, one per line.
func lines(changes []plans.Change) string {
	var out strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&out, "%s: %v -> %v\n", c.Path, c.Before, c.After)
	}
	return out.String()
}

// yieldsOf returns the state's record of the fields that an action leaves to others.
func yieldsOf(a plans.Action) []state.Yield {
	var known []state.Yield
	for _, y := range a.Yields {
		known = append(known, state.Yield{Path: y.Path, Manager: y.Manager})
	}
	return known
}
