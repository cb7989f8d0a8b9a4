package pods

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/blocks"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

// Job evaluates a job with the names that e knows.
func Job(s *Service, b *source.Block, e *eval.Env) configs.Job {
	j := configs.Job{
		Name:     b.Label,
		When:     "before",
		Attempts: eval.Number(e, b, "attempts"),
		Timeout:  eval.Number(e, b, "timeout"),
		Pod:      pod(s, b, e),
		Range:    blocks.RangeOf(b),
	}
	if r := b.One("registers", ""); r != nil {
		j.Registers = registration(e, r)
	}
	if m := b.One("makes_database", ""); m != nil {
		j.MakesDatabase = madeDatabase(e, m)
	}
	if m := b.One("maps_cells", ""); m != nil {
		j.MapsCells = mappedCells(e, m)
	}
	if m := b.One("makes_queue", ""); m != nil {
		j.MakesQueue = madeQueue(e, m)
	}
	if b.Type.Attribute("when") != nil {
		j.When = eval.String(e, b, "when")
	}
	if b.Type == schema.JobType {
		j.Runs = strings.TrimPrefix(eval.String(e, b, "runs"), "change")
		if j.When == schema.JobCheck {
			if eval.IsSet(e, b, "runs") {
				eval.Unsuitable(e, b, "runs", "A job that checks an upgrade runs when the image changes.")
			}
			j.Runs = "upgrade"
		}
		j.Fatal = exitCodes(b, e)
		j.Nodes = nodesOf(s, b, e, j.Pod.Env)
	}
	checkVolumes(s, b, j.Pod.Volumes, mountedIn(s, &j.Pod, nil))
	checkPropagation(s, b, &j.Pod)
	checkLength(s, b)
	return j
}

