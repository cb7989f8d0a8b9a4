package takeover

import (
	"encoding/pem"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/base/words"
)

// exposure writes the exposure block: the VIP for clients outside.
func (c *conversion) exposure() {
	vip := c.value("kolla_external_vip_address")
	at := c.vipAt()
	switch {
	case vip.Unresolved: // the report has it
		c.rep.block("kolla_external_vip_address is an expression: write the address into exposure \"public\".")
	case vip.Text == "":
		c.error(at, "There is no VIP", "Neither kolla_external_vip_address nor kolla_internal_vip_address has an address, by which clients reach the cloud. Set one of them.")
		return
	case !isAddress(vip.Text):
		c.error(at, "No address", "%q is no IP address, as a VIP is. If it is a name, put it into kolla_external_fqdn.", vip.Text)
		return
	}
	b := c.doc.block(`exposure "public"`)
	if vip.Text != "" {
		name := "kolla_external_vip_address"
		if !c.isSet(name) {
			name = "kolla_internal_vip_address"
		}
		b.set("vip", quote(vip.Text), c.place(name))
		c.carry("exposure: vip", name)
	}
	fqdn := "kolla_external_fqdn"
	if !c.isSet(fqdn) && !c.isSet("kolla_external_vip_address") {
		fqdn = "kolla_internal_fqdn"
	}
	if name := c.text(fqdn); name != "" && !isAddress(name) {
		b.set("fqdn", quote(name), c.place(fqdn))
	}
	c.carry("exposure: fqdn", fqdn)
	c.haproxy(b, vip.Text)
	c.tls(b)
}

// vipAt is the place where the VIP is set, or the file where it should be.
func (c *conversion) vipAt() hcl.Range {
	for _, name := range []string{"kolla_external_vip_address", "kolla_internal_vip_address"} {
		if v, ok := c.scope.Find(name); ok && v.At.Filename != "" {
			return v.At
		}
	}
	return hcl.Range{Filename: c.GlobalsName, Start: hcl.InitialPos, End: hcl.InitialPos}
}

// haproxy says how traffic gets in: through HAProxy and keepalived on nodes, as before, or through
// node ports.
func (c *conversion) haproxy(b *block, vip string) {
	hosts := c.members("loadbalancer", "network")
	if !c.on("enable_haproxy") || !c.on("enable_keepalived") {
		b.set("mode", quote("nodeport"), c.place("enable_haproxy"))
		b.set("nodes", c.role(hosts, "edge", "network", "control"), "")
		c.carry("exposure: mode", "enable_haproxy", "enable_keepalived")
		c.ownBalancer = true
		c.rep.decide("Clients reach services at node ports of the nodes in the exposure. `kolla exposure haproxy` prints the configuration of a load balancer that has the VIP and the usual ports.")
		return
	}
	for _, host := range c.Inventory.Members("all") {
		if v := c.hostValue(host, "ansible_host"); vip != "" && (v.Text == vip || host == vip) {
			c.error(c.vipAt(), "The VIP is the address of a host",
				"%s is the address of host %q (%s:%d), and keepalived moves the VIP between hosts. Set the VIP to a free address, or enable_haproxy to no if the cloud has one host.",
				vip, host, c.Inventory.Hosts[host].At.Filename, c.Inventory.Hosts[host].At.Start.Line)
		}
	}
	const name = "kolla_external_vip_interface"
	interfaces := map[string][]string{}
	for _, host := range hosts {
		v := c.hostValue(host, name)
		interfaces[v.Text] = append(interfaces[v.Text], host)
	}
	v := c.hostValue(hosts[0], name)
	if len(interfaces) > 1 {
		c.rep.block(fmt.Sprintf("The hosts %s have the VIP on interfaces with different names. keepalived of kolla needs the same name on all of them: rename the interfaces, or use mode = \"nodeport\".", words.Few(hosts, 5)))
	}
	b.set("mode", quote("managed"), c.place("enable_haproxy"))
	b.set("nodes", c.role(hosts, "edge", "network", "control"), "")
	k := b.block("keepalived")
	k.set("interface", quote(v.Text), c.place(name))
	k.set("virtual_router_id", literal(c.text("keepalived_virtual_router_id")), c.place("keepalived_virtual_router_id"))
	c.carry("exposure: mode", "enable_haproxy", "enable_keepalived")
	c.carry("exposure: keepalived: interface", name)
	c.carry("exposure: keepalived: virtual_router_id", "keepalived_virtual_router_id")
	if other := c.value("api_interface"); other.Text != "" && other.Text != v.Text {
		c.rep.decide(fmt.Sprintf("keepalived of kolla talks through the interface with the addresses that nodes have in Kubernetes. If that is not %s, set vrrp_interface in the exposure.", v.Text))
	}
	if c.on("enable_horizon") {
		c.rep.decide("The dashboard moves from port 80 or 443 of the VIP to 8080. For the usual ports, put your own load balancer before it, or use an exposure of the mode ingress.")
	}
}

