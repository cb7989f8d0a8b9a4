package html

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/lang/addrs"
)

// picture is a drawing of the services. A service is above the services that it needs.
type picture struct {
	ID            string
	Width, Height int
	Boxes         []box
	Edges         []edge
}

// box is a service.
type box struct {
	N             int
	X, Y          int
	Label, Small  string // Label is shortened
	Title         string
	Anchor        string // of the section about the service; may be empty
	Class, Sign   string
	Grave         bool
	Width, Height int
}

// edge goes from a box to a box that it needs.
type edge struct {
	From, To int
	Path     string
}

const (
	boxWidth, boxHeight = 176, 46
	besides, below      = 18, 40 // between boxes of a row, and between layers
	wrapped             = 20     // between rows of a layer
	margin              = 16     // room for marks and arrows beside a row
	maxLabel            = 17     // characters of a label
	maxSmall            = 24     // characters of the line below it
)

// draw puts services into layers: each service is above those that it needs. A layer has rows of at
// most the given number of columns. anchors maps blocks to the sections about them.
func draw(id string, services []report.Service, anchors map[string]string, columns int) picture {
	g := graphOf(services)
	p := picture{ID: id, Boxes: make([]box, len(services))}
	broadest := 1
	for _, layer := range g.layers {
		broadest = max(broadest, min(len(layer), columns))
	}
	p.Width = 2*margin + broadest*(boxWidth+besides) - besides
	y := margin
	var rows []shelf
	at := make([]int, len(services)) // the row of each service
	for _, layer := range slices.Backward(g.layers) {
		if len(layer) == 0 {
			continue
		}
		for row := range slices.Chunk(layer, columns) {
			x := (p.Width - len(row)*(boxWidth+besides) + besides) / 2
			rows = append(rows, shelf{top: y, left: x, right: x + len(row)*(boxWidth+besides)})
			for _, n := range row {
				at[n] = len(rows) - 1
				p.Boxes[n] = boxOf(services[n], anchors[services[n].Block])
				p.Boxes[n].N, p.Boxes[n].X, p.Boxes[n].Y = n, x, y
				x += boxWidth + besides
			}
			y += boxHeight + wrapped
		}
		y += below - wrapped
	}
	p.Height = y - below + margin
	for from, needs := range g.needs {
		for _, to := range needs {
			p.Edges = append(p.Edges, edge{from, to, path(p.Boxes[from], p.Boxes[to], rows[at[from]+1:at[to]])})
		}
	}
	return p
}

// shelf is the position of a row of boxes.
type shelf struct{ top, left, right int }

// path returns a path from a box to another one. It passes through gaps of the rows in between, so
// that it does not seem to end at one of their boxes.
func path(from, to box, between []shelf) string {
	x, y := from.X+boxWidth/2, from.Y+boxHeight
	endX, endY := to.X+boxWidth/2, to.Y-5
	out := fmt.Sprintf("M%d %d", x, y)
	curve := func(nextX, nextY int) {
		middle := (y + nextY) / 2
		out += fmt.Sprintf("C%d %d %d %d %d %d", x, middle, nextX, middle, nextX, nextY)
		x, y = nextX, nextY
	}
	for _, row := range between {
		straight := x + (endX-x)*(row.top-y)/(endY-y)
		gap := row.left - besides/2 // the gap to the left of the row
		for next := gap; next <= row.right; next += boxWidth + besides {
			if abs(next-straight) < abs(gap-straight) {
				gap = next
			}
		}
		curve(gap, row.top)
		y = row.top + boxHeight
		out += fmt.Sprintf("V%d", y)
	}
	curve(endX, endY)
	return out
}

func abs(n int) int { return max(n, -n) }

