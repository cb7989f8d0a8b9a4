package executor_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/run/executor"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// cluster is a fake cluster. It accepts every write unless a hook returns an error. calls lists the
// requests in the order in which they were answered.
type cluster struct {
	identity providers.Identity
	// Hooks that run before the answer, or nil.
	onApply   func(ctx context.Context, ref providers.Ref, options providers.ApplyOptions) error
	onDelete  func(ctx context.Context, ref providers.Ref) error
	onWait    func(ctx context.Context, ref providers.Ref, report func(string)) error
	onList    func(kind schema.GroupVersionKind) error
	onRelease func() error
	// contents are the answers to Contents, in order. The last one repeats.
	contents []providers.Contents
	// onDryRun changes the answer to a dry run or returns an error. It may be nil.
	onDryRun func(after *unstructured.Unstructured) error
	// onAnswer changes the answer to an apply. It may be nil.
	onAnswer func(live *unstructured.Unstructured)

	// messages are the lines of Jobs, by their names. A Job with no lines has pods that cannot be read.
	messages map[string][]string

	mu      sync.Mutex
	calls   []string
	objects map[providers.Ref]*unstructured.Unstructured
	uids    int
}

func newCluster(live ...*unstructured.Unstructured) *cluster {
	c := &cluster{
		identity: providers.Identity{UID: "cluster-a", Server: "https://a"},
		objects:  map[providers.Ref]*unstructured.Unstructured{},
	}
	for _, u := range live {
		c.objects[providers.RefOf(u)] = u
	}
	return c
}

func (c *cluster) called(format string, values ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls = append(c.calls, strings.TrimSpace(fmt.Sprintf(format, values...)))
}

func (c *cluster) Identity(context.Context) (providers.Identity, error) { return c.identity, nil }

func (c *cluster) List(_ context.Context, kind schema.GroupVersionKind, namespace string) ([]*unstructured.Unstructured, error) {
	if kind.Group == "admissionregistration.k8s.io" {
		return nil, nil
	}
	c.called("list %s %s", kind.Kind, namespace)
	if c.onList != nil {
		if err := c.onList(kind); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []*unstructured.Unstructured
	for ref, u := range c.objects {
		if ref.GVK == kind && ref.Namespace == namespace {
			list = append(list, u.DeepCopy())
		}
	}
	return list, nil
}

func (c *cluster) Get(_ context.Context, ref providers.Ref) (*unstructured.Unstructured, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if u := c.objects[ref]; u != nil {
		return u.DeepCopy(), nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: ref.GVK.Kind}, ref.Name)
}

func (c *cluster) Namespaced(context.Context, schema.GroupVersionKind) (bool, error) {
	return true, nil
}

// DryRun copies each field of the object's spec into the live object.
func (c *cluster) DryRun(_ context.Context, object *unstructured.Unstructured, _ providers.DryRunOptions) (*unstructured.Unstructured, error) {
	c.called("dry-run %s", providers.RefOf(object))
	c.mu.Lock()
	defer c.mu.Unlock()
	after := c.objects[providers.RefOf(object)].DeepCopy()
	spec, _, err := unstructured.NestedMap(object.Object, "spec")
	for field, value := range spec {
		err = unstructured.SetNestedField(after.Object, value, "spec", field)
	}
	if c.onDryRun != nil {
		err = c.onDryRun(after)
	}
	return after, err
}

func (c *cluster) Apply(ctx context.Context, object *unstructured.Unstructured, options providers.ApplyOptions) (*unstructured.Unstructured, error) {
	ref := providers.RefOf(object)
	if c.onApply != nil {
		if err := c.onApply(ctx, ref, options); err != nil {
			return nil, err
		}
	}
	c.called("apply %s %s", ref, bound(options))
	c.mu.Lock()
	defer c.mu.Unlock()
	live := object.DeepCopy()
	before, ok := c.objects[ref]
	switch {
	case ok && options.New:
		return nil, &providers.PreconditionError{Ref: ref, Exists: true}
	case ok:
		live.SetUID(before.GetUID())
	default:
		c.uids++
		live.SetUID(types.UID(fmt.Sprint("new-", c.uids)))
	}
	c.objects[ref] = live
	answer := live.DeepCopy()
	if c.onAnswer != nil {
		c.onAnswer(answer)
	}
	return answer, nil
}

// movedOn is a hook for onApply. It returns a PreconditionError if the live object has another
// version than the precondition of the write.
func (c *cluster) movedOn(_ context.Context, ref providers.Ref, options providers.ApplyOptions) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	live := c.objects[ref]
	if options.Precondition.ResourceVersion == live.GetResourceVersion() {
		return nil
	}
	return &providers.PreconditionError{Ref: ref, Live: live.DeepCopy()}
}

