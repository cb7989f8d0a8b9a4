package view

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"kolla.openstack.org/kolla/lang/addrs"
)

// Applied is how an apply went.
type Applied struct {
	// What was carried out, counted as in the plan's summary.
	Added, Changed, Destroyed, Imported, Forgotten, Moved, Pruned int
	// Destroy: the plan was to destroy everything.
	Destroy bool
	// Interrupted: the operator stopped it.
	Interrupted bool
	// Saved: the plan came from a file, and cannot be applied again.
	Saved   bool
	Failed  []Failed
	Skipped []Skipped
	Took    time.Duration
}

// Failed is an action that was begun and failed.
type Failed struct {
	Address addrs.Object
	Source  string   // where the object is declared, "cloud.hcl:41"; may be empty
	Reason  string   // one line
	Detail  []string // what there is to know, line by line as it is: events, last log lines
	Advice  string   // running text: how to mend it; may be empty
	After   time.Duration
	// Others failed for the very same reason.
	Others []addrs.Object
}

// Skipped is an action that was not begun.
type Skipped struct {
	Address addrs.Object
	// Because is the failed action that it depends on; zero: the apply was
	// interrupted before.
	Because addrs.Object
	// Data are what it waited for, which was not read; nil: it waited for no data.
	Data []string
}

// Applied prints how an apply went: what failed to standard error; what was skipped
// because of it, and the closing line, to standard output. The error is that of writing to
// standard output.
func (p *Printer) Applied(a Applied) error {
	p.events.applied(a, p.ofFailure)
	var skipped error
	if len(a.Skipped) > 0 { // before the errors, so that these stay on the screen
		skipped = p.Out.print(append([]line{nil}, a.skipped()...))
	} else if len(a.Failed) > 0 {
		p.tell([]line{nil})
	}
	for _, f := range a.Failed {
		p.tell(f.lines(p.Err))
	}
	return errors.Join(skipped, p.Out.print(a.closing()), p.events.failure())
}

// lines is the failure in the look of a diagnostic, with its log as it is.
func (f Failed) lines(s Stream) []line {
	where := text("  with ").then(styled(bold, f.Address.String()))
	if f.Source != "" {
		where = where.then(text(", declared at " + f.Source))
	}
	if f.After > 0 {
		where = where.then(text(", after " + duration(f.After)))
	}
	places := []line{where}
	for _, other := range f.Others {
		places = append(places, text("  with ").then(styled(bold, other.String())))
	}
	out := message{summary: f.Reason, where: fewer(places), detail: f.Advice}.lines(s.inner(detailIndent))
	for _, d := range f.Detail {
		for _, l := range strings.Split(strings.TrimRight(d, "\n"), "\n") {
			out = append(out, text("    "+l))
		}
	}
	if len(f.Detail) > 0 {
		out = append(out, nil)
	}
	return out
}

// skipped lists what was not begun, with the failure that it waited for.
func (a Applied) skipped() []line {
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
	var out []line
	for _, cause := range order {
		title := text("Skipped because ").then(styled(bold, cause.String()), text(" failed:"))
		if cause == (addrs.Object{}) {
			title = text("Not begun, because the apply was interrupted:")
		}
		out = append(append(append(out, title), byBlock(byCause[cause])...), nil)
	}
	if len(later) > 0 {
		out = append(append(append(out, text("Not begun, because it could only be planned after the rest:")), byBlock(later)...), nil)
	}
	return out
}

// skippedBlocks is how many blocks are named of what was not begun.
const skippedBlocks = 8

// byBlock lists addresses; where they are many, how many there are in which blocks.
func byBlock(addresses []addrs.Object) []line {
	var out []line
	if len(addresses) <= similar {
		for _, address := range addresses {
			out = append(out, text("  "+address.String()))
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
			return append(out, textf("  and %s of %s", count(left, "object"), count(len(blocks)-i, "more block")))
		}
		out = append(out, text("  ").then(styled(bold, block), text(": "+count(members[block], "object"))))
		left -= members[block]
	}
	return out
}

// closing is the last line, Terraform's where all went well, and how to go on
// where it did not.
func (a Applied) closing() []line {
	took := text("It took " + duration(a.Took) + ".")
	if a.complete() {
		return []line{nil, a.sentence(), took}
	}
	again := "kolla apply"
	if a.Destroy {
		again = "kolla destroy"
	}
	advice := fmt.Sprintf("Fix what failed and run %q again: it goes on from here.", again)
	switch {
	case a.Saved && len(a.Failed) > 0:
		advice = "Fix what failed and make a new plan: this one is used up."
	case a.Saved:
		advice = "Make a new plan for the rest: this one is used up."
	case a.Interrupted:
		advice = fmt.Sprintf("Run %q again: it goes on from here.", again)
	}
	return []line{a.sentence(), took.then(text(" " + advice))}
}

func (a Applied) complete() bool { return len(a.Failed) == 0 && len(a.Skipped) == 0 && !a.Interrupted }

func (a Applied) failures() int {
	n := len(a.Failed)
	for _, f := range a.Failed {
		n += len(f.Others)
	}
	return n
}

// sentence counts what was done.
func (a Applied) sentence() line {
	verb := "Apply"
	resources := fmt.Sprintf("%d added, %d changed, %d destroyed", a.Added, a.Changed, a.Destroyed)
	if a.Imported > 0 {
		resources = fmt.Sprintf("%d imported, %s", a.Imported, resources)
	}
	if a.Forgotten > 0 {
		resources += fmt.Sprintf(", %d forgotten", a.Forgotten)
	}
	if a.Moved > 0 {
		resources += fmt.Sprintf(", %d moved", a.Moved)
	}
	if a.Pruned > 0 {
		resources += fmt.Sprintf(", %d pruned", a.Pruned)
	}
	if a.Destroy {
		verb = "Destroy"
		resources = fmt.Sprintf("%d destroyed", a.Destroyed)
		if a.Changed > 0 { // their fields were removed
			resources += fmt.Sprintf(", %d changed", a.Changed)
		}
		if a.Forgotten > 0 {
			resources += fmt.Sprintf(", %d forgotten", a.Forgotten)
		}
	}
	if a.complete() {
		return styled(added, verb+" complete!").then(text(" Resources: " + resources + "."))
	}
	return styled(danger, verb+" incomplete:").then(text(" " + resources + "; " + a.shortfall() + "."))
}

// shortfall counts what was not done, in the words "1 failed, 2 skipped".
func (a Applied) shortfall() string {
	var parts []string
	missing := "skipped"
	if a.Interrupted {
		parts = append(parts, "interrupted")
		missing = "not begun"
	}
	if n := a.failures(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", n))
	}
	if n := len(a.Skipped); n > 0 {
		parts = append(parts, fmt.Sprintf("%d %s", n, missing))
	}
	return strings.Join(parts, ", ")
}
