package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/crash"
	"kolla.openstack.org/kolla/internal/present/publish"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/internal/run/engine"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kubernetes"
	"kolla.openstack.org/kolla/providers/openstack"
	"kolla.openstack.org/kolla/state"
)

// Workspace has the options and the printer of a command, and everything that the command
// has opened: a configuration, a cluster, a state.
type Workspace struct {
	Streams Streams
	Flags   *cli.Context
	Printer *view.Printer
	Source  *engine.Source
	Cluster *engine.Cluster
	// Loading says how LoadConfig loads the configuration. A command sets it first.
	Loading engine.Loading
	// Outputs are additional places to which a plan is written.
	Outputs publish.Outputs
	// Valueless: variables need no values, so there are no questions for them.
	Valueless bool
	// Unlocked: the digests of the images are not read.
	Unlocked bool
	// Undeclared: imports do not need a declaration yet.
	Undeclared bool

	Config  *configs.Config    // after LoadConfig
	Console *lang.Console      // of Config
	Client  *kubernetes.Client // after Dial
	Store   *state.Store       // after Open or Locked

	questions *questions
	shared    *place // the place of the state; nil: a file
}

// NewWorkspace returns the workspace of a command. It opens nothing.
func NewWorkspace(s Streams, c *cli.Context) *Workspace {
	w := &Workspace{Streams: s, Flags: c, Printer: s.Printer(c)}
	w.questions = &questions{streams: s, ctx: c.Context}
	w.Source = &engine.Source{Dir: ".", Evaluate: w.evaluate, Reporter: w.Printer}
	w.Cluster = engine.NewCluster(kubernetes.Options{
		Kubeconfig: c.String("kubeconfig"),
		Context:    c.String("context"),
		UserAgent:  "kolla/" + s.Version,
		Unreachable: func(err error) {
			if err == nil {
				w.Printer.Reachable()
				return
			}
			w.Printer.Unreachable(kubernetes.Cause(err))
		},
		Waiting: w.Printer.Waiting,
		Secrets: s.Secrets,
		Log:     s.Log,
	}, w.Printer)
	w.Loading.Restricted = c.IsSet("target") || c.IsSet("target-file") || c.IsSet("exclude") || c.IsSet("until")
	return w
}

// Engine makes plans and carries them out. The cluster must be connected.
func (w *Workspace) Engine() *engine.Engine {
	return &engine.Engine{
		Source: w.Source, Cluster: w.Cluster, Reporter: w.Printer,
		Version: w.Streams.Version, Log: w.Streams.Log, Parallelism: w.Flags.Int("parallelism"), SharedState: w.shared != nil,
	}
}

// evaluate evaluates the configuration in the current directory, and asks for values of
// variables. It evaluates again when an answer is refused.
func (w *Workspace) evaluate(o lang.Options) (*configs.Config, hcl.Diagnostics, error) {
	o.Catalogue, o.Vars, o.Environ = openstack.Catalogue(), GivenVars(w.Flags), os.Environ()
	o.Unset, o.Undeclared, o.Unlocked = w.Valueless, w.Undeclared, w.Unlocked
	o.PolicyFiles = w.Flags.StringSlice("policy")
	o.Sensitive = w.Cluster.Secrets.Add
	if !w.Valueless && w.Flags.Bool("input") && !w.Flags.Bool("json") && w.Streams.Interactive() {
		o.Prompt = w.questions.answer
	}
	for {
		config, console, diags := lang.LoadConsole(".", o)
		w.Console = console
		if len(config.Refused) == 0 || w.questions.unanswered != nil {
			return config, diags, w.questions.unanswered
		}
		w.questions.refused = config.Refused
	}
}

// LoadConfig loads the configuration of the current directory.
func (w *Workspace) LoadConfig() error {
	loaded, err := w.Source.Load(w.Flags.Context, w.Loading)
	if err != nil {
		return err
	}
	w.Config = loaded.Config
	return nil
}

// LoadSettled loads the configuration with the data that the cluster has now, and shows errors only.
func (w *Workspace) LoadSettled() error {
	w.Loading = engine.Loading{Cluster: w.Cluster, Settled: true, Quiet: true}
	return w.LoadConfig()
}

// Take shows the diagnostics of a configuration, and takes it unless it has errors.
func (w *Workspace) Take(config *configs.Config, diags hcl.Diagnostics) error {
	loaded, err := w.Source.Accept(config, diags, w.Loading)
	if err != nil {
		return err
	}
	w.Config = loaded.Config
	return nil
}

// Open loads the configuration, reads the state, and connects to the cluster, all at the
// same time. It begins to list the objects of the state.
func (w *Workspace) Open(ctx context.Context) (*state.State, error) {
	var (
		st                  *state.State
		reading, connecting error
	)
	done := make(chan struct{})
	go func() {
		defer close(done)
		connecting = crash.Catch(func() error {
			if _, err := w.Cluster.Client(); err != nil {
				return err
			}
			if reading = w.openStore(ctx); reading == nil {
				st, reading = w.Store.Read()
			}
			if reading == nil {
				w.Cluster.Prefetch(ctx, st)
			}
			return w.Cluster.Connect(ctx)
		})
	}()
	if err := w.LoadConfig(); err != nil {
		return nil, err
	}
	<-done
	if w.questions.asked {
		w.Cluster.Forget() // a person may take hours to answer
	}
	if err := cmp.Or(connecting, reading); err != nil {
		return nil, w.report(err)
	}
	if err := w.Dial(); err != nil {
		return nil, err
	}
	return st, w.CheckState(st)
}

