package view

import (
	"io"
	"slices"
	"strings"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"kolla.openstack.org/kolla/internal/base/foreign"
	"kolla.openstack.org/kolla/internal/base/words"
	"kolla.openstack.org/kolla/internal/present/report/applied"
	"kolla.openstack.org/kolla/internal/present/view/screen"
	"kolla.openstack.org/kolla/lang/addrs"
)

// liveRows is the number of running actions in the live view.
const liveRows = 12

// live is the part of the screen that is rewritten all the time: the running actions and
// the progress of the whole. Text that is written to it appears above.
type live struct {
	container *mpb.Progress
	bar       *mpb.Bar
}

// newLive begins to show the progress.
func newLive(p *Progress) *live {
	container := mpb.New(
		mpb.WithOutput(p.stream.Writer),
		mpb.WithAutoRefresh(),
		mpb.WithWidth(p.stream.Width),
	)
	rows := mpb.BarFillerFunc(func(w io.Writer, stat decor.Statistics) error {
		var b strings.Builder
		lines := p.rows(time.Now(), stat.AvailableWidth)
		slices.Reverse(lines) // rows above a bar are added from bottom to top
		for _, l := range lines {
			l.Render(&b, p.stream.Color)
			b.WriteByte('\n')
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
	total := mpb.BarFillerFunc(func(w io.Writer, _ decor.Statistics) error {
		_, err := io.WriteString(w, p.tally(time.Now()))
		return err
	})
	bar := container.MustAdd(0, total, mpb.BarExtender(rows, true), mpb.BarFillerTrim())
	return &live{container: container, bar: bar}
}

// Write puts finished lines above the live ones.
func (l *live) Write(b []byte) (int, error) { return l.container.Write(b) }

// close removes the live lines from the screen.
func (l *live) close() {
	l.bar.Abort(true)
	l.container.Wait()
}

// rows shows the running actions, each in one line of at most width columns.
func (p *Progress) rows(now time.Time, width int) []screen.Line {
	p.mu.Lock()
	defer p.mu.Unlock()
	running := longestFirst(p.running)
	out := p.outage.row(now, width)
	for i, t := range running {
		if i == liveRows && len(running) > liveRows+1 {
			out = append(out, screen.Styled(screen.Faint, "  and "+words.Count(len(running)-i, "more object")))
			break
		}
		status := applied.Doing(t.action)
		if t.status != "" {
			status = "waiting: " + t.status
		}
		took := " (" + words.Duration(now.Sub(t.begun).Truncate(time.Second)) + ")"
		out = append(out, liveRow(t.action.Address, status, took, width))
	}
	return out
}

// liveRow is one line that never wraps: a wrapped line cannot be removed again. It keeps
// the block of the address, which has the name of the service, and the duration. It
// shortens the kind, the rest of the name and the status, in this order.
func liveRow(address addrs.Object, status, took string, width int) screen.Line {
	room := width - 1
	status = foreign.Text(status)
	name := foreign.Text(address.String())
	if screen.Columns(name)+screen.Columns(status)+screen.Columns(took)+4 > room {
		name = shortAddress(address, room*3/5)
	}
	head := "  " + name + ": "
	status = screen.Truncate(status, max(room-screen.Columns(head)-screen.Columns(took), 1), "…")
	return screen.Text(screen.Truncate(head+status+took, room, "…"))
}

// shortAddress returns an address without the kind, in at most the given number of columns. It
// keeps the block and the end of the name, or the end of a long block.
func shortAddress(address addrs.Object, room int) string {
	const minName = 8 // minimum columns of a readable name
	block, object := foreign.Text(address.Block), foreign.Text(address.Name)
	if n := screen.Columns(block); n > room {
		return "…" + dropColumns(block, n-room+1)
	}
	spare := room - screen.Columns(block) - screen.Columns("/…/")
	if screen.Columns(object) <= spare {
		return block + "/…/" + object
	}
	if spare < minName {
		return block
	}
	return block + "/…" + dropColumns(object, screen.Columns(object)-spare)
}

// tally counts finished and failed actions.
func (p *Progress) tally(now time.Time) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := screen.Styled(screen.Bold, screen.Textf("%d of %d", p.over, p.total).String())
	if p.failed > 0 {
		l = l.Then(screen.Text(", "), screen.Styled(screen.Danger, screen.Textf("%d failed", p.failed).String()))
	}
	l = l.Then(screen.Text(" (" + words.Duration(now.Sub(p.begun).Truncate(time.Second)) + ")"))
	var b strings.Builder
	l.Render(&b, p.stream.Color)
	return b.String()
}
