// Package openstack turns a configuration into Kubernetes objects: the nodes of its roles, and
// for every service its Secrets, ConfigMaps, Jobs, workloads and Services, with the order among
// them. It never talks to a cluster. Facts carry the information about the cluster.
//
// Render first settles what all blocks depend on: the jobs of each service (internal/runs), the
// namespace and its Pod Security level (namespace, security), the nodes of the roles (nodes) and
// the values of the secrets (secret). It then renders each block after the blocks that it needs.
// Packages files, network, pods and workloads make the objects of a service, and manifests those
// of a manifest block. Package patch applies patches, lifecycle checks rules about fields, uwsgi
// checks how APIs answer requests, and object has the names and labels of all objects.
//
// Objects are built with client-go's apply configurations. They contain only the fields that
// kolla wants to set and own.
package openstack

import (
	"embed"
	"io/fs"
	"time"

	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack/internal/files"
	"kolla.openstack.org/kolla/providers/openstack/internal/network"
	"kolla.openstack.org/kolla/providers/openstack/internal/nodes"
	"kolla.openstack.org/kolla/providers/secrets"
)

//go:embed catalogue
var catalogue embed.FS

// Catalogue returns the built-in definitions, one file for each service. The scripts of a
// service are in a folder with the name of the service.
func Catalogue() fs.FS {
	sub, err := fs.Sub(catalogue, "catalogue")
	if err != nil {
		panic(err) // the folder is embedded
	}
	return sub
}

// Facts are the facts about the live cluster that rendering needs.
type Facts struct {
	// Nodes are the cluster's nodes; nil without a cluster to ask. Roles that name nodes are
	// then not checked, and roles that match by label have no nodes.
	Nodes []Node
	// Revision returns a name for the values that a Secret has or will have. given holds the
	// values that kolla does not generate. See secrets.RevisionOf.
	Revision func(address addrs.Object, namespace, name string, given map[string]string) string
	// Ours reports whether the Secret in the cluster belongs to the address. If another program
	// made it under that name, the declared Secret counts as missing. Nil: all belong.
	Ours func(address addrs.Object, namespace, name string) bool
	// Values reads the values of live Secrets; nil without a cluster to ask.
	Values providers.Values
	// Former maps the address of each generated Secret whose name changed to the Secret in the
	// cluster that holds its current values. It gets all of them, without their values. Nil: no
	// name changed.
	Former func(generated []providers.Object) map[addrs.Object]providers.Ref
	// Made returns the current addresses of the jobs and workloads of a block that have been
	// made. Nil: unknown, and all services count as made.
	Made func(block string) []addrs.Object
	// Given reads a value from the environment or from a file; nil: values are not read.
	Given func(source *configs.SecretSource) (string, error)
	// Age returns the age of the keys of a live Secret; nil without a cluster to ask.
	Age func(namespace, name string) secrets.Age
	// Rotate reports whether the operator asks for new values of a Secret; nil: of none.
	Rotate func(address addrs.Object) bool
	// Ran reports whether a Job has succeeded, also if it was deleted since; nil without a cluster to ask.
	Ran func(job addrs.Object) bool
	// Now is the time at which the plan is made.
	Now time.Time
	// Past: the configuration has been replaced by another one. It is only compared, so it may
	// contain settings that must not run.
	Past bool
	// Namespaced reports whether a kind is namespaced; known is false for kinds that the server
	// does not have.
	Namespaced func(kind schema.GroupVersionKind) (namespaced, known bool)
	// Live reads a workload; nil without a cluster to ask. It returns nil if the workload does not exist.
	Live func(providers.Ref) *unstructured.Unstructured
	// List lists the live objects of ServedBy, for CheckServed; nil without a cluster to ask.
	List func(providers.Scope) ([]*unstructured.Unstructured, error)
}

// ServedBy returns the lists that CheckServed needs.
func ServedBy(config *configs.Config) []providers.Scope { return network.ServedBy(config) }

// CheckServed reports exposures that no program of the cluster will serve. The error of list satisfies
// meta.IsNoMatchError if the cluster does not have the kind. Other errors of it are returned.
func CheckServed(config *configs.Config, list func(providers.Scope) ([]*unstructured.Unstructured, error)) (hcl.Diagnostics, error) {
	return network.CheckServed(config, list)
}

// Node is a node of the cluster.
type Node = nodes.Node

// Pod is a pod on a node.
type Pod = nodes.Pod

// Offline returns the facts for rendering without a cluster. Every generated Secret counts as
// not made yet.
func Offline() Facts {
	return Facts{
		Revision: func(address addrs.Object, _, _ string, _ map[string]string) string {
			return secrets.FirstRevision(address, "")
		},
		Namespaced: func(schema.GroupVersionKind) (bool, bool) { return false, false },
	}
}

// Render returns the desired objects of a configuration, in a fixed order.
func Render(config *configs.Config, facts Facts) ([]providers.Object, hcl.Diagnostics) {
	var objects []providers.Object
	r := newRenderer(config, facts, false, func(o providers.Object) { objects = append(objects, o) })
	r.render()
	if !facts.Past {
		r.report(checkImages(&config.Cloud, Images(objects), facts.Nodes))
	}
	return objects, r.diags
}

// Check reports the same errors as Render, and counts the objects. It makes only the identity
// of each object and keeps nothing else, because the manifests of a large cloud use more memory
// than all the rest.
func Check(config *configs.Config, facts Facts) (objects int, diags hcl.Diagnostics) {
	r := newRenderer(config, facts, true, func(providers.Object) {})
	r.render()
	return len(r.declared), r.diags
}

// FilePart is a config file of a service, or one of the two files that it is split into.
type FilePart = files.Part

// FileParts renders the parts of a config file. The public part, if there is one, comes first.
func FileParts(decl configs.ConfigFile) []FilePart { return files.Parts(decl) }
