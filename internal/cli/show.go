package cli

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/foreign"
	"kolla.openstack.org/kolla/internal/jsonview"
	"kolla.openstack.org/kolla/internal/publish"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/state"
)

func showCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "Show the state, or a saved plan",
		ArgsUsage: "[PLANFILE]",
		Description: `
With -json, both are printed in the shape of Terraform's: what reads "terraform show
-json" reads this as well. docs/plan.schema.json describes the plan. What kolla says
beyond Terraform is under the key "kolla". No value of a secret is in either.`,
		Flags: append(formatFlags(),
			stateFlag(),
			&cli.BoolFlag{Name: "full", Usage: "show every field of what will be created, and each object that moves"},
			&cli.BoolFlag{Name: "compact", Usage: "show one line an action, dangerous ones first"},
			&cli.BoolFlag{Name: "json", Usage: "print JSON in the shape of Terraform's"},
			noColorFlag()),
		Action: func(c *cli.Context) error {
			if err := atMost(c, 1); err != nil {
				return err
			}
			outputs, err := outputsOf(c)
			if err != nil {
				return err
			}
			if c.Args().First() == "" && (c.IsSet("format") || c.IsSet("report")) {
				return failure.New("-format and -report need a saved plan", "kolla show prints the state unless it is given the file of a plan: kolla show -format=markdown PLANFILE. The state as JSON is kolla show -json.")
			}
			if file := c.Args().First(); file != "" {
				plan, err := plans.Load(file)
				if err != nil {
					return err
				}
				if c.Bool("json") {
					return jsonview.Plan(s.out, plan)
				}
				return showSaved(newWorkspace(s, c), plan, outputs)
			}
			st, err := state.Open(c.String("state")).Read()
			if err != nil {
				return err
			}
			if c.Bool("json") {
				return stateJSON(s.out, st)
			}
			return showState(s, st)
		},
	}
}

// showSaved shows a plan that was made earlier. That the state cannot be read is no
// reason not to: only whether the plan was applied is not known then.
func showSaved(w *workspace, plan *plans.Plan, outputs publish.Outputs) error {
	if err := outputs.Write(w.out, plan, time.Now()); err != nil || outputs.Stdout() {
		return err
	}
	options := w.viewOptions()
	options.Saved, options.Now = true, time.Now()
	if st, err := state.Open(w.flags.String("state")).Read(); err == nil {
		options.Applied = slices.Contains(st.Plans, plan.ID)
	}
	return w.printer.Plan(plan, options)
}

// showState prints the state as a table, block by block.
func showState(s streams, st *state.State) error {
	if len(st.Objects) == 0 {
		fmt.Fprintln(s.out, "The state is empty: nothing was applied yet.")
		return nil
	}
	foreign.Fprintf(s.out, "Cloud %q in the cluster at %s, serial %d.\n", st.Cloud, st.Cluster.Server, st.Serial)
	block := ""
	table := tabwriter.NewWriter(s.out, 0, 8, 2, ' ', 0)
	for _, o := range st.Objects {
		address, err := addrs.ParseObject(o.Address)
		if err != nil {
			return fmt.Errorf("read the state: %w", err)
		}
		if address.Block != block {
			block = address.Block
			foreign.Fprintf(table, "\n%s\n", block)
		}
		format := "  %s\t%s\n"
		if !o.Ready {
			format = "  %s\t%s\tnot seen ready\n"
		}
		foreign.Fprintf(table, format, o.Kind, o.Name)
	}
	return table.Flush()
}

// The state in the shape of `terraform show -json`. Values of objects are only what names
// them: the state holds no others.
type (
	jsonState struct {
		FormatVersion string           `json:"format_version"`
		KollaVersion  string           `json:"kolla_version"`
		Values        *jsonValues      `json:"values,omitempty"` // nil: nothing was ever applied
		Checks        []jsonview.Check `json:"checks,omitempty"`
		Kolla         *jsonStateMore   `json:"kolla,omitempty"`
	}
	jsonValues struct {
		Outputs map[string]jsonview.Output  `json:"outputs"`
		Root    jsonview.Module[jsonObject] `json:"root_module"`
	}
	jsonObject struct {
		Address   string         `json:"address"`
		Mode      string         `json:"mode"`
		Type      string         `json:"type"`
		Name      string         `json:"name"`
		Index     any            `json:"index,omitempty"` // key of the block, if it is repeated
		Provider  string         `json:"provider_name"`
		Schema    int            `json:"schema_version"`
		Values    map[string]any `json:"values"`
		Sensitive struct{}       `json:"sensitive_values"`
		DependsOn []string       `json:"depends_on,omitempty"`
		Kolla     jsonObjectMore `json:"kolla"`
	}
	// jsonStateMore and jsonObjectMore are what kolla says beyond Terraform.
	jsonStateMore struct {
		Cloud   string        `json:"cloud"`
		Cluster state.Cluster `json:"cluster"`
		Lineage string        `json:"lineage"`
		Serial  uint64        `json:"serial"`
	}
	jsonObjectMore struct {
		Ready   bool   `json:"ready"`
		Applied string `json:"applied"` // RFC 3339
		Family  string `json:"family,omitempty"`
		Partial bool   `json:"partial,omitempty"`
		Holds   string `json:"holds,omitempty"`
	}
)

func stateJSON(w io.Writer, st *state.State) error {
	out := jsonState{FormatVersion: "1.0", KollaVersion: Version}
	if st.Lineage != "" {
		out.Kolla = &jsonStateMore{Cloud: st.Cloud, Cluster: st.Cluster, Lineage: st.Lineage, Serial: st.Serial}
		out.Values = &jsonValues{Outputs: jsonview.Outputs(st.Outputs)}
		out.Checks = jsonview.Checks(st.Checks)
		for _, o := range st.Objects {
			address, err := addrs.ParseObject(o.Address)
			if err != nil {
				return fmt.Errorf("read the state: %w", err)
			}
			out.Values.Root.Put(address.Block, jsonObjectOf(o, address))
		}
	}
	if err := foreign.JSON(w, out, ""); err != nil {
		return fmt.Errorf("write the state as JSON: %w", err)
	}
	return nil
}

func jsonObjectOf(o state.Object, address addrs.Object) jsonObject {
	metadata := map[string]any{"name": o.Name, "uid": o.UID}
	if o.Namespace != "" {
		metadata["namespace"] = o.Namespace
	}
	return jsonObject{
		Address: o.Address, Mode: "managed", Type: o.Kind, Name: o.Name, Provider: jsonview.Provider,
		Index:     addrs.SplitBlock(address.Block).Key,
		Values:    map[string]any{"apiVersion": o.APIVersion, "kind": o.Kind, "metadata": metadata},
		DependsOn: o.DependsOn,
		Kolla: jsonObjectMore{
			Ready: o.Ready, Applied: o.Applied.UTC().Format(time.RFC3339), Family: o.Family, Partial: o.Partial, Holds: o.Holds,
		},
	}
}
