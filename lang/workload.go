package lang

import (
	"cmp"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/mark"
)

// job makes a job in the scope of an evaluator; env is its environment.
func (in *instance) job(b *block, e *evaluator, env []Env) Job {
	j := Job{
		Name:     b.label,
		When:     "before",
		Attempts: e.number(b, "attempts"),
		Pod:      in.pod(b, e, env),
		Range:    rangeOf(nil, b),
	}
	if b.typ.attribute("when") != nil {
		j.When = e.string(b, "when")
	}
	in.checkLength(b)
	return j
}

// environment evaluates an env that nothing overrides.
func (e *evaluator) environment(b *block) []Env {
	attr := b.attributes["env"]
	if attr == nil {
		return nil
	}
	return merge(1, []*layer{{name: layerDefinition, expr: attr.Expr, eval: e}}).environment()
}

// pod makes what jobs and workloads have in common.
func (in *instance) pod(b *block, e *evaluator, env []Env) Pod {
	p := Pod{
		Image:       in.image(b, e),
		Start:       e.string(b, "start"),
		Command:     e.list(b, "command"),
		Args:        e.list(b, "args"),
		Env:         env,
		User:        e.number(b, "user"),
		HostNetwork: e.bool(b, "host_network"),
	}
	if r := b.one("resources", ""); r != nil {
		p.Requests, p.Limits = e.strings(r, "requests"), e.strings(r, "limits")
	}
	if b.typ.attribute("config") != nil {
		p.Configs = in.names(b, e, "config", "config file", in.definition.labels("config"))
		p.Writable = e.list(b, "writable")
	}
	for _, m := range b.all("mount") {
		if mount, ok := in.mount(m, e); ok {
			p.Mounts = append(p.Mounts, mount)
		}
	}
	return p
}

// image is the name of a Kolla image, or what the service uses in its place.
func (in *instance) image(b *block, e *evaluator) string {
	name := e.string(b, "image")
	in.used[name] = true
	if full, ok := in.images[name]; ok {
		return full
	}
	return name
}

// names evaluates a list of names of other blocks in the definition.
func (in *instance) names(b *block, e *evaluator, attribute, noun string, known []string) []string {
	var out []string
	for i, name := range e.list(b, attribute) {
		switch {
		case !slices.Contains(known, name) && !in.definition.complete(): // it may come
		case !slices.Contains(known, name):
			in.undeclared(b.attributeRange(attribute), noun, name, known)
		case slices.Contains(out, name):
			e.unsuitable(b, attribute, "Element %d, %q, is there already.", i, name)
		default:
			out = append(out, name)
		}
	}
	return out
}

