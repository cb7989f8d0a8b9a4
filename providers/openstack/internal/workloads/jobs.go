package workloads

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	kube "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	batchv1 "k8s.io/client-go/applyconfigurations/batch/v1"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack/internal/nodes"
	"kolla.openstack.org/kolla/providers/openstack/internal/object"
	"kolla.openstack.org/kolla/providers/openstack/internal/patch"
	"kolla.openstack.org/kolla/providers/openstack/internal/pods"
	"kolla.openstack.org/kolla/providers/openstack/internal/runs"
)

// jobLimits are the limits of jobs whose definition does not request memory.
var jobLimits = map[string]string{"memory": "2Gi"}

// deadlineMargin is the time in seconds that an apply waits after the deadline of a job. The
// job then fails first, and its status says why.
const deadlineMargin = 60

// jobs returns jobs that run one after the other, and the objects that only their pods need. The
// first job starts when the objects of after are ready. last are the dependencies of the next
// step in the chain.
func jobs(in Input, list []runs.Job, after []addrs.Object) (objects []providers.Object, last []addrs.Object, diags hcl.Diagnostics) {
	last = after
	for _, j := range list {
		if j.Decl.Runs == runs.Rotation && len(rotations(in, j)) == 0 {
			continue
		}
		o, p := job(in, j, last)
		objects, diags = append(append(objects, p.Objects...), o), append(diags, p.Diags...)
		last = []addrs.Object{o.Address}
	}
	return objects, last, diags
}

// job returns a Job and its pod. The name of the Job has a hash of the inputs that require a new
// run, by default of what its pods do: if the name stays the same, a finished job does not run
// again.
func job(in Input, job runs.Job, after []addrs.Object) (providers.Object, *pods.Pod) {
	s := in.Pods.Service
	pod := withNodes(in.Pods.Nodes, job.Decl)
	if pod.Requests["memory"] == "" {
		pod.Limits = object.Merged(jobLimits, pod.Limits)
	}
	p := pods.New(in.Pods, job.Name, pod, "")
	spec := batchv1.JobSpec().
		WithBackoffLimit(int32(job.Decl.Attempts)).
		WithTemplate(p.Template(p.Spec(p.Main(job.Decl.Name)).WithRestartPolicy(v1.RestartPolicyNever)))
	if len(job.Decl.Fatal) > 0 {
		spec.WithPodFailurePolicy(failsAtOnce(job.Decl))
	}
	if job.Decl.Timeout > 0 {
		spec.WithActiveDeadlineSeconds(int64(job.Decl.Timeout))
	}
	patches := patch.Inputs(s.Decl, "Job", job.Name)
	run := runs.Inputs(s, job)
	if job.Decl.Runs == runs.Rotation {
		run = rotations(in, job)
	}
	if run == nil {
		bare := providers.Object{Manifest: s.Cloud.Manifest(batchv1.Job(job.Name, "").WithSpec(spec))}
		run = append([]string{bare.RunDigest()}, patches...)
	}
	if job.Skipped {
		spec.WithCompletions(0)
	}
	inputs, err := json.Marshal(spec)
	if err != nil {
		panic(err) // an apply configuration always encodes
	}
	made := batchv1.Job(object.Versioned(job.Name, p.Deferred, run...), "").WithSpec(spec).
		WithAnnotations(map[string]string{providers.AnnotationInputs: providers.Hash(append([]string{string(inputs)}, patches...)...)})
	o := s.Object(made, slices.Concat(p.DependsOn, after, in.Levels.BeforePod(&job.Decl.Pod))...)
	o.Deferred = p.Deferred
	o.Family = s.Address("Job", job.Name)
	o.Registers = registration(in, &job.Decl)
	if job.Decl.Timeout > 0 {
		o.Timeout = job.Decl.Timeout + deadlineMargin
	}
	return o, p
}

// failsAtOnce returns the policy by which a job has failed as soon as its command ends with a fatal code.
func failsAtOnce(job configs.Job) *batchv1.PodFailurePolicyApplyConfiguration {
	var codes []int32
	for _, code := range job.Fatal {
		codes = append(codes, int32(code))
	}
	return batchv1.PodFailurePolicy().WithRules(batchv1.PodFailurePolicyRule().
		WithAction(kube.PodFailurePolicyActionFailJob).
		WithOnExitCodes(batchv1.PodFailurePolicyOnExitCodesRequirement().
			WithContainerName(job.Name).WithOperator(kube.PodFailurePolicyOnExitCodesOpIn).WithValues(codes...)))
}

// rotations returns the revisions of the rotated keys that a job mounts. It is empty if none were
// rotated.
func rotations(in Input, job runs.Job) []string {
	return runs.AfterRotations(job.Decl, func(m configs.SecretMount) string { return in.Pods.Secrets.Get(m.Service, m.Secret).Revision })
}

