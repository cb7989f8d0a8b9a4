package ansible

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	yaml3 "go.yaml.in/yaml/v3"
)

// Inventory has the hosts and groups of an inventory.
type Inventory struct {
	Name   string // of its file
	Hosts  map[string]*Host
	Groups map[string]*Group
	order  []string // of hosts

	members map[string][]string // hosts of each group and of its children
	groups  map[string][]string // groups of each host
}

// Host is a host with the variables of its line.
type Host struct {
	Name string
	At   hcl.Range
	Vars Variables
}

// Group is a group with what its sections name.
type Group struct {
	Name     string
	At       hcl.Range
	Hosts    []string
	Children []string
	Vars     Variables

	childAt map[string]hcl.Range
	hostAt  map[string]hcl.Range
}

// The groups that Ansible makes itself.
const (
	allGroup  = "all"
	ungrouped = "ungrouped"
)

// maxHosts limits the hosts that a range makes.
const maxHosts = 10_000

// ReadInventory reads an inventory in the INI format of Ansible or in YAML. The name of the file
// decides: YAML ends in .yml, .yaml or .json.
func ReadInventory(name string, source []byte) (*Inventory, hcl.Diagnostics) {
	in := &Inventory{Name: name, Hosts: map[string]*Host{}, Groups: map[string]*Group{}}
	r := &inventoryReader{in: in}
	switch ext := filepath.Ext(name); {
	case strings.HasPrefix(string(source), "#!"):
		r.error(lineOf(name, 1), "The inventory is a program", "kolla runs no program to get an inventory. Write what it prints into a file: ansible-inventory -i %s --list --yaml > inventory.yml", name)
	case strings.HasPrefix(string(source), vaultMark), slices.Contains([]string{".yml", ".yaml", ".json"}, ext):
		r.yaml(source)
	case !utf8.Valid(source):
		r.error(lineOf(name, 1), "Unreadable inventory", "The file is not UTF-8 text.")
	default:
		r.ini(string(source))
	}
	r.checkChildren()
	if !r.diags.HasErrors() {
		in.resolve()
	}
	return in, r.diags
}

// Members returns the hosts of a group and of its children, in the order of the inventory.
func (in *Inventory) Members(group string) []string {
	if group == allGroup {
		return in.order
	}
	return in.members[group]
}

// resolve notes which host is in which group.
func (in *Inventory) resolve() {
	in.members, in.groups = map[string][]string{}, map[string][]string{}
	place := map[string]int{}
	for i, host := range in.order {
		place[host] = i
	}
	for _, group := range slices.Sorted(maps.Keys(in.Groups)) {
		found := map[string]bool{}
		for _, name := range in.below(group) {
			for _, host := range in.Groups[name].Hosts {
				found[host] = true
			}
		}
		in.members[group] = slices.SortedFunc(maps.Keys(found), func(a, b string) int { return place[a] - place[b] })
		for host := range found {
			if group != allGroup && group != ungrouped {
				in.groups[host] = append(in.groups[host], group)
			}
		}
	}
}

// below returns a group and all groups in it.
func (in *Inventory) below(group string) []string {
	var out []string
	seen := map[string]bool{}
	var walk func(name string)
	walk = func(name string) {
		if g := in.Groups[name]; g != nil && !seen[name] {
			seen[name] = true
			out = append(out, name)
			for _, child := range g.Children {
				walk(child)
			}
		}
	}
	walk(group)
	return out
}

// GroupsOf returns the groups that a host is in, itself or by their children, sorted.
func (in *Inventory) GroupsOf(host string) []string { return slices.Clone(in.groups[host]) }

