package ownership

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/planner/fields"
	"kolla.openstack.org/kolla/planner/internal/inventory"
	"kolla.openstack.org/kolla/planner/internal/outcome"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/planner/proof"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// verdict is the decision about one field.
type verdict int

const (
	_      verdict = iota
	take           // kolla sets the field, and says so
	leave          // kolla does not send the field any more
	refuse         // there is no plan until the operator decides
)

// handTools matches the field managers of tools that people use by hand. kolla overwrites fields
// that such a tool left on an adopted object. A client can choose any name, so the name never
// leaves a field to others; see setByController.
var handTools = regexp.MustCompile(`^(kubectl(-.*)?|k9s|rancher|[Ll]ens|OpenLens|freelens|headlamp|node-fetch|Mozilla|dashboard|before-first-apply)$`)

// decideField decides about one field that somebody else owns. The lifecycle of the object counts
// more than the options of the command, and these count more than the kind of the field. In its own
// objects kolla takes back every field except those that setByController leaves to controllers. In
// objects of others it takes no field without permission.
//
// idle: the field is taken because the autoscaler that set it no longer exists.
func decideField(o *outcome.Outcome, force bool, by fields.Owner, path fieldpath.Path) (what verdict, idle bool) {
	rules := RulesOf(o.Object)
	switch {
	case fields.Covered(rules.Ignored(), path):
		return leave, false
	case rules.Forces(by.Manager, path):
		return take, false
	case rules.YieldsTo(by.Manager):
		return leave, false
	case force:
		return take, false
	case setByController(o, path):
		return leave, false
	case o.Ours:
		return take, by.Scales(path)
	case o.Adopts() && handTools.MatchString(by.Manager):
		return take, false
	}
	return refuse, false
}

// setByController reports whether a controller sets the field because of its kind: the replicas of an
// object with an autoscaler, the certificates for calls to webhooks and converters, and the size of
// a volume that has grown.
func setByController(o *outcome.Outcome, path fieldpath.Path) bool {
	if path[len(path)-1].FieldName != nil && *path[len(path)-1].FieldName == "caBundle" {
		return proof.KeeperOf(o.Live, fields.Names(path)) == proof.Others
	}
	return fields.Text(path) == replicas && o.Action.Scaled || grown(o, path)
}

// grown reports whether the path is the size of a volume that is larger than declared. It cannot
// shrink.
func grown(o *outcome.Outcome, path fieldpath.Path) bool {
	if o.Object.Ref().GVK.GroupKind() != kinds.PersistentVolumeClaim || fields.Text(path) != inventory.ClaimSizePath {
		return false
	}
	want, declared := inventory.ClaimSize(o.Object.Manifest.Object)
	has, there := inventory.ClaimSize(o.Live.Object)
	return declared && there && has.Cmp(want) > 0
}

// Settlement is the decision about all conflicts of an object.
type Settlement struct {
	Yields  []plans.Yield        // fields that are left to their owners
	Refused []providers.Conflict // the operator has to decide about these
	Takes   bool                 // kolla takes the others
}

// Arbitrate decides about the conflicts of an object. With force, the operator takes all fields.
func Arbitrate(o *outcome.Outcome, force bool, manifest *unstructured.Unstructured, conflicts []providers.Conflict) (Settlement, error) {
	owners := fields.OwnersOf(o.Live, o.Manager)
	var out Settlement
	for _, conflict := range conflicts {
		by, path := owners.Found(conflict)
		switch what, _ := decideField(o, force, by, path); what {
		case take:
			out.Takes = true
		case leave:
			y, err := newYield(o, manifest, path, by)
			if err != nil {
				return out, err
			}
			y.Declared = RulesOf(o.Object).YieldsTo(by.Manager) || fields.Covered(RulesOf(o.Object).Ignored(), path)
			out.Yields = append(out.Yields, y)
		default:
			out.Refused = append(out.Refused, conflict)
		}
	}
	return out, nil
}

// maxConflicts limits how many conflicts of one object are shown.
const maxConflicts = 10

// Problem says who owns which field, since when, and how to go on.
func Problem(o *outcome.Outcome, conflicts []providers.Conflict) plans.Problem {
	owners := fields.OwnersOf(o.Live, o.Manager)
	var lines []string
	var names []string
	for _, conflict := range conflicts {
		by, path := owners.Found(conflict)
		line := fmt.Sprintf("%s is owned by %s", fields.Text(path), foreign.Name(conflict.Manager))
		if !by.Time.IsZero() {
			line += by.Time.Format(", last written 2006-01-02 15:04 UTC")
		}
		lines = append(lines, line)
		names = append(names, fmt.Sprintf("%q", fields.Text(path)))
	}
	summary := fmt.Sprintf("fields of %s belong to others", o.Object.Ref())
	if len(conflicts) == 1 {
		summary = fmt.Sprintf("a field of %s belongs to %s", o.Object.Ref(), foreign.Name(conflicts[0].Manager))
	}
	return plans.ProblemOf(o.Object, summary, strings.Join(words.First(lines, maxConflicts, "field"), "\n")+fmt.Sprintf(
		"\nDo not declare a field that another tool maintains; or decide in the lifecycle block who owns it: ignore_fields = [%s] or yield_to = [%q] leaves it to the other tool, force_conflicts takes it. To take it once, plan with -force-conflicts. -target limits that to this object and its dependencies: -force-conflicts -target='%s'",
		words.Few(slices.Compact(slices.Sorted(slices.Values(names))), maxConflicts), conflicts[0].Manager, o.Object.Address))
}
