// Package planner compares the desired objects with the live ones. Make returns a plan of
// the changes, with the reasons and the evidence for each: a plans.Plan. It writes nothing to
// the cluster.
package planner

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/crash"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/dryrun"
	"kolla.openstack.org/kolla/planner/order"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/state"
)

// Input is what a plan is made from.
type Input struct {
	Cloud     string                     // name of the cloud
	Namespace string                     // the cloud's own
	Digest    string                     // configs.Config.Digest
	Variables map[string]json.RawMessage // configs.Config.Variables
	Tool      string                     // version of kolla
	// Objects are what is desired. A destroy takes from them only what a lost
	// state cannot tell any more.
	Objects []providers.Object
	Reader  providers.Reader
	// Shell asks the pods of workloads that are to go for what they carry; nil: they are
	// not asked.
	Shell providers.Shell
	// Snapshot is what was listed already; the plan lists what else it needs.
	Snapshot *providers.Snapshot
	State    *state.State // nil: nothing was ever applied
	Cluster  providers.Identity
	// Outputs and Checks are those of the configuration.
	Outputs []configs.Output
	Checks  []configs.Check
	// Destroy plans to delete everything instead.
	Destroy bool
	// DeleteData are the addresses of objects, blocks and modules that hold data and may be deleted or
	// replaced nevertheless; "*" stands for all of them.
	DeleteData []string
	// Moves, Removals and Imports say what became of addresses.
	Moves    []addrs.Move
	Removals []addrs.Removal
	Imports  []addrs.Import
	// External are the blocks of services that are not deployed, because they are there
	// already.
	External []string
	// Adopt are the addresses of desired objects that are taken over although they are not
	// kolla's.
	Adopt []string
	// ForceConflicts takes fields from whoever owns them.
	ForceConflicts bool
	// ForeignPolicy is what becomes of what others add to kolla's objects; empty:
	// RevertForeign.
	ForeignPolicy plans.ForeignPolicy
	// VerifyAll has the server asked about every object, also where it is known
	// without that an apply would change nothing; and the plan refused where the
	// server says otherwise.
	VerifyAll bool
	// Selection restricts the plan to a part of the cloud; zero: all of it.
	Selection plans.Selection
	// Undecided are the blocks of a restricted plan that it leaves out; see
	// configs.Config.Undecided.
	Undecided []string
	// Replace are the addresses of objects that are deleted and made again although
	// they need not be; of a job: that runs again.
	Replace []string
	// RefreshOnly plans to change nothing but the state: it drops what is gone, and
	// takes over UIDs and readiness. What others changed is shown.
	RefreshOnly bool
	// MaxDeletes is how many objects the plan may delete; nil: any number of a
	// destroy, else at most half of what the state knows. See guard.
	MaxDeletes *int
	// Values has every action carry its object before and after it, as far as kolla owns
	// or changes it. A plan that is only shown and applied needs them not.
	Values bool
	// Parallelism is how many objects are looked at at a time; 0: ten.
	Parallelism int
	Now         time.Time
}

// Make compares what is desired with what is live. It changes nothing.
//
// Problems are all that stands in the way of a plan, and warnings. With any
// problem that is not a warning the plan must not be used: it is nil where
// nothing could be compared, else it holds what could be found out. The error is
// for failures of the world: a server that is gone, a cancelled context.
func Make(ctx context.Context, in Input) (*plans.Plan, []plans.Problem, error) {
	started := time.Now()
	p, problems := newPlanning(in)
	if len(problems) > 0 {
		return nil, problems, nil
	}
	err := p.read(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("read the cluster: %w", err)
	}
	p.nameServices()
	p.keepRoles()
	if problems := p.choose(); len(problems) > 0 {
		return nil, problems, nil
	}
	if err := p.decideOnActions(ctx); err != nil {
		return nil, nil, err
	}
	if err := p.askPods(ctx); err != nil {
		return nil, nil, fmt.Errorf("ask the pods that are to go: %w", err)
	}
	p.refuseLosses()
	p.checkDeleteData()
	p.guard()
	if err := plans.CheckSingle(p.actions); err != nil {
		return nil, nil, err
	}
	if in.Values {
		if err := p.noteValues(); err != nil {
			return nil, nil, err
		}
	}
	actions, err := plans.InOrder(p.actions)
	if err != nil {
		return nil, nil, err
	}
	left, err := p.leftToOthers()
	if err != nil {
		return nil, nil, err
	}
	plan := &plans.Plan{
		Format:    plans.Format,
		ID:        uuid.NewString(),
		Tool:      in.Tool,
		Created:   in.Now.UTC(),
		Cloud:     in.Cloud,
		Namespace: in.Namespace,
		Config:    in.Digest,
		Destroy:   in.Destroy,

		Variables: in.Variables,
		Values:    in.Values,

		Cluster: in.Cluster,
		State:   plans.StateRef{Lineage: p.State.Lineage, Serial: p.State.Serial},

		RefreshOnly: in.RefreshOnly,
		Selection:   in.Selection,

		Actions: actions,
		Kept:    p.kept,
		Foreign: left,
		Impact:  p.impact(actions),
		Elapsed: time.Since(started),

		Losses:        p.losses,
		ForeignPolicy: in.ForeignPolicy,
	}
	if err := conclude(plan, &in); err != nil {
		return nil, nil, err
	}
	if len(plan.Waiting()) > 0 {
		plan.Resume = &plans.Resume{Selection: in.Selection, DeleteData: in.DeleteData, Adopt: in.Adopt, ForceConflicts: in.ForceConflicts, VerifyAll: in.VerifyAll}
	}
	return plan, p.problems, nil
}

