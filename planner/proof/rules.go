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

	"kolla.openstack.org/kolla/internal/crash"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// Rules are what a server makes of an apply by, beyond what the object says: its
// own version, and the mutating webhooks and policies that its operators
// installed. As long as they are the same, so is what the server does.
//
// What a webhook or policy does is up to its configuration and the object; as for the
// object, to all of it, and not only to what kolla owns. A webhook is a program as well,
// which may change without a word: nothing but asking the server about everything shows
// that.
type Rules struct {
	server   string
	now      time.Time
	mutators []mutator
	// hidden: the user may not list the mutators. Any object may meet one then.
	hidden bool
}

// spread is for how long after a change of a mutator, or of the labels of a
// namespace that one selects by, some API server may not go by it yet. That takes
// about a second; the rest is for clocks that differ.
const spread = 2 * time.Minute

// ReadRules asks for the mutating webhooks and policies: one LIST of each kind, and
// of policies only where one is bound. cluster is what the Reader reads, now the
// time at which what it reads is compared.
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

// Hidden reports whether the user may not see the mutators, so that the server has
// to be asked about everything.
func (r *Rules) Hidden() bool { return r.hidden }

// Undisturbed reports whether an apply to the object certainly meets no mutator.
// namespace is the object's, as it is in the cluster; nil of an object that is in
// none.
func (r *Rules) Undisturbed(live, namespace *unstructured.Unstructured) bool {
	sum, known := r.admission(live, namespace)
	return known && sum == ""
}

// Meets reports whether an object of the kind may meet a mutator when it is made.
func (r *Rules) Meets(kind schema.GroupVersionKind) bool { return r.meets(kind, "CREATE") }

func (r *Rules) meets(kind schema.GroupVersionKind, operations ...string) bool {
	return r.hidden || slices.ContainsFunc(r.mutators, func(m mutator) bool { return m.sees(kind, operations...) })
}

// Check is what a later plan may know an object to be unchanged by, if an apply
// would change nothing in it now. Where there is no certainty, it only says that nobody
// has added to the object: what becomes of custom resources is up to their definitions
// and to other servers. namespace is as for Undisturbed.
func (r *Rules) Check(live, namespace *unstructured.Unstructured, manager string, terms Terms) state.Check {
	admission, known := r.admission(live, namespace)
	return r.check(live, manager, admission, known, terms)
}

// Written is the Check of an object that an apply has just given. Where a mutator
// may have seen it, nothing is certain: one more apply need not give the same again,
// least of all where the first one made the object and the mutator sees only that.
func (r *Rules) Written(live *unstructured.Unstructured, manager string, terms Terms) state.Check {
	return r.check(live, manager, "", !r.meets(live.GroupVersionKind(), "CREATE", "UPDATE"), terms)
}

// check is without a server where the server's answer to another apply is not certain.
func (r *Rules) check(live *unstructured.Unstructured, manager, admission string, certain bool, terms Terms) state.Check {
	sum, ok := fingerprint(live, manager, terms)
	if !ok {
		return state.Check{}
	}
	if !certain || !BuiltIn(live.GroupVersionKind()) || r.server == "" {
		return state.Check{Owned: sum}
	}
	return state.Check{Owned: sum, Server: r.server, Admission: admission}
}

// admission is a hash of all that says what mutators make of an apply to the
// object; empty where none sees it. known is false where there is no telling.
//
// Mutators may look at any part of the object. Its resource version stands for it
// as a whole.
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

// fresh reports whether something was written so lately that not every API server
// need go by it.
func (r *Rules) fresh(written time.Time) bool { return r.now.Sub(written) < spread }

// lastWritten is when somebody last changed an object.
func lastWritten(u *unstructured.Unstructured) time.Time {
	return newest(u, func(any) bool { return true })
}

// lastLabelled is when somebody may last have changed an object's labels. Who only
// writes annotations, as some operators do all the time, does not count.
func lastLabelled(u *unstructured.Unstructured) time.Time {
	return newest(u, func(entry any) bool { return !annotates(entry) })
}

// newest is the time of the newest of those entries of managedFields that count, or
// that of the creation.
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

// annotates reports whether an entry of managedFields is of somebody who updates
// annotations, and nothing else. An apply may as well have dropped labels.
func annotates(entry any) bool {
	fields, _ := entry.(map[string]any)
	written, _ := fields["fieldsV1"].(map[string]any)
	metadata, _ := written["f:metadata"].(map[string]any)
	return fields["operation"] == string(metav1.ManagedFieldsOperationUpdate) &&
		len(written) == 1 && len(metadata) == 1 && metadata["f:annotations"] != nil
}

// BuiltIn reports whether the kind is one of Kubernetes' own, so that the version
// of the server says all about what it makes of an object.
func BuiltIn(kind schema.GroupVersionKind) bool {
	switch kind.Group {
	case "apiextensions.k8s.io", "apiregistration.k8s.io":
		return true
	}
	return scheme.Scheme.Recognizes(kind)
}
