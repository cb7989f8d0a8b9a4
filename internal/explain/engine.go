package explain

import (
	"errors"
	"fmt"
	"strings"

	"kolla.openstack.org/kolla/internal/approval"
	"kolla.openstack.org/kolla/internal/engine"
	"kolla.openstack.org/kolla/internal/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/plans"
)

// engineFailure explains an error of the engine.
func engineFailure(err error) (summary, detail string, ok bool) {
	var (
		notAsPlanned *engine.NotAsPlannedError
		otherPlan    *engine.OtherPlanError
		missingData  *engine.MissingDataError
		unannounced  *engine.UnannouncedError
		otherValue   *engine.OtherValueError
	)
	switch {
	case errors.Is(err, engine.ErrNoConfiguration):
		return "The saved plan needs its configuration", "A saved plan is made again before it is carried out, and compared with the file. There is no configuration in this directory. Apply the plan in the directory where it was made, or name that with -chdir.", true
	case errors.As(err, &notAsPlanned):
		summary, detail = configurationOf(notAsPlanned)
	case errors.As(err, &otherPlan):
		summary, detail = "The saved plan is not what would be done", otherPlanMade(otherPlan)
	case errors.As(err, &missingData):
		summary, detail = "Data cannot be read", listData(missingData.Data)
	case errors.As(err, &unannounced):
		summary, detail = "The rest of the plan has changes that were not shown", listUnannounced(unannounced.Actions)
	case errors.As(err, &otherValue):
		summary = "A sensitive value is not the one that was planned with"
		detail = fmt.Sprintf(
			"What was given just now for %s of %s would not do there what the plan says. Give the variables the values that the plan was made with, or make a new plan.", otherValue.Path, otherValue.Address)
	default:
		return "", "", false
	}
	return summary, detail, true
}

// MissingValues returns a warning about variables of a saved plan that have no value.
func MissingValues(e *engine.MissingValuesError) (summary, detail string) {
	return "Variables of the plan have no value here", "They have to be given again. By the file, the plan was made with:\n\n  " + optionsOf(e.Planned)
}

// configurationOf explains a configuration that is not the one of a plan.
func configurationOf(e *engine.NotAsPlannedError) (summary, detail string) {
	switch len(e.Names) {
	case 0:
		why, remedy := "A saved plan is made again before it is carried out, from the configuration in this directory.", "Make a new plan."
		if e.Rest {
			why = fmt.Sprintf("The rest of the plan depends on %s, and is planned when these can be read, from the configuration and its variables.", strings.Join(e.Waiting, ", "))
			remedy = "Run kolla apply again, or make a new plan."
		}
		return "The configuration is not the one that was planned", why + " The configuration has changed since. " + remedy
	case 1:
		return fmt.Sprintf("The variable %s has another value than it was planned with", e.Names[0]),
			fmt.Sprintf("The plan was made with\n\n  %s\n\nTo apply that, give it again; to apply the value that it has now, make a new plan.", optionsOf(e.Planned))
	}
	return fmt.Sprintf("The variables %s have other values than they were planned with", strings.Join(e.Names, ", ")),
		fmt.Sprintf("The plan was made with\n\n  %s\n\nTo apply that, give them again; to apply the values that they have now, make a new plan.", optionsOf(e.Planned))
}

// optionsOf writes values of variables as options.
func optionsOf(values []engine.Assignment) string {
	var out []string
	for _, v := range values {
		out = append(out, "-var "+words.Quote(v.Name+"="+v.Value))
	}
	return strings.Join(out, " ")
}

// maxListed limits how many lines a list in an error has.
const maxListed = 10

// otherPlanMade says how a saved plan differs from a new one, and how to go on.
func otherPlanMade(e *engine.OtherPlanError) string {
	var lines []string
	for _, d := range e.Differences {
		lines = append(lines, d.String())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "kolla made the plan again, from the configuration, the variables and the cluster, and got another one:\n\n  %s\n\n",
		strings.Join(words.First(lines, engine.MaxDifferences, "difference"), "\n  "))
	if approval.OnlyDrift(e.Differences) {
		b.WriteString("Nothing was changed, and the plan is not used up. The cluster has changed since the plan was made. Make a new plan, and look at it. Or apply this one with -skip-drifted: the actions of these objects do not start, unless they do less than the plan shows, nor do those that depend on them. The rest is carried out.")
		return b.String()
	}
	b.WriteString("Nothing was changed. Either somebody edited the file, or something that the plan depends on has changed since. Make a new plan, and look at it.")
	if e.Tool != e.Version {
		fmt.Fprintf(&b, " By the file, it was made by kolla %s, and this is kolla %s.", e.Tool, e.Version)
	}
	if len(e.Read) > 0 {
		fmt.Fprintf(&b, "\n\nThe configuration reads from the cluster:\n\n  %s", strings.Join(words.First(e.Read, maxListed, "object"), "\n  "))
	}
	return b.String()
}

// Differences returns the differences of a refused plan as problems.
func Differences(e *engine.OtherPlanError) []plans.Problem {
	var out []plans.Problem
	for _, d := range e.Differences {
		out = append(out, plans.Problem{Address: d.Address, Source: d.Source, Summary: "A new plan differs from the saved one", Detail: d.Text})
	}
	return out
}

// listData names data that do not exist.
func listData(data []configs.Data) string {
	var b strings.Builder
	b.WriteString("What they depend on is applied, and the cluster does not have them:\n")
	for _, d := range data {
		fmt.Fprintf(&b, "\n  %s (%s:%d) reads %s", d.Block, d.Range.Filename, d.Range.Start.Line, describeData(d))
	}
	b.WriteString("\n\nIf something in the cluster makes them and needs longer, run kolla apply again later, or with a longer -timeout. Otherwise correct the kind, name or namespace.")
	return b.String()
}

func describeData(d configs.Data) string {
	if d.Name == "" && len(d.Labels) == 0 {
		return "what " + strings.Join(d.Needs, ", ") + " makes"
	}
	return d.DataQuery.String()
}

// listUnannounced lists actions that nobody has approved.
func listUnannounced(actions []*plans.Action) string {
	var lines []string
	for _, a := range actions {
		line := fmt.Sprintf("%s: %s", a.Address, a.Verb)
		if a.AdoptsUnowned() {
			line += fmt.Sprintf(" (%s is there by now, and is not kolla's)", a.Ref)
		}
		lines = append(lines, line)
	}
	return fmt.Sprintf(
		"Now that all data blocks are read, the plan has more changes, which nobody has approved:\n\n  %s\n\nEither somebody changed it meanwhile, or it follows from what was read. Run kolla plan to see it, and kolla apply to go on.", strings.Join(words.First(lines, maxListed, ""), "\n  "))
}
