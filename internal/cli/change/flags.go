package change

import (
	"time"

	"github.com/urfave/cli/v2"

	"kolla.openstack.org/kolla/internal/cli/command"
)

// planFlags returns the options of commands that make a plan.
func planFlags() []cli.Flag {
	return append(append(command.CloudFlags(), command.DetailFlags()...),
		command.StateFlag(),
		&cli.BoolFlag{Name: "force-conflicts", Usage: "take over fields that other field managers own"},
		&cli.StringFlag{Name: "verify", Usage: "`full` also compares the objects that are known to be unchanged with the server"},
		&cli.StringSliceFlag{Name: "target", Usage: "plan only `ADDRESS`, an object or a block, and its dependencies; may be repeated"},
		&cli.StringSliceFlag{Name: "target-file", Usage: "read addresses for -target from `FILE`, one per line; # starts a comment; may be repeated"},
		&cli.StringSliceFlag{Name: "exclude", Usage: "leave out `ADDRESS`, an object or a block, and everything that depends on it; may be repeated"},
		&cli.StringFlag{Name: "until", Usage: "leave out what an upgrade changes after `STAGE`: checks, data or control; and deletions, except of old versions and finished jobs"},
		command.PolicyFlag(),
		&cli.StringSliceFlag{Name: "override-policy", Usage: "continue even if policy `NAME` denies the plan; may be repeated"},
		&cli.IntFlag{Name: "max-deletes", Usage: "delete at most `N` objects; old versions and jobs do not count (default half of the objects in the state; all for a destroy)", DefaultText: " "},
		&cli.BoolFlag{Name: "json", Usage: "print events as JSON, one object per line, instead of text for people"},
		&cli.StringFlag{Name: "json-into", Usage: "also write the JSON events to `FILE`"},
		&cli.BoolFlag{Name: "compact-warnings", Usage: "show warnings without their details"},
		command.ParallelismFlag(),
		command.NoColorFlag())
}

// changeFlags returns the options of plans that do not destroy the cloud.
func changeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "adopt", Usage: "take over the existing object with this `ADDRESS`, which kolla did not create; may be repeated"},
		&cli.StringSliceFlag{Name: "replace", Usage: "delete the object with this `ADDRESS` and create it again; a job runs again; may be repeated"},
		&cli.StringSliceFlag{Name: "rotate", Usage: "make new values for the Secret with this `ADDRESS`, or rotate its keys; may be repeated"},
		&cli.BoolFlag{Name: "allow-unverified", Usage: "accept objects that could not be compared, and write objects even if admission denies their dry runs"},
		&cli.StringSliceFlag{Name: "force-release", Usage: "change to OpenStack `RELEASE` even if OpenStack does not support this upgrade; may be repeated"},
		&cli.StringSliceFlag{Name: "force-data", Usage: "start the new version of the service with this `ADDRESS` even if it does not take over the data; may be repeated"},
		command.RegistrationsFlag(),
		&cli.BoolFlag{Name: "refresh-only", Usage: "only update the state from the cluster, and show what others changed"},
	}
}

// applyFlags returns the options of commands that change the cluster.
func applyFlags() []cli.Flag {
	return append(command.LockFlags(),
		&cli.BoolFlag{Name: "auto-approve", Usage: "do not ask before changing anything"},
		&cli.DurationFlag{Name: "timeout", Value: 10 * time.Minute, Usage: "wait up to `DURATION` for each object to become ready; for an object of a manifest, kolla waits longer while other objects make progress"})
}

const (
	skipDriftedFlag = "skip-drifted"
	keepDataFlag    = "keep-data"
)

func destroyFlag(usage string) cli.Flag { return &cli.BoolFlag{Name: "destroy", Usage: usage} }

// dataFlags returns the options that decide about data.
func dataFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "delete-data", Usage: "also delete or replace the object with this `ADDRESS` that holds data, or all such objects of a block; '*' means all; may be repeated"},
		&cli.BoolFlag{Name: keepDataFlag, Usage: "destroy everything except data: also stop workloads that others need, such as hypervisors"},
	}
}
