package services

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/schema"
)

const (
	// loggingName is the name of the service that the block logging of the cloud makes.
	loggingName = "logging"
	// sidecarName is the workload of a collector that becomes a sidecar of other pods, and the name
	// of that sidecar.
	sidecarName = "sidecar"
	logsName    = "logs"
	// logDir is where containers write log files.
	logDir = "/var/log/kolla"
)

// Logging adds the service of the block logging to the blocks of the root module.
func Logging(constant *eval.Env, root *source.Block) *source.Block {
	l := loggingBlock(root)
	if l == nil || eval.Literal(constant, l, "mode") == schema.LogsNowhere {
		return root
	}
	if taken := root.One("service", loggingName); taken != nil {
		constant.Report.Error(taken.Header, "Unsuitable name of a service", "The block logging of the cloud, at %s, makes a service %q. Give this one another name.", diag.Position(l.Header), loggingName)
		return root
	}
	s := &source.Block{
		Type: schema.ServiceType, Label: loggingName, LabelRange: l.Header, Header: l.Header, Whole: l.Whole,
		Attributes: map[string]*hclsyntax.Attribute{},
	}
	set := func(name string, at hcl.Range, expr hclsyntax.Expression) {
		s.Attributes[name] = &hclsyntax.Attribute{Name: name, Expr: expr, SrcRange: at, NameRange: at, EqualsRange: at}
	}
	collector := eval.Literal(constant, l, "collector")
	set("definition", l.AttributeRange("collector"), literal(cty.StringVal(collector), l.AttributeRange("collector")))
	set("role", l.Header, literal(cty.NullVal(cty.DynamicPseudoType), l.Header))
	set("targets", l.Header, targets(l))
	for _, name := range []string{"image", "buffer"} {
		if attr := l.Attributes[name]; attr != nil {
			s.Attributes[name] = attr
		}
	}
	out := root.WithoutBlocks()
	for _, b := range root.Blocks {
		out.Add(b)
	}
	out.Add(s)
	return out
}

// loggingBlock returns the block logging of the cloud, or nil.
func loggingBlock(root *source.Block) *source.Block {
	for _, b := range root.All("cloud") {
		return b.One(schema.LoggingType.Name, "")
	}
	return nil
}

func literal(v cty.Value, at hcl.Range) hclsyntax.Expression {
	return &hclsyntax.LiteralValueExpr{Val: v, SrcRange: at}
}

// targets returns an object with the arguments of each target, by its name.
func targets(logging *source.Block) hclsyntax.Expression {
	object := func(at hcl.Range, values map[string]hclsyntax.Expression) hclsyntax.Expression {
		out := &hclsyntax.ObjectConsExpr{SrcRange: at, OpenRange: at}
		for _, name := range slices.Sorted(maps.Keys(values)) {
			out.Items = append(out.Items, hclsyntax.ObjectConsItem{KeyExpr: literal(cty.StringVal(name), values[name].Range()), ValueExpr: values[name]})
		}
		return out
	}
	all := map[string]hclsyntax.Expression{}
	for _, t := range logging.All("target") {
		values := map[string]hclsyntax.Expression{}
		for name, attr := range t.Attributes {
			values[name] = attr.Expr
		}
		all[t.Label] = object(t.Header, values)
	}
	return object(logging.Header, all)
}

// collects reports whether a declaration is that of the block logging.
func (d *declaration) collects() bool {
	l := loggingBlock(d.set.Root)
	return l != nil && d.node.Block.Header == l.Header && d.node.Module == d.set.Graph.Root
}

// checkTargets reports unsuitable arguments of targets, and a block logging without any.
func checkTargets(c *Set, e *eval.Env) {
	logging := loggingBlock(c.Root)
	all := logging.All("target")
	if len(all) == 0 {
		e.Report.Error(logging.Header, "Logging without a target", "It takes at least one block that says where the logs go:\n\n  target \"NAME\" {\n    url = \"https://logs.example.org:9200\"\n  }")
	}
	for _, name := range []string{"image", "buffer", "volume"} {
		eval.String(e, logging, name)
	}
	for _, t := range all {
		for _, name := range []string{"type", "url", "index", "username", "ca"} {
			eval.String(e, t, name)
		}
		eval.Text(e, t, "password")
	}
}

// withLogs returns an environment in which cloud.logs is a list of the containers of all services.
func withLogs(c *Set, e *eval.Env) *eval.Env {
	cloud := c.Graph.Global.Singles["cloud"]
	if !cloud.IsKnown() {
		return e
	}
	values := cloud.AsValueMap()
	values[logsName] = containers(c)
	return e.With("cloud", cty.ObjectVal(values))
}

// containers returns what a collector has to know of each workload and job: its kind and the names
// of its Service, and of the object that makes its pods.
func containers(c *Set) cty.Value {
	var out []cty.Value
	add := func(service, workload, kind string) {
		out = append(out, cty.ObjectVal(map[string]cty.Value{
			"service": cty.StringVal(service), "workload": cty.StringVal(workload), "kind": cty.StringVal(kind),
		}))
	}
	for _, s := range c.inOrder() {
		for _, w := range s.out.Workloads {
			add(s.out.Name, w.Name, w.Kind)
		}
		for _, j := range s.out.Jobs {
			add(s.out.Name, j.Name, "Job")
		}
	}
	for _, x := range c.Config.Exposures {
		if x.Mode == configs.ModeManaged {
			add("exposure-"+x.Name, "keepalived", "DaemonSet")
			if c.Config.Cloud.Metrics != nil {
				add("exposure-"+x.Name, configs.ExposureMetrics, "DaemonSet")
			}
		}
	}
	return cty.TupleVal(out)
}

