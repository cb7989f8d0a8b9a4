package proof

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"kolla.openstack.org/kolla/internal/base/crash"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// Rules are the properties of a server, besides the object, that decide the result of an
// apply: the version of the server, and the mutating webhooks and policies. The same
// object under the same rules gives the same result.
//
// The result of a webhook or policy depends on its configuration and on the whole object,
// not only on the fields that kolla owns. The program behind a webhook may change without
// a change of its configuration. Rules do not notice that; only a dry run does.
type Rules struct {
	server   string
	now      time.Time
	mutators []mutator
	// hidden: the user may not list the mutators, so any object may be subject to one.
	hidden bool
}

// spread is how long an API server may take to notice a change of a mutator, or of the
// labels of a namespace that a mutator selects. It takes about a second; the rest allows
// for differing clocks.
const spread = 2 * time.Minute

// ReadRules lists the mutating webhooks and policies: one LIST for each kind, and for
// policies only if a binding exists. cluster is the cluster of the reader. now is the time
// of the plan.
func ReadRules(ctx context.Context, reader providers.Reader, cluster providers.Identity, now time.Time) (*Rules, error) {
	r := &Rules{server: cluster.Version, now: now}
	if cluster.Emulates != "" {
		r.server += " as " + cluster.Emulates
	}
	var webhooks, policies []mutator
	group, ctx := errgroup.WithContext(ctx)
	group.Go(crash.Catching(func() (err error) {
		webhooks, err = readWebhooks(ctx, reader)
		return err
	}))
	group.Go(crash.Catching(func() (err error) {
		policies, err = readPolicies(ctx, reader, cluster)
		return err
	}))
	err := group.Wait()
	switch {
	case apierrors.IsForbidden(err):
		r.hidden = true
	case err != nil:
		return nil, fmt.Errorf("read what changes objects on their way into the cluster: %w", err)
	}
	r.mutators = slices.Concat(webhooks, policies)
	return r, nil
}

// Hidden reports whether the user may not list the mutators. The planner must then ask the server
// about every object.
func (r *Rules) Hidden() bool { return r.hidden }

// Undisturbed reports whether it is certain that no mutator changes an apply to the
// object. namespace is the live namespace of the object; nil for objects without one.
func (r *Rules) Undisturbed(live, namespace *unstructured.Unstructured) bool {
	sum, known := r.admission(live, namespace)
	return known && sum == ""
}

// Meets reports whether a mutator may change an object of the kind at its creation.
func (r *Rules) Meets(kind schema.GroupVersionKind) bool { return r.meets(kind, "CREATE") }

func (r *Rules) meets(kind schema.GroupVersionKind, operations ...string) bool {
	return r.hidden || slices.ContainsFunc(r.mutators, func(m mutator) bool { return m.sees(kind, operations...) })
}

// Fingerprint returns the fingerprint by which a later plan can prove that an object is
// unchanged.
// The caller must know that an apply would change nothing in the object now. Where the
// result of another apply is not certain, the fingerprint proves only that nobody has added
// anything to the object. This is so for custom resources, whose definition or API server
// decides. namespace is as for Undisturbed.
func (r *Rules) Fingerprint(live, namespace *unstructured.Unstructured, manager string, terms Terms) state.Fingerprint {
	admission, known := r.admission(live, namespace)
	return r.fingerprint(live, manager, admission, known, terms)
}

// Written is Fingerprint for an object that an apply has just returned. If a mutator may have
// changed the object, the result of another apply is not certain: a mutator may act on
// creations only, for example.
func (r *Rules) Written(live *unstructured.Unstructured, manager string, terms Terms) state.Fingerprint {
	return r.fingerprint(live, manager, "", !r.meets(live.GroupVersionKind(), "CREATE", "UPDATE"), terms)
}