// Connect finds the cluster, and asks the server for its identity.
func (w *Workspace) Connect(ctx context.Context) error {
	if err := w.Dial(); err != nil {
		return err
	}
	return w.Cluster.Connect(ctx)
}

// Dial finds the cluster. It sends no request.
func (w *Workspace) Dial() (err error) {
	w.Client, err = w.Cluster.Client()
	return err
}

// openState reads the state, and refuses the state of another cluster or cloud.
func (w *Workspace) openState() (*state.State, error) {
	if err := w.OpenStore(w.Flags.Context); err != nil {
		return nil, err
	}
	return w.Recorded()
}

// OpenLast connects to the cluster, and opens the state as OpenLastStore does.
func (w *Workspace) OpenLast(ctx context.Context) error {
	if err := w.Connect(ctx); err != nil {
		return err
	}
	return w.OpenLastStore(ctx)
}

// Recorded reads the opened state, and refuses the state of another cluster or cloud.
func (w *Workspace) Recorded() (*state.State, error) {
	st, err := w.Store.Read()
	if err != nil {
		return nil, err
	}
	return st, w.CheckState(st)
}

// CheckState refuses the state of another cluster or cloud.
func (w *Workspace) CheckState(st *state.State) error {
	cluster := w.Cluster.Identity()
	if err := st.CheckCluster(cluster.UID, cluster.Server); err != nil {
		return err
	}
	if w.Config == nil {
		return nil
	}
	return st.CheckCloud(w.Config.Cloud.Name)
}

// Locked runs work while it holds the lock of the state, and saves the state. It refuses the
// state of another cluster or cloud.
func (w *Workspace) Locked(ctx context.Context, operation string, work func(*state.Session) error) error {
	if _, err := w.openState(); err != nil {
		return err
	}
	return w.WithLock(ctx, operation, func(session *state.Session) error {
		if err := w.CheckState(session.State()); err != nil {
			return err
		}
		return work(session)
	})
}

// WithLock is Locked after Open or OpenStore. It does not check the state.
func (w *Workspace) WithLock(ctx context.Context, operation string, work func(*state.Session) error) (err error) {
	w.Streams.MayWrite()
	session, err := w.Store.Lock(ctx, state.LockInfo{Operation: operation, Version: w.Streams.Version}, w.Flags.Duration("lock-timeout"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }() // after a panic, too
	if w.shared != nil {
		if err := remember(w.shared); err != nil {
			return err
		}
	}
	if handedOver, err := w.takeOver(ctx, session.State().Operator()); handedOver || err != nil {
		return err
	}
	WarnOfAbandoned(w.Printer, session.Abandoned(), "this run carries on from there")
	if err := work(session); err != nil {
		return err
	}
	return tookOver(session, operation)
}

// tookOver records that the command line has a cloud that the operator managed, if the work left no such
// entry in the history because there was nothing to apply.
func tookOver(session *state.Session, operation string) error {
	if session.State().Operator() == "" {
		return nil
	}
	holder, now := session.Holder(), time.Now()
	return session.Ended(state.Apply{ID: holder.ID, Operation: operation, Who: holder.Who, Tool: holder.Version, Began: now, Ended: now, Result: state.Done})
}

// WarnOfAbandoned warns of a run that was killed. next is a clause about the continuation. It does
// nothing if last is nil.
func WarnOfAbandoned(printer *view.Printer, last *state.LockInfo, next string) {
	if last == nil {
		return
	}
	printer.Warn("The last "+last.Operation+" did not end",
		fmt.Sprintf("It was started by %s at %s and was killed, or its machine was. What it wrote is known; %s.",
			last.Who, last.Created.Local().Format("2006-01-02 15:04"), next))
}

// WarnOfHolder warns that another kolla holds the lock and may change the cluster. It does nothing
// if holder is nil.
func WarnOfHolder(printer *view.Printer, holder *state.LockInfo) {
	if holder == nil {
		return
	}
	printer.Warn(fmt.Sprintf("%s has been at work since %s: kolla %s", holder.Who, holder.Created.Local().Format("15:04"), holder.Operation),
		"What is shown may be out of date when that ends: plan again then.")
}

// ShowPlan prints a plan, and writes it to the outputs. stdout gets the output that -format chooses.
func (w *Workspace) ShowPlan(stdout io.Writer, plan *plans.Plan) error {
	w.Printer.Annotations.Plan(plan)
	if !w.Outputs.Stdout() {
		if err := w.Printer.Plan(plan, Details(w.Flags)); err != nil {
			return err
		}
	}
	return w.Outputs.Write(stdout, plan, time.Time{})
}

// Render loads the configuration, and makes its objects without a cluster.
func (w *Workspace) Render() ([]providers.Object, error) {
	if err := w.LoadConfig(); err != nil {
		return nil, err
	}
	objects, diags := openstack.Render(w.Config, openstack.Offline())
	shown := slices.Clone(diags)
	if w.Loading.Quiet {
		shown = slices.DeleteFunc(shown, func(d *hcl.Diagnostic) bool { return d.Severity != hcl.DiagError })
	}
	w.Printer.Diagnostics(shown, w.Config.Files)
	if diags.HasErrors() {
		return nil, ExitCode(ExitError)
	}
	return objects, nil
}
