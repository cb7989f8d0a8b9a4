package report

import (
	"fmt"
	"strings"
	"time"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/planner/plans"
)

// upgrade says that the OpenStack release or the distribution changes, what cannot go back, and
// what to do before and after.
func upgrade(plan *plans.Plan, at Moment) *Upgrade {
	u := plan.Upgrade
	if u == nil {
		return nil
	}
	out := &Upgrade{Title: upgradeTitle(u), Grave: u.Backward, Lines: apart(u)}
	if len(u.Checks) > 0 {
		out.Lines = append(out.Lines, "First: checks of "+strings.Join(u.Checks, ", ")+". If one fails, nothing changes.")
	}
	var lasting []string
	for _, v := range u.Versions {
		lasting = append(lasting, fmt.Sprintf("%s %s → %s", v.Program, v.From, v.To))
	}
	if len(lasting) > 0 && !u.Backward {
		out.Lines = append(out.Lines, "Cannot go back: "+strings.Join(lasting, "; ")+".")
	}
	if len(u.Databases) > 0 && !u.Backward {
		out.Lines = append(out.Lines, "Jobs may change tables of "+strings.Join(u.Databases, ", ")+". Nothing changes them back.")
	}
	out.Lines = append(out.Lines, changedOptions(u)...)
	if u.Processors != "" {
		out.Lines = append(out.Lines, fmt.Sprintf("The new images need processors with %s on all amd64 nodes; pods do not start on others.", u.Processors))
	}
	if u.Backward {
		out.Lines = append(out.Lines, "OpenStack does not support a downgrade: restore the backups that were made before the upgrade.")
		return out
	}
	if u.ChangesRelease() {
		out.Lines = append(out.Lines, "Before: an apply of the old release leaves nothing to do, and the databases are backed up.")
		if len(u.Waiting) > 0 {
			out.Lines = append(out.Lines, fmt.Sprintf("Before: kolla rollout replaces pods of %s, which are older than the last apply.", words.Few(u.Waiting, Similar)))
		}
		if u.Backup != nil {
			out.Lines = append(out.Lines, newestBackup(*u.Backup, at.Now))
		}
		out.Lines = append(out.Lines, "After: kolla rollout replaces the pods that wait for it. See docs/upgrades.md.")
		if len(u.Disturbs) > 0 {
			out.Lines = append(out.Lines, "While it replaces a pod, on its node: "+strings.Join(u.Disturbs, "; ")+".")
		}
	}
	return out
}

// newestBackup tells the age of the newest backup.
func newestBackup(b plans.Backup, now time.Time) string {
	switch {
	case b.Unknown != "":
		return "The newest backup is not known: " + b.Unknown
	case b.CronJob == "":
		return "No backup is declared: no CronJob runs kolla backup (docs/backups.md)."
	case b.At.IsZero():
		return fmt.Sprintf("There is no backup yet: CronJob %s has never succeeded.", b.CronJob)
	}
	return fmt.Sprintf("The newest backup was made %s, by CronJob %s.", words.Ago(now.Sub(b.At)), b.CronJob)
}

// mainStep returns the step that the title names: that of the cloud or, if only services change,
// that of the first service.
func mainStep(u *plans.Upgrade) (from, to plans.Images) {
	if len(u.Services) > 0 && (u.From.Release == "" || u.From == u.To) {
		return u.Services[0].From, u.Services[0].To
	}
	return u.From, u.To
}

// upgradeTitle says from where to where: "Upgrade of OpenStack 2025.1 → 2025.2, images rocky-9 →
// rocky-10: 9 services".
func upgradeTitle(u *plans.Upgrade) string {
	from, to := mainStep(u)
	verb := "Upgrade"
	if u.Backward {
		verb = "DOWNGRADE"
	}
	moves := from.Distro != "" && to.Distro != "" && from.Distro != to.Distro
	switch {
	case from.Release == to.Release:
		return fmt.Sprintf("Other base images for OpenStack %s: %s → %s%s", to.Release, from.Distro, to.Distro, of(u))
	case moves:
		return fmt.Sprintf("%s of OpenStack %s → %s, images %s → %s%s", verb, from.Release, to.Release, from.Distro, to.Distro, of(u))
	}
	return fmt.Sprintf("%s of OpenStack %s → %s%s", verb, from.Release, to.Release, of(u))
}

// of counts the services whose images change.
func of(u *plans.Upgrade) string {
	switch len(u.Services) {
	case 0:
		return ": no images change"
	case 1:
		return ": " + u.Services[0].Name
	}
	return ": " + words.Count(len(u.Services), "service")
}

// apart lists the services whose change differs from the title.
func apart(u *plans.Upgrade) []string {
	from, to := mainStep(u)
	var out []string
	for _, s := range u.Services {
		if s.From != from || s.To != to {
			out = append(out, fmt.Sprintf("%s: %s → %s", s.Name, s.From, s.To))
		}
	}
	return words.First(out, Similar, "service")
}

// changedOptions lists the options of the configuration that the new release changes.
func changedOptions(u *plans.Upgrade) []string {
	var out []string
	for _, o := range u.Options {
		var became string
		switch {
		case o.Kind == "removed" && o.Now != "":
			became = fmt.Sprintf("has been %s since %s, and the old name does nothing", o.Now, o.Since)
		case o.Kind == "removed":
			became = fmt.Sprintf("does nothing since %s", o.Since)
		case o.Kind == "renamed":
			became = fmt.Sprintf("has been %s since %s", o.Now, o.Since)
		case o.Kind == "deprecated":
			became = fmt.Sprintf("is deprecated since %s", o.Since)
		default:
			became = fmt.Sprintf("has a value that does not fit since %s", o.Since)
		}
		out = append(out, fmt.Sprintf("%s: %s in %s %s.", o.Source, o.Option, o.File, became))
	}
	return words.First(out, Similar, "option")
}