// SpreadLogging gives the containers of all services the environment that the collector wants. In the
// mode sidecar it also gives their pods the sidecar of the collector.
func SpreadLogging(config *configs.Config) {
	i := slices.IndexFunc(config.Services, func(s configs.Service) bool { return s.Block == "service."+loggingName })
	if i < 0 || config.Cloud.Logging == "" {
		return
	}
	l := &config.Services[i]
	collector := collector{environment: environmentOf(l), volume: config.Cloud.LogVolume}
	if at := slices.IndexFunc(l.Workloads, func(w configs.Workload) bool { return w.Name == sidecarName }); at >= 0 {
		collector.take(l, l.Workloads[at])
		l.Workloads = slices.Delete(slices.Clone(l.Workloads), at, at+1)
	}
	for j := range config.Services {
		if s := &config.Services[j]; j != i {
			collector.join(s)
		}
	}
}

// collector is what other services get of the service logging.
type collector struct {
	environment map[string]string // of programs with oslo.log
	volume      string            // size
	sidecar     *configs.Init     // nil: in another mode
	files       []configs.ConfigFile
}

// environmentOf returns the output environment of a collector.
func environmentOf(l *configs.Service) map[string]string {
	out := map[string]string{}
	v, ok := l.Outputs["environment"]
	if !ok || !v.IsWhollyKnown() || v.IsNull() || !v.CanIterateElements() {
		return out
	}
	for name, value := range v.AsValueMap() {
		if value.Type() == cty.String && !value.IsNull() {
			out[name] = value.AsString()
		}
	}
	return out
}

// take makes the sidecar of a workload of the collector.
func (c *collector) take(l *configs.Service, w configs.Workload) {
	c.sidecar = &configs.Init{
		Name: logsName, Sidecar: true, Image: w.Pod.Image, User: w.Pod.User, Command: w.Pod.Command, Args: w.Pod.Args,
		Env: w.Pod.Env, Configs: w.Pod.Configs, Mounts: w.Pod.Mounts, Volumes: w.Pod.Volumes, Writable: w.Pod.Writable,
		Requests: w.Pod.Requests, Limits: w.Pod.Limits, Ready: w.Ready, Live: w.Live, Startup: w.Startup, Powers: w.Pod.Powers,
	}
	for _, f := range l.Configs {
		if slices.Contains(w.Pod.Configs, f.Name) {
			c.files = append(c.files, f)
		}
	}
}

// join gives a service what it needs for logs.
func (c *collector) join(s *configs.Service) {
	s.Workloads, s.Jobs = slices.Clone(s.Workloads), slices.Clone(s.Jobs)
	joined := false
	for i := range s.Workloads {
		w := &s.Workloads[i]
		files := c.tell(w)
		if c.sidecar != nil && files {
			c.addSidecar(s.Name, w)
			joined = true
		}
	}
	if joined {
		s.Configs = append(slices.Clone(s.Configs), c.files...)
	}
}

// tell sets the environment of containers with oslo.log. It reports whether a container writes files
// in the mode sidecar.
func (c *collector) tell(w *configs.Workload) bool {
	files := w.Logs == "files"
	if w.Logs == "" || w.Logs == "oslo" {
		w.Pod.Env, files = c.environ(w.Pod.Env, w.Name), true
	}
	w.Pod.Inits = slices.Clone(w.Pod.Inits)
	for i := range w.Pod.Inits {
		init := &w.Pod.Inits[i]
		files = files || init.Logs == "files"
		if init.Logs == "oslo" {
			init.Env, files = c.environ(init.Env, init.Name), true
		}
	}
	return files
}

// environ adds the environment of the collector to that of a container, which is stronger.
func (c *collector) environ(own []configs.Env, container string) []configs.Env {
	out := slices.Clone(own)
	for name, value := range c.environment {
		if !slices.ContainsFunc(own, func(e configs.Env) bool { return e.Name == name }) {
			out = append(out, configs.Env{Name: name, Value: configs.Plain(strings.ReplaceAll(value, "CONTAINER", container))})
		}
	}
	slices.SortFunc(out, func(a, b configs.Env) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// addSidecar adds the collector to a workload, as its first container, so that it stops last.
func (c *collector) addSidecar(service string, w *configs.Workload) {
	side := *c.sidecar
	side.Env = append(slices.Clone(side.Env),
		configs.Env{Name: "KOLLA_SERVICE", Value: configs.Plain(service)},
		configs.Env{Name: "KOLLA_WORKLOAD", Value: configs.Plain(w.Name)})
	slices.SortFunc(side.Env, func(a, b configs.Env) int { return strings.Compare(a.Name, b.Name) })
	for w.Name == side.Name || slices.ContainsFunc(w.Pod.Inits, func(i configs.Init) bool { return i.Name == side.Name }) {
		side.Name += "-2"
	}
	isLogDir := func(path string) bool { return path == logDir } // which is a volume now
	w.Pod.Writable = slices.DeleteFunc(slices.Clone(w.Pod.Writable), isLogDir)
	for i := range w.Pod.Inits {
		w.Pod.Inits[i].Writable = slices.DeleteFunc(slices.Clone(w.Pod.Inits[i].Writable), isLogDir)
	}
	w.Pod.Inits = slices.Insert(w.Pod.Inits, 0, side)
	w.Pod.Volumes = append(slices.Clone(w.Pod.Volumes), configs.Volume{Name: logsName, Shared: c.volume, Path: logDir})
}