// boxOf returns the box of a service, without a position.
func boxOf(s report.Service, anchor string) box {
	parts := addrs.SplitBlock(s.Block)
	b := box{Label: parts.Name, Small: s.Summary, Title: s.Block + ": " + s.Summary, Anchor: anchor, Grave: s.Grave, Width: boxWidth, Height: boxHeight}
	if parts.Key != nil {
		b.Label = fmt.Sprintf("%s[%v]", parts.Name, parts.Key)
	}
	if name := []rune(b.Label); len(name) > maxLabel {
		b.Label = string(name[:maxLabel-1]) + "…"
	}
	if parts.Type != "service" {
		b.Small = parts.Type + ", " + s.Summary
	}
	if module := []rune(strings.ReplaceAll(parts.Module, "module.", "")); len(module) > 0 {
		if room := max(maxSmall-len([]rune(b.Small)), 8); len(module) > room {
			module = append([]rune("…"), module[len(module)-room+1:]...)
		}
		b.Small = string(module) + ": " + b.Small
	}
	look := looks[s.Change]
	b.Sign, b.Class = look.Text, look.Class
	return b
}

// looks maps changes to the marks of boxes.
var looks = map[report.ServiceChange]mark{
	report.Unchanged: {"", "stays"}, report.NotCompared: {"?", "unread"}, report.Modified: {"~", "alters"},
	report.Restarted: {"↻", "restarts"}, report.Created: {"+", "begins"}, report.Deleted: {"−", "ends"},
}

// graph contains services by index.
type graph struct {
	// needs contains the dependencies that do not follow from others, without one dependency of
	// each cycle.
	needs  [][]int
	layers [][]int // services in the first layer need nothing
}

func graphOf(services []report.Service) graph {
	index := map[string]int{}
	for i, s := range services {
		index[s.Block] = i
	}
	g := graph{needs: make([][]int, len(services))}
	depth := make([]int, len(services)) // 0: not visited, -1: being visited
	reached := make([]map[int]bool, len(services))
	var visit func(i int)
	visit = func(i int) {
		depth[i] = -1
		var needs []int
		reached[i] = map[int]bool{}
		deepest := 0
		for _, block := range services[i].Needs {
			on, ok := index[block]
			if ok && depth[on] == 0 {
				visit(on)
			}
			if !ok || depth[on] < 0 {
				continue
			}
			needs = append(needs, on)
			deepest = max(deepest, depth[on])
			for n := range reached[on] {
				reached[i][n] = true
			}
		}
		for _, on := range needs {
			if !reached[i][on] {
				g.needs[i] = append(g.needs[i], on)
			}
		}
		for _, on := range needs {
			reached[i][on] = true
		}
		depth[i] = deepest + 1
	}
	for i := range services {
		if depth[i] == 0 {
			visit(i)
		}
	}
	g.arrange(depth)
	return g
}

// arrange fills the layers. Services without any dependency get their own layer, below all others.
func (g *graph) arrange(depth []int) {
	needed := make([][]int, len(depth))
	for i, needs := range g.needs {
		for _, on := range needs {
			needed[on] = append(needed[on], i)
		}
	}
	g.layers = make([][]int, slices.Max(depth)+1)
	for i, d := range depth {
		if len(g.needs[i])+len(needed[i]) == 0 {
			d = 0
		}
		g.layers[d] = append(g.layers[d], i)
	}
	place := make([]float64, len(depth)) // of the middle of a box, from 0 to 1
	settle := func(layer []int) {
		for at, i := range layer {
			place[i] = (float64(at) + 0.5) / float64(len(layer))
		}
	}
	order := func(layer []int, neighbours [][]int) {
		middle := func(i int) float64 {
			if len(neighbours[i]) == 0 {
				return place[i]
			}
			sum := 0.0
			for _, n := range neighbours[i] {
				sum += place[n]
			}
			return sum / float64(len(neighbours[i]))
		}
		slices.SortStableFunc(layer, func(a, b int) int { return cmp.Compare(middle(a), middle(b)) })
		settle(layer)
	}
	for _, layer := range g.layers {
		settle(layer)
	}
	for range 3 {
		for _, layer := range g.layers[1:] {
			order(layer, g.needs)
		}
		for _, layer := range slices.Backward(g.layers[1:]) {
			order(layer, needed)
		}
	}
}
