package openstack

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack/internal/files"
	"kolla.openstack.org/kolla/providers/openstack/internal/lifecycle"
	"kolla.openstack.org/kolla/providers/openstack/internal/managed"
	"kolla.openstack.org/kolla/providers/openstack/internal/manifests"
	"kolla.openstack.org/kolla/providers/openstack/internal/namespace"
	"kolla.openstack.org/kolla/providers/openstack/internal/network"
	"kolla.openstack.org/kolla/providers/openstack/internal/nodes"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
	"kolla.openstack.org/kolla/providers/openstack/internal/patch"
	"kolla.openstack.org/kolla/providers/openstack/internal/pods"
	"kolla.openstack.org/kolla/providers/openstack/internal/runs"
	"kolla.openstack.org/kolla/providers/openstack/internal/secret"
	"kolla.openstack.org/kolla/providers/openstack/internal/security"
	"kolla.openstack.org/kolla/providers/openstack/internal/uwsgi"
	"kolla.openstack.org/kolla/providers/openstack/internal/workloads"
)

// renderer renders the blocks of a configuration, each after the blocks that it needs.
type renderer struct {
	config   *configs.Config // with the services of managed exposures
	facts    Facts
	cloud    object.Cloud
	take     func(providers.Object) // receives each finished object
	declared []declared             // all objects so far
	blocks   map[string]func()      // functions that render a service, manifest or secret, by address
	// ready maps the address of each rendered block to the objects that must be ready before
	// the block counts as ready.
	ready     map[string][]addrs.Object
	checksums addrs.Object // the Secret with the key for checksums
	keyed     bool         // that Secret has been added
	diags     hcl.Diagnostics
}

// declared is the identity and the source of a rendered object.
type declared struct {
	ref     providers.Ref
	address addrs.Object
	source  string
}

// common is what the objects of all blocks depend on.
type common struct {
	jobs    []runs.Jobs // of each service
	levels  security.Levels
	nodes   nodes.Nodes
	secrets *secret.Set
	patches *patch.Patches
	network network.Input
	scopes  manifests.Scopes
}

func newRenderer(config *configs.Config, facts Facts, namesOnly bool, take func(providers.Object)) *renderer {
	cloud := object.Cloud{Decl: &config.Cloud, NamesOnly: namesOnly}
	whole := *config
	more, diags := managed.Services(cloud, config, facts.Nodes)
	whole.Services = slices.Concat(config.Services, more)
	return &renderer{
		config:    &whole,
		diags:     diags,
		facts:     facts,
		cloud:     cloud,
		take:      take,
		blocks:    map[string]func(){},
		ready:     map[string][]addrs.Object{},
		checksums: secret.Checksums(cloud),
	}
}

// render renders the objects of the cloud itself, then all blocks, and then checks the whole.
func (r *renderer) render() {
	c := r.common()
	// An exposure has up to three parts: the CA, the certificate, and the service that uses it.
	for _, s := range r.config.Secrets {
		r.part(s.Block, func() { r.secret(c, s) })
	}
	for i := range r.config.Services {
		s := object.Service{Cloud: r.cloud, Decl: &r.config.Services[i]}
		r.part(s.Decl.Block, func() { r.service(c, s, c.jobs[i]) })
	}
	for _, m := range r.config.Manifests {
		r.blocks[m.Block] = func() { r.manifest(c, m) }
	}
	for _, s := range r.config.Secrets {
		r.block(s.Block)
	}
	r.add(network.Edge(r.cloud, r.config)...)
	for i := range r.config.Services {
		r.block(r.config.Services[i].Block)
	}
	for _, m := range r.config.Manifests {
		r.block(m.Block)
	}
	r.report(checkUnique(r.declared), c.patches.CheckDefaults(r.config.Services), lifecycle.Check(r.config, kindsOf(r.declared)))
	if !r.facts.Past {
		r.report(uwsgi.Check(r.config))
	}
	if r.facts.List != nil {
		served, _ := network.CheckServed(r.config, r.facts.List) // a plan does not need the lists
		r.report(served)
	}
}

