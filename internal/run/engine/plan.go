package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/internal/run/cutoff"
	"kolla.openstack.org/kolla/internal/run/upgrade"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/keystone"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/kubernetes"
	"kolla.openstack.org/kolla/providers/mariadb"
	"kolla.openstack.org/kolla/providers/openstack/options"
	"kolla.openstack.org/kolla/providers/rabbitmq"
	"kolla.openstack.org/kolla/state"
)

// Options say which plan to make. The zero value is a plan for all of the cloud.
type Options struct {
	// Destroy plans to destroy the cloud.
	Destroy bool
	// RefreshOnly plans to change nothing but the state.
	RefreshOnly bool
	// VerifyAll asks the server also about objects that are known to be unchanged.
	VerifyAll bool
	// Selection restricts the plan to a part of the cloud.
	Selection plans.Selection
	// TargetFiles maps a target to its place in a file, such as "wave1.txt:3".
	TargetFiles map[string]string
	// Adopt, Replace and DeleteData have addresses; see planner.Input.
	Adopt, Replace, DeleteData []string
	// Rotate has the addresses of generated Secrets that get new values.
	Rotate []string
	// KeepData lets a destroy stop workloads that others need; see planner.Input.
	KeepData bool
	// ForceConflicts takes over fields of other field managers.
	ForceConflicts bool
	// AllowUnverified writes objects although admission denied their dry runs.
	AllowUnverified bool
	// MaxDeletes limits the deletes. Nil: the default of the planner.
	MaxDeletes *int
	// ForceReleases names OpenStack releases to which the plan may change although OpenStack
	// does not support the step.
	ForceReleases []string
	// ForceData has the addresses of services whose programs start with data of versions that they do not take over.
	ForceData []string
	// SkipRegistrations does not compare what servers have with what jobs register.
	SkipRegistrations bool
	// SkipDrifted lets PlanAgain hold actions of objects that others changed.
	SkipDrifted bool
	// OverridePolicies names policies that do not stop the plan.
	OverridePolicies []string
	// Values: the plan is going to be saved; see planner.Input.
	Values bool
	// Written are the options of a command line that give the plan more power. The plan
	// contains them.
	Written []string
	// triggered has the replacements that an earlier round announced; see planner.Input.
	triggered map[addrs.Object]string
	// rest: an earlier round has applied a part of the plan.
	rest bool
}

// resumed returns the options for the rest of a plan.
func (o Options) resumed(r *plans.Resume) Options {
	if r == nil {
		o.rest = true
		return o
	}
	return Options{
		Destroy: o.Destroy, Values: o.Values, Written: o.Written, OverridePolicies: o.OverridePolicies,
		ForceReleases: o.ForceReleases, ForceData: o.ForceData, SkipRegistrations: o.SkipRegistrations, rest: true,
		Selection: r.Selection, DeleteData: r.DeleteData, Adopt: r.Adopt, ForceConflicts: r.ForceConflicts, VerifyAll: r.VerifyAll, AllowUnverified: r.AllowUnverified,
	}
}

// PlanResult is a plan, with the values that it was made from.
type PlanResult struct {
	Plan    *plans.Plan // nil: nothing could be compared
	Objects []providers.Object
	Loaded  Loaded
	Options Options
	// Rebuilt is the state that the plan was made from if none was ever written; nil: there
	// was one, or no object of the cloud. An apply gives it to state.Session.Seed.
	Rebuilt *state.State

	exact    map[addrs.Object]exact // what Plan does not show of its actions
	problems []plans.Problem
	judged   hcl.Diagnostics // the policies that Plan does not meet
}

// Plan compares the configuration with the cluster. If the plan changes objects that data
// blocks read, these data are known only after the apply; the plan is then made again
// without them. Warnings, errors and the results of policies become a part of the plan; Enforce
// reports the errors. If nothing could be compared, or the plan only refreshes the state, errors are
// shown at once, and the error is ErrReported.
func (e *Engine) Plan(ctx context.Context, loaded Loaded, st *state.State, o Options) (*PlanResult, error) {
	for {
		made, err := e.compare(ctx, loaded, st, o)
		if err != nil {
			return nil, err
		}
		failed := slices.ContainsFunc(made.problems, func(p plans.Problem) bool { return !p.Warning })
		if failed && (made.Plan == nil || o.RefreshOnly) {
			refuse(e.Reporter, made.problems)
			return nil, ErrReported
		}
		for _, problem := range made.problems {
			if problem.Warning {
				made.Plan.Warnings = append(made.Plan.Warnings, plans.NoticeOf(problem))
			} else {
				made.Plan.Errors = append(made.Plan.Errors, plans.NoticeOf(problem))
			}
		}
		again, err := withoutOvertaken(ctx, e.Source, made)
		if err != nil {
			return nil, err
		}
		if again == nil {
			e.Cluster.Warnings.into(made.Plan)
			made.judge()
			return made, nil
		}
		loaded = *again
	}
}

