package view

import (
	"errors"
	"strings"

	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/report/applied"
	"kolla.openstack.org/kolla/internal/present/view/screen"
	"kolla.openstack.org/kolla/internal/present/view/terminal"
	"kolla.openstack.org/kolla/lang/addrs"
)

// Applied prints the result of an apply: messages of jobs and failures to standard error, skipped
// actions and the closing line to standard output. The error is that of writing to standard output.
func (p *Printer) Applied(a applied.Result) error {
	if len(a.Messages) > 0 {
		p.tell([]screen.Line{nil})
		p.Problems(a.Messages)
	}
	p.Events.Applied(a)
	var skipped error
	if len(a.Skipped) > 0 { // before the errors, so that these stay on the screen
		skipped = p.Out.Print(append([]screen.Line{nil}, skippedLines(a)...))
	} else if len(a.Failed) > 0 {
		p.tell([]screen.Line{nil})
	}
	for _, f := range a.Failed {
		p.tell(failureLines(f, p.Err))
	}
	return errors.Join(skipped, p.Out.Print(closing(a)), p.Events.Err())
}

// failureLines shows a failure like a diagnostic, with its log unchanged.
func failureLines(f applied.Failed, s screen.Stream) []screen.Line {
	where := screen.Text("  with ").Then(screen.Styled(screen.Bold, f.Address.String()))
	if f.Source != "" {
		where = where.Then(screen.Text(", declared at " + f.Source))
	}
	if f.After > 0 {
		where = where.Then(screen.Text(", after " + words.Duration(f.After)))
	}
	places := []screen.Line{where}
	for _, other := range f.Others {
		places = append(places, screen.Text("  with ").Then(screen.Styled(screen.Bold, other.String())))
	}
	out := terminal.Message{Summary: f.Reason, Where: terminal.Fewer(places), Detail: f.Advice}.Lines(s.Inner(terminal.DetailIndent))
	for _, d := range f.Detail {
		for _, l := range strings.Split(strings.TrimRight(d, "\n"), "\n") {
			out = append(out, screen.Text("    "+l))
		}
	}
	if len(f.Detail) > 0 {
		out = append(out, nil)
	}
	return out
}

// skippedLines lists the actions that were not begun, by the failure that each waited for.
func skippedLines(a applied.Result) []screen.Line {
	var order []addrs.Object
	byCause := map[addrs.Object][]addrs.Object{}
	var later []addrs.Object
	for _, s := range a.Skipped {
		if s.Data != nil {
			later = append(later, s.Address)
			continue
		}
		if _, seen := byCause[s.Because]; !seen {
			order = append(order, s.Because)
		}
		byCause[s.Because] = append(byCause[s.Because], s.Address)
	}
	var out []screen.Line
	for _, cause := range order {
		title := screen.Text("Skipped because ").Then(screen.Styled(screen.Bold, cause.String()), screen.Text(" failed:"))
		if cause == (addrs.Object{}) {
			title = screen.Text("Not begun, because the apply was interrupted:")
		}
		out = append(append(append(out, title), byBlock(byCause[cause])...), nil)
	}
	if len(later) > 0 {
		out = append(append(append(out, screen.Text("Not begun, because it could only be planned after the rest:")), byBlock(later)...), nil)
	}
	return out
}

// skippedBlocks is the number of blocks that a list of skipped actions names.
const skippedBlocks = 8

// byBlock lists a few addresses. It counts many addresses by block.
func byBlock(addresses []addrs.Object) []screen.Line {
	var out []screen.Line
	if len(addresses) <= report.Similar {
		for _, address := range addresses {
			out = append(out, screen.Text("  "+address.String()))
		}
		return out
	}
	var blocks []string
	members := map[string]int{}
	for _, address := range addresses {
		if members[address.Block] == 0 {
			blocks = append(blocks, address.Block)
		}
		members[address.Block]++
	}
	left := len(addresses)
	for i, block := range blocks {
		if i == skippedBlocks && len(blocks) > skippedBlocks+1 {
			return append(out, screen.Textf("  and %s of %s", words.Count(left, "object"), words.Count(len(blocks)-i, "more block")))
		}
		out = append(out, screen.Text("  ").Then(screen.Styled(screen.Bold, block), screen.Text(": "+words.Count(members[block], "object"))))
		left -= members[block]
	}
	return out
}

// closing returns the last line. It is Terraform's if everything went well. Otherwise the line
// after it says how to go on.
func closing(a applied.Result) []screen.Line {
	verdict, rest := a.Verdict()
	took := screen.Text("It took " + words.Duration(a.Took) + ".")
	if a.Complete() {
		return []screen.Line{nil, screen.Styled(screen.Added, verdict).Then(screen.Text(rest)), took}
	}
	out := []screen.Line{screen.Styled(screen.Danger, verdict).Then(screen.Text(rest))}
	for _, sentence := range a.Upgrade {
		out = append(out, screen.Text(sentence))
	}
	return append(out, took.Then(screen.Text(" "+a.Advice())))
}
