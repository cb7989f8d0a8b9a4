package jsonview

import (
	"fmt"
	"io"
	"time"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

const (
	// planVersion is the version of Terraform's plan format.
	planVersion = "1.2"
	// valuesVersion is the version of Terraform's state format.
	valuesVersion = "1.0"
	// extensionVersion is the version of the content of the key "kolla". A new minor number
	// only adds; docs/plan.schema.json describes it.
	extensionVersion = "1.2"

	// providerName is the short name of the provider of all resources.
	providerName = "kubernetes"
)

// Provider is the provider of all resources, as in Terraform's provider_name.
const Provider = "kolla.openstack.org/kolla/kubernetes"

// Plan writes a plan in the format of `terraform show -json PLANFILE`; see
// docs/plan.schema.json. Additions of kolla are under the key "kolla". "before" and "after"
// contain the fields that kolla owns or changes. The plan must carry them: see
// plans.Plan.Values. Secret values are never written.
func Plan(w io.Writer, plan *plans.Plan) error {
	if !plan.Values {
		return fmt.Errorf("write plan %s as JSON: it does not carry the values of its objects, because kolla %s made it. Plan again with -out", plan.ID, plan.Tool)
	}
	if err := foreign.JSON(w, planJSONOf(plan), ""); err != nil {
		return fmt.Errorf("write plan %s as JSON: %w", plan.ID, err)
	}
	return nil
}

type planJSON struct {
	FormatVersion   string                  `json:"format_version"`
	KollaVersion    string                  `json:"kolla_version"`
	PlannedValues   valuesJSON              `json:"planned_values"`
	ResourceDrift   []resourceChangeJSON    `json:"resource_drift,omitempty"`
	ResourceChanges []resourceChangeJSON    `json:"resource_changes"`
	OutputChanges   map[string]changeJSON   `json:"output_changes"`
	Variables       map[string]variableJSON `json:"variables,omitempty"` // without sensitive values
	Checks          []Check                 `json:"checks,omitempty"`
	PriorState      priorStateJSON          `json:"prior_state"`
	Configuration   configurationJSON       `json:"configuration"`
	Timestamp       string                  `json:"timestamp"`
	Applyable       bool                    `json:"applyable"` // there are changes, and no policy denies them
	Complete        bool                    `json:"complete"`  // nothing was left out
	Errored         bool                    `json:"errored"`   // admission denied a dry run: the plan shows the rest
	Kolla           planExtensionJSON       `json:"kolla"`
}

type valuesJSON struct {
	Outputs map[string]Output `json:"outputs,omitempty"`
	Root    Module[valueJSON] `json:"root_module"`
}

// valueJSON is an object with its values.
type valueJSON struct {
	Address   string `json:"address"`
	Mode      string `json:"mode"`
	Type      string `json:"type"`
	Name      string `json:"name"`
	Index     any    `json:"index,omitempty"` // key of the block, if it is repeated
	Provider  string `json:"provider_name"`
	Schema    int    `json:"schema_version"`
	Values    any    `json:"values"`
	Sensitive any    `json:"sensitive_values"`
}

type priorStateJSON struct {
	FormatVersion string     `json:"format_version"`
	Values        valuesJSON `json:"values"`
}

type configurationJSON struct {
	Providers map[string]providerJSON `json:"provider_config"`
	Root      struct{}                `json:"root_module"`
}

type providerJSON struct {
	Name string `json:"name"`
	Full string `json:"full_name"`
}

// resourceChangeJSON is the change of one object.
type resourceChangeJSON struct {
	Address  string      `json:"address"`
	Previous string      `json:"previous_address,omitempty"`
	Module   string      `json:"module_address,omitempty"`
	Mode     string      `json:"mode"`
	Type     string      `json:"type"`
	Name     string      `json:"name"`
	Index    any         `json:"index,omitempty"` // key of the block, if it is repeated
	Provider string      `json:"provider_name"`
	Change   changeJSON  `json:"change"`
	Reason   string      `json:"action_reason,omitempty"`
	Kolla    *actionJSON `json:"kolla"`
}

type changeJSON struct {
	Actions         []string       `json:"actions"`
	Before          any            `json:"before"`
	After           any            `json:"after"`
	AfterUnknown    any            `json:"after_unknown"`
	BeforeSensitive any            `json:"before_sensitive"`
	AfterSensitive  any            `json:"after_sensitive"`
	ReplacePaths    [][]any        `json:"replace_paths,omitempty"`
	Importing       *importingJSON `json:"importing,omitempty"`
}

type importingJSON struct {
	ID string `json:"id"`
}

// planExtensionJSON is kolla's addition to a plan.
type planExtensionJSON struct {
	Version     string             `json:"version"`
	ID          string             `json:"id"`
	Cloud       string             `json:"cloud"`
	Cluster     providers.Identity `json:"cluster"`
	Digest      string             `json:"digest"` // of the configuration
	State       plans.StateRef     `json:"state"`
	Destroy     bool               `json:"destroy"`
	RefreshOnly bool               `json:"refresh_only"`
	// Renderings names the two versions of the configuration that were compared instead of a
	// configuration and a cluster; nil: a cluster was asked.
	Renderings *plans.Renderings `json:"renderings,omitempty"`
	Drifted    bool              `json:"drifted"`
	Selection  *plans.Selection  `json:"selection,omitempty"`
	Summary    plans.Counts      `json:"summary"`
	// Prunes are the old versions of objects that will be deleted. They are neither among
	// the resource changes nor counted as destroyed.
	Prunes   []resourceChangeJSON `json:"prunes,omitempty"`
	Impact   []impactJSON         `json:"impact,omitempty"`
	Kept     []plans.Kept         `json:"kept,omitempty"`
	Warnings []plans.Notice       `json:"warnings,omitempty"`
	Errors   []plans.Notice       `json:"errors,omitempty"` // why the plan cannot be applied
	Upgrade  *plans.Upgrade       `json:"upgrade,omitempty"`
	Policies []plans.PolicyResult `json:"policies,omitempty"`
	Losses   []plans.Loss         `json:"losses,omitempty"`
	Foreign  []plans.Foreign      `json:"foreign,omitempty"` // fields that others added and that stay
	Compared plans.Tally          `json:"compared"`
}

// actionJSON is kolla's addition to an action.
type actionJSON struct {
	Verb           plans.Verb        `json:"verb"`
	Evidence       plans.Evidence    `json:"evidence"`
	Reasons        []plans.Reason    `json:"reasons,omitempty"`
	Changes        []plans.Change    `json:"changes,omitempty"`
	Yields         []yieldJSON       `json:"yields,omitempty"`
	WaitsFor       []string          `json:"waits_for,omitempty"` // data blocks that are read during the apply
	Forced         bool              `json:"forced,omitempty"`
	Pending        bool              `json:"pending,omitempty"`
	Partial        bool              `json:"partial,omitempty"`
	Prunes         bool              `json:"prunes,omitempty"`
	Releases       bool              `json:"releases,omitempty"`
	KeepsPods      bool              `json:"keeps_pods,omitempty"`
	Holds          string            `json:"holds,omitempty"`
	ValuesCopiedTo string            `json:"values_copied_to,omitempty"` // the Secret to which the values of this deleted Secret are copied
	Supersedes     string            `json:"supersedes,omitempty"`
	Source         string            `json:"source,omitempty"`
	DependsOn      []addrs.Object    `json:"depends_on,omitempty"`
	Object         map[string]string `json:"object"` // apiVersion, kind, namespace, name, uid
}

// yieldJSON is a declared value that is not applied.
type yieldJSON struct {
	Path    string `json:"path"`
	Manager string `json:"manager,omitempty"` // the field manager that owns the field; may be empty
	Want    any    `json:"declared,omitempty"`
	Live    any    `json:"live,omitempty"`
}

func planJSONOf(plan *plans.Plan) planJSON {
	out := planJSON{
		FormatVersion:   planVersion,
		KollaVersion:    plan.Tool,
		ResourceChanges: []resourceChangeJSON{},
		OutputChanges:   map[string]changeJSON{},
		Variables:       map[string]variableJSON{},
		PriorState:      priorStateJSON{FormatVersion: valuesVersion},
		Configuration:   configurationJSON{Providers: map[string]providerJSON{providerName: {Name: providerName, Full: Provider}}},
		Timestamp:       plan.Created.UTC().Format(time.RFC3339),
		Applyable:       !plan.Empty() && !plan.Denied() && !plan.Refused() && plan.Renderings == nil,
		Complete:        !plan.Selection.Restricts(),
		Errored:         plan.Refused(),
		Kolla: planExtensionJSON{
			Version: extensionVersion, ID: plan.ID, Cloud: plan.Cloud, Cluster: plan.Cluster, Digest: plan.Config,
			State: plan.State, Destroy: plan.Destroy, RefreshOnly: plan.RefreshOnly, Renderings: plan.Renderings, Drifted: plan.Drifted(),
			Summary: plan.Counts(), Impact: impactsOf(plan), Kept: plan.Kept, Warnings: plan.Warnings, Errors: plan.Errors,
			Upgrade: plan.Upgrade, Policies: plan.Policies, Losses: plan.Losses, Foreign: plan.Foreign, Compared: plan.Tally(),
		},
	}
	if plan.Selection.Restricts() {
		out.Kolla.Selection = &plan.Selection
	}
	others := outsideOf(plan)
	for i := range plan.Actions {
		out.add(&plan.Actions[i], others)
	}
	out.addOutputs(plan)
	return out
}

// add adds an action to all places of its object.
func (p *planJSON) add(a *plans.Action, others outside) {
	switch {
	case a.Prunes():
		p.Kolla.Prunes = append(p.Kolla.Prunes, resourceChangeOf(a))
	case a.MovedTo() != "": // the plan also has an action at the new address
	default:
		p.ResourceChanges = append(p.ResourceChanges, resourceChangeOf(a))
	}
	if drift, ok := others.drift(a); ok {
		p.ResourceDrift = append(p.ResourceDrift, drift)
	}
	v := valuesOf(a)
	if a.Object != nil && v.after != nil {
		p.PlannedValues.Root.Put(a.Address.Block, newValue(a.Address, v.after, v.afterSensitive))
	}
	if v.before != nil {
		p.PriorState.Values.Root.Put(a.Address.Block, newValue(a.Address, v.before, v.beforeSensitive))
	}
}

func newValue(address addrs.Object, values, sensitive any) valueJSON {
	return valueJSON{
		Address: address.String(), Mode: "managed", Type: address.Kind, Name: address.Name, Provider: Provider,
		Index:  addrs.SplitBlock(address.Block).Key,
		Values: values, Sensitive: sensitive,
	}
}

func resourceChangeOf(a *plans.Action) resourceChangeJSON { return changeOf(a, valuesOf(a)) }

func changeOf(a *plans.Action, v sides) resourceChangeJSON {
	parts := addrs.SplitBlock(a.Address.Block)
	r := resourceChangeJSON{
		Module: parts.Module, Index: parts.Key,
		Address: a.Address.String(), Mode: "managed", Type: a.Address.Kind, Name: a.Address.Name, Provider: Provider,
		Change: changeJSON{
			Actions: planActions(a), Before: v.before, After: v.after, AfterUnknown: v.unknown,
			BeforeSensitive: v.beforeSensitive, AfterSensitive: v.afterSensitive, Importing: importing(a),
		},
		Reason: planReason(a),
		Kolla:  extension(a),
	}
	if previous, ok := movedFrom(a); ok {
		r.Previous = previous.String()
	}
	for _, reason := range a.Reasons {
		if a.Verb == plans.Replace && reason.Kind == plans.ReasonImmutable && reason.Path != "" {
			r.Change.ReplacePaths = append(r.Change.ReplacePaths, attributesOf(reason.Path))
		}
	}
	return r
}

// planActions returns an action in the words of Terraform's plan.
func planActions(a *plans.Action) []string {
	switch a.Verb {
	case plans.Create, plans.Run:
		return []string{"create"}
	case plans.Update:
		return []string{"update"}
	case plans.Replace:
		return []string{"delete", "create"}
	case plans.Delete:
		if a.Partial {
			return []string{"update"}
		}
		return []string{"delete"}
	case plans.Adopt:
		if a.ChangesValues() {
			return []string{"update"}
		}
	case plans.Forget:
		return []string{"forget"}
	}
	return []string{"no-op"}
}

// planReason is uiReason in the words of Terraform's plan.
func planReason(a *plans.Action) string {
	return map[string]string{
		"requested":                         "replace_by_request",
		"replace_triggered_by":              "replace_by_triggers",
		"tainted":                           "replace_because_tainted",
		"cannot_update":                     "replace_because_cannot_update",
		"delete_because_no_resource_config": "delete_because_no_resource_config",
	}[uiReason(a)]
}

func importing(a *plans.Action) *importingJSON {
	if a.Verb != plans.Adopt || a.Has(plans.ReasonMoved) {
		return nil
	}
	apiVersion, kind := a.Ref.GVK.ToAPIVersionAndKind()
	id := fmt.Sprintf("apiVersion=%s,kind=%s,name=%s", apiVersion, kind, a.Ref.Name)
	if a.Ref.Namespace != "" {
		id = fmt.Sprintf("apiVersion=%s,kind=%s,namespace=%s,name=%s", apiVersion, kind, a.Ref.Namespace, a.Ref.Name)
	}
	return &importingJSON{ID: id}
}

// movedFrom returns the former address of an object.
func movedFrom(a *plans.Action) (addrs.Object, bool) {
	for _, r := range a.Reasons {
		if r.Kind == plans.ReasonMoved && a.Verb != plans.Forget {
			address, err := addrs.ParseObject(r.Detail)
			return address, err == nil
		}
	}
	return addrs.Object{}, false
}

// objectOf identifies an object in the cluster.
func objectOf(ref providers.Ref) map[string]string {
	out := map[string]string{"name": ref.Name}
	out["apiVersion"], out["kind"] = ref.GVK.ToAPIVersionAndKind()
	if ref.Namespace != "" {
		out["namespace"] = ref.Namespace
	}
	return out
}

// extension is kolla's addition to an action.
func extension(a *plans.Action) *actionJSON {
	out := &actionJSON{
		Verb: a.Verb, Evidence: a.Evidence, Reasons: a.Reasons, Changes: masked(a.Changes), Forced: a.Force,
		Pending: a.Pending, Partial: a.Partial, Prunes: a.Prunes(), Releases: a.Releases, KeepsPods: a.KeepsPods, Holds: a.Holds, DependsOn: a.DependsOn,
		Object: objectOf(a.Ref),
	}
	for _, y := range a.Yields {
		out.Yields = append(out.Yields, yieldJSON{Path: y.Path, Manager: y.Manager, Want: y.Want, Live: y.Live})
	}
	if a.Prior.UID != "" {
		out.Object["uid"] = string(a.Prior.UID)
	}
	if a.Supersedes != (addrs.Object{}) {
		out.Supersedes = a.Supersedes.String()
	}
	if a.ValuesCopiedTo != (addrs.Object{}) {
		out.ValuesCopiedTo = a.ValuesCopiedTo.String()
	}
	if a.Deferred() {
		out.WaitsFor = a.Object.Deferred
	}
	if a.Object != nil {
		out.Source, out.Partial = a.Object.Source, a.Object.Partial
		if out.Holds == "" {
			out.Holds = a.Object.Holds
		}
	}
	return out
}
