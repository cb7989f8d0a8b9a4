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
		computes("cidrcontains", cidrcontainsFunc, "Returns true if a network contains the given IP address or network.", `cidrcontains("192.0.2.0/24", "192.0.2.18")`, `true`),
		computes("cidrhost", cidr.HostFunc, "Returns the IP address with the given number in a network. A negative number counts from the end.", `cidrhost("192.0.2.0/24", 5)`, `"192.0.2.5"`),
		computes("cidrnetmask", cidrnetmaskFunc, "Returns the netmask of an IPv4 network.", `cidrnetmask("192.0.2.0/24")`, `"255.255.255.0"`),
		computes("cidrsubnet", cidr.SubnetFunc, "Returns a subnet of a network. newbits is the number of bits to add to the prefix, netnum the number of the subnet.", `cidrsubnet("10.0.0.0/16", 8, 2)`, `"10.0.2.0/24"`),
		computes("cidrsubnets", cidr.SubnetsFunc, "Returns a list of consecutive subnets of a network. Each newbits is the number of bits to add to the prefix for one subnet.", `cidrsubnets("10.1.0.0/16", 4, 8)`, `["10.1.0.0/20", "10.1.16.0/24"]`),
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
			return cty.UnknownVal(cty.Bool), function.NewArgErrorf(0, "a network such as 192.0.2.0/24 is required")
		}
		inner, err := parseNetwork(args[1].AsString())
		if err != nil {
			return cty.UnknownVal(cty.Bool), function.NewArgError(1, err)
		}
		if inner.Addr().Is4() != outer.Addr().Is4() {
			return cty.UnknownVal(cty.Bool), errors.New("one address is IPv4 and the other is IPv6")
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
		return netip.Prefix{}, errors.New("an IP address, or a network such as 192.0.2.0/24, is required")
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
