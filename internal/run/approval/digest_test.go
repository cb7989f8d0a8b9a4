package approval_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/run/approval"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// planOf returns a plan of a cloud with two changes.
func planOf() *plans.Plan {
	at := func(name string) addrs.Object {
		return addrs.Object{Block: "service.keystone", Kind: "ConfigMap", Name: name}
	}
	return &plans.Plan{
		ID: "1", Cloud: "prod", Namespace: "openstack", Config: "c", Created: time.Unix(1, 0),
		Cluster: providers.Identity{UID: "u"}, State: plans.StateRef{Lineage: "l", Serial: 7},
		Actions: []plans.Action{
			{Address: at("a"), Verb: plans.Update, Prior: providers.Precondition{UID: "x", ResourceVersion: "1"}, Changes: []plans.Change{{Path: "data.a", Before: "1", After: "2", Time: time.Unix(2, 0)}}},
			{Address: at("b"), Verb: plans.Create, Changes: []plans.Change{{Path: "data.b", After: "2"}}},
			{Address: at("c"), Verb: plans.None},
		},
	}
}

func TestPlanDigest(t *testing.T) {
	want := approval.Digest(planOf())
	for what, change := range map[string]func(*plans.Plan){
		"resource version": func(p *plans.Plan) { p.Actions[0].Prior.ResourceVersion = "2" },
		"ID and time":      func(p *plans.Plan) { p.ID, p.Created, p.Elapsed = "2", time.Unix(9, 0), time.Second },
		"time of a change": func(p *plans.Plan) { p.Actions[0].Changes[0].Time = time.Unix(9, 0) },
		"evidence":         func(p *plans.Plan) { p.Actions[0].Evidence.Detail = "x" },
		"unchanged object": func(p *plans.Plan) { p.Actions[2].Pending = true },
		"version of kolla": func(p *plans.Plan) { p.Tool = "2" },
	} {
		plan := planOf()
		if change(plan); approval.Digest(plan) != want {
			t.Errorf("with another %s the plan has another digest", what)
		}
	}
	for what, change := range map[string]func(*plans.Plan){
		"value":     func(p *plans.Plan) { p.Actions[0].Changes[0].After = "3" },
		"verb":      func(p *plans.Plan) { p.Actions[2].Verb = plans.Delete },
		"force":     func(p *plans.Plan) { p.Actions[0].Force = true },
		"data":      func(p *plans.Plan) { p.Actions[0].Holds = "volumes" },
		"source":    func(p *plans.Plan) { p.Config = "d" },
		"cloud":     func(p *plans.Plan) { p.Cloud = "staging" },
		"cluster":   func(p *plans.Plan) { p.Cluster.UID = "v" },
		"state":     func(p *plans.Plan) { p.State.Serial++ },
		"destroy":   func(p *plans.Plan) { p.Destroy = true },
		"option":    func(p *plans.Plan) { p.Options = []string{"-delete-data=x"} },
		"selection": func(p *plans.Plan) { p.Selection.Excludes = []string{"service.nova"} },
		"order":     func(p *plans.Plan) { p.Actions[0].DependsOn = []addrs.Object{p.Actions[1].Address} },
	} {
		plan := planOf()
		if change(plan); approval.Digest(plan) == want {
			t.Errorf("with another %s the plan has the same digest", what)
		}
	}
}

// TestOrigins checks that another Secret with sensitive values is another plan.
func TestOrigins(t *testing.T) {
	if approval.Digest(planOf(), "secret/a@1") == approval.Digest(planOf(), "secret/a@2") {
		t.Error("plans with values from other Secrets have the same digest")
	}
}

func TestRestOfPlan(t *testing.T) {
	for _, c := range []struct {
		what   string
		change func(*plans.Plan)
		want   bool
	}{
		{"the same", func(*plans.Plan) {}, true},
		{"a later state", func(p *plans.Plan) { p.State.Serial = 9 }, true},
		{"a part that is done", func(p *plans.Plan) { p.Actions[0].Verb, p.Actions[0].Changes = plans.None, nil }, true},
		{"an object that is not ready", func(p *plans.Plan) { p.Actions[1].Verb, p.Actions[1].Pending = plans.None, true }, true},
		{"another object", func(p *plans.Plan) { p.Actions[2].Verb = plans.Delete }, false},
		{"another value", func(p *plans.Plan) { p.Actions[1].Changes[0].After = "3" }, false},
		{"another configuration", func(p *plans.Plan) { p.Config = "d" }, false},
		{"another cluster", func(p *plans.Plan) { p.Cluster.UID = string(types.UID("v")) }, false},
		{"another state", func(p *plans.Plan) { p.State.Lineage = "m" }, false},
		{"a destroy", func(p *plans.Plan) { p.Destroy = true }, false},
		{"another part", func(p *plans.Plan) { p.Selection.Targets = []string{"service.nova"} }, false},
	} {
		rest := planOf()
		if c.change(rest); approval.Covers(planOf(), rest) != c.want {
			t.Errorf("%s: covered is %t, want %t", c.what, !c.want, c.want)
		}
	}
	// Before the first apply, a state has no lineage.
	first := planOf()
	first.State = plans.StateRef{}
	if !approval.Covers(first, planOf()) {
		t.Error("the rest of the first apply is not covered")
	}
}
