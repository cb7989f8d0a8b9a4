package planner_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// TestServicesUnderOtherNames checks that a service keeps its generated values under another
// address and name, and that the plan reports the volumes that are left behind.
func TestServicesUnderOtherNames(t *testing.T) {
	tests := map[string]struct {
		was, is         string // blocks
		wasName, isName string // in the cluster
		moves           []addrs.Move
		detail          string // of the reason
	}{
		"keyed":        {"service.redis", `service.redis["cache"]`, "redis", "redis-cache", []addrs.Move{move("service.redis", `service.redis["cache"]`)}, `service.redis["cache"]`},
		"other key":    {"service.redis[0]", `service.redis["cache"]`, "redis-0", "redis-cache", []addrs.Move{move("service.redis[0]", `service.redis["cache"]`)}, `service.redis["cache"]`},
		"whole":        {`service.redis["a"]`, `service.store["a"]`, "redis-a", "store-a", []addrs.Move{move("service.redis", "service.store")}, `service.store["a"]`},
		"module":       {"service.redis", "module.edge.service.redis", "redis", "edge-redis", []addrs.Move{move("service.redis", "module.edge.service.redis")}, "module.edge.service.redis"},
		"count comes":  {"service.redis", "service.redis[0]", "redis", "redis-0", []addrs.Move{move("service.redis", "service.redis[0]")}, "service.redis[0]"},
		"count goes":   {"service.redis[0]", "service.redis", "redis-0", "redis", []addrs.Move{move("service.redis[0]", "service.redis")}, "service.redis"},
		"module count": {"module.a.service.redis", "module.a[0].service.redis", "redis", "other", []addrs.Move{move("module.a.service.redis", "module.a[0].service.redis")}, "module.a[0].service.redis"},
		"only a name":  {"service.redis", "service.redis", "redis", "cache", nil, ""},
		"name of old":  {"service.x", "service.redis", "named", "redis", []addrs.Move{move("service.x", "service.redis")}, "service.redis"},
		"two moves":    {"service.a", "service.c", "a", "c", []addrs.Move{move("service.b", "service.c"), move("service.a", "service.b")}, "service.c"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			w.add(test.was+"/StatefulSet/"+test.wasName+"-db", of(test.wasName, database(t, test.wasName+"-db")))
			w.add(test.was+"/Secret/"+test.wasName+"-root", of(test.wasName, thing("v1", "Secret", test.wasName+"-root"))).Holds = "generated values"
			w.last().Object["data"] = map[string]any{"value": "c2VjcmV0"}
			w.cluster.objects = append(w.cluster.objects, thing("v1", "PersistentVolumeClaim", "data-"+test.wasName+"-db-0"))
			secret := password(test.is+"/Secret/"+test.isName+"-root", test.isName+"-root")
			of(test.isName, secret.Manifest)
			in := w.input(declared(test.is+"/StatefulSet/"+test.isName+"-db", of(test.isName, database(t, test.isName+"-db"))), secret)
			in.Moves = test.moves
			plan := mustPlan(t, in)
			made := find(t, plan, secret.Address.String())
			want := []providers.DataPart{{From: &providers.SecretKey{Namespace: "openstack", Name: test.wasName + "-root", Key: "value"}}}
			if diff := cmp.Diff(want, made.Object.Data["value"].Parts); diff != "" {
				t.Errorf("the values come from (-want +got):\n%s", diff)
			}
			if len(in.Objects[1].Data["value"].Parts) > 0 {
				t.Error("the caller's object was changed")
			}
			old := find(t, plan, test.was+"/Secret/"+test.wasName+"-root")
			reasons := []plans.Reason{{Kind: plans.ReasonRenamed, Detail: test.detail}}
			if diff := cmp.Diff(reasons, old.Reasons); diff != "" || old.Verb != plans.Delete || old.Holds != "" || !slices.Contains(old.DependsOn, secret.Address) {
				t.Errorf("%s of the old Secret loses %q, after %v, because of (-want +got):\n%s", old.Verb, old.Holds, old.DependsOn, diff)
			}
			if old.ValuesCopiedTo != secret.Address {
				t.Errorf("the values are copied to %q", old.ValuesCopiedTo)
			}
			for _, impact := range report.ImpactOf(plan) {
				if lines := strings.Join(impact.Lines, "\n"); strings.Contains(lines, "Secret") || strings.Contains(lines, "generated") {
					t.Errorf("the impact says of %s:\n%s", impact.Block, lines)
				}
			}
			losses := []plans.Loss{{
				Address: address(test.is + "/StatefulSet/" + test.isName + "-db"), Refs: []providers.Ref{claim("data-" + test.wasName + "-db-0")},
				Holds: "the data on its volumes", Kept: true,
			}}
			if diff := cmp.Diff(losses, plan.Losses); diff != "" {
				t.Errorf("losses (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSecretBlocksUnderOtherNames checks renamed secret blocks. A secret block has one Secret, with
// the name of the block.
func TestSecretBlocksUnderOtherNames(t *testing.T) {
	tests := map[string]struct {
		was, is         string
		wasName, isName string
		moves           []addrs.Move
	}{
		"keyed":       {"secret.token", `secret.token["a"]`, "token", "token-a", []addrs.Move{move("secret.token", `secret.token["a"]`)}},
		"renamed":     {"secret.token", "secret.ticket", "token", "ticket", []addrs.Move{move("secret.token", "secret.ticket")}},
		"only a name": {"secret.token", "secret.token", "token", "other", nil},
		"count":       {"secret.token", "secret.token[0]", "token", "token-0", []addrs.Move{move("secret.token", "secret.token[0]")}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			w.add(test.was+"/Secret/"+test.wasName, thing("v1", "Secret", test.wasName)).Holds = "generated values"
			w.last().Object["data"] = map[string]any{"value": "c2VjcmV0"}
			secret := password(test.is+"/Secret/"+test.isName, test.isName)
			in := w.input(secret)
			in.Moves = test.moves
			plan := mustPlan(t, in)
			want := []providers.DataPart{{From: &providers.SecretKey{Namespace: "openstack", Name: test.wasName, Key: "value"}}}
			if diff := cmp.Diff(want, find(t, plan, secret.Address.String()).Object.Data["value"].Parts); diff != "" {
				t.Errorf("the values come from (-want +got):\n%s", diff)
			}
		})
	}
}

// TestValuesOfARenameThatAreLost checks that the impact names the values that are not copied to the
// new Secret.
func TestValuesOfARenameThatAreLost(t *testing.T) {
	w := &world{}
	w.add("service.a/Secret/a-root", of("a", thing("v1", "Secret", "a-root"))).Holds = "generated values"
	w.last().Object["data"] = map[string]any{"value": "c2VjcmV0", "other": "c2VjcmV0"}
	secret := password("service.b/Secret/b-root", "b-root")
	of("b", secret.Manifest)
	in := w.input(secret)
	in.Moves = []addrs.Move{move("service.a", "service.b")}
	want := []report.Impact{{Block: "service.a", Lines: []string{"Secret openstack/a-root is deleted with other, which is not copied to b-root"}}}
	want[0].Grave = want[0].Lines
	if diff := cmp.Diff(want, report.ImpactOf(mustPlan(t, in))); diff != "" {
		t.Errorf("the impact (-want +got):\n%s", diff)
	}
}

// TestValuesOfARenameThatIsNotSelected checks that an excluded new Secret gets no values, so that
// the old Secret stays.
func TestValuesOfARenameThatIsNotSelected(t *testing.T) {
	w := &world{}
	w.add("service.a/Secret/a-root", of("a", thing("v1", "Secret", "a-root"))).Holds = "generated values"
	w.last().Object["data"] = map[string]any{"value": "c2VjcmV0"}
	secret := password("service.b/Secret/b-root", "b-root")
	of("b", secret.Manifest)
	in := w.input(secret)
	in.Moves = []addrs.Move{move("service.a", "service.b")}
	in.Selection.Excludes = []string{secret.Address.String()}
	if text := mustNotPlan(t, in); !strings.Contains(text, "holds generated values") {
		t.Errorf("it says:\n%s", text)
	}
}

func move(from, to string) addrs.Move { return addrs.Move{From: target(from), To: target(to)} }

// TestValuesOfOthersStay checks that, without a moved block, no Secret gets the values of another
// block or another key, or of a block that now has a count.
func TestValuesOfOthersStay(t *testing.T) {
	tests := map[string]struct{ was, is, wasName, isName string }{
		"another service": {"service.a", "service.b", "a", "b"},
		"another key":     {`service.a["x"]`, `service.a["y"]`, "a-x", "a-y"},
		"second":          {"service.a[1]", "service.a", "a-1", "a"},
		"a count":         {"service.a", "service.a[0]", "a", "a-0"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{}
			w.add(test.was+"/Secret/"+test.wasName+"-root", of(test.wasName, thing("v1", "Secret", test.wasName+"-root"))).Holds = "generated values"
			w.last().Object["data"] = map[string]any{"value": "c2VjcmV0"}
			secret := password(test.is+"/Secret/"+test.isName+"-root", test.isName+"-root")
			of(test.isName, secret.Manifest)
			if text := mustNotPlan(t, w.input(secret)); !strings.Contains(text, test.wasName+"-root is no longer declared, and holds generated values") {
				t.Errorf("problems:\n%s", text)
			}
		})
	}
}

// TestBlockOfLostObjects checks that objects that the state has lost belong to the block of the
// service in their label, whatever its address is.
func TestBlockOfLostObjects(t *testing.T) {
	w := &world{}
	w.add(`module.edge["west"].service.redis["a"]/StatefulSet/west-redis`, of("west-redis", database(t, "west-redis")))
	lost := live(of("west-redis", thing("v1", "PersistentVolumeClaim", "data-west-redis-0")), "uid-1")
	other := live(of("unknown", thing("v1", "PersistentVolumeClaim", "data-unknown-0")), "uid-2")
	w.cluster.objects = append(w.cluster.objects, lost, other)
	in := w.input()
	in.Destroy = true
	var got []string
	for _, k := range mustPlan(t, in).Kept {
		got = append(got, k.Address.String())
	}
	want := []string{
		`module.edge["west"].service.redis["a"]/PersistentVolumeClaim/data-west-redis-0`,
		"service.unknown/PersistentVolumeClaim/data-unknown-0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
}

// TestRemovedInstances checks that the most specific removed block counts.
func TestRemovedInstances(t *testing.T) {
	w := &world{}
	for _, key := range []string{"a", "b", "c"} {
		w.add(`manifest.m["`+key+`"]/ConfigMap/`+key, thing("v1", "ConfigMap", key))
	}
	in := w.input()
	in.Removals = []addrs.Removal{
		{From: target("manifest.m")},
		{From: target(`manifest.m["b"]`), Destroy: true},
		{From: target(`manifest.m["c"]`), Destroy: true},
		{From: target(`manifest.m["c"]/ConfigMap/c`)},
	}
	in.MaxDeletes = new(int)
	*in.MaxDeletes = 3
	plan := mustPlan(t, in)
	for at, want := range map[string]plans.Verb{
		`manifest.m["a"]/ConfigMap/a`: plans.Forget, `manifest.m["b"]/ConfigMap/b`: plans.Delete, `manifest.m["c"]/ConfigMap/c`: plans.Forget,
	} {
		if got := find(t, plan, at).Verb; got != want {
			t.Errorf("%s of %s, want %s", got, at, want)
		}
	}
}

// target parses a valid address.
func target(text string) addrs.Target {
	t, err := addrs.ParseTarget(text)
	if err != nil {
		panic(err)
	}
	return t
}