// HostVars returns the variables of a host: its own win over those of its groups, and those of a
// group over those of the groups around it. Groups at the same depth come in alphabetical order.
func (in *Inventory) HostVars(host string) Variables {
	depth := map[string]int{}
	var deepen func(name string, d int)
	deepen = func(name string, d int) {
		g := in.Groups[name]
		if g == nil || d <= depth[name] || d > len(in.Groups) {
			return
		}
		depth[name] = d
		for _, child := range g.Children {
			deepen(child, d+1)
		}
	}
	groups := in.GroupsOf(host)
	for _, name := range groups {
		deepen(name, 1)
	}
	slices.SortStableFunc(groups, func(a, b string) int { return depth[a] - depth[b] })
	out := Variables{}
	for _, name := range append([]string{allGroup}, groups...) {
		if g := in.Groups[name]; g != nil {
			out = g.Vars.Over(out)
		}
	}
	if h := in.Hosts[host]; h != nil {
		out = h.Vars.Over(out)
	}
	return out
}

// inventoryReader reads an inventory, and collects mistakes.
type inventoryReader struct {
	in    *Inventory
	diags hcl.Diagnostics
}

func (r *inventoryReader) error(at hcl.Range, summary, format string, args ...any) {
	r.diags = append(r.diags, Error(at, summary, format, args...))
}

func (r *inventoryReader) group(name string, at hcl.Range) *Group {
	g := r.in.Groups[name]
	if g == nil {
		g = &Group{Name: name, At: at, Vars: Variables{}, childAt: map[string]hcl.Range{}, hostAt: map[string]hcl.Range{}}
		r.in.Groups[name] = g
	}
	return g
}

// add puts the hosts of a pattern into a group.
func (r *inventoryReader) add(g *Group, pattern string, vars Variables, at hcl.Range) {
	names, err := expandRanges(pattern, maxHosts-len(r.in.Hosts))
	if err != nil {
		r.error(at, "Unreadable host", "%s.", err)
		return
	}
	for _, name := range names {
		if first, twice := g.hostAt[name]; twice {
			r.error(at, "A host twice in a group", "Group %q has host %q in line %d already. Remove one of the lines.", g.Name, name, first.Start.Line)
			continue
		}
		g.Hosts, g.hostAt[name] = append(g.Hosts, name), at
		h := r.in.Hosts[name]
		if h == nil {
			h = &Host{Name: name, At: at}
			r.in.Hosts[name] = h
			r.in.order = append(r.in.order, name)
		}
		h.Vars = vars.Over(h.Vars)
	}
}

// checkChildren reports groups that are named and not there, and circles.
func (r *inventoryReader) checkChildren() {
	for _, name := range slices.Sorted(maps.Keys(r.in.Groups)) {
		g := r.in.Groups[name]
		for _, child := range g.Children {
			if r.in.Groups[child] == nil {
				r.error(g.childAt[child], "There is no such group", "Group %q contains group %q, which the inventory does not have. Add the section [%s], or remove the line.", name, child, child)
			} else if slices.Contains(r.in.below(child), name) {
				r.error(g.childAt[child], "Groups in a circle", "Group %q contains itself, by group %q. Remove one of the lines.", name, child)
			}
		}
	}
}

var (
	sectionHeader = regexp.MustCompile(`^\[([^:\]\s]+)(?::(\w+))?\]\s*(?:[#;].*)?$`)
	portSuffix    = regexp.MustCompile(`^([^:]+|.*\][^:]*):\d+$`)
)