// part adds a function that renders a further part of a block, after the parts that it has.
func (r *renderer) part(block string, render func()) {
	before := r.blocks[block]
	r.blocks[block] = func() {
		if before != nil {
			before()
		}
		render()
	}
}

// common decides everything that all blocks depend on, and adds the objects of the cloud itself.
func (r *renderer) common() common {
	serves := map[string]bool{} // services with queues, users or registrations of others
	for i := range r.config.Services {
		for _, p := range r.config.Services[i].Provided {
			serves[p.Server] = true
		}
	}
	c := common{
		network: network.Input{Clients: network.Clients(r.config), Manifests: r.config.Manifests, Nodes: r.facts.Nodes},
		scopes:  manifests.ScopesOf(r.config, r.facts.Namespaced),
	}
	for i := range r.config.Services {
		s := object.Service{Cloud: r.cloud, Decl: &r.config.Services[i]}
		c.jobs = append(c.jobs, runs.Of(s, serves[s.Decl.Name], r.facts.Made, r.facts.Live))
	}
	fields, diags := namespace.Declared(r.cloud, r.config.Manifests)
	r.report(diags)
	c.levels = security.Assess(r.cloud, r.config, c.jobs, fields.Level(r.cloud))
	c.patches = patch.New(c.levels)
	r.add(fields.Object(r.cloud, c.levels.OfNamespace(), c.levels.Causes()))
	policies, diags := c.levels.Policies()
	r.add(policies...)
	r.report(diags, c.levels.Warn())
	all, objects, diags := nodes.Of(r.cloud, r.config.Roles, rolesDecided(r.config), r.facts.Nodes)
	c.nodes = all
	r.add(objects...)
	r.report(diags, all.Check(r.config.Services))
	c.secrets, diags = secret.Resolve(r.cloud, r.config, secret.Facts{
		Revision: r.facts.Revision, Ours: r.facts.Ours, Values: r.facts.Values,
		Former: r.facts.Former, Given: r.facts.Given, Now: r.facts.Now,
		Age: r.facts.Age, Rotate: r.facts.Rotate, Ran: r.facts.Ran,
	})
	r.report(diags)
	return c
}

// rolesDecided reports whether all roles of the configuration are known.
func rolesDecided(config *configs.Config) bool {
	return !slices.ContainsFunc(config.Undecided, func(block string) bool {
		return strings.HasSuffix(block, "*") || addrs.TypeOf(block) == "role"
	})
}

// add adds finished objects. The Secret with the key for checksums comes before the first object
// that depends on it.
func (r *renderer) add(objects ...providers.Object) {
	for _, o := range objects {
		if slices.Contains(o.DependsOn, r.checksums) {
			r.addKey()
		}
		r.declared = append(r.declared, declared{o.Ref(), o.Address, o.Source})
		r.take(o)
	}
}

// addKey adds the Secret with the key for checksums once.
func (r *renderer) addKey() {
	if !r.keyed {
		r.keyed = true
		r.add(secret.ChecksumKey(r.cloud))
	}
}

func (r *renderer) report(diags ...hcl.Diagnostics) {
	for _, d := range diags {
		r.diags = append(r.diags, d...)
	}
}

// block renders a service, a manifest or a secret once. It ignores blocks whose name is not
// known yet.
func (r *renderer) block(block string) {
	if _, done := r.ready[block]; done {
		return
	}
	if render, ok := r.blocks[block]; ok {
		render()
	}
}

// needed returns the objects that must be ready before the dependants of the given blocks
// start. lang refuses cycles.
func (r *renderer) needed(blocks []string) []addrs.Object {
	var out []addrs.Object
	for _, block := range blocks {
		r.block(block)
		out = append(out, r.ready[block]...)
	}
	return out
}