// workload makes a workload, with the service's overrides.
func (in *instance) workload(b *block) Workload {
	e, override := in.inner, in.block.one("workload", b.label)
	w := Workload{
		Name:     b.label,
		Kind:     e.string(b, "kind"),
		Role:     e.role(b, "role"),
		Replicas: in.replicas[b.label],
		Update:   e.string(b, "update"),
		Pod:      in.pod(b, e, in.envs[b.label].environment()),
		Claims:   in.claims(b),
		Range:    rangeOf(override, b),
	}
	w.Pod.Ports = in.names(b, e, "ports", "port", in.definition.labels("port"))
	for _, init := range b.all("init") {
		w.Pod.Inits = append(w.Pod.Inits, Init{Name: init.label, Command: e.list(init, "command")})
	}
	w.Ready = in.probe(b, "ready", w.Pod.Ports)
	w.Live = in.probe(b, "live", w.Pod.Ports)
	w.Startup = in.probe(b, "startup", w.Pod.Ports)
	in.stopping(&w, b, override)
	w.Lifecycle = lifecycle(layered{b, e}, layered{in.block, in.user}, layered{override, in.user})
	w.Lifecycle.ReplaceTriggeredBy = in.triggers(in.frame, in.user, in.block, override)
	if override != nil {
		in.override(&w, override)
	}
	if w.Kind == "Deployment" && w.Update == "on-delete" {
		in.error(in.updateRange(b, override), "Unsuitable value for \"update\"", "The pods of a Deployment are always replaced; on-delete is for a StatefulSet or DaemonSet.")
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
func (in *instance) stopping(w *Workload, b, override *block) {
	e, source := in.sourceOf(b, override, "grace_period")
	w.Pod.GracePeriod = e.number(source, "grace_period")
	e, source = in.sourceOf(b, override, "drain")
	w.Drain = e.number(source, "drain")
	if !e.given(source, "drain") && w.Kind == "Deployment" && len(w.Pod.Ports) > 0 {
		w.Drain = defaultDrain
	}
	if grace := cmp.Or(w.Pod.GracePeriod, defaultGrace); w.Drain >= grace && in.stopsAsSaid(b, override) {
		in.error(stoppingRange(b, override), "Pods would be killed while they serve",
			"Pods of workload %q go on serving for %d seconds after they were told to stop (drain), and get %d seconds in all (grace_period). Make grace_period longer, or drain shorter.",
			w.Name, w.Drain, grace)
	}
}

// stopsAsSaid reports whether it is known how the pods of a workload stop.
func (in *instance) stopsAsSaid(b, override *block) bool {
	for _, name := range []string{"drain", "grace_period"} {
		if e, source := in.sourceOf(b, override, name); !e.settled(source, name) {
			return false
		}
	}
	return true
}

// sourceOf finds who says what an argument of a workload is: the service where it
// overrides it, else the definition.
func (in *instance) sourceOf(b, override *block, name string) (*evaluator, *block) {
	if override != nil && in.user.given(override, name) {
		return in.user, override
	}
	return in.inner, b
}

// stoppingRange is where somebody can change how pods stop.
func stoppingRange(b, override *block) hcl.Range {
	for _, source := range []*block{override, b} {
		for _, name := range []string{"drain", "grace_period"} {
			if source != nil && source.attributes[name] != nil {
				return source.attributeRange(name)
			}
		}
	}
	return b.header
}

// override applies a service's workload block.
func (in *instance) override(w *Workload, b *block) {
	e := in.user
	if e.given(b, "role") {
		w.Role = e.role(b, "role")
	}
	if e.given(b, "host_network") {
		w.Pod.HostNetwork = e.bool(b, "host_network")
	}
	if update := e.string(b, "update"); update != "" {
		w.Update = update
	}
	if r := b.one("resources", ""); r != nil {
		w.Pod.Requests = mergedMap(w.Pod.Requests, e.strings(r, "requests"))
		w.Pod.Limits = mergedMap(w.Pod.Limits, e.strings(r, "limits"))
	}
}

func mergedMap(base, over map[string]string) map[string]string {
	if len(base)+len(over) == 0 {
		return base
	}
	out := maps.Clone(base)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, over)
	return out
}

// allReplicas is how many pods each workload of the definition has.
func (in *instance) allReplicas() map[string]int {
	out := map[string]int{}
	if in.user.given(in.block, "replicas") {
		if n := in.user.number(in.block, "replicas"); !mark.IsDeferred(in.user.value(in.block.attributes["replicas"].Expr)) {
			in.forAll = &n
		}
	}
	for _, b := range in.definition.all("workload") {
		out[b.label] = in.replicasOf(b)
	}
	return out
}

// replicasValue is what others read as the replicas of a service.
func (in *instance) replicasValue(workload *block) cty.Value {
	for _, said := range []struct {
		e *evaluator
		b *block
	}{{in.inner, workload}, {in.user, in.block}, {in.user, in.block.one("workload", workload.label)}} {
		if said.b != nil && !said.e.settled(said.b, "replicas") {
			return cty.UnknownVal(cty.Number).WithMarks(said.e.awaited(said.b, "replicas"))
		}
	}
	return cty.NumberIntVal(int64(in.replicas[workload.label]))
}

// replicasOf is how many pods a workload has: what its block in the service says,
// else what the service says for all, else what the definition says. A DaemonSet
// has 0: its nodes decide.
func (in *instance) replicasOf(b *block) int {
	n := in.inner.number(b, "replicas")
	e, source := in.inner, b
	if in.forAll != nil {
		e, source, n = in.user, in.block, *in.forAll
	}
	if override := in.block.one("workload", b.label); override != nil && in.user.given(override, "replicas") {
		e, source, n = in.user, override, in.user.number(override, "replicas")
	}
	if in.inner.string(b, "kind") == "DaemonSet" {
		if source != in.block && source.attributes["replicas"] != nil {
			e.unsuitable(source, "replicas", "A DaemonSet has one pod on each node of its role. Choose the nodes instead.")
		}
		return 0
	}
	if most := in.inner.number(b, "max_replicas"); most > 0 && n > most {
		e.unsuitable(source, "replicas", "Definition %q runs at most %d of workload %q: more would not work together.", in.out.Definition, most, b.label)
	}
	return n
}

func (in *instance) claims(b *block) []Claim {
	var out []Claim
	for _, c := range b.all("claim") {
		if kind := in.inner.string(b, "kind"); kind != "" && kind != "StatefulSet" {
			in.error(c.header, "Volume without a StatefulSet", "Only the pods of a StatefulSet have volumes of their own, and workload %q is none.", b.label)
		}
		out = append(out, Claim{
			Name:         c.label,
			Path:         in.inner.string(c, "path"),
			Size:         in.inner.string(c, "size"),
			StorageClass: in.inner.string(c, "storage_class"),
		})
	}
	return out
}

// probe makes a probe of a workload that listens on the given ports.
func (in *instance) probe(workload *block, name string, ports []string) *Probe {
	b := workload.one(name, "")
	if b == nil {
		return nil
	}
	e := in.inner
	p := &Probe{
		HTTP:    e.string(b, "http"),
		Port:    e.string(b, "port"),
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
		in.error(b.header, "Unsuitable probe", "Exactly one of http, tcp and exec says how to probe; here are %d.", ways)
	case e.given(b, "tcp"):
		p.TCP, p.Port = true, e.string(b, "tcp")
		in.checkProbePort(workload, b, "tcp", ports)
	case e.given(b, "http"):
		in.checkProbePort(workload, b, "port", ports)
	}
	if e.given(b, "port") && !e.given(b, "http") {
		in.error(b.attributes["port"].NameRange, "Unsuitable probe", "The argument port belongs to http. For a connection, write tcp = \"PORT\".")
	}
	return p
}