// ini reads Ansible's own format, which is no INI: a line of a group is a host with its variables.
func (r *inventoryReader) ini(source string) {
	name, kind := ungrouped, ""
	number := 0
	for line := range strings.Lines(source) {
		number++
		at, text := lineOf(r.in.Name, number), strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
		switch {
		case text == "" || text[0] == '#' || text[0] == ';':
		case text[0] == '[' && !strings.Contains(text, "="):
			m := sectionHeader.FindStringSubmatch(text)
			if m == nil || !slices.Contains([]string{"", "children", "vars", "hosts"}, m[2]) {
				r.error(at, "Unreadable section", "A section is [GROUP], [GROUP:children] or [GROUP:vars].")
				name = ungrouped
				continue
			}
			name, kind = m[1], m[2]
			r.group(name, at)
		case kind == "children":
			child, _, _ := strings.Cut(text, "#")
			r.child(r.group(name, at), strings.TrimSpace(child), at)
		case kind == "vars":
			key, value, ok := strings.Cut(text, "=")
			if key = strings.TrimSpace(key); !ok || key == "" {
				r.error(at, "Unreadable variable", "A line of [%s:vars] is NAME=VALUE.", name)
				continue
			}
			r.group(name, at).Vars[key] = Set(key, unquote(strings.TrimSpace(value)), at)
		default:
			r.hostLine(r.group(name, at), text, at)
		}
	}
}

func (r *inventoryReader) child(g *Group, child string, at hcl.Range) {
	if child == "" || strings.ContainsAny(child, " \t=") {
		r.error(at, "Unreadable group", "A line of [%s:children] is the name of a group.", g.Name)
		return
	}
	if _, twice := g.childAt[child]; !twice {
		g.Children, g.childAt[child] = append(g.Children, child), at
	}
}

// hostLine reads a host with its variables: NAME KEY=VALUE KEY="VALUE WITH BLANKS".
func (r *inventoryReader) hostLine(g *Group, text string, at hcl.Range) {
	fields, err := splitWords(text)
	if err != nil || len(fields) == 0 {
		r.error(at, "Unreadable host", "A quote in the line has no end.")
		return
	}
	pattern := fields[0]
	if m := portSuffix.FindStringSubmatch(pattern); m != nil {
		pattern = m[1]
	}
	vars := Variables{}
	for _, field := range fields[1:] {
		key, value, ok := strings.Cut(field, "=")
		if !ok || key == "" {
			r.error(at, "Unreadable variable", "After the name of the host, a line has NAME=VALUE. A value with blanks needs quotes.")
			return
		}
		vars[key] = Set(key, value, at)
	}
	r.add(g, pattern, vars, at)
}

// splitWords splits a line at blanks. Quotes keep blanks, and a # at the start of a word ends the line.
func splitWords(text string) ([]string, error) {
	var out []string
	var word strings.Builder
	var quote rune
	inside, escaped := false, false
	for _, c := range text {
		switch {
		case escaped:
			word.WriteRune(c)
			escaped = false
		case c == '\\' && quote != '\'':
			escaped, inside = true, true
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '"' || c == '\'':
			quote, inside = c, true
		case c == ' ' || c == '\t':
			if inside {
				out = append(out, word.String())
			}
			word.Reset()
			inside = false
		case c == '#' && !inside:
			return out, nil
		default:
			word.WriteRune(c)
			inside = true
		}
	}
	if quote != 0 || escaped {
		return nil, fmt.Errorf("a quote has no end")
	}
	if inside {
		out = append(out, word.String())
	}
	return out, nil
}

func unquote(text string) string {
	if n := len(text); n >= 2 && (text[0] == '"' || text[0] == '\'') && text[n-1] == text[0] {
		return text[1 : n-1]
	}
	return text
}

var hostRange = regexp.MustCompile(`\[([0-9]+|[A-Za-z]):([0-9]+|[A-Za-z])(?::([0-9]+))?\]`)

// expandRanges returns the names that a pattern stands for: node[01:03] is node01, node02, node03.
func expandRanges(pattern string, limit int) ([]string, error) {
	m := hostRange.FindStringSubmatchIndex(pattern)
	if m == nil {
		if pattern == "" || strings.ContainsAny(pattern, "[]{} \t,") {
			return nil, fmt.Errorf("%q is no name of a host. A range is node[01:03] or rack[a:c]", pattern)
		}
		return []string{pattern}, nil
	}
	part := func(i int) string {
		if m[2*i] < 0 {
			return ""
		}
		return pattern[m[2*i]:m[2*i+1]]
	}
	values, err := rangeValues(part(1), part(2), part(3), limit)
	if err != nil {
		return nil, fmt.Errorf("%w in %q", err, pattern)
	}
	rest, err := expandRanges("x"+pattern[m[1]:], limit)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, value := range values {
		for _, end := range rest {
			if len(out) >= limit {
				return nil, fmt.Errorf("%q stands for more than %d hosts", pattern, maxHosts)
			}
			out = append(out, pattern[:m[0]]+value+strings.TrimPrefix(end, "x"))
		}
	}
	return out, nil
}

