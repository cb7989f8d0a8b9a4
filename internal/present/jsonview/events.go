package jsonview

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/report/applied"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/output"
	"kolla.openstack.org/kolla/planner/plans"
)

// eventsVersion is the version of Terraform's machine-readable UI, whose format the events
// have. Additions of kolla are under the key "kolla".
const eventsVersion = "1.2"

// Events writes events for programs, one JSON object per line, without secret values. Its
// methods may be called from several goroutines, and do nothing on a nil *Events.
type Events struct {
	now func() time.Time

	mu    sync.Mutex
	out   io.Writer
	err   error                // the first write error
	files map[string]*hcl.File // the configuration that problems refer to
}

// New writes events to w in the format of Terraform's machine-readable UI. The first event
// names the version of kolla.
func New(w io.Writer, tool string) *Events {
	e := &Events{now: time.Now, out: w}
	e.write(event{
		Message:   "kolla " + tool,
		Type:      "version",
		versionOf: &versionOf{Kolla: tool, UI: eventsVersion},
	})
	return e
}

// event is one line. Only the fields of its Type are set.
type event struct {
	Level     string `json:"@level"` // "info", "warn", "error"
	Message   string `json:"@message"`
	Module    string `json:"@module"`
	Timestamp string `json:"@timestamp"`
	Type      string `json:"type"`
	*versionOf
	Change     *changeEvent           `json:"change,omitempty"`
	Changes    *summaryEvent          `json:"changes,omitempty"`
	Hook       *hookEvent             `json:"hook,omitempty"`
	Diagnostic *diagnosticJSON        `json:"diagnostic,omitempty"`
	Outputs    map[string]outputEvent `json:"outputs,omitempty"`
}

// versionOf are the keys of the event "version".
type versionOf struct {
	Kolla string `json:"kolla"`
	UI    string `json:"ui"`
}

// resourceJSON names an object in the format of Terraform's resources.
type resourceJSON struct {
	Addr            string `json:"addr"`
	Module          string `json:"module"`
	Resource        string `json:"resource"`
	ImpliedProvider string `json:"implied_provider"`
	Type            string `json:"resource_type"` // the kind
	Name            string `json:"resource_name"`
	Key             any    `json:"resource_key"` // of the block, if it is repeated
}

func resourceOf(address addrs.Object) resourceJSON {
	parts := addrs.SplitBlock(address.Block)
	inModule := address
	inModule.Block = strings.TrimPrefix(address.Block, parts.Module+".")
	return resourceJSON{
		Addr:            address.String(),
		Module:          parts.Module,
		Resource:        inModule.String(),
		Key:             parts.Key,
		ImpliedProvider: providerName,
		Type:            address.Kind,
		Name:            address.Name,
	}
}

// changeEvent is the content of "planned_change" and "resource_drift".
type changeEvent struct {
	Resource  resourceJSON   `json:"resource"`
	Previous  *resourceJSON  `json:"previous_resource,omitempty"`
	Action    string         `json:"action"`
	Reason    string         `json:"reason,omitempty"`
	Importing *importingJSON `json:"importing,omitempty"`
	Kolla     *actionJSON    `json:"kolla,omitempty"`
}

// summaryEvent is the content of "change_summary".
type summaryEvent struct {
	Add       int    `json:"add"`
	Change    int    `json:"change"`
	Import    int    `json:"import"`
	Remove    int    `json:"remove"`
	Forget    int    `json:"forget"`
	Operation string `json:"operation"` // "plan", "apply", "destroy"
	// Kolla is a *summaryJSON for a plan, and a *tallyJSON for an apply.
	Kolla any `json:"kolla,omitempty"`
}

// tallyJSON has the numbers that Terraform's summary lacks.
type tallyJSON struct {
	Prune int `json:"prune"`
	Move  int `json:"move"`
	// Deferred counts the actions that are not fully known yet.
	Deferred int `json:"deferred,omitempty"`
}

// summaryJSON is kolla's addition to the summary of a plan.
type summaryJSON struct {
	tallyJSON
	plans.Tally
	Pending     []string         `json:"pending,omitempty"` // not ready yet
	RefreshOnly bool             `json:"refresh_only,omitempty"`
	Selection   *plans.Selection `json:"selection,omitempty"`
	Upgrade     *plans.Upgrade   `json:"upgrade,omitempty"`
}

// write adds the fields of all events, and writes one event.
func (e *Events) write(v event) {
	if e == nil {
		return
	}
	if v.Level == "" {
		v.Level = "info"
	}
	v.Module = "kolla.ui"
	e.mu.Lock()
	defer e.mu.Unlock()
	v.Timestamp = e.now().Format("2006-01-02T15:04:05.000000Z07:00")
	v.Message = foreign.Phrase(v.Message)
	if err := foreign.JSON(e.out, v, ""); err != nil && e.err == nil {
		e.err = fmt.Errorf("write events: %w", err)
	}
}

