package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"kolla.openstack.org/kolla/internal/engine"
	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/foreign"
	"kolla.openstack.org/kolla/internal/view"
	"kolla.openstack.org/kolla/lang/configs"
)

func outputCommand(s streams) *cli.Command {
	return &cli.Command{
		Name:      "output",
		Usage:     "Print the outputs of the configuration",
		ArgsUsage: "[NAME]",
		Description: `
Without NAME it prints all of them. They are evaluated from the configuration, without
the state, and without a cluster unless there are data blocks to read. Values of
sensitive outputs are never printed: secrets are in the cluster only, and kolla says
where. Options may stand behind the name.`,
		Flags: append(append(variableFlags(), clusterFlags()...),
			&cli.BoolFlag{Name: "json", Usage: "print JSON in the shape of Terraform's"},
			&cli.BoolFlag{Name: "raw", Usage: "print a string, number or bool as it is, for scripts"},
			noColorFlag()),
		Action: func(c *cli.Context) error {
			arguments, err := interspersed(c)
			if err != nil {
				return err
			}
			if len(arguments) > 1 {
				return tooMany(c, arguments[1])
			}
			if c.Bool("raw") && (c.Bool("json") || len(arguments) == 0) {
				return failure.New("-raw is for one output", "kolla output -raw NAME; and not together with -json.")
			}
			w := newWorkspace(s, c)
			w.loading = engine.Loading{Cluster: w.cluster, Settled: true, Quiet: true}
			if err := w.loadConfig(); err != nil {
				return err
			}
			if len(arguments) == 0 {
				return w.allOutputs()
			}
			return w.oneOutput(arguments[0])
		},
	}
}

func (w *workspace) allOutputs() error {
	if w.flags.Bool("json") {
		return outputsJSON(w.streams, w.config.Outputs)
	}
	if len(w.config.Outputs) == 0 {
		fmt.Fprintln(w.out, "The configuration has no outputs. An output block makes one.")
		return nil
	}
	w.printOutputs(w.config)
	return nil
}

func (w *workspace) printOutputs(config *configs.Config) {
	for _, o := range config.Outputs {
		if o.Sensitive {
			foreign.Fprintf(w.out, "%s = <sensitive>\n", o.Name)
			continue
		}
		fmt.Fprintln(w.out, foreign.Lines(o.Name+" = "+view.Value(o.Value)))
	}
}

// concludeOutputs prints the outputs at the end of an apply, for people.
func (w *workspace) concludeOutputs(config *configs.Config) {
	if w.loading.Destroy || len(config.Outputs) == 0 || w.flags.Bool("json") {
		return
	}
	fmt.Fprint(w.out, "\nOutputs:\n\n")
	w.printOutputs(config)
}

func (w *workspace) oneOutput(name string) error {
	var names []string
	for _, o := range w.config.Outputs {
		if o.Name != name {
			names = append(names, o.Name)
			continue
		}
		if o.Sensitive {
			return failure.New(fmt.Sprintf("Output %q is sensitive", name), whereabouts(o.Value, w.config.Cloud.Namespace))
		}
		switch {
		case w.flags.Bool("raw"):
			return writeRaw(w.streams, o)
		case w.flags.Bool("json"):
			value, err := valueJSON(o)
			if err != nil {
				return err
			}
			return foreign.JSON(w.out, value, "")
		}
		return w.printer.Value(o.Value)
	}
	return failure.New(fmt.Sprintf("No output %q", name), didYouMean(name, names)+"The configuration has: "+orNone(names)+".")
}

// whereabouts says where the secrets are that a value is made of.
func whereabouts(value cty.Value, namespace string) string {
	refs := configs.SecretsIn(value)
	if len(refs) == 0 {
		return "kolla prints no secrets. The value comes from the configuration and its variables."
	}
	var b strings.Builder
	b.WriteString("kolla prints no secrets: they are in the cluster only. The value is made of:\n")
	for _, ref := range refs {
		fmt.Fprintf(&b, "\n  kubectl -n %s get secret %s -o jsonpath='{.data.%s}' | base64 -d", namespace, ref.Object(), strings.ReplaceAll(ref.Key, ".", `\.`))
	}
	return b.String()
}

// writeRaw prints a value as it is, without a line break that it does not have.
func writeRaw(s streams, o configs.Output) error {
	if !o.Value.IsKnown() {
		return notKnown(o)
	}
	text, err := convert.Convert(o.Value, cty.String)
	if err != nil || text.IsNull() {
		return failure.New(fmt.Sprintf("Output %q cannot be printed raw", o.Name), "-raw prints a string, number or bool. For this value use -json.")
	}
	_, err = fmt.Fprint(s.out, text.AsString())
	return err
}

func notKnown(o configs.Output) error {
	return failure.New(fmt.Sprintf("Output %q is not known", o.Name), "Its value is not known before apply.")
}

// jsonOutput is an output in the shape of `terraform output -json`.
type jsonOutput struct {
	Sensitive bool            `json:"sensitive"`
	Type      json.RawMessage `json:"type"`
	Value     json.RawMessage `json:"value"` // null where it is sensitive
}

func outputsJSON(s streams, outputs []configs.Output) error {
	out := map[string]jsonOutput{}
	for _, o := range outputs {
		typ, err := ctyjson.MarshalType(o.Value.Type())
		if err != nil {
			return fmt.Errorf("write the type of output %q: %w", o.Name, err)
		}
		shown := jsonOutput{Sensitive: o.Sensitive, Type: typ, Value: json.RawMessage("null")}
		if !o.Sensitive && o.Value.IsWhollyKnown() {
			if shown.Value, err = valueJSON(o); err != nil {
				return err
			}
		}
		out[o.Name] = shown
	}
	return s.writeJSON(out)
}

func valueJSON(o configs.Output) (json.RawMessage, error) {
	if !o.Value.IsWhollyKnown() {
		return nil, notKnown(o)
	}
	known, _ := o.Value.UnmarkDeep() // what must not be shown is not in outputs that are not sensitive
	value, err := ctyjson.Marshal(known, known.Type())
	if err != nil {
		return nil, fmt.Errorf("write output %q: %w", o.Name, err)
	}
	return value, nil
}
