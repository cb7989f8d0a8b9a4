// Package graph writes the dependencies between the blocks of a configuration as text for
// Graphviz and Mermaid.
package graph

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/lang/configs"
)

// graph contains the blocks of a configuration, and their dependencies.
type graph struct {
	nodes []node
	edges []edge
}

// node is a block. The kind "external" is a service that kolla does not deploy.
type node struct{ kind, address string }

// edge goes from a block to one that it needs.
type edge struct {
	from, to string
	kind     string // "reference", "depends_on", "role", "expose"
	why      string // where it is written
}

// graphOf reads the graph from a configuration, in the order of the source.
func graphOf(config *configs.Config) graph {
	var g graph
	roles, exposures := map[string]string{}, map[string]string{} // addresses, by name
	for _, r := range config.Roles {
		roles[r.Name] = r.Block
		g.nodes = append(g.nodes, node{"role", r.Block})
	}
	for _, x := range config.Exposures {
		exposures[x.Name] = x.Block
		g.nodes = append(g.nodes, node{"exposure", x.Block})
		g.use(x.Block, roles[x.Role], "role")
	}
	for _, s := range config.Secrets {
		if s.Exposure != "" {
			continue // its block is that of the exposure
		}
		g.nodes = append(g.nodes, node{"secret", s.Block})
		g.need(s.Block, s.Needs, s.Reasons)
	}
	for _, s := range config.Services {
		kind := "service"
		if s.External {
			kind = "external"
		}
		g.nodes = append(g.nodes, node{kind, s.Block})
		g.use(s.Block, roles[s.Role], "role")
		for _, w := range s.Workloads {
			g.use(s.Block, roles[w.Role], "role")
		}
		g.use(s.Block, exposures[s.Exposure], "expose")
		g.need(s.Block, s.Needs, s.Reasons)
	}
	for _, m := range config.Manifests {
		g.nodes = append(g.nodes, node{"manifest", m.Block})
		g.need(m.Block, m.Needs, m.Reasons)
	}
	g.complete()
	return g
}

// complete adds nodes for the targets of edges that no block declares.
func (g *graph) complete() {
	known := map[string]bool{}
	for _, n := range g.nodes {
		known[n.address] = true
	}
	for _, e := range g.edges {
		if !known[e.to] {
			known[e.to] = true
			g.nodes = append(g.nodes, node{"service", e.to})
		}
	}
}

// use adds the edge to a role or exposure, once. An empty target adds none.
func (g *graph) use(from, to, kind string) {
	known := slices.ContainsFunc(g.edges, func(e edge) bool { return e.from == from && e.to == to })
	if to != "" && !known {
		g.edges = append(g.edges, edge{from: from, to: to, kind: kind, why: from + " uses " + to})
	}
}

// need adds the edges to blocks that must be ready before.
func (g *graph) need(from string, needs []string, reasons []configs.Reason) {
	for i, to := range needs {
		e := edge{from: from, to: to, kind: "reference"}
		if i < len(reasons) {
			e.kind, e.why = whyNeeded(reasons[i])
		}
		g.edges = append(g.edges, e)
	}
}

// whyNeeded gives the reason for a dependency.
func whyNeeded(r configs.Reason) (kind, why string) {
	at := fmt.Sprintf("%s:%d", r.Range.Filename, r.Range.Start.Line)
	switch {
	case r.DependsOn:
		return "depends_on", "depends_on at " + at
	case r.Through != "":
		return "reference", fmt.Sprintf("refers to %s at %s", r.Through, at)
	}
	return "reference", "refers to it at " + at
}

var dotNodes = map[string]string{
	"role": "shape=hexagon", "exposure": "shape=house", "service": "shape=box, style=rounded", "external": `shape=box, style="rounded,dashed"`, "manifest": "shape=note", "secret": "shape=diamond",
}

var dotEdges = map[string]string{
	"reference": "", "depends_on": `label="depends_on", style=dashed, `, "role": `label="role", style=dotted, `, "expose": `label="expose", style=dotted, `,
}

// DOT writes the graph in the language of Graphviz. An arrow points to the block that is
// needed. Its tooltip names the place in the source.
func DOT(w io.Writer, config *configs.Config) error {
	var b strings.Builder
	g := graphOf(config)
	b.WriteString("digraph kolla {\n  rankdir = \"LR\"\n  node [fontname=\"sans-serif\"]\n  edge [fontname=\"sans-serif\", fontsize=10]\n\n")
	for _, n := range g.nodes {
		fmt.Fprintf(&b, "  %s [label=%[1]s, %s]\n", dotQuoted(n.address), dotNodes[n.kind])
	}
	b.WriteString("\n")
	for _, e := range g.edges {
		fmt.Fprintf(&b, "  %s -> %s [%stooltip=%s]\n", dotQuoted(e.from), dotQuoted(e.to), dotEdges[e.kind], dotQuoted(e.why))
	}
	b.WriteString("}\n")
	return writeText(w, b.String())
}

// dotQuoted quotes a string for DOT, where a backslash before a letter may have a meaning.
func dotQuoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

var mermaidNodes = map[string][2]string{
	"role": {"{{", "}}"}, "exposure": {"([", "])"}, "service": {"(", ")"}, "external": {">", "]"}, "manifest": {"[/", "/]"}, "secret": {"{", "}"},
}

var mermaidEdges = map[string]string{
	"reference": "-->", "depends_on": "-.->", "role": "-.->", "expose": "-.->",
}

// Mermaid writes the graph as a flowchart of Mermaid, which has no tooltips. The label of
// an arrow is the kind of the dependency.
func Mermaid(w io.Writer, config *configs.Config) error {
	var b strings.Builder
	g := graphOf(config)
	b.WriteString("flowchart LR\n")
	ids := mermaidIDs(g.nodes)
	for _, n := range g.nodes {
		around := mermaidNodes[n.kind]
		fmt.Fprintf(&b, "  %s%s%s%s\n", ids[n.address], around[0], mermaidQuoted(n.address), around[1])
	}
	for _, e := range g.edges {
		fmt.Fprintf(&b, "  %s %s|%s| %s\n", ids[e.from], mermaidEdges[e.kind], mermaidQuoted(e.kind), ids[e.to])
	}
	return writeText(w, b.String())
}

var notInID = regexp.MustCompile(`[^A-Za-z0-9]+`)

// mermaidIDs gives every node a name without a meaning in Mermaid. A number distinguishes
// addresses that differ in other characters only.
func mermaidIDs(nodes []node) map[string]string {
	ids, taken := map[string]string{}, map[string]bool{}
	for _, n := range nodes {
		base := strings.Trim(notInID.ReplaceAllString(n.address, "_"), "_")
		id := base
		for i := 2; taken[id]; i++ {
			id = fmt.Sprintf("%s_%d", base, i)
		}
		ids[n.address], taken[id] = id, true
	}
	return ids
}

// mermaidQuoted returns a label. It escapes quotes and the first character of an entity.
func mermaidQuoted(s string) string {
	return `"` + strings.NewReplacer("#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "\n", " ").Replace(s) + `"`
}

func writeText(w io.Writer, text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("write the graph: %w", err)
	}
	return nil
}
