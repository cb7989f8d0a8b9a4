package inspect

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/jsonview"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/lang/configs"
)

// Output is `kolla output`.
func Output(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:      "output",
		Usage:     "Print the outputs of the configuration",
		ArgsUsage: "[NAME]",
		Description: `
Without NAME it prints all outputs. It evaluates them from the configuration, without the
state. It needs a cluster only to read data blocks. Values of sensitive outputs are never
printed: secrets exist only in the cluster, and kolla prints where. Options may follow
the name.`,
		Flags: append(command.CloudFlags(),
			&cli.BoolFlag{Name: "json", Usage: "print JSON in Terraform's format"},
			&cli.BoolFlag{Name: "raw", Usage: "print a string, number or bool without quotes, for scripts"},
			command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			arguments, err := command.Interspersed(c)
			if err != nil {
				return err
			}
			if len(arguments) > 1 {
				return command.TooMany(c, arguments[1])
			}
			if c.Bool("raw") && (c.Bool("json") || len(arguments) == 0) {
				return failure.New("-raw is for one output", "kolla output -raw NAME; and not together with -json.")
			}
			w := command.NewWorkspace(s, c)
			if err := w.LoadSettled(); err != nil {
				return err
			}
			if len(arguments) == 0 {
				return allOutputs(w)
			}
			return oneOutput(w, arguments[0])
		},
	}
}

func allOutputs(w *command.Workspace) error {
	if w.Flags.Bool("json") {
		return jsonview.OutputValues(w.Streams.Out, w.Config.Outputs)
	}
	if len(w.Config.Outputs) == 0 {
		fmt.Fprintln(w.Streams.Out, "The configuration has no outputs. An output block makes one.")
		return nil
	}
	view.Outputs(w.Streams.Out, w.Config.Outputs)
	return nil
}

func oneOutput(w *command.Workspace, name string) error {
	var names []string
	for _, o := range w.Config.Outputs {
		if o.Name != name {
			names = append(names, o.Name)
			continue
		}
		if o.Sensitive {
			return failure.New(fmt.Sprintf("Output %q is sensitive", name), whereabouts(o.Value, w.Config.Cloud.Namespace))
		}
		switch {
		case w.Flags.Bool("raw"):
			return writeRaw(w.Streams.Out, o)
		case w.Flags.Bool("json"):
			if !o.Value.IsWhollyKnown() {
				return notKnown(o)
			}
			return jsonview.OutputValue(w.Streams.Out, o)
		}
		return view.PrintValue(w.Printer.Out, o.Value)
	}
	return failure.New(fmt.Sprintf("No output %q", name), command.DidYouMean(name, names)+"The configuration has: "+orNone(names)+".")
}

// whereabouts says how to read the secrets in a value with kubectl.
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

// writeRaw prints a value without quotes, and without a line break after it.
func writeRaw(out io.Writer, o configs.Output) error {
	if !o.Value.IsKnown() {
		return notKnown(o)
	}
	text, err := convert.Convert(o.Value, cty.String)
	if err != nil || text.IsNull() {
		return failure.New(fmt.Sprintf("Output %q cannot be printed raw", o.Name), "-raw only prints a string, number or bool. Use -json for this value.")
	}
	_, err = fmt.Fprint(out, text.AsString())
	return err
}

func notKnown(o configs.Output) error {
	return failure.New(fmt.Sprintf("Output %q is not known", o.Name), "Its value is not known before apply.")
}
