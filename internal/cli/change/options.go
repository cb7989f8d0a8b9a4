package change

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/base/files"
	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/run/engine"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/plans"
)

// planOptions reads the options of a plan, and refuses options that contradict each other.
// saved is nil for a new plan. The selection and RefreshOnly of a saved plan come from its
// file: they restrict the plan, and give it no power.
func planOptions(w *command.Workspace, saved *plans.Plan) (engine.Options, error) {
	o := engine.Options{
		Destroy:        w.Loading.Destroy,
		RefreshOnly:    w.Flags.Bool("refresh-only"),
		Selection:      plans.Selection{Targets: w.Flags.StringSlice("target"), Excludes: w.Flags.StringSlice("exclude"), Until: w.Flags.String("until")},
		Adopt:          command.Canonical(w.Flags.StringSlice("adopt")),
		Replace:        w.Flags.StringSlice("replace"),
		Rotate:         command.Canonical(w.Flags.StringSlice("rotate")),
		DeleteData:     w.Flags.StringSlice("delete-data"),
		KeepData:       w.Flags.Bool(keepDataFlag),
		ForceConflicts: w.Flags.Bool("force-conflicts"),
		Values:         w.Flags.String("out") != "" || w.Outputs.Values(),
		Written:        powers(w.Flags),

		AllowUnverified:  w.Flags.Bool("allow-unverified"),
		ForceReleases:    w.Flags.StringSlice("force-release"),
		ForceData:        command.Canonical(w.Flags.StringSlice("force-data")),
		SkipDrifted:      w.Flags.Bool(skipDriftedFlag),
		OverridePolicies: w.Flags.StringSlice("override-policy"),

		SkipRegistrations: command.SkipsRegistrations(w.Flags),
	}
	if saved != nil {
		o.Selection, o.RefreshOnly = saved.Selection, saved.RefreshOnly
		o.SkipRegistrations = o.SkipRegistrations || saved.SkipsRegistrations
	}
	if err := checkModes(w, o.Destroy); err != nil {
		return o, err
	}
	if err := checkAdopt(o.Adopt); err != nil {
		return o, err
	}
	verify := w.Flags.String("verify")
	o.VerifyAll = verify == "full"
	if verify != "" && !o.VerifyAll {
		return o, failure.New(fmt.Sprintf("-verify=%s is not known", verify), "Use -verify=full to compare every object with the server, or remove the option.")
	}
	if err := checkUntil(o.Selection.Until, o.Destroy); err != nil {
		return o, err
	}
	if err := completeSelection(w, &o); err != nil {
		return o, err
	}
	if w.Flags.IsSet("max-deletes") {
		limit := w.Flags.Int("max-deletes")
		if limit < 0 {
			return o, failure.New("-max-deletes cannot be negative", "-max-deletes=0 deletes nothing.")
		}
		o.MaxDeletes = &limit
	}
	return o, nil
}

// completeSelection adds the targets of files.
func completeSelection(w *command.Workspace, o *engine.Options) error {
	o.TargetFiles = map[string]string{}
	for _, path := range w.Flags.StringSlice("target-file") {
		targets, err := readTargets(path, o.TargetFiles)
		if err != nil {
			return err
		}
		o.Selection.Targets = append(o.Selection.Targets, targets...)
	}
	o.Selection.Targets, o.Selection.Excludes = command.Canonical(o.Selection.Targets), command.Canonical(o.Selection.Excludes)
	for _, target := range o.Selection.Targets {
		if slices.Contains(o.Selection.Excludes, target) {
			return failure.New(fmt.Sprintf("%s is both targeted and excluded", target), "Excluded objects are left out, so the plan would select nothing. Remove one of the two options.")
		}
	}
	return nil
}

// checkAdopt refuses values of -adopt that cannot be addresses, such as the next option.
func checkAdopt(addresses []string) error {
	for _, text := range addresses {
		switch {
		case text == "*":
			return failure.New("-adopt='*' is not possible", "Name each object that kolla takes over: other people may have created some of them. "+command.AdoptAdvice)
		case text == "", text == "true", strings.HasPrefix(text, "-"):
			return failure.New("-adopt needs an address", command.AdoptAdvice)
		}
	}
	return nil
}

// checkModes refuses options that contradict each other.
func checkModes(w *command.Workspace, destroy bool) error {
	if w.Flags.Bool("refresh-only") {
		const why = "A plan that only refreshes the state changes nothing in the cluster."
		if err := command.Contradiction(w.Flags, "refresh-only", why, "replace", "rotate", "adopt", "force-conflicts"); err != nil {
			return err
		}
		if destroy {
			return failure.New("-refresh-only and -destroy contradict each other", why)
		}
	}
	if w.Flags.Bool(keepDataFlag) {
		switch {
		case !destroy:
			return failure.New("-keep-data needs -destroy", "It keeps the data of a cloud that is destroyed. Other plans delete no data unless -delete-data or a removed block names it.")
		case slices.Contains(w.Flags.StringSlice("delete-data"), "*"):
			return failure.New("-keep-data and -delete-data='*' contradict each other", "Remove -delete-data='*' to keep all data, or -keep-data to delete the cloud with all of its data.")
		}
	}
	if destroy && w.Flags.IsSet("replace") {
		return failure.New("-destroy and -replace contradict each other", "Destroyed objects are not created again.")
	}
	if destroy && w.Flags.IsSet("rotate") {
		return failure.New("-destroy and -rotate contradict each other", "Destroyed Secrets get no new values.")
	}
	if destroy && w.Flags.IsSet("adopt") {
		return failure.New("-destroy and -adopt contradict each other", "A destroy deletes only what the state knows. If the state was lost, recreate it with kolla state rebuild.")
	}
	if w.Flags.Int("parallelism") < 1 {
		return failure.New("-parallelism must be at least 1", "It is the number of operations at the same time.")
	}
	return nil
}

// readTargets reads a file with an address on each line, and adds their places to places. A
// line that begins with # is a comment.
func readTargets(path string, places map[string]string) ([]string, error) {
	content, err := files.Read(path, files.MaxSize)
	if err != nil {
		return nil, failure.New("Cannot read the file of -target-file", failure.Sentence(err.Error())+".")
	}
	var targets []string
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			targets = append(targets, line)
			places[command.Canonical([]string{line})[0]] = fmt.Sprintf("%s:%d", path, number)
		}
	}
	if len(targets) == 0 {
		return nil, failure.New("The file of -target-file names nothing", fmt.Sprintf("%s contains no address. Without targets, the plan would include the whole cloud.", path))
	}
	return targets, nil
}

// checkUntil checks the name of a stage.
func checkUntil(stage string, destroy bool) error {
	possible := configs.Stages[:len(configs.Stages)-1]
	switch {
	case stage == "":
		return nil
	case destroy:
		return failure.New("-until is for upgrades", "A destroy has no stages.")
	case !slices.Contains(possible, stage):
		return failure.New(fmt.Sprintf("-until=%s is not known", stage),
			fmt.Sprintf("-until takes %s. Without it, an apply carries out all stages, also the last one, %s.", strings.Join(possible, ", "), configs.Stages[len(possible)]))
	}
	return nil
}
