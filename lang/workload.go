package lang

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
	"kolla.openstack.org/kolla/lang/schema"
)

// job makes a job in the scope of an evaluator.
func (in *instance) job(b *source.Block, e *evaluator) configs.Job {
	j := configs.Job{
		Name:     b.Label,
		When:     "before",
		Attempts: e.number(b, "attempts"),
		Timeout:  e.number(b, "timeout"),
		Pod:      in.pod(b, e),
		Range:    rangeOf(b),
	}
	if b.Type.Attribute("when") != nil {
		j.When = e.string(b, "when")
	}
	if b.Type == schema.JobType {
		j.Runs = strings.TrimPrefix(e.string(b, "runs"), "change")
		j.Nodes = in.nodesOf(b, e, j.Pod.Env)
	}
	in.checkVolumes(b, j.Pod.Volumes, in.mountedIn(&j.Pod, nil))
	in.checkPropagation(b, &j.Pod)
	in.checkLength(b)
	return j
}

// nodesOf names the role whose nodes a job is about.
func (in *instance) nodesOf(b *source.Block, e *evaluator, env []configs.Env) *string {
	if !e.given(b, "nodes") {
		return nil
	}
	if i := slices.IndexFunc(env, func(v configs.Env) bool { return v.Name == schema.NodesVariable }); i >= 0 {
		in.report.Error(env[i].Range, "Variable of kolla's own", "%s tells the job of the nodes that its argument nodes says. Give yours another name.", schema.NodesVariable)
	}
	if v, _ := e.value(b.Attributes["nodes"].Expr).Unmark(); v.IsKnown() && v.Type() == cty.String && v.AsString() == "" {
		return new(string) // the service has no role
	}
	name := e.role(b, "nodes")
	if name == "" {
		return nil // which was reported
	}
	return &name
}

// variables are an environment, the service's over the definition's.
func (e *evaluator) variables(b *source.Block, name string) *settings {
	var layers []*layer
	for _, p := range e.parts(b, name) {
		layers = append(layers, &layer{name: p.layer, expr: p.expr, eval: p.eval})
	}
	return merge(1, layers)
}

// pod makes what jobs and workloads have in common.
func (in *instance) pod(b *source.Block, e *evaluator) configs.Pod {
	p := configs.Pod{
		Image:       in.image(b, e),
		Start:       e.string(b, "start"),
		Command:     e.list(b, "command"),
		Args:        e.list(b, "args"),
		Env:         in.environment(b, e, in.setOf(b)),
		User:        e.number(b, "user"),
		HostNetwork: e.bool(b, "host_network"),
		Powers:      in.powers(b, e),

		ServiceLinks: e.bool(b, "service_links"),
	}
	if r := b.One("resources", ""); r != nil {
		p.Requests, p.Limits = e.strings(r, "requests"), e.strings(r, "limits")
	}
	if b.Type.Attribute("config") != nil {
		p.Configs = in.names(b, e, "config", "config file")
		p.Writable, p.WritableSize = e.list(b, "writable"), e.string(b, "writable_size")
		in.checkPaths(b, p.Configs)
	}
	if b.Type.Attribute("host_pid") != nil {
		p.HostPID, p.HostIPC = e.bool(b, "host_pid"), e.bool(b, "host_ipc")
	}
	in.checkPowers(b, p.Powers, p.User)
	p.Mounts, p.Volumes = in.mounts(b, e), in.volumes(b, e)
	in.podMarks(b, e, &p)
	return p
}

func (in *instance) mounts(b *source.Block, e *evaluator) []configs.SecretMount {
	var out []configs.SecretMount
	for _, m := range b.All("mount") {
		if mount, ok := in.mount(m, e); ok {
			out = append(out, mount)
		}
	}
	return out
}

// image is the name of a Kolla image, or what the service uses in its place.
func (in *instance) image(b *source.Block, e *evaluator) string {
	name := e.string(b, "image")
	in.used[name] = true
	if full, ok := in.images[name]; ok {
		return full
	}
	return in.cloudImage(name)
}

