package blocks

import (
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/eval"
	"kolla.openstack.org/kolla/lang/internal/source"
)

// Exposure evaluates an instance of an exposure block, and what expressions read of it.
func Exposure(e *eval.Env, b *source.Block, it eval.Instance) (configs.Exposure, cty.Value) {
	x := configs.Exposure{
		Name:  it.Name(e, b),
		VIP:   eval.String(e, b, "vip"),
		FQDN:  eval.String(e, b, "fqdn"),
		Mode:  eval.String(e, b, "mode"),
		Role:  eval.Role(e, b, "nodes"),
		Range: b.Header,
	}
	x.NodePorts = portRange(e, b, "node_ports")
	return x, cty.ObjectVal(map[string]cty.Value{
		"name": cty.StringVal(x.Name),
		"vip":  eval.Read(e, b, cty.StringVal(x.VIP), "vip"),
		"fqdn": eval.Read(e, b, cty.StringVal(x.FQDN), "fqdn"),
		"host": eval.Read(e, b, cty.StringVal(x.Host()), "vip", "fqdn"),
		"mode": eval.Read(e, b, cty.StringVal(x.Mode), "mode"),
	})
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
