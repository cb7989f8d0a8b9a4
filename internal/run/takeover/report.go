package takeover

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/run/takeover/ansible"
)

// report collects what becomes of the parts of the old cloud. It has names and places, never a value.
type report struct {
	blockers, decisions, steps []string
	carried, left, none        []reportRow
	secrets, fresh, notes      []reportRow
	others                     []string        // passwords of services that are not declared
	files                      map[string]bool // of node_custom_config, about which the report says something
	names                      map[string]bool // of variables
}

// reportRow is a row of a table.
type reportRow struct{ what, place, text, do string }

func newReport() *report {
	return &report{files: map[string]bool{}, names: map[string]bool{}}
}

func placeOf(v ansible.Variable) string {
	if v.At.Filename == "" {
		return "default"
	}
	return fmt.Sprintf("%s:%d", v.At.Filename, v.At.Start.Line)
}

func (r *report) knows(name string) bool { return r.names[name] }

// carry says where a variable went, if one of the files sets it.
func (r *report) carry(v ansible.Variable, where string) {
	if v.At.Filename != "" && !r.names[v.Name] {
		r.names[v.Name] = true
		r.carried = append(r.carried, reportRow{what: v.Name, place: placeOf(v), text: where})
	}
}

func (r *report) leave(v ansible.Variable, why, do string) {
	if !r.names[v.Name] {
		r.names[v.Name] = true
		r.left = append(r.left, reportRow{v.Name, placeOf(v), why, do})
	}
}

const notKnown = "It is a list, a map, or an expression of Ansible that depends on more than variables of these files."

// expression says that the value of a variable cannot be computed.
func (r *report) expression(v ansible.Variable) {
	r.leave(v, notKnown, "Write the value into the configuration by hand.")
}

func (r *report) nothing(v ansible.Variable, why string) {
	if !r.names[v.Name] {
		r.names[v.Name] = true
		r.none = append(r.none, reportRow{what: v.Name, place: placeOf(v), text: why})
	}
}

func (r *report) file(name, why, do string) {
	if !r.files[name] {
		r.files[name] = true
		r.left = append(r.left, reportRow{name, "", why, do})
	}
}

func (r *report) line(file string, line int, why, do string) {
	r.left = append(r.left, reportRow{path.Base(file), fmt.Sprintf("%s:%d", file, line), why, do})
}

func (r *report) carryFile(name, where string) {
	if !r.files[name] {
		r.files[name] = true
		r.carried = append(r.carried, reportRow{what: name, text: where})
	}
}

func (r *report) secret(v ansible.Variable, file, by string) {
	r.names[v.Name] = true
	r.secrets = append(r.secrets, reportRow{what: v.Name, place: placeOf(v), text: file, do: by})
}

func (r *report) generated(service, name, variable string) {
	r.fresh = append(r.fresh, reportRow{what: variable, text: fmt.Sprintf("It has no value. kolla generates secret %q of service %q.", name, service)})
}

func (r *report) unused(v ansible.Variable, why string) {
	r.names[v.Name] = true
	r.fresh = append(r.fresh, reportRow{what: v.Name, place: placeOf(v), text: why})
}

func (r *report) other(v ansible.Variable) {
	r.names[v.Name] = true
	r.others = append(r.others, v.Name)
}

func (r *report) secretNote(text string) { r.notes = append(r.notes, reportRow{text: text}) }

func (r *report) block(text string) {
	if !slices.Contains(r.blockers, text) {
		r.blockers = append(r.blockers, text)
	}
}

func (r *report) decide(text string) {
	if !slices.Contains(r.decisions, text) {
		r.decisions = append(r.decisions, text)
	}
}

func (r *report) next(text string) { r.steps = append(r.steps, text) }

// rest says what becomes of all variables that are set and that no step has read.
func (c *conversion) rest() {
	for _, v := range c.allSet() {
		if c.rep.knows(v.Name) || v.Secret {
			continue
		}
		value := c.scope.Expand(v)
		service, enables := strings.CutPrefix(v.Name, "enable_")
		row, known := leftOf(c.rules.Left, v.Name)
		switch {
		case enables && !value.Unresolved && !value.Bool():
			c.rep.nothing(v, "It is off.")
		case known && row.None:
			c.rep.nothing(v, row.Why)
		case known:
			c.rep.leave(v, row.Why, row.Do)
		case enables && c.ours(service):
			c.rep.leave(v, "kolla does not know the part of the service.", "Look into kolla catalogue "+strings.Split(service, "_")[0]+".")
		case enables:
			c.rep.leave(v, fmt.Sprintf("The catalogue of kolla has no service %q.", strings.ReplaceAll(service, "_", "-")), "Leave it with kolla-ansible, write a definition of your own, or give it up.")
		case c.ours(v.Name):
			c.rep.leave(v, "kolla does not know this variable of the service.", "If it sets an option, write the option into a config block of the service.")
		case c.on("enable_" + strings.Split(v.Name, "_")[0]):
			c.rep.leave(v, "The catalogue of kolla has no such service.", "Nothing, or see the row of the service.")
		default:
			c.rep.leave(v, "kolla does not know the variable.", "If a file with overrides reads it, its value is there. Otherwise nothing.")
		}
	}
}

// ours reports whether a name begins with the name of a service that kolla has.
func (c *conversion) ours(name string) bool {
	return slices.ContainsFunc(c.rules.Services, func(s serviceRow) bool { return name == s.Name || strings.HasPrefix(name, s.Name+"_") })
}

