package engine

import (
	"errors"
	"fmt"
	"strings"

	"kolla.openstack.org/kolla/internal/base/failure"
	"kolla.openstack.org/kolla/internal/run/approval"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/plans"
)

// ErrReported is the error of a step that has shown the reason to the Reporter.
var ErrReported = errors.New("stopped by the errors above")

// ErrNoConfiguration is the error of a saved plan in a directory without a configuration.
var ErrNoConfiguration = failure.New("The saved plan needs its configuration",
	"Before kolla applies a saved plan, it plans again and compares the result with the file. This directory contains no configuration. Apply the plan in the directory where it was made, or name that directory with -chdir.")

// Assignment is a variable, and the value that it had when a plan was saved.
type Assignment struct {
	Name, Value string
}

// MissingValuesError is the error of a configuration that was loaded for a saved plan, and
// that has errors. The Reporter has shown these errors.
type MissingValuesError struct {
	// Planned has the variables of the plan without a value.
	Planned []Assignment
}

// Error implements error.
func (e *MissingValuesError) Error() string { return "variables of the plan have no value" }

// Unwrap returns ErrReported.
func (e *MissingValuesError) Unwrap() error { return ErrReported }

// NotAsPlannedError is the error of a configuration that is not the planned one.
type NotAsPlannedError struct {
	// Names are the variables that have another value than in the plan. If there are none,
	// the files differ.
	Names []string
	// Planned contains the known values of these variables in the plan.
	Planned []Assignment
	// Rest: the configuration is for the rest of a plan, which waits for data. Otherwise it
	// is for a saved plan.
	Rest bool
	// Waiting are the data blocks that the rest waits for.
	Waiting []string
}

// Error implements error.
func (e *NotAsPlannedError) Error() string {
	return "the configuration or its variables are not those of the plan"
}

// MaxDifferences limits the differences that a message lists.
const MaxDifferences = 50

// OtherPlanError is the error of a saved plan that differs from a new one.
type OtherPlanError struct {
	Differences []approval.Difference
	// Tool is the version of kolla that made the saved plan, if it is another one; Version is
	// that of this kolla.
	Tool, Version string
	// Read names the objects that data blocks read: `data.registry reads ConfigMap
	// openstack/registry, last written by "kubectl" at …`.
	Read []string
}

// Error implements error.
func (e *OtherPlanError) Error() string {
	return fmt.Sprintf("the saved plan differs from a new one in %d places", len(e.Differences))
}

// MissingDataError means that the cluster did not have the objects of data blocks in time, and that
// the rest of a plan waits for them.
type MissingDataError struct {
	Data []configs.Data
}

// Error implements error.
func (e *MissingDataError) Error() string {
	var blocks []string
	for _, d := range e.Data {
		blocks = append(blocks, d.Block)
	}
	return "the cluster does not have the data of " + strings.Join(blocks, ", ")
}

// UnannouncedError means that the rest of a plan has actions that nobody has approved.
type UnannouncedError struct {
	Actions []*plans.Action
}

// Error implements error.
func (e *UnannouncedError) Error() string {
	return fmt.Sprintf("the rest of the plan has %d changes that nobody has approved", len(e.Actions))
}

// OtherValueError means that a sensitive value does not have the effect that a saved plan shows.
type OtherValueError struct {
	Address addrs.Object
	Path    string // data["password"]
}

// Error implements error.
func (e *OtherValueError) Error() string {
	return fmt.Sprintf("the value of %s of %s is not the planned one", e.Path, e.Address)
}
