// Package runs lists the jobs of a service in the order in which they run, with the names of
// their objects. A Job's name ends with a hash of its Inputs: a change of them runs it again.
package runs

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/kinds"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
	"kolla.openstack.org/kolla/providers/secrets"
)

// Rotation is the value of Job.Runs of a job that runs after rotations of keys.
const Rotation = "rotation"

// Job is a job with the name of its Job, without the hash.
type Job struct {
	Name string
	Decl configs.Job
	// Skipped: the Job counts as run, but no pod runs.
	Skipped bool
}

// Jobs are all jobs of a service.
type Jobs struct {
	// Checks look whether the service can be upgraded, before anything that runs changes.
	Checks []Job
	Before []Job // before its workloads
	After  []Job // after its workloads
	// Cleanups remove databases, queues and registrations of other services from this service.
	// They run last, after the workloads.
	Cleanups []Job
}

// All returns all jobs of the service.
func (j Jobs) All() []Job { return slices.Concat(j.Checks, j.Before, j.After, j.Cleanups) }

// Of returns the jobs of a service.
//
// Before the workloads come the jobs that count as run; then the jobs that create databases,
// queues and users on other services; then the service's own jobs. After the workloads come the
// job that registers the endpoints, and the service's own jobs.
//
// serves is set if other services have databases, queues, users or registrations on this one.
// made returns the addresses of the jobs and workloads of a block that exist. Nil: unknown, and
// the service counts as made. live reads one of them; nil without a cluster to ask.
func Of(s object.Service, serves bool, made func(block string) []addrs.Object, live func(providers.Ref) *unstructured.Unstructured) Jobs {
	skipped := skipped(s, made)
	if made != nil && live != nil {
		skipped = append(skipped, unless(outdated(s, ran(s, made(s.Decl.Block), live)), skipped)...)
	}
	return Jobs{
		Checks:   unless(own(s, "check"), skipped),
		Before:   slices.Concat(skipped, provided(s, "before"), unless(own(s, "before"), skipped)),
		After:    slices.Concat(provided(s, "after"), unless(own(s, "after"), skipped)),
		Cleanups: cleanups(s, serves, made),
	}
}

// provided returns the jobs that create databases and queues on other services and register
// the service in Keystone.
func provided(s object.Service, when string) []Job {
	var out []Job
	for _, db := range s.Decl.Databases {
		for _, job := range db.Jobs {
			name := "db-" + job.Name
			if db.Name != s.Decl.Name {
				name = "db-" + object.Label(db.Name, false) + "-" + job.Name
			}
			out = append(out, Job{Name: s.Dashed(name), Decl: job})
		}
	}
	for _, p := range s.Decl.Provided {
		for _, job := range p.Jobs {
			name := "register-" + job.Name
			if p.Label != "" {
				name = p.Type + "-" + job.Name
				if p.Label != s.Decl.Name {
					name = p.Type + "-" + object.Label(p.Label, false) + "-" + job.Name
				}
			}
			out = append(out, Job{Name: s.Decl.Name + "-" + name, Decl: job})
		}
	}
	return slices.DeleteFunc(out, func(job Job) bool { return job.Decl.When != when })
}

// own returns the jobs that the service declares itself.
func own(s object.Service, when string) []Job {
	var out []Job
	for _, job := range s.Decl.Jobs {
		if job.When == when {
			out = append(out, Job{Name: s.Dashed(s.Decl.Name, job.Name), Decl: job})
		}
	}
	return out
}

// cleanups returns the jobs that remove leftovers of other services from this service. A job
// is only needed if another service has something here, or if the job has run before.
func cleanups(s object.Service, serves bool, made func(block string) []addrs.Object) []Job {
	var out []Job
	for _, job := range s.Decl.Cleanups {
		name := s.Dashed(s.Decl.Name, job.Name)
		ran := made != nil && slices.ContainsFunc(made(s.Decl.Block), func(a addrs.Object) bool {
			return a.Kind == "Job" && strings.HasPrefix(a.Name, name+"-")
		})
		if ran || serves {
			out = append(out, Job{Name: name, Decl: job})
		}
	}
	return out
}

