package takeover

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"kolla.openstack.org/kolla/internal/base/words"
)

// The groups of an inventory of kolla-ansible that stand for kinds of hosts.
var mainGroups = []string{"control", "network", "compute", "storage", "monitoring"}

// nodeName matches names that a Kubernetes node can have.
var nodeName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)

// checkHosts reports hosts and groups with which no cloud can be described.
func (c *conversion) checkHosts() {
	in := c.Inventory
	whole := hcl.Range{Filename: in.Name, Start: hcl.InitialPos, End: hcl.InitialPos}
	for _, group := range []string{"control", "network", "compute"} {
		g := in.Groups[group]
		needed := group == "control" || group == "compute" && c.on("enable_nova") || group == "network" && c.on("enable_neutron")
		switch {
		case !needed || len(in.Members(group)) > 0:
		case g == nil:
			c.error(whole, "A group is missing", "The inventory has no group %q, as the inventories of kolla-ansible have. Add the section [%s] with its hosts.", group, group)
		default:
			c.error(g.At, "A group is empty", "Group %q has no hosts, and services need them. Add the hosts below.", group)
		}
	}
	addresses := map[string]string{}
	for _, host := range in.Members("all") {
		h := in.Hosts[host]
		if len(in.GroupsOf(host)) == 0 {
			c.error(h.At, "A host is in no group", "Host %q is in no group, so nothing says what it is for. Put it into a group, such as compute, or remove the line.", host)
			continue
		}
		if !c.isUsed(host) {
			continue
		}
		if node := c.node(host); !nodeName.MatchString(node) {
			c.error(h.At, "No name of a node", "%q cannot be the name of a node of Kubernetes. Say how the node is named there: -node=%s=NAME.", node, host)
		}
		if c.node(host) == "localhost" {
			c.rep.block("Host \"localhost\" is no name of a node. Import again with the name of its node in Kubernetes: -node=localhost=NAME.")
		}
		v := c.hostValue(host, "ansible_host")
		if first, twice := addresses[v.Text]; twice && v.Text != "" && c.node(first) != c.node(host) {
			c.error(v.At, "Two hosts with one address", "Hosts %q and %q have the same ansible_host. Give the machine one name in all groups.", first, host)
		}
		addresses[v.Text] = host
	}
	for _, host := range slices.Sorted(maps.Keys(c.Nodes)) {
		if in.Hosts[host] == nil {
			c.error(whole, "There is no such host", "-node names host %q, which the inventory does not have.", host)
		}
	}
}

// isUsed reports whether a host is in one of the main groups.
func (c *conversion) isUsed(host string) bool {
	return slices.ContainsFunc(mainGroups, func(group string) bool { return slices.Contains(c.Inventory.Members(group), host) })
}

// node returns the name of the node of a host.
func (c *conversion) node(host string) string {
	if node, ok := c.Nodes[host]; ok {
		return node
	}
	return host
}

// members returns the hosts of the first group that the inventory has, or else those of control.
func (c *conversion) members(groups ...string) []string {
	for _, group := range groups {
		if c.Inventory.Groups[group] != nil {
			if hosts := c.Inventory.Members(group); len(hosts) > 0 {
				return hosts
			}
		}
	}
	return c.Inventory.Members("control")
}

// role returns a reference to the role with hosts: that of the first of the groups that has the same
// hosts, or else a new role.
func (c *conversion) role(hosts []string, newName string, groups ...string) string {
	for _, name := range groups {
		if same(c.Inventory.Members(name), hosts) {
			return c.useRole(name, hosts)
		}
	}
	name := newName
	for n := 2; c.roles[name] != nil && !same(c.roles[name], hosts); n++ {
		name = fmt.Sprintf("%s-%d", newName, n)
	}
	return c.useRole(name, hosts)
}

func (c *conversion) useRole(name string, hosts []string) string {
	if c.roles[name] == nil {
		c.roles[name] = hosts
		c.order = append(c.order, name)
	}
	return "role." + name
}