// Contents returns the next of the prepared answers.
func (c *cluster) Contents(_ context.Context, namespace string) (providers.Contents, error) {
	c.called("contents %s", namespace)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.contents) == 0 {
		return providers.Contents{}, nil
	}
	answer := c.contents[0]
	if len(c.contents) > 1 {
		c.contents = c.contents[1:]
	}
	return answer, nil
}

// Claim changes the resource version of the object.
func (c *cluster) Claim(_ context.Context, ref providers.Ref, precondition providers.Precondition, manager, fields string) (*unstructured.Unstructured, error) {
	c.called("claim %s of %s as %s", fields, ref, manager)
	live := &unstructured.Unstructured{Object: map[string]any{}}
	live.SetResourceVersion(precondition.ResourceVersion + "+")
	return live, nil
}

func (c *cluster) Release(_ context.Context, ref providers.Ref, uid types.UID, manager string) error {
	if c.onRelease != nil {
		if err := c.onRelease(); err != nil {
			return err
		}
	}
	c.called("release %s if %s as %s", ref, uid, manager)
	return nil
}

func (c *cluster) Delete(ctx context.Context, ref providers.Ref, options providers.DeleteOptions) error {
	if c.onDelete != nil {
		if err := c.onDelete(ctx, ref); err != nil {
			return err
		}
	}
	orphans := ""
	if options.Orphan {
		orphans = ", and leave what it made"
	}
	c.called("delete %s %s%s", ref, bound(providers.ApplyOptions{Precondition: options.Precondition}), orphans)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.objects, ref)
	return nil
}

func (c *cluster) Wait(ctx context.Context, ref providers.Ref, options providers.WaitOptions) error {
	if c.onWait != nil {
		if err := c.onWait(ctx, ref, options.Report); err != nil {
			return err
		}
	}
	if len(options.Nodes) > 0 {
		c.called("wait %s on %s", ref, options.Nodes)
		return nil
	}
	c.called("wait %s", ref)
	return nil
}

// Message returns the prepared answer.
func (c *cluster) Message(_ context.Context, job providers.Ref) ([]string, error) {
	if lines, known := c.messages[job.Name]; known && lines == nil {
		return nil, errors.New("pods is forbidden")
	}
	return c.messages[job.Name], nil
}

func bound(options providers.ApplyOptions) string {
	p := options.Precondition
	switch {
	case options.New:
		return "if new"
	case p.ResourceVersion != "":
		return fmt.Sprintf("if %s@%s", p.UID, p.ResourceVersion)
	case p.UID != "":
		return fmt.Sprintf("if %s", p.UID)
	}
	return ""
}

// kinds maps the names of the kinds that the tests use.
var kinds = map[string]schema.GroupVersionKind{
	"Deployment":            {Group: "apps", Version: "v1", Kind: "Deployment"},
	"DaemonSet":             {Group: "apps", Version: "v1", Kind: "DaemonSet"},
	"StatefulSet":           {Group: "apps", Version: "v1", Kind: "StatefulSet"},
	"ConfigMap":             {Version: "v1", Kind: "ConfigMap"},
	"PersistentVolumeClaim": {Version: "v1", Kind: "PersistentVolumeClaim"},
	"ServiceAccount":        {Version: "v1", Kind: "ServiceAccount"},
	"Secret":                {Version: "v1", Kind: "Secret"},
	"Job":                   {Group: "batch", Version: "v1", Kind: "Job"},
	"Node":                  {Version: "v1", Kind: "Node"},
	"Namespace":             {Version: "v1", Kind: "Namespace"},
}

// parse makes an object from a text such as "Deployment api".
func parse(text string) *providers.Object {
	kind, name, _ := strings.Cut(text, " ")
	u := &unstructured.Unstructured{Object: map[string]any{}}
	u.SetGroupVersionKind(kinds[kind])
	u.SetName(name)
	if kind != "Node" && kind != "Namespace" {
		u.SetNamespace("openstack")
	}
	return &providers.Object{Address: address(text), Manifest: u, Partial: kind == "Node"}
}

func address(text string) addrs.Object {
	kind, name, _ := strings.Cut(text, " ")
	return addrs.Object{Block: "service.test", Kind: kind, Name: name}
}