// service renders a service: its Secrets and config files, its Services and NetworkPolicy, and
// then the chain of its jobs and workloads. It applies the patches of the service to each object.
func (r *renderer) service(c common, s object.Service, jobs runs.Jobs) {
	add := func(objects []providers.Object, diags hcl.Diagnostics) (added []addrs.Object) {
		for _, o := range objects {
			r.report(c.patches.Apply(s.Decl, &o))
			o.Stage = cmp.Or(o.Stage, s.Decl.Stage)
			r.add(o)
			added = append(added, o.Address)
		}
		r.report(diags)
		return added
	}
	for _, name := range secret.Names(s.Decl) {
		from := c.secrets.Get(s.Decl.Name, name)
		o := s.Object(object.Opaque(from.Address.Name))
		add([]providers.Object{r.fill(c.secrets, o, from, from.Declared())}, nil)
	}
	mounted, made, diags := files.Render(s, c.secrets)
	add(made, diags)
	base := slices.Concat(r.ready[s.Decl.Block], r.needed(s.Decl.Needs))
	inside, outside, diags := network.Services(s, r.config.Exposure(s.Decl.Exposure))
	base = append(base, add(inside, diags)...)
	add(outside, nil)
	add(network.Metrics(s), nil)
	if s.Decl.NetworkPolicy && len(s.Decl.Workloads)+len(jobs.Before)+len(jobs.After) > 0 {
		base = append(base, add([]providers.Object{network.Policy(c.network, s)}, nil)...)
	}
	made, ready, diags := workloads.Render(workloads.Input{
		Pods:   pods.Input{Service: s, Roles: r.config.Roles, Nodes: c.nodes, Secrets: c.secrets, Files: mounted},
		Levels: c.levels,
		Jobs:   jobs,

		Services: r.config.Services,
		Live:     r.facts.Live,
	}, base)
	add(made, diags)
	r.ready[s.Decl.Block] = ready
	r.report(c.patches.Check(s.Decl))
}

// secret adds the Secret of a block outside of services.
func (r *renderer) secret(c common, decl configs.SharedSecret) {
	from := c.secrets.Get("", decl.Name)
	r.ready[decl.Block] = append(r.ready[decl.Block], from.Address)
	needed := r.needed(decl.Needs)
	manifest := r.cloud.Secret(from.Address)
	if decl.Exposure != "" {
		manifest.Object["type"] = string(corev1.SecretTypeTLS)
	}
	r.add(r.fill(c.secrets, providers.Object{
		Address:   from.Address,
		Manifest:  manifest,
		DependsOn: object.Unique(append([]addrs.Object{r.cloud.Namespace()}, needed...)),
		Lifecycle: object.Lifecycle(decl.Lifecycle),
	}, from, decl.Range))
}

// fill adds the values of a secret to its object. The manifests that the values are copied from
// are rendered first.
func (r *renderer) fill(secrets *secret.Set, o providers.Object, from *secret.Secret, at hcl.Range) providers.Object {
	r.addKey()
	return secrets.Fill(o, from, at, r.needed(from.Manifests()))
}

// manifest renders a manifest block.
func (r *renderer) manifest(c common, m configs.Manifest) {
	r.ready[m.Block] = nil
	needed := r.needed(m.Needs)
	objects, ready, diags := manifests.Render(manifests.Input{Cloud: r.cloud, Levels: c.levels, Scopes: c.scopes}, m, needed)
	r.add(objects...)
	r.report(diags)
	r.ready[m.Block] = ready
}

// checkUnique reports objects with two declarations.
func checkUnique(all []declared) hcl.Diagnostics {
	var diags hcl.Diagnostics
	seen := make(map[providers.Ref]declared, len(all))
	for _, d := range all {
		first, twice := seen[d.ref]
		if !twice {
			seen[d.ref] = d
			continue
		}
		diags = append(diags, &hcl.Diagnostic{
			Severity: hcl.DiagError,
			Summary:  "Two declarations of one object",
			Detail: fmt.Sprintf("%s is declared by %s (%s) and by %s (%s). Rename one of them, or remove it.",
				d.ref, first.address.Block, first.source, d.address.Block, d.source),
		})
	}
	return diags
}

// kindsOf lists the kinds of the objects of each block.
func kindsOf(all []declared) map[string][]schema.GroupVersionKind {
	out := map[string][]schema.GroupVersionKind{}
	for _, d := range all {
		if block := d.address.Block; !slices.Contains(out[block], d.ref.GVK) {
			out[block] = append(out[block], d.ref.GVK)
		}
	}
	return out
}
