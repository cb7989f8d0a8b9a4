package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Sizes of the picture, in pixels.
const (
	pictureWidth = 760
	barsFrom     = 250 // left of it are the names
	barHeight    = 14
	stepGap      = 18
)

// colours are those of the tools, in their order. They differ in brightness too.
var colours = []string{"#b0b0b0", "#0b6e4f", "#7cc6a6", "#3d5a98", "#d98e32", "#8c4a8c"}

// picture draws the median times of the largest number of objects up to 1,000 as bars, on a
// logarithmic scale, because the tools differ by a factor of 50.
func (r report) picture() string {
	t := r.tables[0]
	for _, other := range r.tables {
		if other.size <= 1000 {
			t = other
		}
	}
	least, most := math.Inf(1), 0.0
	for _, s := range order {
		for _, name := range t.tools {
			if c := median(t.costs[s][name]); c.err == nil && c.wall > 0 {
				least, most = min(least, c.wall.Seconds()), max(most, c.wall.Seconds())
			}
		}
	}
	length := func(seconds float64) float64 {
		return 40 + (pictureWidth-barsFrom-120)*math.Log(seconds/least)/math.Log(max(most/least, 2))
	}
	var bars strings.Builder
	y := 40
	for _, s := range order {
		fmt.Fprintf(&bars, "<text x=\"10\" y=\"%d\" class=\"step\">%s</text>\n", y+barHeight-3, html.EscapeString(titles[s]))
		for i, name := range t.tools {
			c := median(t.costs[s][name])
			if c.err != nil || c.wall == 0 {
				continue
			}
			fmt.Fprintf(&bars, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>", barsFrom-8, y+barHeight-3, html.EscapeString(name))
			fmt.Fprintf(&bars, "<rect x=\"%d\" y=\"%d\" width=\"%.0f\" height=\"%d\" fill=\"%s\"/>", barsFrom, y, length(c.wall.Seconds()), barHeight-2, colours[i%len(colours)])
			fmt.Fprintf(&bars, "<text x=\"%.0f\" y=\"%d\">%.2f s</text>\n", barsFrom+6+length(c.wall.Seconds()), y+barHeight-3, c.wall.Seconds())
			y += barHeight
		}
		y += stepGap
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">
<style>.step { font-weight: bold } text { fill: #222 } @media (prefers-color-scheme: dark) { text { fill: #ddd } }</style>
<text x="10" y="20" font-size="14">Seconds with %d objects, on a logarithmic scale: shorter is faster</text>
%s</svg>
`, pictureWidth, y, t.size, bars.String())
}