func same(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// addRoles writes the roles behind the cloud block.
func (c *conversion) addRoles() {
	var blocks []*block
	for _, name := range c.order {
		nodes := make([]string, len(c.roles[name]))
		for i, host := range c.roles[name] {
			nodes[i] = c.node(host)
		}
		b := &block{head: "role " + quote(name)}
		blocks = append(blocks, b)
		if !slices.Contains(mainGroups, name) && c.roles["network"] != nil && c.roles["compute"] != nil &&
			same(c.roles[name], union(c.roles["network"], c.roles["compute"])) {
			b.set("roles", "[role.network, role.compute]", "")
			continue
		}
		expr := list(nodes)
		if len(expr) > 80 {
			expr = "[\n" + strings.Join(quoteEach(nodes), ",\n") + ",\n]"
		}
		b.set("nodes", expr, "")
	}
	c.doc.blocks = slices.Insert(c.doc.blocks, 1, blocks...)
}

func union(a, b []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(a, b))))
}

func quoteEach(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = quote(text)
	}
	return out
}

// count returns the number of members of a service on hosts. Services with a quorum take some
// numbers only.
func (c *conversion) count(row serviceRow, hosts []string) int {
	n := len(hosts)
	if len(row.Counts) == 0 || slices.Contains(row.Counts, n) {
		return n
	}
	best := row.Counts[0]
	for _, count := range row.Counts {
		if count <= n {
			best = count
		}
	}
	c.rep.decide(fmt.Sprintf("%s has %s instead of %d: kolla runs %s.", row.Name, words.Count(best, "member"), n, words.All(texts(row.Counts))))
	return best
}

func texts(numbers []int) []string {
	out := make([]string, len(numbers))
	for i, n := range numbers {
		out[i] = strconv.Itoa(n)
	}
	return out
}

// services writes a block for each service of the table that is enabled.
func (c *conversion) services() {
	for _, row := range c.rules.Services {
		if row.External || !c.on(row.Enabled) {
			if row.Name == "mariadb" {
				c.externalDatabase(row)
			}
			continue
		}
		if row.Name == "cinder" && !c.hasBackend() {
			continue
		}
		hosts := c.members(row.Groups...)
		b := c.doc.block("service " + quote(row.Name))
		if !same(hosts, c.Inventory.Members("control")) {
			b.set("role", c.role(hosts, row.Name, "control", "network", "storage", "compute"), "")
		}
		if n := c.count(row, hosts); n > 1 && !(row.Name == "glance" && !c.on("glance_backend_ceph") && !c.on("glance_backend_s3")) {
			b.set("replicas", strconv.Itoa(n), "")
		}
		c.carry("service "+quote(row.Name), row.Enabled)
		for _, secret := range slices.Sorted(maps.Keys(row.Secrets)) {
			c.secret(b, row.Name, secret, row.Secrets[secret])
		}
	}
	c.heatKey()
	if b := c.doc.find(`service "horizon"`); b != nil && c.ownBalancer {
		port := "80"
		if c.doc.block(`exposure "public"`).find("tls") != nil {
			port = "443"
		}
		b.block(`port "web"`).set("public", port, "as in kolla-ansible")
	}
}

// externalDatabase describes a MariaDB that kolla-ansible did not deploy either.
func (c *conversion) externalDatabase(row serviceRow) {
	address := c.value("database_address")
	if address.Text == "" {
		c.error(c.value(row.Enabled).At, "There is no database", "enable_mariadb is off, and database_address says no server that kolla can read. Set it to the name or address of the server.")
		return
	}
	b := c.doc.block("service " + quote(row.Name))
	b.set("external", object(field{"host", quote(address.Text)}, field{"port", literal(c.text("database_port"))}), c.place("database_address"))
	c.carry(`service "mariadb": external`, row.Enabled, "database_address", "database_port", "use_preconfigured_databases")
	if !c.on("use_preconfigured_databases") {
		c.secret(b, row.Name, "root", row.Secrets["root"])
	}
}
