package openstack

import (
	"encoding/json"
	"slices"

	v1 "k8s.io/api/core/v1"
	batchv1 "k8s.io/client-go/applyconfigurations/batch/v1"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers"
)

// namedJob is a job and the name, without a hash, of the Job that it becomes.
type namedJob struct {
	name string
	decl lang.Job
}

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
			out = append(out, namedJob{s.dashed(name), job})
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
			out = append(out, namedJob{s.decl.Name + "-" + name, job})
		}
	}
	return slices.DeleteFunc(out, func(job namedJob) bool { return job.decl.When != when })
}

func (s *service) ownJobs(when string) []namedJob {
	var out []namedJob
	for _, job := range s.decl.Jobs {
		if job.When == when {
			out = append(out, namedJob{s.dashed(s.decl.Name, job.Name), job})
		}
	}
	return out
}

// jobs adds jobs that run one after the other, the first of them when after is
// ready. It returns what the next in the chain has to wait for.
func (s *service) jobs(jobs []namedJob, after []lang.Address) []lang.Address {
	for _, job := range jobs {
		o := s.job(job, after)
		s.add(o)
		after = []lang.Address{o.Address}
	}
	return after
}

// job is a Job whose name carries a hash over everything that it runs with: the
// same inputs are the same run, and other inputs are another run.
func (s *service) job(job namedJob, after []lang.Address) providers.Object {
	t := s.newPod(job.name, job.decl.Pod, "")
	spec := batchv1.JobSpec().
		WithBackoffLimit(int32(job.decl.Attempts)).
		WithTemplate(t.template(t.spec(t.main(job.decl.Name)).WithRestartPolicy(v1.RestartPolicyNever)))
	inputs, err := json.Marshal(spec)
	if err != nil {
		panic(err) // an apply configuration always encodes
	}
	content := append([]string{string(inputs)}, s.patchesOf("Job", job.name)...)
	o := s.object(batchv1.Job(versioned(job.name, t.deferred, content...), "").WithSpec(spec), slices.Concat(t.dependsOn, after, s.restrainedBy(&job.decl.Pod))...)
	o.Deferred = t.deferred
	o.Family = s.address("Job", job.name)
	return o
}