// read lists what the plan has to know.
func (p *planning) read(ctx context.Context) error {
	group, inner := errgroup.WithContext(ctx)
	group.Go(crash.Catching(func() error { return p.Snapshot.Load(inner, p.needed()...) }))
	group.Go(crash.Catching(func() error { return p.Snapshot.Try(inner, p.compared()...) }))
	if !p.Destroy {
		group.Go(crash.Catching(func() (err error) {
			p.rules, err = proof.ReadRules(inner, p.Reader, p.Cluster, p.Now)
			return err
		}))
	}
	return group.Wait()
}

// decideOnActions finds out what is to be done.
func (p *planning) decideOnActions(ctx context.Context) error {
	if err := p.lookInside(ctx); err != nil {
		return fmt.Errorf("read the cluster: %w", err)
	}
	if p.Destroy {
		p.destroy()
		return nil
	}
	return p.converge(ctx)
}

// planning is a plan in the making.
type planning struct {
	Input
	desired  map[addrs.Object]*providers.Object
	byRef    map[identity]addrs.Object // of desired objects
	records  []record                  // of the state, in its order
	recorded map[addrs.Object]*record
	known    map[identity]*record // recorded, by the object in the cluster
	left     map[identity]*record // volumes that earlier applies left behind; not in records
	// coming are the definitions that this plan creates or changes.
	coming map[schema.GroupKind]*dryrun.CRD
	limits map[string][]string // what is declared to limit objects, by namespace
	policy conflictPolicy
	rules  *proof.Rules          // nil of a destroy
	chosen map[addrs.Object]bool // what is selected; nil: everything

	subjects []*subject // desired objects, as they were decided
	actions  []plans.Action
	kept     []plans.Kept
	losses   []plans.Loss
	problems []plans.Problem
	naming   sync.Mutex                      // for named
	named    map[string]bool                 // what of DeleteData was of use
	guarded  []guarded                       // what is to go and would take data along; see refuseLosses
	cutOffs  map[providers.Ref]*plans.CutOff // users of the pods that this plan deletes, such as servers
	removed  map[types.UID]addrs.Object      // live objects about which it was decided that nothing declares them
	// inside is what is in the namespaces that may go.
	inside   map[string]providers.Contents
	services serviceNames
	replaced []addrs.Target // what Replace names
	// triggered are the objects that are replaced because of others, and of which.
	triggered map[addrs.Object]plans.Reason
	declared  map[string]bool // blocks with objects, and the modules that they are in; see declares
	// carried are the Secrets whose values go on under another name, and where.
	carried map[providers.Ref]inheritance
}

// newPlanning indexes the input, and refuses what no plan can be made from. What
// is wrong with the declarations does not matter to a destroy.
func newPlanning(in Input) (*planning, []plans.Problem) {
	if in.State == nil {
		in.State = &state.State{}
	}
	in.Objects = order.Complete(in.Objects)
	if in.Parallelism <= 0 {
		in.Parallelism = 10
	}
	p := &planning{
		Input:    in,
		desired:  map[addrs.Object]*providers.Object{},
		byRef:    map[identity]addrs.Object{},
		recorded: map[addrs.Object]*record{},
		known:    map[identity]*record{},
		left:     map[identity]*record{},
		coming:   map[schema.GroupKind]*dryrun.CRD{},
		limits:   map[string][]string{},
		policy:   conflictPolicy{force: in.ForceConflicts},
		named:    map[string]bool{},
		carried:  map[providers.Ref]inheritance{},
		removed:  map[types.UID]addrs.Object{},
		replaced: targetsOf(in.Replace),
	}
	p.DeleteData = nil
	for _, t := range targetsOf(in.DeleteData) {
		p.DeleteData = append(p.DeleteData, t.String())
	}
	problems := append(p.checkState(), p.indexRecords()...)
	declared := append(p.indexDesired(), p.checkDependencies()...)
	declared = append(declared, p.checkAdopted()...)
	declared = append(declared, p.checkMoves()...)
	declared = append(declared, p.checkTriggers()...)
	if !in.Destroy {
		problems = append(problems, declared...)
	}
	return p, problems
}