// skipped returns the upgrade jobs of a new service, which has nothing to upgrade. They become
// Jobs that count as run for the first image of the service. They come before all other jobs:
// if an apply is killed, the next plan still sees that the service is new.
func skipped(s object.Service, made func(block string) []addrs.Object) []Job {
	var out []Job
	for _, job := range slices.Concat(own(s, "check"), own(s, "before"), own(s, "after")) {
		if job.Decl.Runs == "upgrade" {
			job.Skipped = true
			out = append(out, job)
		}
	}
	if len(out) == 0 || made == nil {
		return nil
	}
	for _, a := range made(s.Decl.Block) {
		if !slices.ContainsFunc(out, func(job Job) bool {
			return a == s.Address("Job", object.Versioned(job.Name, nil, Inputs(s, job)...))
		}) {
			return nil
		}
	}
	return out
}

// outdated returns the jobs of a service that goes back to an older release. They count as run: the tables are those of the
// newer release, which jobs of the older one do not know. ran has the newest release of each image.
func outdated(s object.Service, ran map[string]string) []Job {
	var out []Job
	for _, job := range slices.Concat(own(s, "check"), own(s, "before"), own(s, "after")) {
		name, release := releaseOf(s.Cloud.Image(job.Decl.Pod.Image))
		if job.Decl.Runs != Rotation && release != "" && release < ran[name] { // releases sort as texts
			job.Skipped = true
			out = append(out, job)
		}
	}
	return out
}

// ran returns the newest release of each image that jobs and workloads of a service have run. Checks do not count: they
// change nothing.
func ran(s object.Service, made []addrs.Object, live func(providers.Ref) *unstructured.Unstructured) map[string]string {
	checks := own(s, "check")
	out := map[string]string{}
	for _, a := range made {
		gvk := kinds.Job.WithVersion("v1")
		if a.Kind != gvk.Kind {
			gvk = appsv1.SchemeGroupVersion.WithKind(a.Kind)
		}
		o := live(providers.Ref{GVK: gvk, Namespace: s.Cloud.Decl.Namespace, Name: a.Name})
		if o == nil || slices.ContainsFunc(checks, func(job Job) bool { return strings.HasPrefix(a.Name, job.Name+"-") }) {
			continue
		}
		containers, _, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
		if len(containers) == 0 {
			continue
		}
		main, _ := containers[0].(map[string]any)
		image, _ := main["image"].(string)
		name, release := releaseOf(image)
		out[name] = max(out[name], release)
	}
	return out
}

func releaseOf(image string) (name, release string) {
	reference := providers.SplitImage(image)
	release, _ = configs.ParseTag(reference.Tag)
	return reference.Name(), release
}

// Inputs returns the inputs that the hash in a Job's name covers. Nil means all inputs.
func Inputs(s object.Service, job Job) []string {
	switch job.Decl.Runs {
	case "release", "upgrade":
		return []string{"image " + s.Cloud.Image(job.Decl.Pod.Image)}
	case "once":
		return []string{"once"}
	}
	return nil
}

// AfterRotations returns the inputs of a job with Runs Rotation: the revisions of the rotated keys that it
// mounts. It is empty if none were rotated.
func AfterRotations(job configs.Job, revision func(configs.SecretMount) string) []string {
	var out []string
	for _, m := range job.Pod.Mounts {
		if now := revision(m); secrets.Rotations(now) > 0 {
			out = append(out, m.Secret, now)
		}
	}
	return out
}

// unless returns the jobs whose names do not occur among others.
func unless(jobs, others []Job) []Job {
	return slices.DeleteFunc(jobs, func(job Job) bool {
		return slices.ContainsFunc(others, func(other Job) bool { return other.Name == job.Name })
	})
}
