package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/urfave/cli/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kolla.openstack.org/kolla/internal/crash"
	"kolla.openstack.org/kolla/internal/view"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/trust"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
	"kolla.openstack.org/kolla/providers/openstack"
	"kolla.openstack.org/kolla/providers/openstack/options"
	"kolla.openstack.org/kolla/providers/secrets"
	"kolla.openstack.org/kolla/state"
)

// workspace is what a command works with: a configuration, a cluster, a state.
// A command fills what it needs.
type workspace struct {
	streams
	flags   *cli.Context
	printer *view.Printer
	config  *configs.Config
	console *lang.Console // of config
	client  *kubernetes.Client
	cluster providers.Identity
	store   *state.Store
	// snapshot is what was read ahead of the cluster; nil: nothing.
	snapshot *providers.Snapshot
	asked    bool              // somebody was asked for the value of a variable
	answers  map[string]string // what was said
	refused  map[string]string // why some of that was not accepted
	// unanswered is why there is no answer, and none will come.
	unanswered error
	warnings   *warnings

	// reads: the command has a cluster, in which data are read.
	reads bool
	// settled: what data depend on is applied; see lang.Options.
	settled bool
	// quiet: something is only looked up, and warnings of what could be better are left to
	// validate, plan and apply.
	quiet bool
	// valueless: nothing but a look at the configuration is wanted, for which variables
	// need no values.
	valueless bool
	// destroys: what data would say matters to nobody.
	destroys bool
	// checks: what it reads is going to be deployed, and the services' config files are
	// worth a look.
	checks bool
	// later are the data that are not to be read yet, because the plan changes them.
	later map[string]bool
	// unread is why no data can be read at all; nil: they can.
	unread error
	// believes: what looks like kolla's is rendered as kolla's, to find out what it is.
	believes bool
	// resumed is how the plan was made whose rest is being planned.
	resumed *plans.Resume
	// approved is the saved plan that is being applied; nil: there is none.
	approved *plans.Plan
	held     map[addrs.Object]error // actions of it that are not begun
	left     []plans.Problem        // what pods that are gone left on nodes
	told     map[string]bool        // warnings of the configuration that were printed
	dialed   sync.Once
	dialErr  error
	sharing  sync.Mutex // for snapshot
}

func newWorkspace(s streams, c *cli.Context) *workspace {
	printer := s.printer(c)
	return &workspace{streams: s, flags: c, printer: printer, warnings: &warnings{printer: printer}}
}

// loadConfig reads and evaluates the configuration of the current directory.
func (w *workspace) loadConfig() error {
	config, diags := w.readConfig()
	if w.unanswered != nil {
		return w.unanswered
	}
	return w.take(config, diags)
}

// take makes a configuration that of the workspace, unless it has errors. It prints what
// there is to say of it.
func (w *workspace) take(config *configs.Config, diags hcl.Diagnostics) error {
	if len(config.Undeclared) > 0 && !diags.HasErrors() {
		w.config = config // it is loaded again, with what is written for them
		return nil
	}
	if diags.HasErrors() && w.checks {
		diags = append(diags, options.CheckPart(config)...)
	}
	if w.quiet {
		diags = slices.DeleteFunc(diags, lang.Advice)
	}
	w.printer.Diagnostics(w.untold(diags), config.Files)
	if diags.HasErrors() {
		return exitCode(exitError)
	}
	w.config = config
	return nil
}

// untold leaves out the warnings that were printed already: the configuration may be
// loaded again when more of it is known, and then there may be more to warn of.
func (w *workspace) untold(diags hcl.Diagnostics) hcl.Diagnostics {
	if w.told == nil {
		w.told = map[string]bool{}
	}
	return slices.DeleteFunc(slices.Clone(diags), func(d *hcl.Diagnostic) bool {
		if d.Severity == hcl.DiagError {
			return false
		}
		key := d.Summary + "\n" + d.Detail
		if d.Subject != nil {
			key += "\n" + d.Subject.String()
		}
		said := w.told[key]
		w.told[key] = true
		return said
	})
}

// readConfig is loadConfig without a word about what is wrong.
func (w *workspace) readConfig() (*configs.Config, hcl.Diagnostics) {
	options := lang.Options{
		Catalogue: openstack.Catalogue(),
		Vars:      givenVars(w.flags),
		Environ:   os.Environ(),
		// Only for as long as the file is not written.
		Undeclared: w.flags.String(generateFlag) != "" && w.config == nil,
		Ignorant:   w.destroys,
		Unset:      w.valueless,
	}
	if !w.valueless && w.flags.Bool("input") && !w.flags.Bool("json") && w.interactive() {
		options.Prompt = func(v configs.Variable) (string, error) {
			w.asked = true
			return w.answer(v)
		}
	}
	if w.reads {
		options.Read, options.Later, options.Settled = w.readData, w.later, w.settled
		options.Restricted = w.restricted()
	}
	for {
		config, console, diags := lang.LoadConsole(".", options)
		if len(config.Refused) == 0 || w.unanswered != nil {
			w.console = console
			return config, diags
		}
		w.refused = config.Refused
	}
}

