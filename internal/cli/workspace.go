package cli

import (
	"cmp"
	"context"
	"errors"
	"os"

	"github.com/hashicorp/hcl/v2"
	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/crash"
	"kolla.openstack.org/kolla/internal/engine"
	"kolla.openstack.org/kolla/internal/publish"
	"kolla.openstack.org/kolla/internal/view"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
	"kolla.openstack.org/kolla/providers/openstack"
	"kolla.openstack.org/kolla/state"
)

// workspace has the flags, the printer and the prompts of a command, and what the command
// has opened: a configuration, a cluster, a state.
type workspace struct {
	streams
	flags     *cli.Context
	printer   *view.Printer
	questions *questions
	source    *engine.Source
	cluster   *engine.Cluster
	// loading says how loadConfig loads the configuration. A command sets it first.
	loading engine.Loading
	// outputs are the places to which a plan is written beside the terminal.
	outputs publish.Outputs
	// valueless: variables need no values.
	valueless bool

	config  *configs.Config    // after loadConfig
	console *lang.Console      // of config
	client  *kubernetes.Client // after dial
	store   *state.Store
}

func newWorkspace(s streams, c *cli.Context) *workspace {
	w := &workspace{streams: s, flags: c, printer: s.printer(c)}
	w.questions = &questions{streams: s, ctx: c.Context}
	w.source = &engine.Source{Dir: ".", Evaluate: w.evaluate, Reporter: w.printer}
	w.cluster = engine.NewCluster(kubernetes.Options{
		Kubeconfig: c.String("kubeconfig"),
		Context:    c.String("context"),
		UserAgent:  "kolla/" + Version,
		Unreachable: func(err error) {
			if err == nil {
				w.printer.Reachable()
				return
			}
			w.printer.Unreachable(kubernetes.Cause(err))
		},
		Log: s.log,
	}, w.printer)
	w.loading.Restricted = c.IsSet("target") || c.IsSet("target-file") || c.IsSet("exclude")
	return w
}

// engine makes plans and carries them out. The cluster must be connected.
func (w *workspace) engine() *engine.Engine {
	return &engine.Engine{
		Source: w.source, Cluster: w.cluster, Reporter: w.printer,
		Version: Version, Log: w.log, Parallelism: w.flags.Int("parallelism"),
	}
}

// evaluate evaluates the configuration in the current directory, and asks for values of
// variables. It evaluates again when an answer is refused.
func (w *workspace) evaluate(o lang.Options) (*configs.Config, hcl.Diagnostics, error) {
	o.Catalogue, o.Vars, o.Environ = openstack.Catalogue(), givenVars(w.flags), os.Environ()
	o.Unset = w.valueless
	// Only until the file is written.
	o.Undeclared = w.flags.String(generateFlag) != "" && w.config == nil
	if !w.valueless && w.flags.Bool("input") && !w.flags.Bool("json") && w.interactive() {
		o.Prompt = w.questions.answer
	}
	for {
		config, console, diags := lang.LoadConsole(".", o)
		w.console = console
		if len(config.Refused) == 0 || w.questions.unanswered != nil {
			return config, diags, w.questions.unanswered
		}
		w.questions.refused = config.Refused
	}
}

// loaded is the configuration, and how it was loaded.
func (w *workspace) loaded() engine.Loaded {
	return engine.Loaded{Config: w.config, Loading: w.loading}
}

// loadConfig loads the configuration of the current directory.
func (w *workspace) loadConfig() error {
	loaded, err := w.source.Load(w.flags.Context, w.loading)
	if err != nil {
		return err
	}
	w.config = loaded.Config
	return nil
}

// take makes a configuration that of the workspace, unless it has errors.
func (w *workspace) take(config *configs.Config, diags hcl.Diagnostics) error {
	loaded, err := w.source.Accept(config, diags, w.loading)
	if err != nil {
		return err
	}
	w.config = loaded.Config
	return nil
}

// renderOffline loads the configuration, and makes its objects without a cluster.
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

// open loads the configuration, reads the state, and connects to the cluster, all at the
// same time. It begins to list the objects of the state.
func (w *workspace) open(ctx context.Context) (*state.State, error) {
	var (
		st                  *state.State
		reading, connecting error
	)
	done := make(chan struct{})
	go func() {
		defer close(done)
		connecting = crash.Catch(func() error {
			w.store = state.Open(w.flags.String("state"))
			st, reading = w.store.Read()
			if _, err := w.cluster.Client(); err != nil {
				return err
			}
			if reading == nil {
				w.cluster.Prefetch(ctx, st)
			}
			return w.cluster.Connect(ctx)
		})
	}()
	if err := w.loadConfig(); err != nil {
		return nil, err
	}
	<-done
	if w.questions.asked {
		w.cluster.Forget() // a person may take hours to answer
	}
	if err := cmp.Or(connecting, reading); err != nil {
		return nil, err
	}
	if err := w.dial(); err != nil {
		return nil, err
	}
	return st, w.checkState(st)
}

// connect finds the cluster, and asks the server for its identity.
func (w *workspace) connect(ctx context.Context) error {
	if err := w.dial(); err != nil {
		return err
	}
	return w.cluster.Connect(ctx)
}

// dial finds the cluster. It sends no request.
func (w *workspace) dial() (err error) {
	w.client, err = w.cluster.Client()
	return err
}

// openState reads the state, and refuses the state of another cluster or cloud.
func (w *workspace) openState() (*state.State, error) {
	w.store = state.Open(w.flags.String("state"))
	st, err := w.store.Read()
	if err != nil {
		return nil, err
	}
	return st, w.checkState(st)
}

// checkState refuses the state of another cluster or cloud.
func (w *workspace) checkState(st *state.State) error {
	cluster := w.cluster.Identity()
	if err := st.CheckCluster(cluster.UID, cluster.Server); err != nil {
		return err
	}
	if w.config == nil {
		return nil
	}
	return st.CheckCloud(w.config.Cloud.Name)
}

// makePlan compares the configuration with the cluster.
func (w *workspace) makePlan(ctx context.Context, st *state.State) (*engine.Made, error) {
	options, err := w.planOptions(nil)
	if err != nil {
		return nil, err
	}
	made, err := w.engine().Plan(ctx, w.loaded(), st, options)
	if err != nil {
		return nil, err
	}
	w.config = made.Loaded.Config
	return made, nil
}

// locked runs work while it holds the lock of the state, and saves the state.
func (w *workspace) locked(ctx context.Context, operation string, work func(*state.Session) error) (err error) {
	if _, err := w.openState(); err != nil {
		return err
	}
	w.mayWrite()
	session, err := w.store.Lock(ctx, state.LockInfo{Operation: operation, Version: Version}, w.flags.Duration("lock-timeout"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }() // after a panic, too
	w.warnOfAbandoned(session.Abandoned(), "this run carries on from there")
	if err := w.checkState(session.State()); err != nil {
		return err
	}
	return work(session)
}