// registration returns what a Job registers on servers. It is nil if the Job registers nothing, and if the
// servers are outside of the cloud's namespace.
func registration(in Input, job *configs.Job) *providers.Registration {
	r := providers.Registration{Keystone: keystone(in, job.Registers), Database: database(in, job.MakesDatabase), Cells: cells(in, job.MapsCells), Queue: queue(in, job.MakesQueue)}
	if r == (providers.Registration{}) {
		return nil
	}
	return &r
}

// keystone returns what a Job registers with Keystone; nil: nothing.
func keystone(in Input, decl *configs.Registration) *providers.KeystoneRegistration {
	if decl == nil || len(decl.Users)+len(decl.Roles)+len(decl.Endpoints) == 0 {
		return nil
	}
	namespace := in.Pods.Service.Cloud.Decl.Namespace
	keystone, inside := providers.ParseInternalURL(decl.URL)
	if !inside || keystone.Namespace != namespace {
		return nil
	}
	r := &providers.KeystoneRegistration{
		Keystone: keystone, Username: decl.Username, Region: decl.Region, Owner: decl.Owner, Roles: decl.Roles,
		Password: secretKey(in, decl.Password),
	}
	for _, user := range decl.Users {
		r.Users = append(r.Users, providers.RegisteredUser(user))
	}
	for _, endpoint := range decl.Endpoints {
		r.Endpoints = append(r.Endpoints, providers.RegisteredEndpoint(endpoint))
	}
	return r
}

// secretKey returns the place of a secret in the cluster.
func secretKey(in Input, ref configs.SecretRef) providers.SecretKey {
	return providers.SecretKey{Namespace: in.Pods.Service.Cloud.Decl.Namespace, Name: in.Pods.Secrets.Get(ref.Service, ref.Secret).Address.Name, Key: ref.Key}
}

// database returns the database that a Job makes; nil: none.
func database(in Input, decl *configs.MadeDatabase) *providers.DatabaseRegistration {
	if decl == nil {
		return nil
	}
	server := podServer(in, decl.Server)
	if server == nil {
		return nil
	}
	d := &providers.DatabaseRegistration{Server: *server, Name: decl.Name, CharacterSet: decl.CharacterSet, User: decl.User}
	if decl.User != "" {
		d.Privileges = decl.Privileges
		if decl.UserPassword != nil {
			d.Password = secretKey(in, *decl.UserPassword)
		}
	}
	return d
}

// queue returns the virtual host that a Job makes; nil: none.
func queue(in Input, decl *configs.MadeQueue) *providers.QueueRegistration {
	if decl == nil {
		return nil
	}
	server := podServer(in, decl.Server)
	if server == nil {
		return nil
	}
	q := &providers.QueueRegistration{Server: *server, Name: decl.Name, Owner: decl.Owner}
	if decl.UserPassword != nil {
		q.Password = secretKey(in, *decl.UserPassword)
	}
	return q
}

// cells returns the cells that a Job makes known to Nova; nil: none.
func cells(in Input, decl *configs.MappedCells) *providers.CellRegistration {
	if decl == nil || len(decl.Cells) == 0 {
		return nil
	}
	server := podServer(in, decl.Server)
	if server == nil {
		return nil
	}
	c := &providers.CellRegistration{Server: *server, Database: decl.Database}
	for _, cell := range decl.Cells {
		c.Cells = append(c.Cells, providers.RegisteredCell{
			Name: cell.Name, UUID: cell.UUID,
			TransportURL: in.Pods.Secrets.Parts(cell.TransportURL), DatabaseConnection: in.Pods.Secrets.Parts(cell.DatabaseConnection),
		})
	}
	return c
}

// podServer returns the way to log in to a server; nil: it is outside of the cloud's namespace.
func podServer(in Input, decl configs.PodServer) *providers.PodServer {
	server := &providers.PodServer{Username: decl.Username, Password: secretKey(in, decl.Password)}
	for _, address := range decl.Addresses {
		member, ok := providers.ParsePodPort(address)
		if !ok || member.Namespace != in.Pods.Service.Cloud.Decl.Namespace {
			return nil
		}
		server.Members = append(server.Members, member)
	}
	return server
}

// withNodes returns the pod of a job. If the job asks for node names, the pod gets them in the
// variable KOLLA_NODES.
func withNodes(all nodes.Nodes, job configs.Job) configs.Pod {
	pod := job.Pod
	if job.Nodes == nil {
		return pod
	}
	names := all.Names(*job.Nodes)
	pod.Env = append(slices.Clone(pod.Env), configs.Env{Name: "KOLLA_NODES", Value: configs.Plain(strings.Join(names, " "))})
	slices.SortFunc(pod.Env, func(a, b configs.Env) int { return cmp.Compare(a.Name, b.Name) })
	return pod
}