// renderOffline loads the configuration and makes its objects as far as that goes
// without a cluster.
func (w *workspace) renderOffline() ([]providers.Object, error) {
	if err := w.loadConfig(); err != nil {
		return nil, err
	}
	objects, diags := openstack.Render(w.config, openstack.Offline())
	w.printer.Diagnostics(diags, w.config.Files)
	if diags.HasErrors() {
		return nil, exitCode(exitError)
	}
	return objects, nil
}

// checkOptions warns of config options that the services would ignore or refuse.
func (w *workspace) checkOptions() {
	w.printer.Diagnostics(w.untold(options.Check(w.config)), w.config.Files)
}

// open reads the configuration and the state, and connects to the cluster, all at
// the same time. What the state knows is listed ahead, so that the plan of an
// unchanged cloud takes hardly longer than its longest list.
func (w *workspace) open(ctx context.Context) (*state.State, error) {
	var (
		st                  *state.State
		reading, connecting error
	)
	done := make(chan struct{})
	go func() {
		defer close(done)
		connecting = crash.Catch(func() (err error) {
			w.store = state.Open(w.flags.String("state"))
			st, reading = w.store.Read()
			if err := w.dial(); err != nil {
				return err
			}
			if reading == nil {
				w.readAhead(ctx, st)
			}
			w.cluster, err = w.client.Identity(ctx)
			return err
		})
	}()
	if err := w.loadConfig(); err != nil {
		return nil, err
	}
	<-done
	if w.asked {
		w.forget() // a person may take hours to answer
	}
	if err := cmp.Or(connecting, reading); err != nil {
		return nil, err
	}
	return st, w.checkState(st)
}

// readAhead begins to list what the state knows.
func (w *workspace) readAhead(ctx context.Context, st *state.State) {
	w.shared().Prefetch(ctx, planner.Known(st)...)
}

// shared is what all that is being read of the cluster goes through, so that nothing is
// listed twice. The cluster has to be known.
func (w *workspace) shared() *providers.Snapshot {
	w.sharing.Lock()
	defer w.sharing.Unlock()
	if w.snapshot == nil {
		w.snapshot = providers.NewSnapshot(w.client)
	}
	return w.snapshot
}

// forget has the next read ask the cluster again.
func (w *workspace) forget() {
	w.sharing.Lock()
	defer w.sharing.Unlock()
	w.snapshot, w.unread = nil, nil
}

// connect finds the cluster and asks which one it is.
func (w *workspace) connect(ctx context.Context) error {
	if err := w.dial(); err != nil {
		return err
	}
	cluster, err := w.client.Identity(ctx)
	w.cluster = cluster
	return err
}

// dial finds the cluster, and asks it nothing.
func (w *workspace) dial() error {
	w.dialed.Do(func() { w.dialErr = w.findCluster() })
	return w.dialErr
}

func (w *workspace) findCluster() error {
	client, err := kubernetes.Connect(kubernetes.Options{
		Kubeconfig: w.flags.String("kubeconfig"),
		Context:    w.flags.String("context"),
		UserAgent:  "kolla/" + Version,
		Warn:       w.warnings.take,
		Unreachable: func(err error) {
			if err == nil {
				w.printer.Reachable()
				return
			}
			w.printer.Unreachable(kubernetes.Cause(err))
		},
		Log: w.log,
	})
	if err != nil {
		return err
	}
	w.client = client
	return nil
}

// openState finds the state, and refuses one of another cluster.
func (w *workspace) openState() (*state.State, error) {
	w.store = state.Open(w.flags.String("state"))
	st, err := w.store.Read()
	if err != nil {
		return nil, err
	}
	return st, w.checkState(st)
}

// checkState refuses a state that does not belong to this cluster and cloud.
func (w *workspace) checkState(st *state.State) error {
	if err := st.CheckCluster(w.cluster.UID, w.cluster.Server); err != nil {
		return err
	}
	if w.config == nil {
		return nil
	}
	return st.CheckCloud(w.config.Cloud.Name)
}