// tls carries the certificate for clients over.
func (c *conversion) tls(b *block) {
	external := c.value("kolla_enable_tls_external")
	on := external.Bool()
	if !c.isSet("kolla_enable_tls_external") && c.text("kolla_external_vip_address") == c.text("kolla_internal_vip_address") {
		on = c.on("kolla_enable_tls_internal")
	}
	c.carry("exposure: tls", "kolla_enable_tls_external")
	if !on {
		return
	}
	t := b.block("tls")
	var certificates, keys []byte
	for rest := c.Certificate; ; {
		var found *pem.Block
		if found, rest = pem.Decode(rest); found == nil {
			break
		}
		if found.Type == "CERTIFICATE" {
			certificates = append(certificates, pem.EncodeToMemory(found)...)
		} else if strings.HasSuffix(found.Type, "PRIVATE KEY") {
			keys = append(keys, pem.EncodeToMemory(found)...)
		}
	}
	if len(certificates) == 0 || len(keys) == 0 {
		c.rep.decide("kolla makes the certificate for clients, because the one of kolla-ansible, haproxy.pem, was not given or is incomplete. Give the directory: -certificates=DIR.")
		return
	}
	c.secrets["external.crt"], c.secrets["external.key"] = certificates, keys
	t.set("certificate_file", quote(SecretsDir+"/external.crt"), "haproxy.pem")
	t.set("key_file", quote(SecretsDir+"/external.key"), "haproxy.pem")
	c.carry("exposure: tls: certificate_file, key_file", "kolla_external_fqdn_cert", "kolla_certificates_dir")
}

// plane is what hosts of the data plane have in common.
type plane struct {
	tunnel, bridges string
	gateway         bool
}

// hypervisors writes the services of hosts with servers and routers.
func (c *conversion) hypervisors() {
	if !c.on("enable_neutron") {
		return
	}
	if agent := c.value("neutron_plugin_agent"); agent.Text != "ovn" {
		c.rep.leave(agent.Variable, "kolla has only OVN.", "Move the networks to OVN with kolla-ansible before the takeover, and import again.")
		c.rep.block(fmt.Sprintf("The networks are those of %q (%s), and kolla has only OVN. The configuration describes OVN; servers lose their networks if you take the cloud over before they are OVN's.",
			agent.Text, c.place("neutron_plugin_agent")))
	} else {
		c.carry("ovn, ovn-controller, neutron", "neutron_plugin_agent")
	}
	compute, network := c.Inventory.Members("compute"), c.Inventory.Members("network")
	var all []string
	for _, host := range c.Inventory.Members("all") {
		if slices.Contains(compute, host) || slices.Contains(network, host) {
			all = append(all, host)
		}
	}
	c.doc.block(`service "openvswitch"`).set("role", c.role(all, "dataplane", "compute", "network"), "")
	var planes []plane
	hosts := map[plane][]string{}
	for _, host := range all {
		p := c.plane(host, slices.Contains(network, host))
		if hosts[p] == nil {
			planes = append(planes, p)
		}
		hosts[p] = append(hosts[p], host)
	}
	c.physicalNetworks()
	for i, p := range planes {
		name := "ovn-controller"
		if i > 0 {
			name = fmt.Sprintf("ovn-controller-%d", i+1)
		}
		b := c.doc.block("service " + quote(name))
		if i > 0 {
			b.set("definition", quote("ovn-controller"), "")
		}
		if p.gateway {
			b.set("role", c.role(hosts[p], "gateways", "network", "compute"), "")
			b.set("gateway", "true", "")
		} else {
			b.set("role", c.role(hosts[p], "hypervisors", "compute"), "")
		}
		if p.tunnel != "" {
			b.set("tunnel_interface", quote(p.tunnel), placeIn(c.hostScope(hosts[p][0]), "tunnel_interface"))
		}
		if p.bridges != "" {
			b.set("bridges", p.bridges, placeIn(c.hostScope(hosts[p][0]), "neutron_external_interface"))
		}
	}
	c.carry("ovn-controller: bridges of hypervisors", "enable_neutron_provider_networks")
	if !c.on("enable_nova") || len(compute) == 0 {
		return
	}
	role := c.role(compute, "compute", "compute")
	c.doc.block(`service "neutron-ovn-metadata"`).set("role", role, "")
	c.sriov(role)
	b := c.doc.block(`service "nova-compute"`)
	b.set("role", role, "")
	c.computeStorage(b)
}

