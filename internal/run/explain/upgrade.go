package explain

import (
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/run/engine"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// fewServices is the number of services that a sentence names.
const fewServices = 5

// reached is how far an upgrade came.
type reached struct {
	before, after []string // names of services with old images, and with new ones
	tables        []string // names of services whose jobs have begun
	converted     []string // programs with data that they have converted
	touched       bool     // something other than the checks, and what they mount, was written
}

// leftUpgrade returns lines for the end of an incomplete upgrade: services with new images, services with old images,
// and the way back. An apply that changes no release has none.
func leftUpgrade(all *engine.ApplyResult) []string {
	if len(all.Rounds) == 0 {
		return nil
	}
	u := all.Rounds[0].Plan.Upgrade
	if u == nil || !u.ChangesRelease() || u.Backward {
		return nil
	}
	r := reach(u, all.Rounds)
	from, to := u.From.Release, u.To.Release
	if len(u.Services) > 0 && (from == "" || from == to) {
		from, to = u.Services[0].From.Release, u.Services[0].To.Release
	}
	if from == "" {
		return nil // nobody knows what runs
	}
	resumed := u.From.Release == u.To.Release
	if !r.touched && !resumed {
		return []string{fmt.Sprintf("Only checks have run: all services still run %s. To go back, declare %s again.", from, from)}
	}
	var out []string
	if len(r.after) > 0 {
		out = append(out, fmt.Sprintf("Services of this plan with images of %s: %s.", to, words.Few(r.after, fewServices)))
	}
	if len(r.before) > 0 {
		out = append(out, fmt.Sprintf("Services of this plan still with images of %s: %s.", from, words.Few(r.before, fewServices)))
	}
	back := fmt.Sprintf("To go back, declare %s again, with -force-release=%s.", from, from)
	if resumed {
		back += " Programs whose data an earlier apply converted keep their images: the plan names them."
	}
	if len(r.tables) > 0 {
		back += fmt.Sprintf(" Jobs may have changed tables of %s. The tables stay as they are, and jobs of %s do not run.", words.Few(r.tables, fewServices), from)
	}
	if len(r.converted) > 0 {
		back = fmt.Sprintf("%s may have converted its data, and goes back only with the backups. Other services go back without: declare %s again, with -force-release=%s, and keep the images of those; the plan names them.",
			strings.Join(r.converted, ", "), from, from)
	}
	return append(out, back)
}

// reach looks at the results of the actions. A service has new images if one of its workloads was written.
func reach(u *plans.Upgrade, rounds []engine.Round) reached {
	var r reached
	written := map[string]bool{}
	for _, round := range rounds {
		for _, o := range round.Result.Outcomes {
			a := o.Action
			if !o.Written || a.Object == nil || a.Object.Stage == configs.StageChecks {
				continue
			}
			r.touched = r.touched || a.RunsPodsContinuously() || a.Verb == plans.Run || a.Ref.GVK.GroupKind() == kinds.Namespace
			switch i := slices.IndexFunc(u.Services, func(s plans.ServiceUpgrade) bool { return s.Block == a.Address.Block }); {
			case i < 0:
			case a.RunsPodsContinuously():
				written[a.Address.Block] = true
				data := providers.DataVersionOf(a.Object.Manifest)
				if slices.ContainsFunc(u.Versions, func(v plans.VersionChange) bool { return v.Program == data.Program }) && !slices.Contains(r.converted, data.Program) {
					r.converted = append(r.converted, data.Program)
				}
			case a.Verb == plans.Run && slices.Contains(u.Databases, u.Services[i].Name) && !slices.Contains(r.tables, u.Services[i].Name):
				r.tables = append(r.tables, u.Services[i].Name)
			}
		}
	}
	for _, s := range u.Services {
		if written[s.Block] {
			r.after = append(r.after, s.Name)
		} else {
			r.before = append(r.before, s.Name)
		}
	}
	slices.Sort(r.tables)
	return r
}