// names evaluates a list of names of other blocks in the definition. Those that do not
// count are left out.
func (in *instance) names(b *source.Block, e *evaluator, attribute, noun string) []string {
	var out []string
	typ := b.Type.Attribute(attribute).Names
	known := in.definition.Labels(typ)
	for i, name := range e.list(b, attribute) {
		switch {
		case !slices.Contains(known, name) && in.whole.One(typ, name) != nil, typ == "config" && in.absent[name]:
		case !slices.Contains(known, name) && !in.definition.Complete(): // it may come
		case !slices.Contains(known, name):
			in.report.Undeclared(b.AttributeRange(attribute), noun, name, known)
		case slices.Contains(out, name):
			e.unsuitable(b, attribute, "Element %d, %q, is there already.", i, name)
		default:
			out = append(out, name)
		}
	}
	return out
}

// workload makes a workload.
func (in *instance) workload(b *source.Block) configs.Workload {
	e := in.inner
	w := configs.Workload{
		Name:     b.Label,
		Kind:     e.string(b, "kind"),
		Role:     e.role(b, "role"),
		Replicas: in.replicas[b.Label],
		Update:   e.string(b, "update"),
		Timeout:  e.number(b, "timeout"),
		Loss:     e.string(b, "loss"),
		Pod:      in.pod(b, e),

		ScaleDown:    e.string(b, "scale_down"),
		OwnAddresses: e.bool(b, "own_addresses"),

		Claims: in.claims(b),
		Range:  rangeOf(b),
	}
	in.checkVolumes(b, w.Pod.Volumes, in.mountedIn(&w.Pod, w.Claims))
	w.Pod.Ports = in.names(b, e, "ports", "port")
	w.Ready = in.probe(b, "ready", w.Pod.Ports)
	w.Live = in.probe(b, "live", w.Pod.Ports)
	w.Startup = in.probe(b, "startup", w.Pod.Ports)
	in.inits(b, &w)
	in.checkPropagation(b, &w.Pod)
	in.stopping(&w, b)
	in.placement(b, &w)
	in.rollout(b, &w)
	w.Carries, w.Leave = in.podCommand(b, "carries", &w), in.podCommand(b, "leave", &w)
	base := b
	if b.Top != nil {
		base = b.Base
	}
	w.Lifecycle = lifecycle(layered{base, e}, layered{in.block, in.user}, layered{b.Top, in.user})
	w.Lifecycle.ReplaceTriggeredBy = in.triggers(in.frame, in.user, in.block, b.Top)
	if w.Kind == "Deployment" && w.Update == "on-delete" {
		in.report.Error(b.AttributeRange("update"), "Unsuitable value for \"update\"", "The pods of a Deployment are always replaced; on-delete is for a StatefulSet or DaemonSet.")
	}
	in.checkLength(b)
	return w
}

const (
	// defaultGrace is how many seconds the API server gives a pod to stop.
	defaultGrace = 30
	// defaultDrain is how many seconds it takes, with room to spare, until every
	// node has heard that a pod stops.
	defaultDrain = 5
)

// stopping says how the pods of a workload stop. One that would be killed while it
// still serves could never end in order.
func (in *instance) stopping(w *configs.Workload, b *source.Block) {
	e := in.inner
	w.Pod.GracePeriod, w.Drain = e.number(b, "grace_period"), e.number(b, "drain")
	if !e.given(b, "drain") && w.Kind == "Deployment" && len(w.Pod.Ports) > 0 {
		w.Drain = defaultDrain
	}
	if grace := cmp.Or(w.Pod.GracePeriod, defaultGrace); w.Drain >= grace && e.settled(b, "drain", "grace_period") {
		in.report.Error(in.stoppingRange(b), "Pods would be killed while they serve",
			"Pods of workload %q go on serving for %d seconds after they were told to stop (drain), and get %d seconds in all (grace_period). Make grace_period longer, or drain shorter.",
			w.Name, w.Drain, grace)
	}
}

// stoppingRange is where somebody can change how pods stop: in the service, if it says
// something about it.
func (in *instance) stoppingRange(b *source.Block) hcl.Range {
	names := []string{"drain", "grace_period"}
	for _, source := range []*source.Block{b.Top, b} {
		for _, name := range names {
			if source != nil && source.Attributes[name] != nil {
				return source.AttributeRange(name)
			}
		}
	}
	return b.Header
}

// allReplicas is how many pods each workload of the definition has.
func (in *instance) allReplicas() map[string]int {
	out := map[string]int{}
	in.capped = nil
	in.replicasForAll()
	for _, b := range in.definition.All("workload") {
		out[b.Label] = in.replicasOf(b)
	}
	return out
}

