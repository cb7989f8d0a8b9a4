package blocks

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
	"kolla.openstack.org/kolla/lang/mark"
)

// Exposure evaluates an instance of an exposure block, and what expressions read of it. The secrets are
// those of its TLS.
func Exposure(e *eval.Env, b *source.Block, it eval.Instance) (x configs.Exposure, secrets []configs.SharedSecret, value cty.Value) {
	x = configs.Exposure{
		Name:   it.Name(e, b),
		VIP:    eval.String(e, b, "vip"),
		FQDN:   eval.String(e, b, "fqdn"),
		Domain: eval.String(e, b, "domain"),
		Port:   eval.Number(e, b, "port"),
		Mode:   eval.String(e, b, "mode"),
		Role:   eval.Role(e, b, "nodes"),
		Range:  b.Header,
	}
	x.NodePorts = portRange(e, b, "node_ports")
	x.Class, x.Annotations = eval.String(e, b, "class"), eval.Strings(e, b, "annotations")
	CheckMarks(e.Report, b, "annotations", x.Annotations)
	x.AwaitsAddress = x.Mode == configs.ModeIngress && eval.Bool(e, b, "wait_for_address")
	if g := b.One("gateway", ""); g != nil {
		x.Gateway = configs.Gateway{Name: eval.String(e, g, "name"), Namespace: eval.String(e, g, "namespace"), Section: eval.String(e, g, "section"), HTTPSection: eval.String(e, g, "http_section"), Range: g.Header}
	}
	x.Keepalived = keepalivedOf(e, b)
	if eval.AllKnown(e, b, "mode") {
		checkMode(e, b, x.Mode)
	}
	x.TLS, secrets = tls(e, b, &x)
	return x, secrets, cty.ObjectVal(map[string]cty.Value{
		"name":   cty.StringVal(x.Name),
		"vip":    eval.Read(e, b, cty.StringVal(x.VIP), "vip"),
		"fqdn":   eval.Read(e, b, cty.StringVal(x.FQDN), "fqdn"),
		"domain": eval.Read(e, b, cty.StringVal(x.Domain), "domain"),
		"host":   eval.Read(e, b, cty.StringVal(x.Host()), "vip", "fqdn", "domain", "port"),
		"mode":   eval.Read(e, b, cty.StringVal(x.Mode), "mode"),
	})
}

// keepalivedOf evaluates the block keepalived of an exposure.
func keepalivedOf(e *eval.Env, b *source.Block) configs.Keepalived {
	k := b.One("keepalived", "")
	if k == nil {
		return configs.Keepalived{}
	}
	out := configs.Keepalived{Interface: eval.String(e, k, "interface"), VRRPInterface: eval.String(e, k, "vrrp_interface"), RouterID: eval.Number(e, k, "virtual_router_id"), Range: k.Header}
	for _, later := range []cty.ValueMarks{eval.Awaited(e, b, "vip"), eval.Awaited(e, k, "interface"), eval.Awaited(e, k, "vrrp_interface"), eval.Awaited(e, k, "virtual_router_id")} {
		out.Deferred = append(out.Deferred, mark.DeferredBy(cty.DynamicVal.WithMarks(later))...)
	}
	return out
}

// arguments are the arguments, and blocks, of a mode besides those that all blocks have.
type arguments struct{ required, optional []string }

// modes are the modes with their arguments.
var modes = map[string]arguments{
	configs.ModeNodePort:     {[]string{"vip"}, []string{"fqdn", "nodes", "node_ports"}},
	configs.ModeManaged:      {[]string{"vip", "nodes", "keepalived"}, []string{"fqdn"}},
	configs.ModeLoadBalancer: {[]string{"vip"}, []string{"fqdn", "class", "annotations"}},
	configs.ModeIngress:      {[]string{"domain"}, []string{"vip", "port", "class", "annotations", "wait_for_address"}},
	configs.ModeGateway:      {[]string{"domain", "gateway"}, []string{"vip", "port", "annotations"}},
}

// checkMode reports arguments of another mode, and missing ones.
func checkMode(e *eval.Env, b *source.Block, mode string) {
	own, ok := modes[mode]
	if !ok {
		return // reported
	}
	of := map[string][]string{} // modes of each argument
	for name, its := range modes {
		for _, argument := range slices.Concat(its.required, its.optional) {
			of[argument] = append(of[argument], name)
		}
	}
	for _, argument := range slices.Sorted(maps.Keys(of)) {
		at, given := placeOf(e, b, argument)
		switch {
		case given && !slices.Contains(of[argument], mode):
			e.Report.Error(at, "Argument does not fit the mode", "%q is for %s, and this exposure has the mode %q. Remove it.",
				argument, ofModes(of[argument]), mode)
		case given || !slices.Contains(own.required, argument) || b.Misspelt(argument):
		case b.Attributes[argument] != nil:
			e.Report.Error(at, "Missing value", "%s needs a value for %q; this one is null.", b.Described(), argument)
		default:
			e.Report.Error(b.Header, "Missing argument", "%s needs the %s %q for the mode %q.", b.Described(), nounOf(b, argument), argument, mode)
		}
	}
}

// placeOf returns the place of an argument or a block inside of b; given: it is there.
func placeOf(e *eval.Env, b *source.Block, name string) (at hcl.Range, given bool) {
	if inner := b.One(name, ""); inner != nil {
		return inner.Header, true
	}
	return b.AttributeRange(name), eval.IsSet(e, b, name)
}

// ofModes names modes: "the mode "ingress"".
func ofModes(names []string) string {
	slices.Sort(names)
	for i, name := range names {
		names[i] = strconv.Quote(name)
	}
	return words.Plural(len(names), "the mode ", "the modes ") + words.All(names)
}

// nounOf says whether a name is that of an argument or of a block inside of b.
func nounOf(b *source.Block, name string) string {
	if b.Type.Attribute(name) == nil {
		return "block"
	}
	return "argument"
}

func portRange(e *eval.Env, b *source.Block, name string) [2]int {
	text := eval.String(e, b, name)
	if !eval.AllKnown(e, b, name) {
		return [2]int{1, 65535}
	}
	low, high, _ := strings.Cut(text, "-")
	first, err1 := strconv.Atoi(strings.TrimSpace(low))
	last, err2 := strconv.Atoi(strings.TrimSpace(high))
	if err1 != nil || err2 != nil || first < 1 || last > 65535 || first > last {
		eval.Unsuitable(e, b, name, "It must be a range of ports, FIRST-LAST, such as \"30000-32767\".")
		return [2]int{1, 65535}
	}
	return [2]int{first, last}
}
