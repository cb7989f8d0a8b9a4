package live_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/internal/run/executor"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// interfered lets another client write before the first write, and does not wait for readiness.
type interfered struct {
	providers.Writer
	before func()
}

func (i *interfered) interfere() {
	if i.before != nil {
		i.before()
		i.before = nil
	}
}

func (i *interfered) Claim(ctx context.Context, ref providers.Ref, precondition providers.Precondition, manager, fields string) (*unstructured.Unstructured, error) {
	i.interfere()
	return i.Writer.Claim(ctx, ref, precondition, manager, fields)
}

func (i *interfered) Apply(ctx context.Context, object *unstructured.Unstructured, options providers.ApplyOptions) (*unstructured.Unstructured, error) {
	i.interfere()
	return i.Writer.Apply(ctx, object, options)
}

func (i *interfered) Wait(context.Context, providers.Ref, providers.WaitOptions) error { return nil }

// TestAddedBetweenPlanAndWrite checks that an apply does not write an object to which another
// client added fields after the approval of the plan. Status updates and labels do not stop the
// apply.
func TestAddedBetweenPlanAndWrite(t *testing.T) {
	const (
		more      = `[{"op":"add","path":"/spec/template/spec/containers/-","value":{"name":"more","image":"more:1"}}]`
		miner     = `[{"op":"add","path":"/spec/template/spec/containers/-","value":{"name":"miner","image":"miner:1"}}]`
		same      = `[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"api:2"}]`
		condition = `{"status":{"conditions":[{"type":"Foreign","status":"True"}]}}`
		label     = `[{"op":"add","path":"/metadata/labels/team","value":"blue"}]`
	)
	tests := map[string]struct {
		planned string // written before the plan
		since   []string
		hidden  bool
		status  bool
		image   string // declared for the plan
		refused string
	}{
		"a container, while the image changes":        {image: "api:2", since: []string{miner}, refused: `containers["miner"]`},
		"a hidden container, while the image changes": {image: "api:2", since: []string{miner}, hidden: true, refused: `containers["miner"]`},
		"more than is taken out":                      {planned: miner, since: []string{more}, refused: `containers["more"]`},
		"a hidden one, with the change already made":  {image: "api:2", since: []string{same, miner}, hidden: true, refused: `containers["miner"]`},
		"its status":                         {image: "api:2", status: true},
		"its status, with what is taken out": {planned: miner, status: true},
		"a label":                            {image: "api:2", since: []string{label}},
		"the change already made":            {image: "api:2", since: []string{same}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, clustertest.Namespace(t))
			power := powers["Deployment"].named("api")
			declare := func(image string) {
				b.declare(power.address, strings.Replace(power.declared, "api:1", image, 1)).Manifest.SetNamespace(b.namespace)
			}
			declare("api:1")
			store := state.Open(filepath.Join(t.TempDir(), state.DefaultFile))
			b.carryOut(store, &interfered{Writer: b.client.Writer()}, executor.Applied)
			s := newStranger(t)
			original := s.get(power.resource, b.namespace, "api")
			if test.planned != "" {
				s.patch(power.resource, b.namespace, "api", test.planned)
			}
			if test.image != "" {
				declare(test.image)
			}
			session, err := store.Lock(t.Context(), state.LockInfo{Operation: "test"}, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			plan := b.plan()
			var before int64
			writer := &interfered{Writer: b.client.Writer(), before: func() {
				for _, patch := range test.since {
					s.patch(power.resource, b.namespace, "api", patch)
				}
				if test.hidden {
					s.hide(power.resource, b.namespace, "api", original)
				}
				if test.status {
					_, err := s.at(power.resource, b.namespace).Patch(t.Context(), "api", types.MergePatchType, []byte(condition), metav1.PatchOptions{FieldManager: spoofed}, "status")
					if err != nil {
						t.Error(err)
					}
				}
				before = s.get(power.resource, b.namespace, "api").GetGeneration()
			}}
			result, err := executor.Apply(t.Context(), plan, executor.Options{Reader: b.client, Writer: writer, Session: session})
			if err != nil {
				t.Fatal(err)
			}
			outcome := result.Outcomes[0]
			var moved *executor.MovedError
			switch {
			case test.refused == "" && outcome.Err != nil:
				t.Fatalf("it was refused: %v", outcome.Err)
			case test.refused == "":
			case !errors.As(outcome.Err, &moved) || !strings.Contains(outcome.Err.Error(), test.refused):
				t.Fatalf("got %v, want it to name %s", outcome.Err, test.refused)
			case s.get(power.resource, b.namespace, "api").GetGeneration() != before:
				t.Error("it was written to")
			}
			b.state = *session.State()
			a := b.action(b.plan(), power.address)
			if want := map[bool]plans.Verb{true: plans.None, false: plans.Update}[test.refused == ""]; a.Verb != want {
				t.Errorf("the next plan has %s:\n%s", a.Verb, lines(a.Changes))
			}
		})
	}
}
