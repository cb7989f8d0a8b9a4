package terminal

import (
	"kolla.openstack.org/kolla/internal/present/report"
	"kolla.openstack.org/kolla/internal/present/view/screen"
)

// The lines by which tfcmt finds the parts of a plan (github.com/suzuki-shunsuke/tfcmt,
// pkg/terraform/parser.go). They are Terraform's, to the letter.
const (
	tfcmtOutside = "Note: Objects have changed outside of Terraform"
	tfcmtEnd     = "Unless you have made equivalent changes to your configuration, an apply deals with these as said above."
	tfcmtChanges = "Terraform will perform the following actions:"
	tfcmtRule    = "─────────────────────────────────────────────────────────────────────────────"
)

// Tfcmt renders a plan for tfcmt, which turns it into a comment for code review. Warnings come
// first: tfcmt takes everything from the first warning, perhaps one above this page, to the first
// rule. Results of policies count as changes in a plan without changes, because tfcmt shows no
// other part of such a plan.
func Tfcmt(doc *report.Plan, options Options, stream screen.Stream) []screen.Line {
	p := page{doc: doc, options: options, out: stream, width: stream.Width}
	out := append(sections(warnings(p)), screen.Text(tfcmtRule))
	if outside := sections(drift(p), replaced(p), yielded(p), added(p)); len(outside) > 0 {
		out = append(append(out, screen.Text(tfcmtOutside), nil), outside...)
		out = append(out, nil, screen.Text(tfcmtEnd), nil, screen.Text(tfcmtRule))
	}
	if len(doc.Actions) > 0 || doc.Policies != nil && len(doc.Policies.Unmet) > 0 {
		out = append(out, screen.Text(tfcmtChanges), nil)
	}
	first, last := tfcmtVerdict(p)
	out = append(out, sections(
		compared(p), scope(p), upgrade(p), losses(p), destroyed(p), forced(p), p.actions(p.items()), kept(p), impact(p), grave(p),
		unverified(p), pending(p), policies(p), first, last,
	)...)
	return append(out, nil, screen.Text(tfcmtRule))
}

// tfcmtVerdict returns the summary and the outputs in Terraform's order. tfcmt judges a plan by the
// first of the two. If outputs came first, it would say that only outputs change, and would not
// warn of deletions.
func tfcmtVerdict(p page) (first, last []screen.Line) {
	if len(p.doc.Actions) == 0 {
		return outputs(p), summary(p)
	}
	return summary(p), outputs(p)
}

// sections puts empty lines between sections.
func sections(all ...[]screen.Line) []screen.Line {
	var out []screen.Line
	for _, section := range all {
		if len(section) == 0 {
			continue
		}
		if len(out) > 0 {
			out = append(out, nil)
		}
		out = append(out, section...)
	}
	return out
}
