package change

import (
	"time"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/cli/command"
)

// planFlags returns the options of commands that make a plan.
func planFlags() []cli.Flag {
	return append(append(command.VariableFlags(), command.ClusterFlags()...),
		command.StateFlag(),
		&cli.BoolFlag{Name: "force-conflicts", Usage: "take over fields that other field managers own"},
		&cli.StringFlag{Name: "verify", Usage: "with `full`, ask the server also about objects that are known to be unchanged"},
		&cli.BoolFlag{Name: "full", Usage: "show every field of what will be created, and each object that moves"},
		&cli.BoolFlag{Name: "compact", Usage: "show one line an action, dangerous ones first"},
		&cli.StringSliceFlag{Name: "target", Usage: "plan only for `ADDRESS`, an object or a block, and what it depends on; may be repeated"},
		&cli.StringSliceFlag{Name: "target-file", Usage: "read addresses for -target from `FILE`, one a line; # begins a comment; may be repeated"},
		&cli.StringSliceFlag{Name: "exclude", Usage: "leave out `ADDRESS`, an object or a block, and what depends on it; may be repeated"},
		command.PolicyFlag(),
		&cli.StringSliceFlag{Name: "override-policy", Usage: "go on although the policy `NAME` denies the plan; may be repeated"},
		&cli.IntFlag{Name: "max-deletes", Usage: "delete at most `N` objects; old versions and jobs do not count (default half of what the state knows; a destroy: all)", DefaultText: " "},
		&cli.BoolFlag{Name: "json", Usage: "print events as JSON, one object a line, instead of text for people"},
		&cli.StringFlag{Name: "json-into", Usage: "also write those events to `FILE`"},
		&cli.BoolFlag{Name: "compact-warnings", Usage: "show warnings without their details"},
		command.ParallelismFlag(),
		command.NoColorFlag())
}

// changeFlags returns the options of plans that do not destroy the cloud.
func changeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "adopt", Usage: "take over the object with this `ADDRESS`, which exists and was not made by kolla; may be repeated"},
		&cli.StringSliceFlag{Name: "replace", Usage: "delete the object with this `ADDRESS` and make it again; of a job: run it again; may be repeated"},
		&cli.BoolFlag{Name: "allow-unverified", Usage: "accept objects that could not be compared, and write objects although admission denies their dry runs"},
		&cli.StringSliceFlag{Name: "force-release", Usage: "change to OpenStack `RELEASE` although OpenStack does not support this step; may be repeated"},
		&cli.BoolFlag{Name: "refresh-only", Usage: "only update the state from the cluster, and show what others changed"},
	}
}

// applyFlags returns the options of commands that change the cluster.
func applyFlags() []cli.Flag {
	return append(command.LockFlags(),
		&cli.BoolFlag{Name: "auto-approve", Usage: "do not ask before changing anything"},
		&cli.DurationFlag{Name: "timeout", Value: 10 * time.Minute, Usage: "wait up to `DURATION` for each object to become ready; an object of a manifest also waits while other objects make progress"})
}

const skipDriftedFlag = "skip-drifted"

func destroyFlag(usage string) cli.Flag { return &cli.BoolFlag{Name: "destroy", Usage: usage} }

func deleteDataFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "delete-data", Usage: "also delete or replace the data-bearing object with this `ADDRESS`, or all of a block; '*' means all; may be repeated"}
}