// AskPods asks the pods that a plan removes for the items that they carry, adds the answers to the plan,
// and evaluates the policies again. Only an apply may do so, because it runs commands in pods. It
// asks nothing if the plan has errors.
func (e *Engine) AskPods(ctx context.Context, made *PlanResult) (err error) {
	if made.Plan.Refused() {
		return nil
	}
	cluster := e.Cluster
	made.Plan.Impact, err = cutoff.Ask(ctx, cluster.client.Shell(), e.Parallelism, made.Plan, cluster.Snapshot().Get, cluster.clean)
	made.judge()
	return err
}

// refuse shows problems and warnings. Addresses of warnings become a part of the text, as
// in a plan.
func refuse(reporter Reporter, problems []plans.Problem) {
	for i, problem := range problems {
		if problem.Warning {
			problems[i] = plans.NoticeOf(problem).Problem()
		}
	}
	reporter.Problems(problems)
}

// withoutOvertaken loads the configuration again if the plan changes objects that were
// read for it. Nil: the plan changes none.
func withoutOvertaken(ctx context.Context, source *Source, made *PlanResult) (*Loaded, error) {
	loading := made.Loaded.Loading
	if loading.Cluster == nil {
		return nil, nil
	}
	later := overtaken(made.Loaded, made.Plan)
	if later == nil {
		return nil, nil
	}
	loading.Later = later
	loaded, err := source.Load(ctx, loading)
	return &loaded, err
}

// compare makes a plan of the loaded configuration.
func (e *Engine) compare(ctx context.Context, loaded Loaded, st *state.State, o Options) (*PlanResult, error) {
	start, config := time.Now(), loaded.Config
	if err := o.checkOverrides(config); err != nil {
		return nil, err
	}
	snapshot := e.Cluster.Snapshot()
	if loaded.Loading.Check {
		e.Reporter.Diagnostics(e.Source.unreported(options.Check(config)), config.Files)
	}
	var rebuilt *state.State
	if st.Fresh() && len(st.Objects) == 0 && !o.Destroy && !e.SharedState {
		var err error
		if rebuilt, err = e.rebuildState(ctx, config, st); err != nil {
			return nil, err
		}
		if rebuilt != nil {
			st = rebuilt
		}
	}
	objects, err := e.Render(ctx, config, st, RenderOptions{Adopt: o.Adopt, Rotate: o.Rotate, Destroy: loaded.Loading.Destroy})
	// A destroy needs no objects: the state has them.
	if err != nil && !(o.Destroy && errors.Is(err, ErrReported)) {
		return nil, err
	}
	if err := o.checkRotations(objects); err != nil {
		return nil, err
	}
	registrar, done := e.registrar(o)
	defer done()
	plan, problems, err := planner.Make(ctx, planner.Input{
		Cloud:          config.Cloud.Name,
		Namespace:      config.Cloud.Namespace,
		Digest:         config.Digest,
		Variables:      config.Variables,
		Tool:           e.Version,
		Objects:        objects,
		Reader:         e.Cluster.client,
		Snapshot:       snapshot,
		Registrar:      registrar,
		State:          st,
		Cluster:        e.Cluster.Identity(),
		Outputs:        config.Outputs,
		Checks:         config.Checks,
		Destroy:        o.Destroy,
		DeleteData:     o.DeleteData,
		KeepData:       o.KeepData,
		Moves:          config.Moves,
		Removals:       config.Removals,
		Imports:        config.Imports,
		External:       external(config),
		Adopt:          o.Adopt,
		ForceConflicts: o.ForceConflicts,
		ForeignPolicy:  plans.ForeignPolicy(config.Cloud.Foreign),
		VerifyAll:      o.VerifyAll,
		Selection:      o.Selection,
		Undecided:      config.Undecided,
		Replace:        o.Replace,
		Triggered:      o.triggered,
		RefreshOnly:    o.RefreshOnly,
		MaxDeletes:     o.MaxDeletes,
		Values:         o.Values,
		Parallelism:    e.Parallelism,
		Now:            start,

		AllowUnverified: o.AllowUnverified,
	})
	if err != nil {
		return nil, err
	}
	if plan != nil && !o.Destroy && !o.RefreshOnly {
		problems = append(problems, e.findUpgrade(ctx, config, plan, o)...)
	}
	o.locate(problems)
	redactProblems(problems, e.Cluster.Secrets)
	var kept map[addrs.Object]exact
	if plan != nil {
		kept = redactPlan(plan, e.Cluster.Secrets)
		plan.Options, plan.Elapsed = o.Written, time.Since(start)
		plan.SkipsRegistrations = o.SkipRegistrations
		logDecisions(ctx, e.Log, plan)
	}
	return &PlanResult{Plan: plan, Objects: objects, Loaded: loaded, Options: o, Rebuilt: rebuilt, exact: kept, problems: problems}, nil
}