// fingerprint returns a fingerprint without a server version unless the result of another apply is
// certain.
func (r *Rules) fingerprint(live *unstructured.Unstructured, manager, admission string, certain bool, terms Terms) state.Fingerprint {
	f := state.Fingerprint{Stamp: stampOf(live, manager)}
	sum, ok := hashOwned(live, manager, terms)
	if !ok {
		return f
	}
	f.Owned = sum
	if certain && BuiltIn(live.GroupVersionKind()) && r.server != "" {
		f.Server, f.Admission = r.server, admission
	}
	return f
}

// stampOf returns the time of the manager's last apply; see state.Fingerprint.Stamp.
func stampOf(live *unstructured.Unstructured, manager string) string {
	for _, entry := range live.GetManagedFields() {
		if entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" && entry.Time != nil {
			return entry.Time.UTC().Format(time.RFC3339)
		}
	}
	return ""
}

// admission returns a hash of everything on which the mutators' changes to the object
// depend; empty if no mutator applies. known is false if this cannot be determined.
//
// Mutators may read any part of the object. The hash contains its resource version, which
// stands for the whole object.
func (r *Rules) admission(live, namespace *unstructured.Unstructured) (sum string, known bool) {
	if r.hidden {
		return "", false
	}
	kind := live.GroupVersionKind()
	var seen []string
	for _, m := range r.mutators {
		if !m.sees(kind, "UPDATE") {
			continue
		}
		if m.selective() && namespace != nil && r.fresh(lastLabelled(namespace)) {
			return "", false
		}
		if !m.selects(namespace) {
			continue
		}
		if m.unsteady || r.fresh(m.written) {
			return "", false
		}
		seen = append(seen, m.identity)
	}
	if len(seen) == 0 {
		return "", true
	}
	slices.Sort(seen)
	hash := sha256.Sum256([]byte(live.GetResourceVersion() + "\n" + strings.Join(seen, "\n")))
	return hex.EncodeToString(hash[:]), true
}

// fresh reports whether something was written so recently that some API servers may not
// have noticed it.
func (r *Rules) fresh(written time.Time) bool { return r.now.Sub(written) < spread }

// lastWritten returns the time of the last change of an object.
func lastWritten(u *unstructured.Unstructured) time.Time {
	return newest(u, func(any) bool { return true })
}

// lastLabelled returns the last time at which the labels of an object may have changed.
// Writers that only update annotations, as some operators do all the time, do not count.
func lastLabelled(u *unstructured.Unstructured) time.Time {
	return newest(u, func(entry any) bool { return !annotates(entry) })
}

// newest returns the time of the newest managedFields entry that counts, or the time of
// creation.
func newest(u *unstructured.Unstructured, counts func(entry any) bool) time.Time {
	last := u.GetCreationTimestamp().Time
	entries, _, _ := unstructured.NestedFieldNoCopy(u.Object, "metadata", "managedFields")
	list, _ := entries.([]any)
	for i, entry := range u.GetManagedFields() {
		if entry.Time != nil && entry.Time.After(last) && counts(list[i]) {
			last = entry.Time.Time
		}
	}
	return last
}

// annotates reports whether a managedFields entry is an update of annotations only. An
// apply does not count, because it may also have removed labels.
func annotates(entry any) bool {
	fields, _ := entry.(map[string]any)
	written, _ := fields["fieldsV1"].(map[string]any)
	metadata, _ := written["f:metadata"].(map[string]any)
	return fields["operation"] == string(metav1.ManagedFieldsOperationUpdate) &&
		len(written) == 1 && len(metadata) == 1 && metadata["f:annotations"] != nil
}

// BuiltIn reports whether the kind is one of Kubernetes' own. The version of the server
// then determines its schema and defaults.
func BuiltIn(kind schema.GroupVersionKind) bool {
	switch kind.Group {
	case "apiextensions.k8s.io", "apiregistration.k8s.io":
		return true
	}
	return scheme.Scheme.Recognizes(kind)
}