// Err returns the first error of writing.
func (e *Events) Err() error {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// Plan writes a plan: drift, objects that could not be compared, actions, outputs, the
// summary and warnings.
func (e *Events) Plan(plan *plans.Plan) {
	if e == nil {
		return
	}
	for _, v := range driftEvents(plan) {
		e.write(v)
	}
	for _, v := range notCompared(plan) {
		e.write(v)
	}
	for i := range plan.Actions {
		a := &plan.Actions[i]
		if a.Verb == plans.None || a.Verb == plans.Refresh {
			continue
		}
		if a.MovedTo() != "" { // the plan also has an action at the new address
			continue
		}
		kind, action := "planned_change", uiAction(a)
		if a.Prunes() { // Terraform's readers would count it as a deletion
			kind, action = "planned_prune", "prune"
		}
		e.write(event{
			Type:    kind,
			Message: fmt.Sprintf("%s: Plan to %s", a.Address, action),
			Change: &changeEvent{
				Resource:  resourceOf(a.Address),
				Previous:  previousResource(a),
				Action:    uiAction(a),
				Reason:    uiReason(a),
				Importing: importing(a),
				Kolla:     extension(a),
			},
		})
	}
	if output.Changes(plan.Outputs) {
		e.write(plannedOutputs(plan))
	}
	c := plan.Counts()
	e.write(event{
		Type:    "change_summary",
		Message: report.Summary(plan),
		Changes: &summaryEvent{
			Add: c.Add, Change: c.Change, Import: c.Import, Remove: c.Destroy, Forget: c.Forget, Operation: "plan",
			Kolla: summaryOf(plan),
		},
	})
	for _, n := range plan.Warnings {
		e.Problems([]plans.Problem{n.Problem()})
	}
}

// driftEvents returns events about the changes of other clients.
func driftEvents(plan *plans.Plan) []event {
	var out []event
	others := outsideOf(plan)
	for i := range plan.Actions {
		a := &plan.Actions[i]
		if drift, ok := others.drift(a); ok {
			action := drift.Change.Actions[0]
			out = append(out, event{
				Type:    "resource_drift",
				Message: fmt.Sprintf("%s: Drift detected (%s)", a.Address, action),
				Change:  &changeEvent{Resource: resourceOf(a.Address), Action: action, Kolla: drift.Kolla},
			})
		}
	}
	return out
}

// notCompared returns the events about objects that could not be compared, with the reason.
// Terraform has no such event.
func notCompared(plan *plans.Plan) []event {
	var out []event
	for i := range plan.Actions {
		if a := &plan.Actions[i]; a.NotCompared() && a.MovedTo() == "" {
			out = append(out, event{
				Level:   "warn",
				Type:    "resource_not_compared",
				Message: fmt.Sprintf("%s: Not compared: %s", a.Address, a.Evidence.Detail),
				Change:  &changeEvent{Resource: resourceOf(a.Address), Action: "noop", Kolla: extension(a)},
			})
		}
	}
	return out
}

// summaryOf is kolla's addition to the summary of a plan.
func summaryOf(plan *plans.Plan) *summaryJSON {
	c := plan.Counts()
	s := &summaryJSON{RefreshOnly: plan.RefreshOnly, Upgrade: plan.Upgrade, tallyJSON: tallyJSON{Prune: c.Prune, Move: c.Move, Deferred: c.Deferred}, Tally: plan.Tally()}
	for i := range plan.Actions {
		a := &plan.Actions[i]
		if a.Verb == plans.None && a.Pending {
			s.Pending = append(s.Pending, a.Address.String())
		}
	}
	if plan.Selection.Restricts() {
		s.Selection = &plan.Selection
	}
	return s
}

// Applied writes the result of an apply: failures as diagnostics, then the sums.
func (e *Events) Applied(a applied.Result) {
	if e == nil {
		return
	}
	files := e.configured()
	for _, f := range a.Failed {
		if n := len(f.Others) + 1; n > report.Similar {
			// Each object has an event of its own already.
			f.Advice = strings.TrimSpace(fmt.Sprintf("%s\n%s failed for this reason.", f.Advice, words.Count(n, "object")))
			f.Others = nil
		}
		e.diagnostic(ofFailure(f, files))
		for _, other := range f.Others {
			f.Address, f.Source = other, ""
			e.diagnostic(ofFailure(f, files))
		}
	}
	for _, sentence := range a.Upgrade {
		e.Log(sentence)
	}
	operation := "apply"
	if a.Destroy {
		operation = "destroy"
	}
	verdict, rest := a.Verdict()
	e.write(event{
		Type:    "change_summary",
		Message: verdict + rest,
		Changes: &summaryEvent{
			Add: a.Added, Change: a.Changed, Import: a.Imported, Remove: a.Destroyed, Forget: a.Forgotten, Operation: operation,
			Kolla: &tallyJSON{Prune: a.Pruned, Move: a.Moved},
		},
	})
}

// Log writes a line for people.
func (e *Events) Log(message string) { e.write(event{Type: "log", Message: message}) }

// uiAction returns an action in the words of Terraform's events.
func uiAction(a *plans.Action) string {
	switch a.Verb {
	case plans.Create, plans.Run:
		return "create"
	case plans.Update:
		return "update"
	case plans.Replace:
		return "replace"
	case plans.Delete:
		if a.Partial {
			return "update"
		}
		return "delete"
	case plans.Adopt:
		if a.ChangesValues() {
			return "update"
		}
		return "import"
	case plans.Forget:
		return "remove"
	default:
		return "noop"
	}
}

// uiReason returns the reason for a replacement or deletion in the words of Terraform's events;
// empty if Terraform has no word for it.
func uiReason(a *plans.Action) string {
	switch {
	case a.Has(plans.ReasonRequested):
		return "requested"
	case slices.ContainsFunc(a.Reasons, plans.Reason.Triggered):
		return "replace_triggered_by"
	case a.Verb == plans.Replace && a.Has(plans.ReasonFailedJob, plans.ReasonRegistration):
		return "tainted"
	case a.Verb == plans.Replace:
		return "cannot_update"
	case a.Verb == plans.Delete && !a.Partial && a.Has(plans.ReasonUndeclared, plans.ReasonExternal, plans.ReasonRenamed):
		return "delete_because_no_resource_config"
	}
	return ""
}

func previousResource(a *plans.Action) *resourceJSON {
	address, ok := movedFrom(a)
	if !ok {
		return nil
	}
	r := resourceOf(address)
	return &r
}
