package openstack

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	batchv1 "k8s.io/client-go/applyconfigurations/batch/v1"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
)

// namedJob is a job and the name, without a hash, of the Job that it becomes.
type namedJob struct {
	name string
	decl configs.Job
	// skipped: it counts as run, and nothing runs.
	skipped bool
}

// jobLimits are for jobs that say nothing about memory.
var jobLimits = map[string]string{"memory": "2Gi"}

// deadlineMargin is for how many seconds an apply waits for a job longer than the job may
// take, so that it is the job that says why it failed.
const deadlineMargin = 60

// providedJobs are the jobs that make what the service has on others: its databases, its
// queues, and what Keystone has to know of it.
func (s *service) providedJobs(when string) []namedJob {
	var out []namedJob
	for _, db := range s.decl.Databases {
		for _, job := range db.Jobs {
			name := "db-" + job.Name
			if db.Name != s.decl.Name {
				name = "db-" + label(db.Name, false) + "-" + job.Name
			}
			out = append(out, namedJob{name: s.dashed(name), decl: job})
		}
	}
	for _, p := range s.decl.Provided {
		for _, job := range p.Jobs {
			name := "register-" + job.Name
			if p.Label != "" {
				name = p.Type + "-" + job.Name
				if p.Label != s.decl.Name {
					name = p.Type + "-" + label(p.Label, false) + "-" + job.Name
				}
			}
			out = append(out, namedJob{name: s.decl.Name + "-" + name, decl: job})
		}
	}
	return slices.DeleteFunc(out, func(job namedJob) bool { return job.decl.When != when })
}

// cleanups are the jobs that take away what others had on the service. There are none as
// long as nobody ever had anything on it.
func (s *service) cleanups() []namedJob {
	var out []namedJob
	for _, job := range s.decl.Cleanups {
		name := s.dashed(s.decl.Name, job.Name)
		ran := s.facts.Made != nil && slices.ContainsFunc(s.facts.Made(s.block()), func(a addrs.Object) bool {
			return a.Kind == "Job" && strings.HasPrefix(a.Name, name+"-")
		})
		if ran || s.servers[s.decl.Name] {
			out = append(out, namedJob{name: name, decl: job})
		}
	}
	return out
}

func (s *service) ownJobs(when string) []namedJob {
	var out []namedJob
	for _, job := range s.decl.Jobs {
		if job.When == when {
			out = append(out, namedJob{name: s.dashed(s.decl.Name, job.Name), decl: job})
		}
	}
	return out
}

// jobs adds jobs that run one after the other, the first of them when after is
// ready. It returns what the next in the chain has to wait for.
func (s *service) jobs(jobs []namedJob, after []addrs.Object) []addrs.Object {
	for _, job := range jobs {
		o := s.job(job, after)
		s.add(o)
		after = []addrs.Object{o.Address}
	}
	return after
}

// job is a Job whose name carries a hash over what makes another run of it: the same is
// the same run.
func (s *service) job(job namedJob, after []addrs.Object) providers.Object {
	pod := s.told(job.decl)
	if pod.Requests["memory"] == "" {
		pod.Limits = merged(jobLimits, pod.Limits)
	}
	t := s.newPod(job.name, pod, "")
	spec := batchv1.JobSpec().
		WithBackoffLimit(int32(job.decl.Attempts)).
		WithTemplate(t.template(t.spec(t.main(job.decl.Name)).WithRestartPolicy(v1.RestartPolicyNever)))
	if job.decl.Timeout > 0 {
		spec.WithActiveDeadlineSeconds(int64(job.decl.Timeout))
	}
	if job.skipped {
		spec.WithCompletions(0)
	}
	inputs, err := json.Marshal(spec)
	if err != nil {
		panic(err) // an apply configuration always encodes
	}
	content := append([]string{string(inputs)}, s.patchesOf("Job", job.name)...)
	run := s.runOf(job)
	if run == nil {
		run = content
	}
	made := batchv1.Job(versioned(job.name, t.deferred, run...), "").WithSpec(spec)
	if job.decl.Runs != "" {
		made.WithAnnotations(map[string]string{providers.AnnotationInputs: providers.Hash(content...)})
	}
	o := s.object(made, slices.Concat(t.dependsOn, after, s.restrainedBy(&job.decl.Pod))...)
	o.Deferred = t.deferred
	o.Family = s.address("Job", job.name)
	if job.decl.Timeout > 0 {
		o.Timeout = job.decl.Timeout + deadlineMargin
	}
	return o
}

// told is the pod of a job with what it is told of nodes.
func (s *service) told(job configs.Job) configs.Pod {
	pod := job.Pod
	if job.Nodes == nil {
		return pod
	}
	names := s.nodeNames(*job.Nodes)
	pod.Env = append(slices.Clone(pod.Env), configs.Env{Name: "KOLLA_NODES", Value: configs.Plain(strings.Join(names, " "))})
	slices.SortFunc(pod.Env, func(a, b configs.Env) int { return cmp.Compare(a.Name, b.Name) })
	return pod
}

// runOf is what the name of a Job carries a hash of; nil: all that it runs with.
func (s *service) runOf(job namedJob) []string {
	switch job.decl.Runs {
	case "release", "upgrade":
		return []string{"image " + s.image(job.decl.Pod.Image)}
	case "once":
		return []string{"once"}
	}
	return nil
}

// skipped are the jobs that do not run because the service is new: an upgrade has nothing
// to do there. They are Jobs that count as run for the image that the service begins with,
// and come before everything else in it, so that an apply that is killed does not make the
// service look as if it had been there without them.
func (s *service) skipped() []namedJob {
	var out []namedJob
	for _, job := range slices.Concat(s.ownJobs("before"), s.ownJobs("after")) {
		if job.decl.Runs == "upgrade" {
			job.skipped = true
			out = append(out, job)
		}
	}
	if len(out) == 0 || s.facts.Made == nil {
		return nil
	}
	for _, a := range s.facts.Made(s.block()) {
		if !slices.ContainsFunc(out, func(job namedJob) bool {
			return a == s.address("Job", versioned(job.name, nil, s.runOf(job)...))
		}) {
			return nil
		}
	}
	return out
}

// unless are jobs without those that others stand for.
func unless(jobs, others []namedJob) []namedJob {
	return slices.DeleteFunc(jobs, func(job namedJob) bool {
		return slices.ContainsFunc(others, func(other namedJob) bool { return other.name == job.name })
	})
}