// rangeValues returns the values of a range of numbers or letters. Numbers keep leading zeros.
func rangeValues(first, last, step string, limit int) ([]string, error) {
	by := 1
	if step != "" {
		n, err := strconv.Atoi(step)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("the range has an unusable step")
		}
		by = n
	}
	from, fromErr := strconv.Atoi(first)
	to, toErr := strconv.Atoi(last)
	width, letters := len(first), false
	if fromErr != nil && toErr != nil && len(first) == 1 && len(last) == 1 {
		from, to, letters = int(first[0]), int(last[0]), true
	} else if fromErr != nil || toErr != nil {
		return nil, fmt.Errorf("the range has a number and a letter, or too large a number")
	}
	if from > to {
		return nil, fmt.Errorf("the range ends before it begins")
	}
	if (to-from)/by >= limit {
		return nil, fmt.Errorf("the range has more than %d hosts", maxHosts)
	}
	var out []string
	for n := from; n <= to; n += by {
		switch {
		case letters:
			out = append(out, string(rune(n)))
		case first[0] == '0':
			out = append(out, fmt.Sprintf("%0*d", width, n))
		default:
			out = append(out, strconv.Itoa(n))
		}
	}
	return out, nil
}

// yaml reads an inventory in YAML: groups with hosts, children and vars.
func (r *inventoryReader) yaml(source []byte) {
	root, diags := parse(r.in.Name, source)
	r.diags = append(r.diags, diags...)
	if root == nil || diags.HasErrors() {
		return
	}
	r.each(root, func(name string, at hcl.Range, value *yaml3.Node) { r.yamlGroup(name, at, value) })
}

// each calls do for the entries of a map; an empty value has none.
func (r *inventoryReader) each(n *yaml3.Node, do func(key string, at hcl.Range, value *yaml3.Node)) {
	if n == nil || n.Kind == yaml3.ScalarNode && n.ShortTag() == "!!null" {
		return
	}
	if n.Kind != yaml3.MappingNode {
		r.error(lineOf(r.in.Name, n.Line), "Unreadable inventory", "A map is expected here: NAME: and its parts below, further in.")
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		do(n.Content[i].Value, lineOf(r.in.Name, n.Content[i].Line), n.Content[i+1])
	}
}

func (r *inventoryReader) yamlGroup(name string, at hcl.Range, value *yaml3.Node) {
	g := r.group(name, at)
	r.each(value, func(key string, at hcl.Range, part *yaml3.Node) {
		switch key {
		case "hosts":
			r.each(part, func(host string, at hcl.Range, vars *yaml3.Node) { r.add(g, host, r.yamlVars(vars), at) })
		case "children":
			r.each(part, func(child string, at hcl.Range, value *yaml3.Node) {
				r.child(g, child, at)
				r.yamlGroup(child, at, value)
			})
		case "vars":
			g.Vars = r.yamlVars(part).Over(g.Vars)
		default:
			r.error(at, "Unreadable inventory", "Group %q has %q, but a group has only hosts, children and vars.", name, key)
		}
	})
}

func (r *inventoryReader) yamlVars(n *yaml3.Node) Variables {
	out := Variables{}
	r.each(n, func(key string, at hcl.Range, value *yaml3.Node) {
		out[key] = Variable{Name: key, At: at, node: value}
	})
	return out
}