// allSet returns the variables that one of the files sets, in the order of their names.
func (c *conversion) allSet() []ansible.Variable {
	all := maps.Clone(c.Extra)
	add := func(more ansible.Variables) {
		for name, v := range more {
			if _, ok := all[name]; !ok {
				all[name] = v
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Inventory.Groups)) {
		add(c.Inventory.Groups[name].Vars)
	}
	for _, host := range c.Inventory.Members("all") {
		add(c.Inventory.Hosts[host].Vars)
	}
	var out []ansible.Variable
	for _, name := range all.Names() {
		out = append(out, all[name])
	}
	return out
}

// page writes Markdown.
type page struct{ strings.Builder }

func (p *page) section(title, intro string) { fmt.Fprintf(p, "\n## %s\n\n%s\n", title, intro) }

func (p *page) list(items []string) {
	p.WriteString("\n")
	for _, item := range items {
		fmt.Fprintf(p, "- %s\n", item)
	}
}

func (p *page) table(head []string, rows []reportRow, cells func(r reportRow) []string) {
	fmt.Fprintf(p, "\n| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat(" --- |", len(head)))
	for _, r := range rows {
		row := cells(r)
		for i := range row {
			row[i] = strings.ReplaceAll(row[i], "|", "\\|")
		}
		fmt.Fprintf(p, "| %s |\n", strings.Join(row, " | "))
	}
}

func three(row reportRow) []string { return []string{code(row.what), code(row.place), row.text} }

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

// markdown returns the report.
func (r *report) markdown(c *conversion) string {
	p := &page{}
	fmt.Fprintf(p, "# Takeover of cloud %q\n\n", c.Name)
	fmt.Fprintf(p, "`kolla import kolla-ansible` wrote this from `%s` and `%s`. It contains no values of secrets.\n", c.Inventory.Name, c.GlobalsName)
	if len(r.blockers) > 0 {
		p.section("In the way", "As it is, the cloud cannot be taken over:")
		p.list(r.blockers)
	}
	if len(r.decisions) > 0 {
		p.section("To decide", "Read these before the first apply:")
		p.list(r.decisions)
	}
	p.section("Next steps", "Taking over data and running servers is not part of kolla yet: docs/takeover.md has the path, and what cannot be done.")
	p.list(append([]string{
		"Check the configuration, without a cluster: `kolla validate`.",
		"Compare it with the cluster: `kolla plan`. Roles name nodes, which have to exist.",
		"Keep `" + SecretsDir + "/` out of version control, and delete it when the first apply has put the values into the cluster and a backup has them.",
	}, r.steps...))
	r.nodes(p, c)
	if len(r.carried) > 0 {
		p.section("What carries over", "Files without a line are in the directory with overrides.")
		p.table([]string{"variable or file", "set in", "now in"}, r.carried, three)
	}
	if len(r.left) > 0 {
		p.section("What does not carry over", "Somebody has to look at each of these.")
		p.table([]string{"variable or file", "set in", "why", "what to do"}, r.left, func(row reportRow) []string {
			return []string{code(row.what), code(row.place), row.text, row.do}
		})
	}
	if len(r.none) > 0 {
		p.section("What kolla has no such thing for", "Nothing is to be done about these.")
		p.table([]string{"variable", "set in", "why"}, r.none, three)
	}
	r.secretParts(p)
	return p.String()
}

// nodes says which host has which role.
func (r *report) nodes(p *page, c *conversion) {
	p.section("Nodes", "Each host has to be a node of the cluster, with the name of the inventory. `kolla apply` puts the labels of the roles on them. To do it before, by hand:")
	p.WriteString("\n```\n")
	for _, host := range c.Inventory.Members("all") {
		var labels []string
		for _, role := range c.order {
			if slices.Contains(c.roles[role], host) {
				labels = append(labels, "kolla.openstack.org.node-restriction.kubernetes.io/role-"+role+"=true")
			}
		}
		if len(labels) > 0 {
			fmt.Fprintf(p, "kubectl label node %s %s\n", c.node(host), strings.Join(labels, " "))
		}
	}
	p.WriteString("```\n")
	for _, group := range mainGroups {
		if c.roles[group] == nil && len(c.Inventory.Members(group)) > 0 {
			fmt.Fprintf(p, "\nNothing that is declared runs on group `%s` alone (%s), so there is no such role.\n", group, words.Few(c.Inventory.Members(group), 10))
		}
	}
}

// secretParts says what becomes of the passwords.
func (r *report) secretParts(p *page) {
	if len(r.secrets) > 0 {
		p.section("Secrets that keep their values", "Each value is in a file that only its owner can read. `kolla apply` copies it into a Secret of the cluster.")
		p.table([]string{"variable", "set in", "file", "used by"}, r.secrets, func(row reportRow) []string {
			return []string{code(row.what), code(row.place), code(row.text), row.do}
		})
	}
	if len(r.notes) > 0 {
		p.section("Further files with secrets", "These are in no file of passwords.")
		var items []string
		for _, n := range r.notes {
			items = append(items, n.text)
		}
		p.list(items)
	}
	if len(r.others) > 0 {
		p.section("Passwords of services that are not declared", "Keep passwords.yml as long as somebody may need them: "+strings.Join(r.others, ", ")+".")
	}
	if len(r.fresh) > 0 {
		p.section("Passwords without use", "kolla does not take these, or generates new ones.")
		p.table([]string{"variable", "set in", "why"}, r.fresh, three)
	}
	p.section("Secrets that are in no file", "These are on the control nodes, or nowhere:")
	p.list([]string{
		"Keystone's Fernet keys, in the volume `keystone_fernet_tokens`: users have to log in again without them.",
		"Keystone's credential keys. kolla-ansible makes none, so that Keystone encrypts stored credentials, such as those for EC2, with a key of zeros. kolla generates keys. Keystone reads the old credentials with the key of zeros still, and `keystone-manage credential_migrate` encrypts them again.",
	})
}
