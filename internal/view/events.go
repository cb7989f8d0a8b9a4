package view

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"kolla.openstack.org/kolla/internal/foreign"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// eventsVersion is that of Terraform's machine-readable UI, whose shape the events
// have. What kolla says beyond it is under the key "kolla".
const eventsVersion = "1.2"

// events writes what happens for programs, one JSON object a line. No value of a
// secret is in any of them. Its methods may be called from several goroutines.
type events struct {
	now func() time.Time

	mu  sync.Mutex
	out io.Writer
	err error // the first one of writing
}

// Events makes the printer write events to w besides all that it prints: JSON
// objects, one a line, in the shape of Terraform's machine-readable UI. The first
// says that they are written by this version of kolla.
func (p *Printer) Events(w io.Writer, tool string) {
	p.events = &events{now: time.Now, out: w}
	p.events.write(event{
		Message:   "kolla " + tool,
		Type:      "version",
		versionOf: &versionOf{Kolla: tool, UI: eventsVersion},
	})
}

// event is one line. Only the parts of its Type are set.
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

// resourceJSON names an object in the words of Terraform's resources.
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

// changeEvent is what "planned_change" and "resource_drift" are about.
type changeEvent struct {
	Resource  resourceJSON   `json:"resource"`
	Previous  *resourceJSON  `json:"previous_resource,omitempty"`
	Action    string         `json:"action"`
	Reason    string         `json:"reason,omitempty"`
	Importing *importingJSON `json:"importing,omitempty"`
	Kolla     *actionJSON    `json:"kolla,omitempty"`
}

// summaryEvent is what "change_summary" tells.
type summaryEvent struct {
	Add       int    `json:"add"`
	Change    int    `json:"change"`
	Import    int    `json:"import"`
	Remove    int    `json:"remove"`
	Forget    int    `json:"forget"`
	Operation string `json:"operation"` // "plan", "apply", "destroy"
	// Kolla is a *summaryJSON of a plan, and a *tallyJSON of an apply.
	Kolla any `json:"kolla,omitempty"`
}

// tallyJSON has the numbers of a summary that Terraform's has not.
type tallyJSON struct {
	Prune int `json:"prune"`
	Move  int `json:"move"`
	// Deferred are those of the actions of which not all is known yet.
	Deferred int `json:"deferred,omitempty"`
}

// summaryJSON is what the summary of a plan has beyond Terraform's.
type summaryJSON struct {
	tallyJSON
	plans.Tally
	Pending     []string         `json:"pending,omitempty"` // not ready yet
	RefreshOnly bool             `json:"refresh_only,omitempty"`
	Selection   *plans.Selection `json:"selection,omitempty"`
}

// write adds what all events have, and writes one.
func (e *events) write(v event) {
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

// failure is the first error of writing.
func (e *events) failure() error {
	if e == nil {
		return nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// plan writes a plan: what others changed, what could not be compared, what will be done,
// how much it is.
func (e *events) plan(plan *plans.Plan) {
	if e == nil {
		return
	}
	e.drift(plan)
	e.notCompared(plan)
	for i := range plan.Actions {
		a := &plan.Actions[i]
		if a.Verb == plans.None || a.Verb == plans.Refresh {
			continue
		}
		if a.MovedTo() != "" { // it is there once more, under its new address
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
	e.plannedOutputs(plan)
	c := plan.Counts()
	e.write(event{
		Type:    "change_summary",
		Message: plainSummary(plan),
		Changes: &summaryEvent{
			Add: c.Add, Change: c.Change, Import: c.Import, Remove: c.Destroy, Forget: c.Forget, Operation: "plan",
			Kolla: summaryOf(plan),
		},
	})
}

// drift writes what others did to each object.
func (e *events) drift(plan *plans.Plan) {
	others := outsideOf(plan)
	for i := range plan.Actions {
		a := &plan.Actions[i]
		if drift, ok := others.drift(a); ok {
			action := drift.Change.Actions[0]
			e.write(event{
				Type:    "resource_drift",
				Message: fmt.Sprintf("%s: Drift detected (%s)", a.Address, action),
				Change:  &changeEvent{Resource: resourceOf(a.Address), Action: action, Kolla: drift.Kolla},
			})
		}
	}
}

// notCompared writes which objects could not be compared, and why. Terraform knows no such
// thing.
func (e *events) notCompared(plan *plans.Plan) {
	for i := range plan.Actions {
		if a := &plan.Actions[i]; a.NotCompared() && a.MovedTo() == "" {
			e.write(event{
				Level:   "warn",
				Type:    "resource_not_compared",
				Message: fmt.Sprintf("%s: Not compared: %s", a.Address, a.Evidence.Detail),
				Change:  &changeEvent{Resource: resourceOf(a.Address), Action: "noop", Kolla: extension(a)},
			})
		}
	}
}

func summaryOf(plan *plans.Plan) *summaryJSON {
	c := plan.Counts()
	s := &summaryJSON{RefreshOnly: plan.RefreshOnly, tallyJSON: tallyJSON{Prune: c.Prune, Move: c.Move, Deferred: c.Deferred}, Tally: plan.Tally()}
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

// applied writes how an apply went: what failed as diagnostics, then the sums.
func (e *events) applied(a Applied, diagnose func(Failed) *diagnosticJSON) {
	if e == nil {
		return
	}
	for _, f := range a.Failed {
		e.diagnostic(diagnose(f))
		for _, other := range f.Others {
			f.Address, f.Source = other, ""
			e.diagnostic(diagnose(f))
		}
	}
	operation := "apply"
	if a.Destroy {
		operation = "destroy"
	}
	e.write(event{
		Type:    "change_summary",
		Message: a.sentence().String(),
		Changes: &summaryEvent{
			Add: a.Added, Change: a.Changed, Import: a.Imported, Remove: a.Destroyed, Forget: a.Forgotten, Operation: operation,
			Kolla: &tallyJSON{Prune: a.Pruned, Move: a.Moved},
		},
	})
}

// log writes a line for people that no program needs.
func (e *events) log(message string) { e.write(event{Type: "log", Message: message}) }

// uiAction is an action in the words of Terraform's events.
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

// uiReason is why something is replaced or deleted, in the words of Terraform's
// events; empty where they have none.
func uiReason(a *plans.Action) string {
	switch {
	case hasReason(a, plans.ReasonRequested):
		return "requested"
	case slices.ContainsFunc(a.Reasons, plans.Reason.Triggered):
		return "replace_triggered_by"
	case a.Verb == plans.Replace && hasReason(a, plans.ReasonFailedJob):
		return "tainted"
	case a.Verb == plans.Replace:
		return "cannot_update"
	case a.Verb == plans.Delete && !a.Partial && (hasReason(a, plans.ReasonUndeclared) || hasReason(a, plans.ReasonExternal) || hasReason(a, plans.ReasonRenamed)):
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
