package plans

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
)

// Carried has the items that the pods of a workload carry on a node, as the pods report.
type Carried struct {
	Node  string   `json:"node,omitempty"` // empty: of all nodes, whose pods cannot be listed
	Items []string `json:"items,omitempty"`
	// More is how many further items there are at least.
	More int `json:"more,omitempty"`
	// Unknown is why the pod could not be asked; empty: it was.
	Unknown string `json:"unknown,omitempty"`
}

// CutOff has the items that are cut off when a workload leaves its nodes.
type CutOff struct {
	What  string
	Nodes []Carried
}

// Lines lists the items that are cut off, node by node: "real-2: web-1 (…)".
func (c *CutOff) Lines() []string {
	const limit = 8
	return words.First(c.words(limit), limit, "node")
}

// Title says how many items are cut off.
func (c *CutOff) Title() string {
	n, atLeast := 0, ""
	for _, node := range c.Nodes {
		n += len(node.Items) + node.More
		if node.Unknown != "" || node.More > 0 {
			atLeast = "at least "
		}
	}
	if n == 0 {
		return c.What + " that may be cut off"
	}
	return fmt.Sprintf("%s that would be cut off (%s%d)", c.What, atLeast, n)
}

// words lists at most limit items for each node.
func (c *CutOff) words(limit int) []string {
	var lines []string
	for _, n := range c.Nodes {
		lines = append(lines, n.words(limit))
	}
	return lines
}

// words lists the items on a node.
func (n Carried) words(limit int) string {
	node := cmp.Or(n.Node, "all nodes")
	if n.Unknown != "" {
		return fmt.Sprintf("%s: could not be asked: %s", node, n.Unknown)
	}
	shown := n.Items[:min(limit, len(n.Items))]
	text := node + ": " + strings.Join(shown, ", ")
	if more := len(n.Items) - len(shown) + n.More; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// CutOff says in one line what an effect of that kind cuts off: "running servers that would
// be cut off (2): real-2: web-1, web-2".
func (e Effect) CutOff() string {
	const limit = 4
	c := CutOff{What: e.Data, Nodes: e.Carried}
	return c.Title() + ": " + strings.Join(words.First(c.words(limit), limit, "node"), "; ")
}

// Shows reports whether the effect tells all that another effect does: it is of the same kind,
// concerns no fewer pods, and names all items that the other one cuts off.
func (e Effect) Shows(other Effect) bool {
	if e.Kind != other.Kind || e.Name != other.Name || e.Ref != other.Ref || e.Data != other.Data || other.Grave && !e.Grave {
		return false
	}
	if e.Kind != EffectCutOff {
		return !other.Grave && e.Pods >= other.Pods && e.EachNode == other.EachNode && e.Strategy == other.Strategy &&
			(e.Downtime || !other.Downtime) && lacks(other.Items, e.Items) == 0
	}
	return !slices.ContainsFunc(other.Carried, func(now Carried) bool {
		return !slices.ContainsFunc(e.Carried, func(then Carried) bool {
			return then.Node == now.Node && (now.Unknown != "" || then.Unknown == "" && now.More <= then.More && lacks(now.Items, then.Items) == 0)
		})
	})
}

// lacks returns how many of the items are not among the others.
func lacks(items, others []string) (n int) {
	for _, item := range items {
		if !slices.Contains(others, item) {
			n++
		}
	}
	return n
}
