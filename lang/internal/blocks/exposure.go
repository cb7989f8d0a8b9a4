package blocks

import (
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// Exposure evaluates an instance of an exposure block, and what expressions read of it. The secrets are
// those of its TLS.
func Exposure(e *eval.Env, b *source.Block, it eval.Instance) (x configs.Exposure, secrets []configs.SharedSecret, value cty.Value) {
	x = configs.Exposure{
		Name:  it.Name(e, b),
		VIP:   eval.String(e, b, "vip"),
		FQDN:  eval.String(e, b, "fqdn"),
		Mode:  eval.String(e, b, "mode"),
		Role:  eval.Role(e, b, "nodes"),
		Range: b.Header,
	}
	x.NodePorts = portRange(e, b, "node_ports")
	x.Class, x.Annotations = eval.String(e, b, "class"), eval.Strings(e, b, "annotations")
	CheckMarks(e.Report, b, "annotations", x.Annotations)
	if eval.AllKnown(e, b, "mode") {
		checkMode(e, b, x.Mode)
	}
	x.TLS, secrets = tls(e, b, &x)
	return x, secrets, cty.ObjectVal(map[string]cty.Value{
		"name": cty.StringVal(x.Name),
		"vip":  eval.Read(e, b, cty.StringVal(x.VIP), "vip"),
		"fqdn": eval.Read(e, b, cty.StringVal(x.FQDN), "fqdn"),
		"host": eval.Read(e, b, cty.StringVal(x.Host()), "vip", "fqdn"),
		"mode": eval.Read(e, b, cty.StringVal(x.Mode), "mode"),
	})
}

// ofMode are the arguments that only one mode has.
var ofMode = []struct{ argument, mode string }{
	{"nodes", configs.ModeNodePort},
	{"node_ports", configs.ModeNodePort},
	{"class", configs.ModeLoadBalancer},
	{"annotations", configs.ModeLoadBalancer},
}

// checkMode reports arguments of another mode.
func checkMode(e *eval.Env, b *source.Block, mode string) {
	for _, one := range ofMode {
		if mode != "" && mode != one.mode && eval.IsSet(e, b, one.argument) {
			e.Report.Error(b.AttributeRange(one.argument), "Argument does not fit the mode", "%q is for the mode %q, and this exposure has the mode %q. Remove it.", one.argument, one.mode, mode)
		}
	}
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
