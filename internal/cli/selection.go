package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/engine"
	"kolla.openstack.org/kolla/internal/failure"
	"kolla.openstack.org/kolla/internal/files"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// planOptions reads the options of a plan, and refuses contradictory options. A saved plan
// brings its selection and -refresh-only from its file, because they only restrict the plan.
// saved is nil for a new plan.
func (w *workspace) planOptions(saved *plans.Plan) (engine.Options, error) {
	o := engine.Options{
		Destroy:        w.loading.Destroy,
		RefreshOnly:    w.flags.Bool("refresh-only"),
		Selection:      plans.Selection{Targets: w.flags.StringSlice("target"), Excludes: w.flags.StringSlice("exclude")},
		Adopt:          canonical(w.flags.StringSlice("adopt")),
		Replace:        w.flags.StringSlice("replace"),
		DeleteData:     w.flags.StringSlice("delete-data"),
		ForceConflicts: w.flags.Bool("force-conflicts"),
		Values:         w.flags.String("out") != "" || w.outputs.Values(),
		Written:        powers(w.flags),
	}
	if saved != nil {
		o.Selection, o.RefreshOnly = saved.Selection, saved.RefreshOnly
	}
	if err := w.checkModes(o.Destroy); err != nil {
		return o, err
	}
	if err := checkAdopt(o.Adopt); err != nil {
		return o, err
	}
	verify := w.flags.String("verify")
	o.VerifyAll = verify == "full"
	if verify != "" && !o.VerifyAll {
		return o, failure.New(fmt.Sprintf("-verify=%s is not known", verify), "Use -verify=full to have the server asked about every object, or leave it out.")
	}
	if err := w.completeSelection(&o); err != nil {
		return o, err
	}
	if w.flags.IsSet("max-deletes") {
		limit := w.flags.Int("max-deletes")
		if limit < 0 {
			return o, failure.New("-max-deletes cannot be negative", "-max-deletes=0 deletes nothing.")
		}
		o.MaxDeletes = &limit
	}
	return o, nil
}

// completeSelection adds the targets of files.
func (w *workspace) completeSelection(o *engine.Options) error {
	o.TargetFiles = map[string]string{}
	for _, path := range w.flags.StringSlice("target-file") {
		targets, err := readTargets(path, o.TargetFiles)
		if err != nil {
			return err
		}
		o.Selection.Targets = append(o.Selection.Targets, targets...)
	}
	o.Selection.Targets, o.Selection.Excludes = canonical(o.Selection.Targets), canonical(o.Selection.Excludes)
	for _, target := range o.Selection.Targets {
		if slices.Contains(o.Selection.Excludes, target) {
			return failure.New(fmt.Sprintf("%s is both targeted and excluded", target), "What is excluded is left out, so that nothing would be selected. Take one of the two away.")
		}
	}
	return nil
}

// adoptAdvice says how -adopt is used.
const adoptAdvice = "It takes the address of one object, and may be repeated: -adopt=service.memcached/Service/memcached. A plan without it lists the objects that are in the way, with their addresses."

// checkAdopt refuses what cannot be meant as an address: -adopt once stood alone, and took
// over whatever was in the way.
func checkAdopt(addresses []string) error {
	for _, text := range addresses {
		switch {
		case text == "*":
			return failure.New("-adopt='*' is not possible", "What is taken over is named one by one: anybody may have put something in the way. "+adoptAdvice)
		case text == "", text == "true", strings.HasPrefix(text, "-"):
			return failure.New("-adopt needs an address", adoptAdvice)
		}
	}
	return nil
}

// canonical gives addresses the form that plans show them in. Other texts stay as they are:
// the planner refuses them, and suggests an address.
func canonical(addresses []string) []string {
	var out []string
	for _, text := range addresses {
		if target, err := addrs.ParseTarget(text); err == nil {
			text = target.String()
		}
		out = append(out, text)
	}
	return out
}

// checkModes refuses options that contradict each other.
func (w *workspace) checkModes(destroy bool) error {
	if w.flags.Bool("refresh-only") {
		for _, name := range []string{"replace", "adopt", "force-conflicts"} {
			if w.flags.IsSet(name) {
				return failure.New(fmt.Sprintf("-refresh-only and -%s contradict each other", name), "A plan that only refreshes the state changes nothing in the cluster.")
			}
		}
		if destroy {
			return failure.New("-refresh-only and -destroy contradict each other", "A plan that only refreshes the state changes nothing in the cluster.")
		}
	}
	if destroy && w.flags.IsSet("replace") {
		return failure.New("-destroy and -replace contradict each other", "What is destroyed is not made again.")
	}
	if destroy && w.flags.IsSet("adopt") {
		return failure.New("-destroy and -adopt contradict each other", "A destroy deletes only what the state knows. If the state was lost, kolla state rebuild makes it anew.")
	}
	if w.flags.Int("parallelism") < 1 {
		return failure.New("-parallelism must be at least 1", "It is how many things are done at once.")
	}
	return nil
}

// readTargets reads a file of addresses, one a line, and records their places. A line that
// begins with # is a comment.
func readTargets(path string, places map[string]string) ([]string, error) {
	content, err := files.Read(path, files.Largest)
	if err != nil {
		return nil, failure.New("Cannot read the file of -target-file", failure.Sentence(err.Error())+".")
	}
	var targets []string
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			targets = append(targets, line)
			places[canonical([]string{line})[0]] = fmt.Sprintf("%s:%d", path, number)
		}
	}
	if len(targets) == 0 {
		return nil, failure.New("The file of -target-file names nothing", fmt.Sprintf("%s has no address in it. Without targets the plan would be of the whole cloud, which is hardly meant.", path))
	}
	return targets, nil
}

// approvable refuses an apply that needs approval on a terminal, and that prints for
// programs.
func approvable(c *cli.Context, saved bool) error {
	if !c.Bool("json") || c.Bool("auto-approve") || saved {
		return nil
	}
	return failure.New("-json needs -auto-approve or a plan file", "With -json nobody is asked.")
}

// withEvents runs a command that writes events with -json and -json-into. With the
// first, nothing else is printed.
func withEvents(s streams, c *cli.Context, run func(*workspace) error) (err error) {
	var out io.Writer
	if c.Bool("json") {
		out = s.out
		s.out, s.err = io.Discard, io.Discard
	}
	if path := c.String("json-into"); path != "" {
		if err := checkEventsFile(path); err != nil {
			return err
		}
		file, err := files.Create(path)
		if err != nil {
			return failure.New("Cannot write the file of -json-into", failure.Sentence(err.Error())+".")
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		if out == nil {
			out = file
		} else {
			out = io.MultiWriter(out, file)
		}
	}
	ctx, stop := context.WithCancel(c.Context)
	defer stop() // of what was read ahead in vain
	c.Context = ctx
	w := newWorkspace(s, c)
	if out == nil {
		return run(w)
	}
	w.printer.Events(out, Version)
	err = run(w)
	if _, ok := reported(err); ok || err == nil {
		return err
	}
	report(w.printer, err)
	return exitCode(exitError)
}

// checkEventsFile refuses to write events over anything but other events.
func checkEventsFile(path string) error {
	const beginning = `{"@level"`
	if err := files.CheckTarget(path); err != nil {
		return failure.New("Cannot write the file of -json-into", failure.Sentence(err.Error())+".")
	}
	begins, err := files.Begins(path, beginning)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil || !begins:
		return failure.New("There is another file of that name", fmt.Sprintf("%s holds no events, and -json-into would overwrite it. Choose another name.", path))
	}
	return nil
}