// makePlan compares the configuration with the cluster. Data that the plan turns out to
// change are then known only after the apply, and the plan is made once more. Warnings
// become a part of the plan; problems are printed, with the warnings, and end in an
// error.
func (w *workspace) makePlan(ctx context.Context, st *state.State, destroy bool) (*plans.Plan, error) {
	for {
		plan, err := w.compare(ctx, st, destroy)
		if err != nil {
			return nil, err
		}
		if !w.reads || !w.overtaken(plan) {
			w.warnings.into(plan)
			return plan, nil
		}
		if err := w.loadConfig(); err != nil {
			return nil, err
		}
	}
}

// compare makes a plan of what is known. Problems are printed, and end in an error.
func (w *workspace) compare(ctx context.Context, st *state.State, destroy bool) (*plans.Plan, error) {
	c, err := w.comparison(ctx, st, destroy)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(c.problems, func(p plans.Problem) bool { return !p.Warning }) {
		for i, problem := range c.problems {
			if problem.Warning {
				c.problems[i] = plans.NoticeOf(problem).Problem()
			}
		}
		w.printer.Problems(c.problems)
		return nil, exitCode(exitError)
	}
	for _, problem := range c.problems {
		c.plan.Warnings = append(c.plan.Warnings, plans.NoticeOf(problem))
	}
	return c.plan, nil
}

// comparison is a plan with what it was made of.
type comparison struct {
	plan     *plans.Plan // nil: nothing could be compared
	problems []plans.Problem
	objects  []providers.Object
	snapshot *providers.Snapshot
}

func (w *workspace) comparison(ctx context.Context, st *state.State, destroy bool) (*comparison, error) {
	start := time.Now()
	options, err := w.planOptions(destroy)
	if err != nil {
		return nil, err
	}
	snapshot := w.shared()
	if w.checks {
		w.checkOptions()
	}
	objects, err := w.render(ctx, snapshot, st)
	// What cannot be made any more can still be destroyed.
	var code exitCode
	if err != nil && !(destroy && errors.As(err, &code)) {
		return nil, err
	}
	plan, problems, err := planner.Make(ctx, planner.Input{
		Cloud:          w.config.Cloud.Name,
		Namespace:      w.config.Cloud.Namespace,
		Digest:         w.config.Digest,
		Variables:      w.config.Variables,
		Tool:           Version,
		Objects:        objects,
		Reader:         w.client,
		Shell:          w.client.Shell(),
		Snapshot:       snapshot,
		State:          st,
		Cluster:        w.cluster,
		Outputs:        w.config.Outputs,
		Checks:         w.config.Checks,
		Destroy:        destroy,
		DeleteData:     options.resume.DeleteData,
		Moves:          w.config.Moves,
		Removals:       w.config.Removals,
		Imports:        w.config.Imports,
		External:       external(w.config),
		Adopt:          options.resume.Adopt,
		ForceConflicts: options.resume.ForceConflicts,
		ForeignPolicy:  plans.ForeignPolicy(w.config.Cloud.Foreign),
		VerifyAll:      options.verifyAll,
		Selection:      options.selection,
		Undecided:      w.config.Undecided,
		Replace:        options.replace,
		RefreshOnly:    options.refreshOnly,
		MaxDeletes:     options.maxDeletes,
		Values:         w.flags.String("out") != "",
		Parallelism:    w.flags.Int("parallelism"),
		Now:            start,
	})
	if err != nil {
		return nil, err
	}
	options.place(problems)
	if plan != nil {
		plan.Options, plan.Elapsed = powers(w.flags), time.Since(start)
		logDecisions(ctx, w.log, plan)
	}
	return &comparison{plan: plan, problems: problems, objects: objects, snapshot: snapshot}, nil
}

// external are the blocks of the services that are there already.
func external(config *configs.Config) []string {
	var blocks []string
	for i := range config.Services {
		if config.Services[i].External {
			blocks = append(blocks, config.Services[i].Block)
		}
	}
	return blocks
}

// render makes the objects of the configuration for the cluster as it is.
func (w *workspace) render(ctx context.Context, snapshot *providers.Snapshot, st *state.State) ([]providers.Object, error) {
	scopes := []providers.Scope{{GVK: secretKind, Namespace: w.config.Cloud.Namespace}}
	if len(w.config.Roles) > 0 {
		scopes = append(scopes, providers.Scope{GVK: nodeKind})
	}
	scopes = append(scopes, scopesOfSources(w.config)...)
	if err := snapshot.Load(ctx, scopes...); err != nil {
		return nil, err
	}
	facts := w.facts(ctx, snapshot, st)
	objects, diags := openstack.Render(w.config, facts)
	if facts.Former = w.former(objects, snapshot, st); len(facts.Former) > 0 {
		objects, diags = openstack.Render(w.config, facts)
	}
	told := w.untold(diags)
	if w.destroys { // nothing of it is going to run
		told = slices.DeleteFunc(told, func(d *hcl.Diagnostic) bool { return d.Severity != hcl.DiagError })
	}
	w.printer.Diagnostics(told, w.config.Files)
	if diags.HasErrors() {
		return objects, exitCode(exitError)
	}
	return objects, nil
}

