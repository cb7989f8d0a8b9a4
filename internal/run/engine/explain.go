package engine

import (
	"fmt"
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/run/approval"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/plans"
)

// Warning returns the words of a warning: which values the variables had.
func (e *MissingValuesError) Warning() (summary, detail string) {
	return "Variables of the plan have no value", "Set them again. According to the plan file, the plan was made with:\n\n  " + optionsOf(e.Planned)
}

// Explain implements failure.Explained.
func (e *MissingDataError) Explain() (summary, detail string) {
	return "Data cannot be read", listData(e.Data)
}

// Explain implements failure.Explained.
func (e *UnannouncedError) Explain() (summary, detail string) {
	return "The rest of the plan has changes that were not approved", listUnannounced(e.Actions)
}

// Explain implements failure.Explained.
func (e *OtherValueError) Explain() (summary, detail string) {
	return "A sensitive value differs from the planned one", fmt.Sprintf(
		"The value given now for %s of %s differs from the planned one. Set the variables to the values that the plan was made with, or make a new plan.", e.Path, e.Address)
}

// Explain implements failure.Explained.
func (e *NotAsPlannedError) Explain() (summary, detail string) {
	switch len(e.Names) {
	case 0:
		why, remedy := "Before kolla applies a saved plan, it plans again with the configuration in this directory.", "Make a new plan."
		if e.Rest {
			why = fmt.Sprintf("The rest of the plan depends on %s. kolla plans it from the configuration and its variables when it can read that data.", strings.Join(e.Waiting, ", "))
			remedy = "Run kolla apply again, or make a new plan."
		}
		return "The configuration differs from the planned one", why + " The configuration has changed since the plan was made. " + remedy
	case 1:
		return fmt.Sprintf("The value of variable %s differs from the planned one", e.Names[0]),
			fmt.Sprintf("The plan was made with\n\n  %s\n\nTo apply the saved plan, set this value again. To apply the current value, make a new plan.", optionsOf(e.Planned))
	}
	return fmt.Sprintf("The values of variables %s differ from the planned ones", strings.Join(e.Names, ", ")),
		fmt.Sprintf("The plan was made with\n\n  %s\n\nTo apply the saved plan, set these values again. To apply the current values, make a new plan.", optionsOf(e.Planned))
}

// optionsOf writes values of variables as options.
func optionsOf(values []Assignment) string {
	var out []string
	for _, v := range values {
		out = append(out, "-var "+words.Quote(v.Name+"="+v.Value))
	}
	return strings.Join(out, " ")
}

// maxListed is the largest number of lines of a list in an error.
const maxListed = 10

// Explain implements failure.Explained.
func (e *OtherPlanError) Explain() (summary, detail string) {
	return "The saved plan differs from a new plan", e.detail()
}

// detail says how the plans differ, and how to go on.
func (e *OtherPlanError) detail() string {
	var lines []string
	for _, d := range e.Differences {
		lines = append(lines, d.String())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "kolla planned again with the configuration, the variables and the cluster. The new plan differs from the saved plan:\n\n  %s\n\n",
		strings.Join(words.First(lines, MaxDifferences, "difference"), "\n  "))
	if approval.OnlyDrift(e.Differences) {
		b.WriteString("Nothing was changed, and the saved plan can still be applied. The cluster has changed since the plan was made. Make a new plan and review it. Or apply the saved plan with -skip-drifted: kolla then skips the actions of these objects, unless they do less than the plan shows. It also skips the actions that depend on them, and carries out the rest.")
		return b.String()
	}
	b.WriteString("Nothing was changed. Either somebody edited the plan file, or something that the plan depends on has changed. Make a new plan and review it.")
	if e.Tool != e.Version {
		fmt.Fprintf(&b, " According to the plan file, kolla %s made the plan. This is kolla %s.", e.Tool, e.Version)
	}
	if len(e.Read) > 0 {
		fmt.Fprintf(&b, "\n\nThe configuration reads from the cluster:\n\n  %s", strings.Join(words.First(e.Read, maxListed, "object"), "\n  "))
	}
	return b.String()
}

// Problems returns the differences as problems.
func (e *OtherPlanError) Problems() []plans.Problem {
	var out []plans.Problem
	for _, d := range e.Differences {
		out = append(out, plans.Problem{Address: d.Address, Source: d.Source, Summary: "A new plan differs from the saved one", Detail: d.Text})
	}
	return out
}

// listData names data that do not exist.
func listData(data []configs.Data) string {
	var b strings.Builder
	b.WriteString("The blocks that they depend on were applied, but the cluster does not have these objects:\n")
	for _, d := range data {
		fmt.Fprintf(&b, "\n  %s (%s:%d) reads %s", d.Block, d.Range.Filename, d.Range.Start.Line, describeData(d))
	}
	b.WriteString("\n\nIf a controller in the cluster creates them and needs more time, run kolla apply again later, or with a longer -timeout. Otherwise, correct the kind, name or namespace.")
	return b.String()
}

func describeData(d configs.Data) string {
	if d.Name == "" && len(d.Labels) == 0 {
		return "an object that " + strings.Join(d.Needs, ", ") + " creates"
	}
	return d.DataQuery.String()
}

// listUnannounced lists actions that nobody has approved.
func listUnannounced(actions []*plans.Action) string {
	var lines []string
	for _, a := range actions {
		line := fmt.Sprintf("%s: %s", a.Address, a.Verb)
		if a.AdoptsUnowned() {
			line += fmt.Sprintf(" (%s now exists, and kolla did not create it)", a.Ref)
		}
		lines = append(lines, line)
	}
	return fmt.Sprintf(
		"After all data blocks were read, the plan has more changes, which nobody has approved:\n\n  %s\n\nEither somebody changed the cluster, or the changes follow from the data. Run kolla plan to see them, and kolla apply to continue.", strings.Join(words.First(lines, maxListed, ""), "\n  "))
}
