// Package openstack turns a configuration into Kubernetes objects: the nodes of
// its roles, and for every service its Secrets, ConfigMaps, Jobs, workloads and
// Services, with the order among them. It never talks to a cluster; what it must
// know of one comes in as Facts.
//
// Objects are built with client-go's apply configurations, so that exactly what
// is meant is set, and nothing else is owned.
package openstack

import (
	"embed"
	"fmt"
	"io/fs"
	"time"

	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/secrets"
)

//go:embed catalogue
var catalogue embed.FS

// Catalogue holds the built-in definitions, one file a service, and the scripts that they
// run, in a folder of the service's name.
func Catalogue() fs.FS {
	sub, err := fs.Sub(catalogue, "catalogue")
	if err != nil {
		panic(err) // the folder is embedded: it is there
	}
	return sub
}

// Facts is what rendering must know of the live cluster.
type Facts struct {
	// Nodes are the cluster's nodes; nil when there is no cluster to ask, and
	// then roles are taken on trust and those that match by label have no nodes.
	Nodes []Node
	// Revision names the values that a Secret has, or is going to have; given holds
	// them where kolla does not generate them. See secrets.RevisionOf.
	Revision func(address addrs.Object, namespace, name string, given map[string]string) string
	// Ours reports whether the Secret that is in the cluster is the one that is declared at
	// the address: what somebody else made under its name counts as not there. Nil: all are.
	Ours func(address addrs.Object, namespace, name string) bool
	// Values reads the values of live Secrets; nil when there is no cluster to ask.
	Values providers.Values
	// Former are the Secrets in the cluster whose values those at these addresses take
	// over, because they have another name now.
	Former map[addrs.Object]providers.Ref
	// Made are the jobs and workloads of a block that were made once, by the addresses that
	// they have now; nil: nobody can say, and all services count as made.
	Made func(block string) []addrs.Object
	// Given reads a value from the environment or from a file; nil: nothing is read.
	Given func(source *configs.SecretSource) (string, error)
	// Now is when the plan is made.
	Now time.Time
	// Namespaced reports whether the server keeps a kind in namespaces; known is
	// false for kinds that it does not have.
	Namespaced func(kind schema.GroupVersionKind) (namespaced, known bool)
}

// Node is a node of the cluster.
type Node struct {
	Name   string
	Labels map[string]string
	// Addresses are what other machines see of it, IPv4 and IPv6.
	Addresses []string
}

// Offline are the facts to render with when there is no cluster to ask: every
// generated Secret counts as still to be made.
func Offline() Facts {
	return Facts{
		Revision: func(address addrs.Object, _, _ string, _ map[string]string) string {
			return secrets.FirstRevision(address, "")
		},
		Namespaced: func(schema.GroupVersionKind) (bool, bool) { return false, false },
	}
}

// Render makes the desired objects of a configuration, in a fixed order.
func Render(config *configs.Config, facts Facts) ([]providers.Object, hcl.Diagnostics) {
	var objects []providers.Object
	r := newRenderer(config, facts)
	r.take = func(o providers.Object) { objects = append(objects, o) }
	r.render()
	return objects, r.diags
}

// Check finds what is wrong with the objects of a configuration, as Render does, and
// counts them. Of each it makes what names it, and keeps that only: the manifests of a
// large cloud take more memory than all else.
func Check(config *configs.Config, facts Facts) (objects int, diags hcl.Diagnostics) {
	r := newRenderer(config, facts)
	r.namesOnly = true
	r.take = func(providers.Object) {}
	r.render()
	return len(r.declared), r.diags
}

type renderer struct {
	config   *configs.Config
	facts    Facts
	services map[string]*service           // by name
	clients  map[string][]*configs.Service // see clientsOf
	servers  map[string]bool               // names of the services that others have something on
	secrets  map[secretID]*secret
	blocks   map[string]func() // renders a service, manifest or secret, by its address
	// finals are the objects that must be ready for a block to count as ready, by
	// address of the block; blocks that were rendered have an entry.
	finals      map[string][]addrs.Object
	nodes       map[string][]addrs.Object // by name of the role
	scopes      map[schema.GroupKind]bool // custom kinds of this configuration: namespaced?
	namesOnly   bool                      // manifests hold only what names them
	take        func(providers.Object)    // takes each object as it is made
	declared    []declared                // what was made
	keyed       bool                      // the Secret with the key for checksums was made
	patched     map[string]bool           // patches that an object took
	warned      map[string]bool           // of fields that patches set, by place
	powerful    []powerful                // what needs more than the level restricted
	ofNamespace namespaceFields           // what manifests say of the cloud's namespace
	diags       hcl.Diagnostics
}