// replicasForAll notes what the service says for all workloads.
func (in *instance) replicasForAll() {
	if in.user.given(in.block, "replicas") {
		if n := in.user.number(in.block, "replicas"); !mark.IsDeferred(in.user.value(in.block.Attributes["replicas"].Expr)) {
			in.forAll = &n
		}
	}
}

// replicasValue is what others read as the replicas of a service.
func (in *instance) replicasValue(workload *source.Block) cty.Value {
	for _, said := range []struct {
		e *evaluator
		b *source.Block
	}{{in.inner, workload}, {in.user, in.block}} {
		if !said.e.settled(said.b, "replicas") {
			return cty.UnknownVal(cty.Number).WithMarks(said.e.awaited(said.b, "replicas"))
		}
	}
	return cty.NumberIntVal(int64(in.replicas[workload.Label]))
}

// replicasOf is how many pods a workload has: what its block in the service says,
// else what the service says for all, as far as it can cope with that, else what the
// definition says. A DaemonSet has 0: its nodes decide.
func (in *instance) replicasOf(b *source.Block) int {
	n := in.inner.number(b, "replicas")
	said := in.inner.sayer(b, "replicas") == in.user && in.inner.given(b, "replicas")
	if in.inner.string(b, "kind") == "DaemonSet" {
		if (said || in.forAll == nil) && b.Attributes["replicas"] != nil {
			in.inner.unsuitable(b, "replicas", "A DaemonSet has one pod on each node of its role. Choose the nodes instead.")
		}
		return 0
	}
	most := in.inner.number(b, "max_replicas")
	if in.forAll != nil && !said {
		if most > 0 && *in.forAll > most {
			in.capped = append(in.capped, fmt.Sprintf("%s runs %d", b.Label, most))
			return most
		}
		return *in.forAll
	}
	if most > 0 && n > most {
		in.inner.unsuitable(b, "replicas", "Definition %q runs at most %d of workload %q: more would not work together.", in.out.Definition, most, b.Label)
	}
	return n
}

func (in *instance) claims(b *source.Block) []configs.Claim {
	var out []configs.Claim
	for _, c := range b.All("claim") {
		if kind := in.inner.string(b, "kind"); kind != "" && kind != "StatefulSet" {
			in.report.Error(c.Header, "Volume without a StatefulSet", "Only the pods of a StatefulSet have volumes of their own, and workload %q is none.", b.Label)
		}
		out = append(out, configs.Claim{
			Name:         c.Label,
			Path:         in.inner.string(c, "path"),
			Size:         in.inner.string(c, "size"),
			StorageClass: in.inner.string(c, "storage_class"),
		})
	}
	return out
}

// probe makes a probe of a workload that listens on the given ports.
func (in *instance) probe(workload *source.Block, name string, ports []string) *configs.Probe {
	b := workload.One(name, "")
	if b == nil {
		return nil
	}
	e := in.inner
	p := &configs.Probe{
		HTTP:    e.string(b, "http"),
		Port:    e.string(b, "port"),
		TLS:     e.string(b, "scheme") == "https",
		Headers: in.headers(b),
		Exec:    e.list(b, "exec"),
		Period:  e.number(b, "period"),
		Timeout: e.number(b, "timeout"),
		Retries: e.number(b, "retries"),
		Delay:   e.number(b, "delay"),
	}
	ways := 0
	for _, way := range []string{"http", "tcp", "exec"} {
		if e.given(b, way) {
			ways++
		}
	}
	switch {
	case ways != 1:
		in.report.Error(b.Header, "Unsuitable probe", "Exactly one of http, tcp and exec says how to probe; here are %d.", ways)
	case e.given(b, "tcp"):
		p.TCP, p.Port = true, e.string(b, "tcp")
		in.checkProbePort(workload, b, "tcp", ports)
	case e.given(b, "http") && !e.given(b, "port") && len(ports) == 1 && !in.isUDP(ports[0]):
		p.Port = ports[0]
	case e.given(b, "http"):
		in.checkProbePort(workload, b, "port", ports)
	}
	if e.given(b, "port") && !e.given(b, "http") {
		in.report.Error(b.Attributes["port"].NameRange, "Unsuitable probe", "The argument port belongs to http. For a connection, write tcp = \"PORT\".")
	}
	for _, name := range []string{"scheme", "headers"} {
		if e.given(b, name) && !e.given(b, "http") {
			in.report.Error(b.Attributes[name].NameRange, "Unsuitable probe", "The argument %s belongs to http.", name)
		}
	}
	return p
}