// registrar returns the part of a plan that reads from Keystone, databases and queues, and the function that ends
// it. Nil: the plan reads from none.
func (e *Engine) registrar(o Options) (providers.Registrar, func()) {
	if o.SkipRegistrations || o.Destroy {
		return nil, func() {}
	}
	values := e.Cluster.Snapshot().SecretValues
	databases := mariadb.New(e.Cluster.client, values)
	queues := rabbitmq.New(e.Cluster.client, values)
	return providers.Registrars{keystone.New(e.Cluster.client, values), databases, queues}, func() {
		databases.Close()
		queues.Close()
	}
}

// findUpgrade adds the change of the OpenStack release to a plan. It returns the changes that
// OpenStack does not support. The plan has read the namespaces.
func (e *Engine) findUpgrade(ctx context.Context, config *configs.Config, plan *plans.Plan, o Options) (problems []plans.Problem) {
	live := e.Cluster.Snapshot().Get
	plan.Upgrade, problems = upgrade.Find(upgrade.Input{
		Config: config, Plan: plan, Installed: upgrade.OfNamespace(live(upgrade.Namespace(config))), Live: live, Forced: o.ForceReleases, ForcedData: o.ForceData, Rest: o.rest,
	})
	addOptions(config, plan.Upgrade)
	if u := plan.Upgrade; u != nil && u.ChangesRelease() && !u.Backward {
		u.Backup = upgrade.NewestBackup(&config.Cloud, func(namespace string) ([]*unstructured.Unstructured, error) {
			return e.Cluster.client.List(ctx, kinds.CronJob.WithVersion("v1"), namespace)
		})
	}
	return problems
}

// addOptions adds the options of the configuration that an upgrade changes. u may be nil. Of an upgrade that an earlier
// apply has begun, or of single services, only the services whose images change count.
func addOptions(config *configs.Config, u *plans.Upgrade) {
	if u == nil || u.Backward {
		return
	}
	from, read := u.From.Release, *config
	if from == "" || from == u.To.Release {
		read.Services, read.Cloud.Release = nil, ""
		for _, s := range u.Services {
			i := slices.IndexFunc(config.Services, func(c configs.Service) bool { return c.Block == s.Block })
			read.Services = append(read.Services, config.Services[i])
			read.Cloud.Release = max(read.Cloud.Release, s.To.Release)
			if from == "" || s.From.Release < from {
				from = s.From.Release
			}
		}
	}
	for _, c := range options.Changes(&read, from) {
		change := plans.OptionChange{
			Kind: c.Kind.String(), Option: c.Option.String(), Service: c.Service, File: c.File, Since: c.Since,
			Source: fmt.Sprintf("%s:%d", c.At.Filename, c.At.Start.Line), Detail: c.Detail,
		}
		if c.Now.Name != "" {
			change.Now = c.Now.String()
		}
		u.Options = append(u.Options, change)
	}
}

// locate adds the places in files to problems with targets.
func (o Options) locate(problems []plans.Problem) {
	for i := range problems {
		if at := o.TargetFiles[problems[i].Target]; at != "" {
			problems[i].Source = at
		}
	}
}

// external lists the blocks of the services that exist elsewhere.
func external(config *configs.Config) []string {
	var blocks []string
	for i := range config.Services {
		if config.Services[i].External {
			blocks = append(blocks, config.Services[i].Block)
		}
	}
	return blocks
}

// logDecisions logs the decision about each object, and its evidence. It logs no values of
// fields.
func logDecisions(ctx context.Context, log *slog.Logger, plan *plans.Plan) {
	if log == nil || !log.Enabled(ctx, slog.LevelDebug) {
		return
	}
	for i := range plan.Actions {
		action := &plan.Actions[i]
		reasons := make([]string, 0, len(action.Reasons))
		for _, reason := range action.Reasons {
			reasons = append(reasons, string(reason.Kind))
		}
		record := []any{
			"address", action.Address.String(), "action", string(action.Verb),
			"reasons", strings.Join(reasons, " "), "evidence", string(action.Evidence.Kind),
		}
		if log.Enabled(ctx, kubernetes.LevelTrace) {
			fields := make([]string, 0, len(action.Changes))
			for _, change := range action.Changes {
				fields = append(fields, change.Path)
			}
			record = append(record, "fields", strings.Join(fields, " "))
		}
		log.Debug("decision", record...)
	}
}
