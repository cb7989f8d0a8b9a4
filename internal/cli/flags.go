package cli

import (
	"time"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/publish"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/state"
)

// Options that several commands share. They come from functions: a flag holds
// state, so that no two commands can have the same one.

func noColorFlag() cli.Flag {
	return &cli.BoolFlag{Name: "no-color", Usage: "print without colours"}
}

func variableFlags() []cli.Flag {
	given := &[]lang.Var{}
	return []cli.Flag{
		&cli.GenericFlag{Name: "var", Value: &varFlag{given: given}, Usage: "set a variable, `NAME=VALUE`; may be repeated"},
		&cli.GenericFlag{Name: "var-file", Value: &varFlag{given: given, file: true}, Usage: "read variables from `FILE`; may be repeated. Of -var and -var-file a later one wins"},
		&cli.BoolFlag{Name: "input", Value: true, Usage: "ask for missing variables on a terminal; -input=false never asks"},
	}
}

// varFlag is -var or -var-file: the order among both counts, so they share a list.
type varFlag struct {
	given *[]lang.Var
	file  bool
}

// Set takes one use of the option.
func (f *varFlag) Set(text string) error {
	v := lang.Var{Assignment: text}
	if f.file {
		v = lang.Var{File: text}
	}
	*f.given = append(*f.given, v)
	return nil
}

// String is for the default in the help: there is none.
func (f *varFlag) String() string { return "" }

// givenVars are all uses of -var and -var-file.
func givenVars(c *cli.Context) []lang.Var {
	if f, ok := c.Generic("var").(*varFlag); ok {
		return *f.given
	}
	return nil
}

func clusterFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "kubeconfig", Usage: "`FILE` that says where the cluster is (default as kubectl: $KUBECONFIG, ~/.kube/config)"},
		&cli.StringFlag{Name: "context", Usage: "`NAME` of the context in that file (default the current one)"},
	}
}

func stateFlag() cli.Flag {
	return &cli.StringFlag{Name: "state", Value: state.DefaultFile, Usage: "the state `FILE`"}
}

func lockFlags() []cli.Flag {
	return []cli.Flag{
		&cli.DurationFlag{Name: "lock-timeout", Usage: "wait up to `DURATION` for another kolla to release the state"},
	}
}

// planFlags are the options of whatever makes a plan.
func planFlags() []cli.Flag {
	return append(append(variableFlags(), clusterFlags()...),
		stateFlag(),
		&cli.BoolFlag{Name: "force-conflicts", Usage: "take over fields that other field managers own"},
		&cli.StringFlag{Name: "verify", Usage: "with `full`, ask the server also about objects that are known to be unchanged"},
		&cli.BoolFlag{Name: "full", Usage: "show every field of what will be created, and each object that moves"},
		&cli.BoolFlag{Name: "compact", Usage: "show one line an action, dangerous ones first"},
		&cli.StringSliceFlag{Name: "target", Usage: "plan only for `ADDRESS`, an object or a block, and what it depends on; may be repeated"},
		&cli.StringSliceFlag{Name: "target-file", Usage: "read addresses for -target from `FILE`, one a line; # begins a comment; may be repeated"},
		&cli.StringSliceFlag{Name: "exclude", Usage: "leave out `ADDRESS`, an object or a block, and what depends on it; may be repeated"},
		&cli.IntFlag{Name: "max-deletes", Usage: "delete at most `N` objects; old versions and jobs do not count (default half of what the state knows; a destroy: all)", DefaultText: " "},
		&cli.BoolFlag{Name: "json", Usage: "print events as JSON, one object a line, instead of text for people"},
		&cli.StringFlag{Name: "json-into", Usage: "also write those events to `FILE`"},
		&cli.BoolFlag{Name: "compact-warnings", Usage: "show warnings without their details"},
		parallelismFlag(),
		noColorFlag())
}

// formatFlags are the options of a command that shows a plan.
func formatFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "format", Value: publish.Terminal, Usage: "print the plan as `FORMAT`: terminal, markdown for a comment in code review, or json in the shape of Terraform's; with the latter two, all else goes to standard error"},
		&cli.StringSliceFlag{Name: "report", Usage: "also write the plan to `FILE`: Markdown if its name ends with .md, JSON if with .json; may be repeated"},
	}
}

// outputsOf reads -format and -report.
func outputsOf(c *cli.Context) (publish.Outputs, error) {
	return publish.To(c.String("format"), c.StringSlice("report"), c.Bool("full"))
}

// changeFlags are the options of whatever plans to change a cloud, not to destroy
// it.
func changeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "adopt", Usage: "take over the object with this `ADDRESS`, which exists and was not made by kolla; may be repeated"},
		&cli.StringSliceFlag{Name: "replace", Usage: "delete the object with this `ADDRESS` and make it again; of a job: run it again; may be repeated"},
		&cli.BoolFlag{Name: "refresh-only", Usage: "only update the state from the cluster, and show what others changed"},
	}
}

func parallelismFlag() cli.Flag {
	return &cli.IntFlag{Name: "parallelism", Value: 10, Usage: "work on up to `N` objects at once; objects that only wait do not count, but at most N jobs and rollouts of services run at once"}
}

// applyFlags are the options of whatever changes the cluster.
func applyFlags() []cli.Flag {
	return append(lockFlags(),
		&cli.BoolFlag{Name: "auto-approve", Usage: "do not ask before changing anything"},
		&cli.DurationFlag{Name: "timeout", Value: 10 * time.Minute, Usage: "wait up to `DURATION` for each object to become ready; an object of a manifest also waits while other objects make progress"})
}

func destroyFlag(usage string) cli.Flag { return &cli.BoolFlag{Name: "destroy", Usage: usage} }

func deleteDataFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "delete-data", Usage: "also delete or replace the data-bearing object with this `ADDRESS`, or all of a block; '*' means all; may be repeated"}
}
