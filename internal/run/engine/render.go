package engine

import (
	"context"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/run/upgrade"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack"
	"kolla.openstack.org/kolla/state"
)

// The kinds that rendering reads.
var (
	nodeKind   = schema.GroupVersionKind{Version: "v1", Kind: "Node"}
	podKind    = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	secretKind = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
)

// RenderOptions says how the objects of a configuration are made.
type RenderOptions struct {
	// Adopt has the addresses of the objects that the operator takes over.
	Adopt []string
	// Rotate has the addresses of the Secrets that get new values; see Options.
	Rotate []string
	// Destroy: the objects are going to be deleted, so only errors are shown.
	Destroy bool
	// AcceptRecovered: each Secret with the name of a declared one counts as made by kolla.
	AcceptRecovered bool
}

// Render makes the objects of a configuration for the present state of the cluster. The error is
// ErrReported if there are errors; it then returns the other objects.
func (e *Engine) Render(ctx context.Context, config *configs.Config, st *state.State, r RenderOptions) ([]providers.Object, error) {
	snapshot := e.Cluster.Snapshot()
	scopes := []providers.Scope{{GVK: secretKind, Namespace: config.Cloud.Namespace}}
	if len(config.Roles) > 0 {
		scopes = append(scopes, providers.Scope{GVK: nodeKind})
	}
	scopes = append(scopes, SecretSources(config)...)
	if err := snapshot.Load(ctx, scopes...); err != nil {
		return nil, err
	}
	facts := factsOf(ctx, e.Cluster, e.Source, config, st, r)
	if !r.Destroy {
		facts.Former = func(generated []providers.Object) map[addrs.Object]providers.Ref {
			return renamedSecrets(e.Cluster, config, st, generated)
		}
	}
	objects, diags := openstack.Render(config, facts)
	e.Cluster.Secrets.Declare(config.Cloud.Namespace)
	for _, o := range objects {
		e.Cluster.Secrets.Declare(o.Ref().Name, o.Ref().Namespace)
	}
	shown := e.Source.unreported(diags)
	if r.Destroy {
		shown = slices.DeleteFunc(shown, func(d *hcl.Diagnostic) bool { return d.Severity != hcl.DiagError })
	}
	e.Reporter.Diagnostics(shown, config.Files)
	if diags.HasErrors() {
		return objects, ErrReported
	}
	return objects, nil
}

// renamedSecrets maps each Secret with another name than before to the Secret in the
// cluster that has its values. Only certificates are rendered differently for it: by their
// values it is decided whether they, and the certificates that they signed, are renewed.
func renamedSecrets(cluster *Cluster, config *configs.Config, st *state.State, generated []providers.Object) map[addrs.Object]providers.Ref {
	snapshot := cluster.Snapshot()
	if !slices.ContainsFunc(generated, func(o providers.Object) bool { return o.Certified() && snapshot.Get(o.Ref()) == nil }) {
		return nil
	}
	return planner.RenamedSecrets(planner.Input{
		Cloud: config.Cloud.Name, Namespace: config.Cloud.Namespace, Objects: generated, Snapshot: snapshot,
		State: st, Moves: config.Moves,
	})
}

// SecretSources returns the scopes of the Secrets that values are copied from, in addition to
// the namespace of the cloud.
func SecretSources(config *configs.Config) []providers.Scope {
	var out []providers.Scope
	add := func(source *configs.SecretSource) {
		if source != nil && source.Existing != nil {
			out = append(out, providers.Scope{GVK: secretKind, Namespace: source.Existing.Namespace})
		}
	}
	for _, s := range config.Secrets {
		add(s.Source)
	}
	for _, service := range config.Services {
		for _, s := range service.Secrets {
			add(s.Source)
		}
		for _, p := range service.Passwords() {
			add(p.Source)
		}
	}
	return out
}

// Version is a version of a configuration, with the objects that are rendered from it
// without a cluster.
type Version struct {
	Name    string // "main (3f2a1c9)"
	Config  *configs.Config
	Objects []providers.Object
}

// DiffOptions say which part of the difference to show, and how.
type DiffOptions struct {
	Selection plans.Selection
	Values    bool // see planner.Input
	Tool      string
}

// Diff compares two versions of a configuration, without a cluster. Reasons for which an
// apply would refuse the second become warnings of the plan. The plan is nil if the versions
// cannot be compared; the problems say why.
func Diff(ctx context.Context, base, head Version, o DiffOptions) (*plans.Plan, []plans.Problem, error) {
	config := head.Config
	plan, problems, err := planner.Compare(ctx, planner.Input{
		Cloud: config.Cloud.Name, Namespace: config.Cloud.Namespace, Digest: config.Digest, Tool: o.Tool, Objects: head.Objects,
		Outputs: config.Outputs, Checks: config.Checks, Moves: config.Moves, Removals: config.Removals,
		External: external(config), Undecided: config.Undecided, Selection: o.Selection, Values: o.Values, Now: time.Now(),
	}, base.Objects, base.Config.Outputs)
	if err != nil || plan == nil {
		return nil, problems, err
	}
	before := map[providers.Ref]*unstructured.Unstructured{}
	for _, o := range base.Objects {
		before[o.Ref()] = o.Manifest
	}
	var more []plans.Problem
	plan.Upgrade, more = upgrade.Find(upgrade.Input{
		Config: config, Plan: plan, Live: func(r providers.Ref) *unstructured.Unstructured { return before[r] },
		Installed: plans.Images{Release: base.Config.Cloud.ImageRelease(), Distro: base.Config.Cloud.ImageDistro()},
	})
	problems = append(problems, more...)
	addOptions(config, plan.Upgrade)
	unset := slices.Concat(base.Config.Unset, config.Unset)
	slices.Sort(unset)
	plan.Renderings = &plans.Renderings{Base: base.Name, Head: head.Name, Unset: slices.Compact(unset)}
	for _, problem := range problems {
		if !problem.Warning {
			problem.Warning, problem.Summary = true, "An apply would be refused: "+problem.Summary
		}
		plan.Warnings = append(plan.Warnings, plans.NoticeOf(problem))
	}
	return plan, nil, nil
}
