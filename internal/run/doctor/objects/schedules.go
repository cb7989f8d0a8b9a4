package objects

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/utils/ptr"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/run/doctor/cluster"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
)

// ScheduleKind is the kind of scheduled jobs.
var ScheduleKind = kinds.CronJob.WithVersion("v1")

// backupGrace is the time that a backup may take after its schedule.
const backupGrace = 2 * time.Hour

// Backups reports scheduled backups of the cloud whose last success is older than their schedule allows.
func Backups(f *cluster.Facts) ([]cluster.Finding, error) {
	live, err := f.List(ScheduleKind, "")
	if err != nil {
		return nil, err
	}
	var out []cluster.Finding
	for _, u := range live {
		var job batchv1.CronJob
		if providers.BacksUp(u, f.Config.Cloud.Name, f.Config.Cloud.Namespace) && cluster.Decode(u, &job) {
			out = append(out, findLate(f.Now, &job)...)
		}
	}
	return out, nil
}

// findLate reports one CronJob.
func findLate(now time.Time, job *batchv1.CronJob) []cluster.Finding {
	finding := cluster.Finding{
		Subject: "CronJob " + job.Namespace + "/" + job.Name,
		Reason:  "What changed since the last backup is lost together with the cluster.",
		Next:    fmt.Sprintf("Read the log of the last run: kubectl -n %s get jobs, and kubectl -n %s logs job/NAME.", job.Namespace, job.Namespace),
	}
	if job.Spec.Suspend != nil && *job.Spec.Suspend {
		finding.Severity, finding.Problem = cluster.Warning, "is suspended, so there are no new backups"
		finding.Next = fmt.Sprintf("kubectl -n %s patch cronjob %s -p '{\"spec\":{\"suspend\":false}}'", job.Namespace, job.Name)
		return []cluster.Finding{finding}
	}
	last, ever := job.CreationTimestamp.Time, false
	if job.Status.LastSuccessfulTime != nil {
		last, ever = job.Status.LastSuccessfulTime.Time, true
	}
	missed, err := runsBetween(job, last, now.Add(-backupGrace))
	if err != nil || missed == 0 || missed == 1 && len(job.Status.Active) > 0 {
		return nil
	}
	finding.Severity = cluster.Error
	finding.Problem = fmt.Sprintf("has made no backup since it was created %s", words.Ago(now.Sub(last)))
	if ever {
		finding.Problem = fmt.Sprintf("made its last backup %s, and %s since", words.Ago(now.Sub(last)), words.Plural(missed, "one run did not succeed", fmt.Sprintf("%d runs did not succeed", missed)))
	}
	return []cluster.Finding{finding}
}

// runsBetween counts the times of a schedule after from and not after until, up to a limit. A schedule
// without a time zone has that of kube-controller-manager, which is UTC in most clusters.
func runsBetween(job *batchv1.CronJob, from, until time.Time) (int, error) {
	const limit = 1000
	text := job.Spec.Schedule
	if !strings.Contains(text, "TZ=") { // older clusters permit a time zone there
		text = "TZ=" + cmp.Or(ptr.Deref(job.Spec.TimeZone, ""), time.UTC.String()) + " " + text
	}
	schedule, err := cron.ParseStandard(text)
	if err != nil {
		return 0, fmt.Errorf("read the schedule of CronJob %s/%s: %w", job.Namespace, job.Name, err)
	}
	n := 0
	for at := schedule.Next(from); !at.IsZero() && !at.After(until) && n < limit; at = schedule.Next(at) {
		n++
	}
	return n, nil
}
