package inspect

import (
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/jsonview"
	"kolla.openstack.org/kolla/internal/present/publish"
	"kolla.openstack.org/kolla/internal/present/view/tables"
	"kolla.openstack.org/kolla/planner/plans"
)

// Show is `kolla show`.
func Show(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "Show the state, or a saved plan",
		ArgsUsage: "[PLANFILE]",
		Description: `
With -json, it prints both in Terraform's format: programs that read the output of
"terraform show -json" can read it. docs/plan.schema.json describes the plan. Data that
Terraform does not have is under the key "kolla". The output contains no secret values.`,
		Flags: append(append(append(command.FormatFlags(), command.StateFlags()...), command.DetailFlags()...),
			&cli.BoolFlag{Name: "json", Usage: "print JSON in Terraform's format"},
			command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			if err := command.AtMost(c, 1); err != nil {
				return err
			}
			outputs, err := command.Outputs(c)
			if err != nil {
				return err
			}
			file := c.Args().First()
			if file == "" && (c.IsSet("format") || c.IsSet("report")) {
				return failure.New("-format and -report need a saved plan", "Without a plan file, kolla show prints the state. Write kolla show -format=markdown PLANFILE. To print the state as JSON, use kolla show -json.")
			}
			if file != "" {
				plan, err := plans.Load(file)
				if err != nil {
					return err
				}
				if c.Bool("json") {
					return jsonview.Plan(s.Out, plan)
				}
				return showSaved(command.NewWorkspace(s, c), plan, outputs)
			}
			st, err := command.NewWorkspace(s, c).ReadState(c.Context)
			if err != nil {
				return err
			}
			if c.Bool("json") {
				return jsonview.State(s.Out, st, s.Version)
			}
			return tables.State(s.Out, st)
		},
	}
}

// showSaved shows a saved plan. The state says whether the plan was applied. If the state
// cannot be read, the plan is shown without that.
func showSaved(w *command.Workspace, plan *plans.Plan, outputs publish.Outputs) error {
	if err := outputs.Write(w.Streams.Out, plan, time.Now()); err != nil || outputs.Stdout() {
		return err
	}
	options := command.Details(w.Flags)
	options.Saved, options.Now = true, time.Now()
	if st, err := w.ReadState(w.Flags.Context); err == nil {
		options.Applied = slices.Contains(st.Plans, plan.ID)
	}
	return w.Printer.Plan(plan, options)
}