// former are the Secrets that rendered ones take the place of under another name. Only
// certificates are rendered otherwise for that: by what they take over it is decided
// whether they, and what they signed, are to be made anew.
func (w *workspace) former(objects []providers.Object, snapshot *providers.Snapshot, st *state.State) map[addrs.Object]providers.Ref {
	if w.destroys || !slices.ContainsFunc(objects, func(o providers.Object) bool { return o.Certified() && snapshot.Get(o.Ref()) == nil }) {
		return nil
	}
	return planner.Heirs(planner.Input{
		Cloud: w.config.Cloud.Name, Namespace: w.config.Cloud.Namespace, Objects: objects, Snapshot: snapshot,
		State: st, Cluster: w.cluster, Moves: w.config.Moves, Removals: w.config.Removals, Imports: w.config.Imports,
	})
}

var (
	nodeKind   = schema.GroupVersionKind{Version: "v1", Kind: "Node"}
	secretKind = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}
)

// facts is what rendering must know of the live cluster.
func (w *workspace) facts(ctx context.Context, snapshot *providers.Snapshot, st *state.State) openstack.Facts {
	ours := w.ownSecrets(snapshot, st)
	values := func(namespace, name string) map[string][]byte {
		return providers.ValuesOf(snapshot.Get(providers.Ref{GVK: secretKind, Namespace: namespace, Name: name}))
	}
	return openstack.Facts{
		Ours:  ours,
		Nodes: nodes(snapshot.All(nodeKind)),
		Revision: func(address addrs.Object, namespace, name string, given map[string]string) string {
			live := snapshot.Get(providers.Ref{GVK: secretKind, Namespace: namespace, Name: name})
			if live != nil && ours(address, namespace, name) {
				return secrets.RevisionOf(live, given, values)
			}
			return secrets.FirstRevision(address, before(st, address))
		},
		Values: values,
		Made:   w.made(st),
		Given:  given,
		Now:    time.Now(),
		Namespaced: func(kind schema.GroupVersionKind) (bool, bool) {
			namespaced, err := w.client.Namespaced(ctx, kind)
			return namespaced, err == nil
		},
	}
}

// ownSecrets tells the Secrets that kolla has made, or that the operator named to be
// taken over, from others that have their names. Nothing is read from the latter.
func (w *workspace) ownSecrets(snapshot *providers.Snapshot, st *state.State) func(address addrs.Object, namespace, name string) bool {
	type place struct{ namespace, name string }
	known := map[place]*state.Object{}
	for i := range st.Objects {
		if o := &st.Objects[i]; o.Kind == secretKind.Kind && o.APIVersion == secretKind.Version {
			known[place{o.Namespace, o.Name}] = o
		}
	}
	named := w.adopted()
	return func(address addrs.Object, namespace, name string) bool {
		live := snapshot.Get(providers.Ref{GVK: secretKind, Namespace: namespace, Name: name})
		record := known[place{namespace, name}]
		if w.believes || trust.Same(record, live) || slices.Contains(named, address.String()) {
			return true
		}
		imported := slices.ContainsFunc(w.config.Imports, func(i addrs.Import) bool { return i.To == address })
		return imported && (record == nil || record.UID == "")
	}
}

// before tells the values that are to be made for a Secret from all that were made for
// it before: by the UID that it had, or, where the state has forgotten or never had it,
// by what the state is. It is empty as long as nothing was ever applied.
func before(st *state.State, address addrs.Object) string {
	if known := st.Find(address.String()); known != nil && known.UID != "" {
		return known.UID
	}
	if st.Lineage == "" {
		return ""
	}
	return fmt.Sprintf("%s %d", st.Lineage, st.Serial)
}

func nodes(live []*unstructured.Unstructured) []openstack.Node {
	out := make([]openstack.Node, 0, len(live))
	for _, u := range live {
		out = append(out, openstack.Node{Name: u.GetName(), Labels: u.GetLabels(), Addresses: addresses(u)})
	}
	return out
}

// addresses are the IP addresses of a node.
func addresses(node *unstructured.Unstructured) []string {
	list, _, _ := unstructured.NestedSlice(node.Object, "status", "addresses")
	var out []string
	for _, each := range list {
		entry, _ := each.(map[string]any)
		if kind, _ := entry["type"].(string); kind == "InternalIP" || kind == "ExternalIP" {
			address, _ := entry["address"].(string)
			out = append(out, address)
		}
	}
	return out
}
