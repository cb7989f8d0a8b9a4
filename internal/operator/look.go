package operator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/base/redaction"
	"kolla.openstack.org/kolla/internal/operator/v1alpha1"
	"kolla.openstack.org/kolla/internal/run/approval"
	"kolla.openstack.org/kolla/internal/run/engine"
	"kolla.openstack.org/kolla/internal/run/explain"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers/kubernetes"
	"kolla.openstack.org/kolla/providers/openstack"
	"kolla.openstack.org/kolla/state"
	"kolla.openstack.org/kolla/state/cluster"
)

// tenant is a connection in the name of the service account of a Cloud. It is kept between looks.
type tenant struct {
	account  string
	messages *messages
	cluster  *engine.Cluster
	client   *kubernetes.Client
	watching *watching
}

// stop ends a look: nothing more can be done now.
type stop struct {
	reason, message string
	// stalled: a person has to change something first.
	stalled bool
}

func (s *stop) Error() string { return s.message }

func stalled(reason, format string, args ...any) error {
	return &stop{reason, fmt.Sprintf(format, args...), true}
}

func failed(reason, format string, args ...any) error {
	return &stop{reason, fmt.Sprintf(format, args...), false}
}

// look is one plan of a Cloud.
type look struct {
	input  *input
	engine *engine.Engine
	store  *state.Store
	state  *state.State
	made   *engine.PlanResult
	digest string
	config *configs.Config
	loaded engine.Loaded
	// options made the plan.
	options engine.Options
}

// account returns the user name of the service account of a Cloud.
func account(cloud *v1alpha1.Cloud) string {
	return fmt.Sprintf("system:serviceaccount:%s:%s", cloud.Namespace, cloud.Spec.ServiceAccountName)
}

// tenantOf returns the connection of a Cloud.
func (r *Reconciler) tenantOf(cloud *v1alpha1.Cloud) (*tenant, error) {
	key := keyOf(cloud)
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.tenants[key]; t != nil && t.account == account(cloud) {
		return t, nil
	}
	t := &tenant{account: account(cloud), messages: &messages{}}
	options := r.Kubernetes
	options.As, options.Secrets, options.Log = t.account, &redaction.Values{}, r.Log
	t.cluster = engine.NewCluster(options, t.messages)
	client, err := t.cluster.Client()
	if err != nil {
		return nil, err
	}
	t.client = client
	if r.tenants == nil {
		r.tenants = map[string]*tenant{}
	}
	if old := r.tenants[key]; old != nil {
		old.watching.stop()
	}
	r.tenants[key] = t
	return t, nil
}

// drop forgets the connection of a Cloud that is gone.
func (r *Reconciler) drop(key string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.tenants[key]; t != nil {
		t.watching.stop()
	}
	delete(r.tenants, key)
	delete(r.trees, key)
}

// sourceOf returns the configuration of an input.
func sourceOf(in *input, reporter engine.Reporter) *engine.Source {
	given, environ := in.options()
	dir := path.Clean(in.Path)
	return &engine.Source{Dir: dir, Confined: true, Reporter: reporter, Evaluate: func(o lang.Options) (*configs.Config, hcl.Diagnostics, error) {
		o.Catalogue, o.FS, o.Confined, o.Vars, o.Environ = openstack.Catalogue(), in.tree, true, given, environ
		config, diags := lang.Load(dir, o)
		return config, diags, nil
	}}
}

// plan makes a plan of an input. The error is a *stop if it cannot be made.
func (r *Reconciler) plan(ctx context.Context, t *tenant, cloud *v1alpha1.Cloud, in *input, holds []string) (*look, error) {
	t.messages.take()
	l := &look{input: in}
	l.engine = &engine.Engine{
		Source: sourceOf(in, t.messages), Cluster: t.cluster, Reporter: t.messages, Version: r.Version, Log: r.Log, SharedState: true,
	}
	if err := l.open(ctx, t); err != nil {
		return nil, t.explained(err, r.Version, v1alpha1.ReasonPlanFailed)
	}
	destroy := !cloud.DeletionTimestamp.IsZero()
	loading := engine.Loading{Destroy: destroy, Check: !destroy, Restricted: len(holds) > 0}
	if !destroy {
		loading.Cluster = t.cluster
	}
	t.cluster.Forget()
	t.cluster.Prefetch(ctx, l.state)
	loaded, err := l.engine.Source.Load(ctx, loading)
	if err != nil {
		return nil, t.explained(err, r.Version, v1alpha1.ReasonInvalidSource)
	}
	l.loaded, l.config = loaded, loaded.Config
	if err := l.state.CheckCloud(l.config.Cloud.Name); err != nil {
		return nil, stalled(v1alpha1.ReasonConflict, "%v", err)
	}
	holds = known(holds, l)
	l.options = engine.Options{
		Destroy: destroy, KeepData: stopsAll(cloud), DeleteData: cloud.Spec.DeleteData, Adopt: cloud.Spec.Adopt, Selection: plans.Selection{Excludes: holds},
		// A plan is kept for kolla show, and shows what it is for.
		Written: powersOf(cloud),
	}
	if limit := cloud.Spec.MaxDeletes; limit != nil {
		l.options.MaxDeletes = new(int(*limit))
	}
	if err := l.again(ctx, t); err != nil {
		return nil, t.explained(err, r.Version, v1alpha1.ReasonPlanFailed)
	}
	return l, nil
}