// declared is what is remembered of an object.
type declared struct {
	ref     providers.Ref
	address addrs.Object
	source  string
}

func newRenderer(config *configs.Config, facts Facts) *renderer {
	r := &renderer{
		config:   config,
		facts:    facts,
		services: map[string]*service{},
		clients:  clientsOf(config),
		servers:  map[string]bool{},
		secrets:  declaredSecrets(config),
		blocks:   map[string]func(){},
		finals:   map[string][]addrs.Object{},
		nodes:    map[string][]addrs.Object{},
		scopes:   declaredScopes(config),
		patched:  map[string]bool{},
		warned:   map[string]bool{},
	}
	for i := range config.Services {
		for _, p := range config.Services[i].Provided {
			r.servers[p.Server] = true
		}
	}
	return r
}

func (r *renderer) render() {
	r.takeNamespaces()
	r.powerful = r.powers()
	r.add(r.namespace())
	r.restrain(r.powerful)
	r.warnWeakened()
	r.roles()
	r.checkTwins()
	r.checkSpread()
	for i := range r.config.Services {
		s := newService(r, &r.config.Services[i])
		r.services[s.decl.Name], r.blocks[s.decl.Block] = s, s.render
	}
	for _, s := range r.config.Secrets {
		r.blocks[s.Block] = func() { r.sharedSecret(s) }
	}
	for _, m := range r.config.Manifests {
		r.blocks[m.Block] = func() { r.manifest(m) }
	}
	for _, s := range r.config.Secrets {
		r.block(s.Block)
	}
	for i := range r.config.Services {
		r.block(r.config.Services[i].Block)
	}
	for _, m := range r.config.Manifests {
		r.block(m.Block)
	}
	r.checkUnique()
	r.checkDefaultPatches()
	r.checkLifecycles()
}

func (r *renderer) add(o providers.Object) {
	r.declared = append(r.declared, declared{o.Ref(), o.Address, o.Source})
	r.take(o)
}

func (r *renderer) error(subject hcl.Range, summary, detail string) {
	r.report(hcl.DiagError, subject, summary, detail)
}

func (r *renderer) warn(subject hcl.Range, summary, detail string) {
	r.report(hcl.DiagWarning, subject, summary, detail)
}

func (r *renderer) report(severity hcl.DiagnosticSeverity, subject hcl.Range, summary, detail string) {
	r.diags = append(r.diags, &hcl.Diagnostic{
		Severity: severity,
		Summary:  summary,
		Detail:   detail,
		Subject:  subject.Ptr(),
	})
}

// block renders a service or a manifest, unless that was done. One whose name nobody
// knows yet is not there.
func (r *renderer) block(block string) {
	if _, done := r.finals[block]; done {
		return
	}
	if render, ok := r.blocks[block]; ok {
		render()
	}
}

// needed lists the objects that must be ready before anything of a block that
// needs the given blocks runs. Needs have no cycles: lang refuses those.
func (r *renderer) needed(blocks []string) []addrs.Object {
	var out []addrs.Object
	for _, block := range blocks {
		r.block(block)
		out = append(out, r.finals[block]...)
	}
	return out
}

// checkUnique reports objects that two declarations would both make.
func (r *renderer) checkUnique() {
	seen := make(map[providers.Ref]declared, len(r.declared))
	for _, d := range r.declared {
		first, twice := seen[d.ref]
		if !twice {
			seen[d.ref] = d
			continue
		}
		r.diags = append(r.diags, &hcl.Diagnostic{
			Severity: hcl.DiagError,
			Summary:  "Two declarations of one object",
			Detail: fmt.Sprintf("%s is declared by %s (%s) and by %s (%s). Rename one of them, or remove it.",
				d.ref, first.address.Block, first.source, d.address.Block, d.source),
		})
	}
}

// source is where a declaration stands, "cloud.hcl:41".
func source(r hcl.Range) string {
	if r.Filename == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", r.Filename, r.Start.Line)
}