// exitCodes returns the exit codes with which a job fails at once, each once and in order.
func exitCodes(b *source.Block, e *eval.Env) []int {
	const name = "fatal_exit_codes"
	if !eval.IsSet(e, b, name) {
		return nil
	}
	if v, _ := e.Value(b.Attributes[name].Expr).Unmark(); v.CanIterateElements() && v.LengthInt() == 0 {
		eval.Unsuitable(e, b, name, "It is empty. Leave it out, so that the job is tried again after each failure.")
	}
	var out []int
	for _, text := range eval.List(e, b, name) {
		code, _ := strconv.Atoi(text) // the form was checked
		out = append(out, code)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// nodesOf returns the role whose nodes a job works on. It returns nil if the job names no role,
// and an empty name if the service has no role.
func nodesOf(s *Service, b *source.Block, e *eval.Env, env []configs.Env) *string {
	if !eval.IsSet(e, b, "nodes") {
		return nil
	}
	if i := slices.IndexFunc(env, func(v configs.Env) bool { return v.Name == schema.NodesVariable }); i >= 0 {
		s.Env.Report.Error(env[i].Range, "Variable of kolla's own", "%s tells the job of the nodes that its argument nodes says. Give yours another name.", schema.NodesVariable)
	}
	if v, _ := e.Value(b.Attributes["nodes"].Expr).Unmark(); v.IsKnown() && v.Type() == cty.String && v.AsString() == "" {
		return new(string) // the service has no role
	}
	name := eval.Role(e, b, "nodes")
	if name == "" {
		return nil // which was reported
	}
	return &name
}

// pod evaluates the arguments and blocks that jobs and workloads have in common.
func pod(s *Service, b *source.Block, e *eval.Env) configs.Pod {
	p := configs.Pod{
		Image:       s.Image(eval.String(e, b, "image")),
		Start:       eval.String(e, b, "start"),
		Command:     eval.List(e, b, "command"),
		Args:        eval.List(e, b, "args"),
		Env:         environment(s, b, e, setOf(s, b)),
		User:        eval.Number(e, b, "user"),
		HostNetwork: eval.Bool(e, b, "host_network"),
		Powers:      powers(b, e),

		ServiceLinks: eval.Bool(e, b, "service_links"),
	}
	if r := b.One("resources", ""); r != nil {
		p.Requests, p.Limits = eval.Strings(e, r, "requests"), eval.Strings(e, r, "limits")
	}
	if b.Type.Attribute("config") != nil {
		p.Configs = names(s, b, e, "config", "config file")
		p.Writable, p.WritableSize = eval.List(e, b, "writable"), eval.String(e, b, "writable_size")
		checkPaths(s, b, p.Configs)
	}
	if b.Type.Attribute("host_pid") != nil {
		p.HostPID, p.HostIPC = eval.Bool(e, b, "host_pid"), eval.Bool(e, b, "host_ipc")
	}
	checkPowers(s, b, p.Powers, p.User)
	p.Mounts, p.Volumes = mounts(s, b, e), volumes(s, b, e)
	podMarks(s, b, e, &p)
	return p
}

// mounts evaluates the mount blocks in a block.
func mounts(s *Service, b *source.Block, e *eval.Env) []configs.SecretMount {
	var out []configs.SecretMount
	for _, m := range b.All("mount") {
		if mount, ok := mount(s, m, e); ok {
			out = append(out, mount)
		}
	}
	return out
}

// names evaluates a list of names of other blocks in the definition. It leaves out blocks that
// are not enabled.
func names(s *Service, b *source.Block, e *eval.Env, attribute, noun string) []string {
	var out []string
	typ := b.Type.Attribute(attribute).Names
	known := s.Definition.Labels(typ)
	for i, name := range eval.List(e, b, attribute) {
		switch {
		case !slices.Contains(known, name) && s.Whole.One(typ, name) != nil, typ == "config" && s.Absent[name]:
		case !slices.Contains(known, name) && !s.Definition.Complete(): // it may come
		case !slices.Contains(known, name):
			s.Env.Blame(typ, name).Undeclared(b.AttributeRange(attribute), noun, name, known)
		case slices.Contains(out, name):
			eval.Unsuitable(e, b, attribute, "Element %d, %q, is there already.", i, name)
		default:
			out = append(out, name)
		}
	}
	return out
}

// Workload evaluates a workload without its replicas and its lifecycle.
func Workload(s *Service, b *source.Block) configs.Workload {
	e := s.Env
	w := configs.Workload{
		Name:    b.Label,
		Kind:    eval.String(e, b, "kind"),
		Role:    eval.Role(e, b, "role"),
		Update:  eval.String(e, b, "update"),
		Timeout: eval.Number(e, b, "timeout"),
		Loss:    eval.String(e, b, "loss"),
		Pod:     pod(s, b, e),
		Logs:    eval.String(e, b, "logs"),

		ScaleDown:    eval.String(e, b, "scale_down"),
		OwnAddresses: eval.Bool(e, b, "own_addresses"),

		Claims: claims(s, b),
		Range:  blocks.RangeOf(b),
	}
	checkVolumes(s, b, w.Pod.Volumes, mountedIn(s, &w.Pod, w.Claims))
	w.Pod.Ports = names(s, b, e, "ports", "port")
	w.Ready, w.Live, w.Startup = probes(s, b, w.Pod.Ports)
	inits(s, b, &w)
	checkPropagation(s, b, &w.Pod)
	stopping(s, &w, b)
	placement(s, b, &w)
	rollout(s, b, &w)
	w.Carries, w.Leave = podCommand(s, b, "carries", &w), podCommand(s, b, "leave", &w)
	w.Backup = backup(s, b, &w)
	w.Stage, w.Follows = eval.String(e, b, "stage"), eval.List(e, b, "follows")
	w.DataVersion = dataVersion(s, b, &w)
	w.Metrics = metrics(s, b, &w)
	if w.Kind == "Deployment" && w.Update == "on-delete" {
		s.Env.Report.Error(b.AttributeRange("update"), "Unsuitable value for \"update\"", "The pods of a Deployment are always replaced; on-delete is for a StatefulSet or DaemonSet.")
	}
	checkLength(s, b)
	return w
}

const (
	// defaultGrace is the number of seconds that a pod has to stop if nothing else is configured.
	// It is the default of Kubernetes.
	defaultGrace = 30
	// defaultDrain is the number of seconds until every node knows that a pod stops, with a
	// margin.
	defaultDrain = 5
)

// stopping evaluates how the pods of a workload stop. It reports pods that would be killed while
// they still serve.
func stopping(s *Service, w *configs.Workload, b *source.Block) {
	e := s.Env
	w.Pod.GracePeriod, w.Drain = eval.Number(e, b, "grace_period"), eval.Number(e, b, "drain")
	if !eval.IsSet(e, b, "drain") && w.Kind == "Deployment" && len(w.Pod.Ports) > 0 {
		w.Drain = defaultDrain
	}
	if grace := cmp.Or(w.Pod.GracePeriod, defaultGrace); w.Drain >= grace && eval.AllKnown(e, b, "drain", "grace_period") {
		s.Env.Report.Error(stoppingRange(b), "Pods would be killed while they serve",
			"Pods of workload %q go on serving for %d seconds after they were told to stop (drain), and get %d seconds in all (grace_period). Make grace_period longer, or drain shorter.",
			w.Name, w.Drain, grace)
	}
}

// stoppingRange returns the place for errors about stopping. It is in the service block if that
// overrides an argument.
func stoppingRange(b *source.Block) hcl.Range {
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

// claims evaluates the volumes that each pod of a StatefulSet has for itself.
func claims(s *Service, b *source.Block) []configs.Claim {
	var out []configs.Claim
	for _, c := range b.All("claim") {
		if kind := eval.String(s.Env, b, "kind"); kind != "" && kind != "StatefulSet" {
			s.Env.Report.Error(c.Header, "Volume without a StatefulSet", "Only the pods of a StatefulSet have volumes of their own, and workload %q is none.", b.Label)
		}
		claim := configs.Claim{
			Name:         c.Label,
			Path:         eval.String(s.Env, c, "path"),
			Size:         eval.String(s.Env, c, "size"),
			StorageClass: eval.String(s.Env, c, "storage_class"),
			Existing:     eval.String(s.Env, c, "existing"),
		}
		if at := c.AttributeRange("size"); !configs.InCatalogue(at) {
			claim.Range = at
		}
		if claim.Existing != "" && eval.IsSet(s.Env, c, "size") {
			eval.Unsuitable(s.Env, c, "size", "Claim %q exists already (existing), and keeps its size. Remove one of the two.", claim.Existing)
		}
		out = append(out, claim)
	}
	return out
}

// CheckExisting reports existing claims of a workload with several pods. The pods would share one
// volume.
func CheckExisting(s *Service, b *source.Block, w configs.Workload) {
	for _, claim := range w.Claims {
		if claim.Existing != "" && w.Replicas > 1 {
			eval.Unsuitable(s.Env, b.One("claim", claim.Name), "existing", "Workload %q has %d pods, and each needs a claim of its own. Give the claims the names that Kubernetes looks for: %s-%s-%s-0 and so on; or run one pod.",
				w.Name, w.Replicas, claim.Name, s.Name, w.Name)
		}
	}
}

// podMarks evaluates the labels and annotations of pods.
func podMarks(s *Service, b *source.Block, e *eval.Env, p *configs.Pod) {
	if b.Type.Attribute("labels") == nil {
		return
	}
	p.Labels, p.Annotations = eval.Strings(e, b, "labels"), eval.Strings(e, b, "annotations")
	blocks.CheckMarks(s.Env.Report, b, "labels", p.Labels)
	blocks.CheckMarks(s.Env.Report, b, "annotations", p.Annotations)
}

// mount evaluates a mount block: a secret of the definition, or else a secret block beside the
// services. It is not ok if the secret is not enabled or not known.
func mount(s *Service, b *source.Block, e *eval.Env) (configs.SecretMount, bool) {
	m := configs.SecretMount{Service: s.Name, Secret: b.Label, Path: eval.String(e, b, "path")}
	if slices.Contains(s.Definition.Labels("secret"), b.Label) {
		return m, true
	}
	if s.Whole.One("secret", b.Label) != nil {
		return m, false // it does not count
	}
	v, ok := e.Lookup("secret", b.Label, nil, b.LabelRange)
	if !ok || v.IsKnown() && (v.IsNull() || !v.Type().IsObjectType() || !v.Type().HasAttribute("name")) {
		if s.Definition.Complete() {
			s.Env.Blame("secret", b.Label).Undeclared(b.LabelRange, "secret", b.Label, e.Scope.Names("secret"))
		}
		return m, false
	}
	if !v.IsKnown() {
		return m, false
	}
	m.Service, m.Secret = "", v.GetAttr("name").AsString()
	return m, true
}

// setOf returns the name of the StatefulSet that a workload block makes. It is empty for all other
// blocks.
func setOf(s *Service, b *source.Block) string {
	if b.Type != schema.WorkloadType || eval.String(s.Env, b, "kind") != "StatefulSet" {
		return ""
	}
	return s.Name + "-" + b.Label
}

// maxJoined is the maximal length of SERVICE-WORKLOAD. Kubernetes adds a hash to the name of a
// StatefulSet and uses the result as a label, which has at most 63 characters. The names of Jobs
// also end with a hash.
const maxJoined = 52

// checkLength reports a service and a block whose joined names are too long.
func checkLength(s *Service, b *source.Block) {
	if len(s.Name)+1+len(b.Label) > maxJoined {
		s.Env.Report.Error(s.Label, "Unsuitable name",
			"%q together with the name of its %s %q is longer than %d characters. Take a shorter one.", s.Name, b.Type.Name, b.Label, maxJoined)
	}
}
