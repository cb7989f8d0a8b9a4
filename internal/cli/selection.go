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

	"kolla.openstack.org/kolla/internal/files"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
)

// planned is what the options say of the plan to make.
type planned struct {
	selection  plans.Selection
	maxDeletes *int // nil: the default
	verifyAll  bool
	resume     plans.Resume
	replace    []string
	// refreshOnly: the plan changes nothing but the state.
	refreshOnly bool
	// places are where in a file a target was given, "wave1.txt:3".
	places map[string]string
}

// planOptions reads the options that several values or files make up, and refuses
// those that do not go together.
func (w *workspace) planOptions(destroy bool) (planned, error) {
	p := planned{
		selection: plans.Selection{Targets: w.flags.StringSlice("target"), Excludes: w.flags.StringSlice("exclude")},
		places:    map[string]string{},
	}
	if w.resumed != nil {
		p.selection, p.resume, p.verifyAll = w.resumed.Selection, *w.resumed, w.resumed.VerifyAll
		return p, nil
	}
	p.replace = w.flags.StringSlice("replace")
	p.resume = plans.Resume{
		DeleteData: w.flags.StringSlice("delete-data"), Adopt: canonical(w.flags.StringSlice("adopt")), ForceConflicts: w.flags.Bool("force-conflicts"),
	}
	p.refreshOnly = w.flags.Bool("refresh-only")
	if w.approved != nil { // these take something away, and give a plan no power
		p.selection, p.refreshOnly = w.approved.Selection, w.approved.RefreshOnly
	}
	if err := w.checkModes(destroy); err != nil {
		return p, err
	}
	if err := checkAdopt(p.resume.Adopt); err != nil {
		return p, err
	}
	switch verify := w.flags.String("verify"); verify {
	case "", "full":
		p.verifyAll = verify == "full"
	default:
		return p, &failure{fmt.Sprintf("-verify=%s is not known", verify), "Use -verify=full to have the server asked about every object, or leave it out."}
	}
	for _, path := range w.flags.StringSlice("target-file") {
		targets, err := p.readTargets(path)
		if err != nil {
			return p, err
		}
		p.selection.Targets = append(p.selection.Targets, targets...)
	}
	p.selection.Targets = canonical(p.selection.Targets)
	p.selection.Excludes = canonical(p.selection.Excludes)
	for _, target := range p.selection.Targets {
		if slices.Contains(p.selection.Excludes, target) {
			return p, &failure{fmt.Sprintf("%s is both targeted and excluded", target), "What is excluded is left out, so that nothing would be selected. Take one of the two away."}
		}
	}
	if w.flags.IsSet("max-deletes") {
		limit := w.flags.Int("max-deletes")
		if limit < 0 {
			return p, &failure{"-max-deletes cannot be negative", "-max-deletes=0 deletes nothing."}
		}
		p.maxDeletes = &limit
	}
	return p, nil
}

// adoptAdvice says how -adopt is used.
const adoptAdvice = "It takes the address of one object, and may be repeated: -adopt=service.memcached/Service/memcached. A plan without it lists the objects that are in the way, with their addresses."

// checkAdopt refuses what cannot be meant as an address: -adopt once stood alone, and took
// over whatever was in the way.
func checkAdopt(addresses []string) error {
	for _, text := range addresses {
		switch {
		case text == "*":
			return &failure{"-adopt='*' is not possible", "What is taken over is named one by one: anybody may have put something in the way. " + adoptAdvice}
		case text == "", text == "true", strings.HasPrefix(text, "-"):
			return &failure{"-adopt needs an address", adoptAdvice}
		}
	}
	return nil
}

// adopted are the addresses of the objects that the operator names to be taken over.
func (w *workspace) adopted() []string {
	if w.resumed != nil {
		return w.resumed.Adopt
	}
	return canonical(w.flags.StringSlice("adopt"))
}

// canonical gives addresses the form that plans show them in. What is none stays as it
// is: the planner knows what is near it.
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

// restricted reports whether the plan is to be of a part of the cloud.
func (w *workspace) restricted() bool {
	if w.resumed != nil {
		return w.resumed.Selection.Restricts()
	}
	if w.approved != nil {
		return w.approved.Selection.Restricts()
	}
	return w.flags.IsSet("target") || w.flags.IsSet("target-file") || w.flags.IsSet("exclude")
}

// place says of problems with targets in which file these were given.
func (p planned) place(problems []plans.Problem) {
	for i := range problems {
		target, _, _ := strings.Cut(strings.TrimPrefix(problems[i].Summary, "-target="), " names no objects")
		if at := p.places[target]; at != "" {
			problems[i].Source = at
		}
	}
}

// checkModes refuses options that contradict each other.
func (w *workspace) checkModes(destroy bool) error {
	if w.flags.Bool("refresh-only") {
		for _, name := range []string{"replace", "adopt", "force-conflicts"} {
			if w.flags.IsSet(name) {
				return &failure{fmt.Sprintf("-refresh-only and -%s contradict each other", name), "A plan that only refreshes the state changes nothing in the cluster."}
			}
		}
		if destroy {
			return &failure{"-refresh-only and -destroy contradict each other", "A plan that only refreshes the state changes nothing in the cluster."}
		}
	}
	if destroy && w.flags.IsSet("replace") {
		return &failure{"-destroy and -replace contradict each other", "What is destroyed is not made again."}
	}
	if destroy && w.flags.IsSet("adopt") {
		return &failure{"-destroy and -adopt contradict each other", "A destroy deletes only what the state knows. If the state was lost, kolla state rebuild makes it anew."}
	}
	if w.flags.Int("parallelism") < 1 {
		return &failure{"-parallelism must be at least 1", "It is how many things are done at once."}
	}
	return nil
}

// readTargets reads a file of addresses, one a line. A line that begins with # is a
// comment.
func (p planned) readTargets(path string) ([]string, error) {
	content, err := files.Read(path, files.Largest)
	if err != nil {
		return nil, &failure{"Cannot read the file of -target-file", sentence(err.Error()) + "."}
	}
	var targets []string
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			targets = append(targets, line)
			p.places[canonical([]string{line})[0]] = fmt.Sprintf("%s:%d", path, number)
		}
	}
	if len(targets) == 0 {
		return nil, &failure{"The file of -target-file names nothing", fmt.Sprintf("%s has no address in it. Without targets the plan would be of the whole cloud, which is hardly meant.", path)}
	}
	return targets, nil
}

// approvable refuses an apply that could only be approved on a terminal, where
// what is printed is for programs.
func approvable(c *cli.Context, saved bool) error {
	if !c.Bool("json") || c.Bool("auto-approve") || saved {
		return nil
	}
	return &failure{"-json needs -auto-approve or a plan file", "With -json nobody is asked."}
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
			return &failure{"Cannot write the file of -json-into", sentence(err.Error()) + "."}
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
	var code exitCode
	if err == nil || errors.As(err, &code) {
		return err
	}
	report(w.printer, err)
	return exitCode(exitError)
}

// checkEventsFile refuses to write events over anything but other events.
func checkEventsFile(path string) error {
	const beginning = `{"@level"`
	if err := files.CheckTarget(path); err != nil {
		return &failure{"Cannot write the file of -json-into", sentence(err.Error()) + "."}
	}
	begins, err := files.Begins(path, beginning)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil || !begins:
		return &failure{"There is another file of that name", fmt.Sprintf("%s holds no events, and -json-into would overwrite it. Choose another name.", path)}
	}
	return nil
}