// physnets returns the physical networks with their bridges, and the interfaces of a host.
func (c *conversion) physnets(host string) (networks, bridges, interfaces []string) {
	bridges = split(c.hostValue(host, "neutron_bridge_name").Text)
	interfaces = split(c.hostValue(host, "neutron_external_interface").Text)
	if v := c.hostValue(host, "neutron_physical_networks"); v.Text != "" {
		networks = split(v.Text)
	} else {
		for i := range bridges {
			networks = append(networks, fmt.Sprintf("physnet%d", i+1))
		}
	}
	return networks, bridges, interfaces
}

// plane reads what ovn-controller needs on a host, and reports networks that contradict each other.
func (c *conversion) plane(host string, gateway bool) plane {
	p := plane{gateway: gateway}
	tunnel, main := c.hostValue(host, "tunnel_interface"), c.hostValue(host, "network_interface")
	c.carryIn(c.hostScope(host), "ovn-controller: tunnel_interface", "tunnel_interface")
	if tunnel.Text != main.Text {
		p.tunnel = tunnel.Text
	}
	distributed := c.on("neutron_ovn_distributed_fip") || c.on("enable_neutron_provider_networks")
	if !gateway && !distributed {
		return p
	}
	external := c.hostValue(host, "neutron_external_interface")
	c.carryIn(c.hostScope(host), "ovn-controller: bridges", "neutron_external_interface", "neutron_bridge_name", "neutron_physical_networks")
	at := external.At
	if at.Filename == "" {
		at = c.Inventory.Hosts[host].At
	}
	networks, bridges, interfaces := c.physnets(host)
	if len(networks) != len(bridges) || len(bridges) != len(interfaces) {
		c.error(at, "Networks do not match", "Host %q has %s, %s and %s: each physical network needs a bridge and an interface. Make neutron_physical_networks, neutron_bridge_name and neutron_external_interface equally long.",
			host, words.Count(len(networks), "physical network"), words.Count(len(bridges), "bridge"), words.Count(len(interfaces), "interface"))
		return p
	}
	for _, name := range []string{"network_interface", "api_interface", "tunnel_interface"} {
		if v := c.hostValue(host, name); v.Text != "" && slices.Contains(interfaces, v.Text) {
			c.error(at, "An interface with two purposes", "On host %q, neutron_external_interface and %s are both %q. A bridge takes the external interface, and the host would lose its address. Give Neutron an interface of its own.", host, name, v.Text)
			return p
		}
	}
	fields := make([]field, len(networks))
	for i, network := range networks {
		fields[i] = field{network, object(field{"bridge", quote(bridges[i])}, field{"interface", quote(interfaces[i])})}
	}
	p.bridges = object(fields...)
	return p
}

// physicalNetworks names networks that are not kolla's default.
func (c *conversion) physicalNetworks() {
	var names []string
	for _, host := range c.Inventory.Members("network") {
		networks, _, _ := c.physnets(host)
		names = append(names, networks...)
	}
	for _, f := range c.sriovDevices() {
		names = append(names, f.name)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if slices.Equal(names, []string{"physnet1"}) {
		return
	}
	fields := make([]field, len(names))
	for i, name := range names {
		fields[i] = field{name, "{}"}
	}
	c.doc.block(`service "neutron"`).set("physical_networks", object(fields...), c.place("neutron_physical_networks"))
}

// sriov writes the service for virtual functions of network cards.
func (c *conversion) sriov(role string) {
	devices := c.sriovDevices()
	if len(devices) == 0 {
		return
	}
	b := c.doc.block(`service "neutron-sriov"`)
	b.set("role", role, "")
	b.set("devices", object(devices...), c.place("neutron_sriov_physnet_mappings"))
	c.carry("neutron-sriov: devices", "enable_neutron_sriov", "neutron_sriov_physnet_mappings")
}

func (c *conversion) sriovDevices() []field {
	v, ok := c.scope.Find("neutron_sriov_physnet_mappings")
	if !ok || v.Secret || !c.on("enable_neutron_sriov") {
		return nil
	}
	var out []field
	for _, name := range v.Fields() {
		device, _ := v.Field(name)
		if text, ok := device.Text(); ok && text != "" {
			out = append(out, field{name, list([]string{text})})
		}
	}
	return out
}