// act makes an action on an object, such as "Deployment api", with dependencies. If the verb needs
// a live object, the action expects the UID "uid-api".
func act(verb plans.Verb, text string, dependencies ...string) plans.Action {
	object := parse(text)
	a := plans.Action{Address: object.Address, Verb: verb, Object: object, Ref: object.Ref()}
	for _, dependency := range dependencies {
		a.DependsOn = append(a.DependsOn, address(dependency))
		object.DependsOn = append(object.DependsOn, address(dependency))
	}
	switch verb {
	case plans.Delete, plans.Forget:
		a.Object = nil
		a.Partial = object.Partial
	}
	if verb != plans.Create && verb != plans.Run {
		a.Prior.UID = types.UID("uid-" + object.Manifest.GetName())
	}
	return a
}

func pending(a plans.Action) plans.Action {
	a.Pending = true
	return a
}

// live returns an object as it is in the cluster.
func live(text string) *unstructured.Unstructured {
	u := parse(text).Manifest
	u.SetUID(types.UID("uid-" + u.GetName()))
	return u
}

var lastWrite = time.Date(2026, 11, 21, 2, 11, 5, 0, time.UTC)

// recorded returns an object as an earlier apply recorded it in the state.
func recorded(text string, ready bool) state.Object {
	o := parse(text)
	apiVersion, kind := o.Ref().GVK.ToAPIVersionAndKind()
	return state.Object{
		Address: o.Address.String(), APIVersion: apiVersion, Kind: kind, Namespace: o.Ref().Namespace, Name: o.Ref().Name,
		UID: "uid-" + o.Ref().Name, DesiredDigest: "earlier", Ready: ready, Partial: o.Partial, Applied: lastWrite,
	}
}

// apply is one apply in a test.
type apply struct {
	*cluster
	store   *state.Store
	session *state.Session
	options executor.Options
	events  []string
	ready   []string // names of the objects that the apply waited for
}

// newApply opens a state with the given objects.
func newApply(t *testing.T, c *cluster, known ...state.Object) *apply {
	t.Helper()
	return newApplyAt(t, state.Open(filepath.Join(t.TempDir(), state.DefaultFile)), c, known...)
}

func newApplyAt(t *testing.T, store *state.Store, c *cluster, known ...state.Object) *apply {
	t.Helper()
	a := &apply{cluster: c, store: store}
	var err error
	if a.session, err = a.store.Lock(t.Context(), state.LockInfo{Operation: "apply"}, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.session.Close() })
	for _, o := range known {
		if err := a.session.Record(o); err != nil {
			t.Fatal(err)
		}
	}
	a.options = executor.Options{Reader: c, Writer: c, Session: a.session, Observe: a.observe}
	return a
}

// observe needs no lock, because events come one at a time.
func (a *apply) observe(e plans.Event) {
	kinds := map[plans.EventKind]string{
		plans.Started: "started", plans.Waiting: "waiting", plans.Done: "done",
		plans.Failed: "failed", plans.Skipped: "skipped",
		plans.Interrupted: "interrupted",
	}
	text := kinds[e.Kind] + " " + e.Action.Ref.Name
	switch {
	case e.Err != nil:
		text += ": " + e.Err.Error()
	case e.Because != (addrs.Object{}):
		text += " because of " + e.Because.Name
	case e.Status != "":
		text += ": " + e.Status
	}
	a.events = append(a.events, text)
	if e.Ready {
		a.ready = append(a.ready, e.Action.Ref.Name)
	}
}

func (a *apply) plan(actions ...plans.Action) *plans.Plan {
	now := a.session.State()
	return &plans.Plan{
		ID: "plan-1", Cloud: "prod", Cluster: a.identity,
		State:   plans.StateRef{Lineage: now.Lineage, Serial: now.Serial},
		Actions: actions,
	}
}

func (a *apply) run(ctx context.Context, t *testing.T, actions ...plans.Action) *executor.Result {
	t.Helper()
	result, err := executor.Apply(ctx, a.plan(actions...), a.options)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// known returns the record of an object in the stored state, or nil.
func (a *apply) known(t *testing.T, text string) *state.Object {
	t.Helper()
	s, err := a.store.Read()
	if err != nil {
		t.Fatal(err)
	}
	return s.Find(address(text).String())
}

// outcomes formats a result as lines such as "api: failed, written".
func outcomes(r *executor.Result) []string {
	names := map[executor.Status]string{
		executor.Applied: "applied", executor.Failed: "failed",
		executor.Skipped: "skipped", executor.Interrupted: "interrupted",
	}
	var lines []string
	for _, o := range r.Outcomes {
		line := o.Action.Ref.Name + ": " + names[o.Status]
		if o.Because != (addrs.Object{}) {
			line += " because of " + o.Because.Name
		}
		if o.Written {
			line += ", written"
		}
		lines = append(lines, line)
	}
	return lines
}
