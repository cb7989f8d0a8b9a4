// Package inspect has the commands that check or print a configuration, a saved plan, a state, images or the
// catalogue. They change nothing.
package inspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/jsonview"
	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/openstack"
	"kolla.openstack.org/kolla/providers/openstack/options"
)

// Validate is `kolla validate`.
func Validate(s command.Streams) *cli.Command {
	return &cli.Command{
		Name:  "validate",
		Usage: "Check the configuration, without a cluster",
		Description: `
Variables need no values: a variable without a value is unknown, and kolla does not ask.
Values that you give are used and checked.

-json prints the errors and warnings in the format of "terraform validate -json".

Exit codes: 0 valid, perhaps with warnings; 1 error, with -strict also for a warning.`,
		Flags: append(command.VariableFlags(),
			command.PolicyFlag(),
			&cli.BoolFlag{Name: "json", Usage: "print the result as JSON in Terraform's format"},
			&cli.BoolFlag{Name: "strict", Usage: "treat warnings as errors"},
			command.AnnotationsFlag(),
			command.NoColorFlag()),
		Action: func(c *cli.Context) error {
			w := command.NewWorkspace(s, c)
			w.Valueless = true
			return command.Annotated(w, s.Out, func() error { return runValidate(w) })
		},
	}
}

func runValidate(w *command.Workspace) error {
	out := w.Streams.Out
	config, objects, diags := validate(w)
	strict := 0
	if w.Flags.Bool("strict") {
		diags, strict = asErrors(diags)
	}
	if w.Flags.Bool("json") {
		w.Printer.Annotations.Configuration(report.InFileOrder(diags))
		if err := jsonview.Validation(out, diags, config.Files); err != nil {
			return err
		}
	} else {
		w.Printer.Diagnostics(diags, config.Files)
	}
	switch {
	case diags.HasErrors() && strict > 0 && !w.Flags.Bool("json"):
		fmt.Fprintf(w.Streams.Err, "The configuration is not valid: -strict makes %s an error.\n", words.Plural(strict, "a warning", fmt.Sprintf("each of %d warnings", strict)))
		fallthrough
	case diags.HasErrors():
		return command.ExitCode(command.ExitError)
	case w.Flags.Bool("json"):
		return nil
	}
	fmt.Fprintf(out, "The configuration is valid: %s, %s.\n",
		words.Count(len(config.Services), "service"), words.Count(objects, "object"))
	if len(config.Unset) > 0 {
		fmt.Fprintln(out, w.Printer.Out.Prose(fmt.Sprintf("What follows from variables without a value was not checked: var.%s.", strings.Join(config.Unset, ", var.")), 0))
	}
	return nil
}

// asErrors turns warnings into errors, and counts them.
func asErrors(diags hcl.Diagnostics) (strict hcl.Diagnostics, warnings int) {
	for _, d := range diags {
		if d.Severity == hcl.DiagWarning {
			changed := *d
			d, changed.Severity = &changed, hcl.DiagError
			warnings++
		}
		strict = append(strict, d)
	}
	return strict, warnings
}

// validate returns the configuration, the number of its objects, and all errors and warnings
// that need no cluster.
func validate(w *command.Workspace) (*configs.Config, int, hcl.Diagnostics) {
	config, diags, _ := w.Source.Read(w.Flags.Context, w.Loading) // does not ask for values
	if diags.HasErrors() {
		return config, 0, append(diags, options.CheckPart(config)...)
	}
	objects, more := openstack.Check(config, openstack.Offline())
	return config, objects, slices.Concat(diags, more, options.Check(config))
}
