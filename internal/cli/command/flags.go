package command

import (
	"fmt"
	"strconv"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/present/publish"
	"kolla.openstack.org/kolla/internal/present/view"
	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/state"
)

// Options that several commands share. They come from functions: a flag has state, so each
// command needs its own.

// NoColorFlag is -no-color.
func NoColorFlag() cli.Flag {
	return &cli.BoolFlag{Name: "no-color", Usage: "print without colours"}
}

// FormatFlags are -format, -report and -markdown-limit.
func FormatFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "format", Value: publish.Terminal, Usage: "print the plan as `FORMAT`: terminal, markdown (for code review comments), html, json (as Terraform prints it) or tfcmt (for the program tfcmt); if FORMAT is not terminal, all other output goes to standard error"},
		&cli.StringSliceFlag{Name: "report", Usage: "also write the plan to `FILE`: as Markdown if the name ends in .md, as HTML if .html, as JSON if .json; may be repeated"},
		MarkdownLimitFlag("; none with -full"),
	}
}

// Outputs reads -format, -report and -markdown-limit.
func Outputs(c *cli.Context) (publish.Outputs, error) {
	out, err := publish.To(c.String("format"), c.StringSlice("report"), c.Bool("full"))
	if err == nil {
		out.MarkdownLimit, err = MarkdownLimit(c, out.Markdown())
	}
	return out, err
}

// markdownLimit is the option that limits pages of Markdown.
const markdownLimit = "markdown-limit"

// MarkdownLimitFlag is -markdown-limit. more ends the remark about the default; may be empty.
func MarkdownLimitFlag(more string) cli.Flag {
	return &cli.StringFlag{Name: markdownLimit, Usage: "leave out details if the Markdown is larger than `BYTES`; the summary always stays (default 65536, the limit of GitHub" + more + ")"}
}

// MarkdownLimit reads -markdown-limit; zero: it is not given. written says whether the command
// writes Markdown.
func MarkdownLimit(c *cli.Context, written bool) (int, error) {
	const minLimit = 4096
	if !c.IsSet(markdownLimit) {
		return 0, nil
	}
	limit, err := strconv.Atoi(c.String(markdownLimit))
	switch {
	case err != nil || limit < minLimit:
		return 0, failure.New(fmt.Sprintf("-%s=%s is not a page limit", markdownLimit, c.String(markdownLimit)),
			fmt.Sprintf("It is a number of bytes without a unit, at least %d. A comment on GitHub has at most 65536, one on GitLab 1000000.", minLimit))
	case !written:
		return 0, failure.New(fmt.Sprintf("-%s has no effect", markdownLimit), "It limits the size of Markdown, but this command writes no Markdown. Add -format=markdown, or remove the option.")
	}
	return limit, nil
}

// registrations is the option that leaves servers alone.
const registrations = "registrations"

// RegistrationsFlag is -registrations.
func RegistrationsFlag() cli.Flag {
	return &cli.BoolFlag{Name: registrations, Value: true, Usage: "compare what Keystone, MariaDB and RabbitMQ have with what jobs registered; -registrations=false does not ask them"}
}

// SkipsRegistrations reads -registrations.
func SkipsRegistrations(c *cli.Context) bool { return !c.Bool(registrations) }

// VariableFlags are -var, -var-file and -input.
func VariableFlags() []cli.Flag {
	given := &[]lang.Var{}
	return []cli.Flag{
		&cli.GenericFlag{Name: "var", Value: &varFlag{given: given}, Usage: "set a variable, `NAME=VALUE`; may be repeated"},
		&cli.GenericFlag{Name: "var-file", Value: &varFlag{given: given, file: true}, Usage: "read variables from `FILE`; may be repeated. If -var and -var-file set the same variable, the last option wins"},
		&cli.BoolFlag{Name: "input", Value: true, Usage: "ask for missing variables on a terminal; -input=false never asks"},
	}
}

// varFlag is -var or -var-file. Both share a list, because a later value replaces an earlier
// one.
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

// String returns the default in the help, which is empty.
func (f *varFlag) String() string { return "" }

// GivenVars returns the values of -var and -var-file, in their order on the command line.
func GivenVars(c *cli.Context) []lang.Var {
	if f, ok := c.Generic("var").(*varFlag); ok {
		return *f.given
	}
	return nil
}

// ClusterFlags are -kubeconfig and -context.
func ClusterFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "kubeconfig", Usage: "kubeconfig `FILE` of the cluster (default as for kubectl: $KUBECONFIG, ~/.kube/config)"},
		&cli.StringFlag{Name: "context", Usage: "`NAME` of the context in the kubeconfig (default the current context)"},
	}
}

// CloudFlags are the options of commands that need the configuration and the cluster.
func CloudFlags() []cli.Flag { return append(VariableFlags(), ClusterFlags()...) }

// DetailFlags are -full, -compact and -summary: how much of a plan a terminal shows.
func DetailFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "full", Usage: "show every field of new objects, and each object that moves"},
		&cli.BoolFlag{Name: "compact", Usage: "show one line per action, dangerous actions first"},
		&cli.BoolFlag{Name: "summary", Usage: "show only the impact, dangers, warnings and numbers of the plan"},
	}
}

// Details returns how much of a plan is shown.
func Details(c *cli.Context) view.PlanOptions {
	return view.PlanOptions{Full: c.Bool("full"), Compact: c.Bool("compact"), Summary: c.Bool("summary")}
}

// StateFlag is -state.
func StateFlag() cli.Flag {
	return &cli.StringFlag{Name: "state", Value: state.DefaultFile, Usage: "the state `FILE`"}
}

// LockFlags returns the options of commands that take the lock of the state.
func LockFlags() []cli.Flag {
	return []cli.Flag{
		&cli.DurationFlag{Name: "lock-timeout", Usage: "wait up to `DURATION` for another kolla to release the state"},
		&cli.BoolFlag{Name: takeOverFlag, Usage: "go on although the operator of Kubernetes manages the cloud; it then leaves the cloud alone until kolla operator resume"},
	}
}

// PolicyFlag is -policy.
func PolicyFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "policy", Usage: "also check the plan against the policy blocks in `FILE`; may be repeated"}
}

// ParallelismFlag is -parallelism.
func ParallelismFlag() cli.Flag {
	return &cli.IntFlag{Name: "parallelism", Value: providers.Parallelism, Usage: "work on up to `N` objects at once; waiting objects do not count; at most ten jobs and rollouts of services run at once"}
}
