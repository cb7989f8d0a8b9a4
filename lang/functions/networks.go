package functions

import (
	"errors"
	"net/netip"

	"github.com/hashicorp/go-cty-funcs/cidr"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

func networkFunctions() []entry {
	return []entry{
		computes("cidrcontains", cidrcontainsFunc, "Whether an IP address or network is in a network.", `cidrcontains("192.0.2.0/24", "192.0.2.18")`, `true`),
		computes("cidrhost", cidr.HostFunc, "An address in a network, by its number; negative numbers count from the end.", `cidrhost("192.0.2.0/24", 5)`, `"192.0.2.5"`),
		computes("cidrnetmask", cidrnetmaskFunc, "The netmask of an IPv4 network.", `cidrnetmask("192.0.2.0/24")`, `"255.255.255.0"`),
		computes("cidrsubnet", cidr.SubnetFunc, "A network in a network: its prefix longer by so many bits, and its number.", `cidrsubnet("10.0.0.0/16", 8, 2)`, `"10.0.2.0/24"`),
		computes("cidrsubnets", cidr.SubnetsFunc, "Networks in a network, one after another: for each, by how many bits its prefix is longer.", `cidrsubnets("10.1.0.0/16", 4, 8)`, `["10.1.0.0/20", "10.1.16.0/24"]`),
	}
}

// cidrcontainsFunc is a function of OpenTofu. Terraform does not have it.
var cidrcontainsFunc = function.New(&function.Spec{
	Params: []function.Parameter{
		{Name: "containing_prefix", Type: cty.String},
		{Name: "contained_ip_or_prefix", Type: cty.String},
	},
	Type: function.StaticReturnType(cty.Bool),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		outer, err := netip.ParsePrefix(args[0].AsString())
		if err != nil {
			return cty.UnknownVal(cty.Bool), function.NewArgErrorf(0, "a network such as 192.0.2.0/24 is needed")
		}
		inner, err := parseNetwork(args[1].AsString())
		if err != nil {
			return cty.UnknownVal(cty.Bool), function.NewArgError(1, err)
		}
		if inner.Addr().Is4() != outer.Addr().Is4() {
			return cty.UnknownVal(cty.Bool), errors.New("one is IPv4 and the other IPv6")
		}
		return cty.BoolVal(inner.Bits() >= outer.Bits() && outer.Contains(inner.Addr())), nil
	},
})

// parseNetwork parses a network, or an address as a network that contains only this address.
func parseNetwork(text string) (netip.Prefix, error) {
	if prefix, err := netip.ParsePrefix(text); err == nil {
		return prefix, nil
	}
	addr, err := netip.ParseAddr(text)
	if err != nil || addr.Zone() != "" {
		return netip.Prefix{}, errors.New("an IP address, or a network such as 192.0.2.0/24, is needed")
	}
	return netip.PrefixFrom(addr, addr.BitLen()), nil
}

var cidrnetmaskFunc = guarded(cidr.NetmaskFunc, func(args []cty.Value) error {
	text, _ := args[0].Unmark()
	if text.Type() != cty.String || !text.IsKnown() || text.IsNull() {
		return nil
	}
	if prefix, err := netip.ParsePrefix(text.AsString()); err == nil && !prefix.Addr().Is4() {
		return function.NewArgErrorf(0, "IPv6 networks have no netmask, only a prefix")
	}
	return nil
})