// checkState refuses a state that belongs elsewhere.
func (p *planning) checkState() []plans.Problem {
	var problems []plans.Problem
	for _, err := range []error{p.State.CheckCluster(p.Cluster.UID, p.Cluster.Server), p.State.CheckCloud(p.Cloud)} {
		if err != nil {
			summary, advice, _ := strings.Cut(err.Error(), "\n")
			problems = append(problems, plans.Problem{Summary: summary, Detail: advice})
		}
	}
	return problems
}

// indexDesired refuses two declarations of one object.
func (p *planning) indexDesired() []plans.Problem {
	var problems []plans.Problem
	for i := range p.Objects {
		object := &p.Objects[i]
		other, twice := p.byRef[identify(object.Ref())]
		if _, same := p.desired[object.Address]; same {
			other, twice = object.Address, true
		}
		if twice {
			problems = append(problems, problemOf(object,
				fmt.Sprintf("%s is declared twice", object.Ref()),
				fmt.Sprintf("It is also %s, %s. Remove one of them, or name it differently.", other, sourceOf(p.desired[other]))))
			continue
		}
		p.desired[object.Address] = object
		p.byRef[identify(object.Ref())] = object.Address
		p.indexLimit(object)
	}
	return problems
}

// checkDependencies refuses dependencies on what is not declared.
func (p *planning) checkDependencies() []plans.Problem {
	var problems []plans.Problem
	for i := range p.Objects {
		for _, dependency := range p.Objects[i].DependsOn {
			if p.desired[dependency] == nil {
				problems = append(problems, problemOf(&p.Objects[i],
					fmt.Sprintf("%s depends on %s, which is not declared", p.Objects[i].Address, dependency),
					"Declare it, or take it out of depends_on."))
			}
		}
	}
	return problems
}

func sourceOf(object *providers.Object) string {
	if object.Source == "" {
		return "from the built-in catalogue"
	}
	return "at " + object.Source
}

// Kinds that only the planner treats specially.
var (
	namespaces   = kinds.Namespace.WithVersion("v1")
	secrets      = kinds.Secret.WithVersion("v1")
	claims       = kinds.PersistentVolumeClaim.WithVersion("v1")
	statefulSets = kinds.StatefulSet.WithVersion("v1")
	nodeKind     = schema.GroupVersionKind{Version: "v1", Kind: "Node"}
	podKind      = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
)

// converge plans to make the cluster what is desired.
func (p *planning) converge(ctx context.Context) error {
	p.checkImported()
	p.carryValues()
	if err := p.findAutoscalers(ctx); err != nil {
		return err
	}
	objects := p.chosenObjects()
	p.subjects = make([]*subject, len(objects))
	// What becomes of a custom resource is up to the definition of its kind.
	if err := p.decideAll(ctx, objects, true); err != nil {
		return err
	}
	p.expectKinds()
	if err := p.decideAll(ctx, objects, false); err != nil {
		return err
	}
	if err := p.replaceTriggered(ctx); err != nil {
		return err
	}
	p.warnHidden()
	if err := p.reuseVolumes(ctx); err != nil {
		return err
	}
	p.findLosses()
	if p.RefreshOnly {
		p.refresh()
		return nil
	}
	p.problems = append(p.problems, p.strangers()...)
	p.refuseFewer()
	p.warnPassing()
	for _, s := range p.subjects {
		p.problems = append(p.problems, s.problems...)
	}
	p.warnPodSecurity()
	if err := p.retire(); err != nil {
		return err
	}
	for _, s := range p.subjects {
		if s.action.Verb != "" {
			p.actions = append(p.actions, s.action)
		}
	}
	p.keepVolumes()
	p.linkDeletes()
	p.warnOrphans()
	return nil
}

// decideAll decides about the objects that define kinds, or about all others.
func (p *planning) decideAll(ctx context.Context, objects []*providers.Object, definitions bool) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(p.Parallelism)
	for i, object := range objects {
		if (object.Ref().GVK.GroupKind() == kinds.CustomResourceDefinition) != definitions {
			continue
		}
		group.Go(crash.Catching(func() error {
			s, err := p.decide(ctx, object)
			p.subjects[i] = s
			return err
		}))
	}
	return group.Wait()
}
