package kubernetes

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/providers/kubernetes/internal/connect"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/readiness"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/resources"
	"kolla.openstack.org/kolla/providers/kubernetes/internal/write"
)

// Options choose the cluster and the way of talking to it.
type Options = connect.Options

// Warning is a warning of the server, such as the use of a deprecated API.
type Warning = connect.Warning

// UnreachableError reports that the server cannot be reached.
type UnreachableError = connect.UnreachableError

// AmbiguousKindError reports that several groups have a kind of the same name.
type AmbiguousKindError = resources.AmbiguousKindError

// Inspector says whether the workloads of a snapshot are ready, and otherwise why not.
type Inspector = readiness.Inspector

// Writer is the only type that changes the cluster.
type Writer = write.Writer

// Records reads and writes the objects in which kolla keeps its state.
type Records = write.Records

// LevelTrace is the level of log records that only help to follow kolla step by step.
const LevelTrace = connect.LevelTrace

// NoKind returns the error of a kind that the cluster does not have.
func NoKind(kind schema.GroupVersionKind) error {
	return resources.NoKind(kind.GroupKind(), kind.Version)
}

// Cause says in a few words why a server cannot be reached: "connection refused".
func Cause(err error) string { return connect.Cause(err) }

// BuiltinResource returns the resource name of a kind of Kubernetes itself: "configmaps". ok
// is false for any other kind: only a cluster knows its name.
func BuiltinResource(kind schema.GroupVersionKind) (name string, ok bool) {
	return resources.BuiltinResource(kind)
}

// GuessedResource returns the probable resource name of a kind: the plural of its name.
func GuessedResource(kind schema.GroupVersionKind) string { return resources.GuessedResource(kind) }

// BuiltinNamed finds a kind of Kubernetes itself by its name. It knows the kinds of which
// kolla knows without a cluster whether their objects live in namespaces.
func BuiltinNamed(name string) (kind schema.GroupVersionKind, namespaced, ok bool) {
	return resources.BuiltinNamed(name)
}