// stopsAll reports whether the plan of a destroy stops workloads that others need, such as hypervisors.
// A person has to approve that.
func stopsAll(cloud *v1alpha1.Cloud) bool {
	return !cloud.DeletionTimestamp.IsZero() && cloud.Spec.Approval != v1alpha1.Automatic
}

// powersOf returns the options of a plan as the command line has them.
func powersOf(cloud *v1alpha1.Cloud) []string {
	var out []string
	for _, address := range cloud.Spec.Adopt {
		out = append(out, "-adopt="+address)
	}
	for _, address := range cloud.Spec.DeleteData {
		out = append(out, "-delete-data="+address)
	}
	if stopsAll(cloud) {
		out = append(out, "-keep-data")
	}
	return out
}

// again makes the plan of the loaded configuration, from the state.
func (l *look) again(ctx context.Context, t *tenant) (err error) {
	t.cluster.Warnings.Gather()
	defer t.cluster.Warnings.Flush()
	if l.made, err = l.engine.Plan(ctx, l.loaded, l.state, l.options); err != nil {
		return err
	}
	for _, n := range t.messages.warned() {
		n.Text = t.cluster.Secrets.Mixed(n.Text)
		l.made.Plan.Warnings = append(l.made.Plan.Warnings, n)
	}
	l.digest = approval.Digest(l.made.Plan, l.input.Origins...)
	return nil
}

// open finds the state, and checks that it is of this cluster.
func (l *look) open(ctx context.Context, t *tenant) error {
	dir := path.Clean(l.input.Path)
	if !l.input.tree.Has(dir) {
		return stalled(v1alpha1.ReasonInvalidSource, "the source has no directory %s", dir)
	}
	if names, _ := fs.Glob(l.input.tree, path.Join(dir, "*.hcl*")); len(names) == 0 {
		return stalled(v1alpha1.ReasonInvalidSource, "the directory %s of the source has no .hcl files: spec.path names the directory with the configuration", dir)
	}
	backend, _, diags := lang.Backend(dir, l.input.tree)
	if diags.HasErrors() {
		t.messages.Diagnostics(diags, nil)
		return t.explained(engine.ErrReported, l.engine.Version, v1alpha1.ReasonInvalidSource)
	}
	if backend.Kind != configs.KubernetesBackend {
		return stalled(v1alpha1.ReasonNotShared, "the configuration keeps its state in a file, which the operator does not have. Write `backend \"kubernetes\" {}` into the cloud block; `kolla init -migrate-state` moves a state that is there")
	}
	if err := t.cluster.Connect(ctx); err != nil {
		return failed(v1alpha1.ReasonUnreachable, "%v", err)
	}
	l.store = state.New(cluster.New(ctx, t.client.Records(backend.Namespace), cluster.Options{
		Namespace: backend.Namespace, Cloud: backend.Cloud, MakeNamespace: backend.Namespace != backend.CloudNamespace,
	}))
	var err error
	if l.state, err = l.store.Read(); err != nil {
		return err
	}
	identity := t.cluster.Identity()
	return l.state.CheckCluster(identity.UID, identity.Server)
}

// explained turns an error into a *stop with the words that the command line would print.
func (t *tenant) explained(err error, version, reason string) error {
	var s *stop
	if errors.As(err, &s) {
		return s
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	if errors.Is(err, engine.ErrReported) {
		text := strings.Join(t.messages.take(), "\n")
		return &stop{reason, t.cluster.Secrets.Mixed(text), reason == v1alpha1.ReasonInvalidSource}
	}
	summary, detail := explain.Error(err, version, t.cluster.Secrets)
	return &stop{reason, summary + ": " + detail, false}
}

// takenOver reports whether somebody took a cloud over with the command line since the operator had it.
func takenOver(cloud *v1alpha1.Cloud, st *state.State) (state.Apply, bool) {
	if !cloud.Status.Managed || len(st.History) == 0 || st.Operator() != "" {
		return state.Apply{}, false
	}
	return st.History[len(st.History)-1], true
}

// known returns the holds of services that the configuration or the state has: no plan can leave out
// others.
func known(holds []string, l *look) []string {
	return slices.DeleteFunc(slices.Clone(holds), func(address string) bool {
		return !slices.ContainsFunc(l.config.Services, func(s configs.Service) bool { return s.Block == address }) &&
			!slices.ContainsFunc(l.state.Objects, func(o state.Object) bool { return blockOf(o.Address) == address })
	})
}

// holdsOf returns the services that people hold back, by their addresses.
func holdsOf(services []v1alpha1.CloudService, cloud string) []string {
	var out []string
	for i := range services {
		if s := &services[i]; s.Spec.Cloud == cloud && s.Spec.Hold {
			out = append(out, s.Spec.Service)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
