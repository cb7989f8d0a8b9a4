package terminal

import (
	"fmt"
	"strings"

	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/view/screen"
)

// About describes a plan in a few lines for a decision: the target, the number of changes and
// the dangers. server is the URL of the cluster, context the context of the kubeconfig, which
// may be empty.
func About(doc *report.Plan, server, context string, options Options, stream screen.Stream) []screen.Line {
	cluster, cloud := server, doc.Cloud
	if context != "" {
		cluster += ", context " + context
	}
	if doc.Namespace != "" {
		cloud += ", namespace " + doc.Namespace
	}
	rows := [][2]screen.Line{
		{screen.Text("  Cloud"), screen.Styled(screen.Bold, cloud)},
		{screen.Text("  Cluster"), screen.Styled(screen.Bold, cluster)},
	}
	if doc.Elsewhere != "" {
		rows = append(rows, [2]screen.Line{screen.Text("  Outside"), screen.Text(doc.Elsewhere)})
	}
	if options.Saved {
		rows = append(rows, [2]screen.Line{screen.Text("  Plan"), screen.Text(fmt.Sprintf("%s, made %s", doc.ID, doc.Made))})
	}
	rows = append(rows, [2]screen.Line{screen.Text("  Changes"), screen.Text(strings.TrimPrefix(doc.Summary, "Plan: ") + doc.OutputCount)})
	for i, fact := range doc.Dangers(options.Full) {
		label := screen.Text("")
		if i == 0 {
			label = screen.Styled(screen.Danger, "  Grave")
		}
		rows = append(rows, [2]screen.Line{label, screen.Styled(screen.Danger, fact)})
	}
	out := []screen.Line{nil}
	const column = 11
	for _, row := range rows {
		for i, part := range screen.Wrap(row[1].String(), max(stream.ProseWidth()-column, 40)) {
			if i > 0 {
				row[0], part = nil, "  "+part
			}
			out = append(out, row[0].Pad(column).Then(screen.Styled(row[1][0].Style, part)))
		}
	}
	if options.Saved {
		out = append(out, nil) // no question follows
	}
	return out
}
