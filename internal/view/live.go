package view

import (
	"io"
	"slices"
	"strings"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"kolla.openstack.org/kolla/internal/foreign"
)

// liveRows is how many running actions the live view has room for.
const liveRows = 12

// live is the part of the screen that is written anew all the time: what is
// running, and how far the whole has come. What is written to it goes above.
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
		slices.Reverse(lines) // rows above a bar are added upwards
		for _, l := range lines {
			l.render(&b, p.stream.Color)
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

// close takes the live lines off the screen.
func (l *live) close() {
	l.bar.Abort(true)
	l.container.Wait()
}

// rows shows what is running, each in one line of at most width columns.
func (p *Progress) rows(now time.Time, width int) []line {
	p.mu.Lock()
	defer p.mu.Unlock()
	running := p.inOrder()
	out := p.outage.row(now, width)
	for i, t := range running {
		if i == liveRows && len(running) > liveRows+1 {
			out = append(out, styled(faint, "  and "+count(len(running)-i, "more object")))
			break
		}
		status := doing(t.action)
		if t.status != "" {
			status = "waiting: " + t.status
		}
		status += " (" + duration(now.Sub(t.begun).Truncate(time.Second)) + ")"
		out = append(out, liveRow(t.action.Address.String(), status, width))
	}
	return out
}

// liveRow is one line that never wraps: a line that did could not be taken back.
func liveRow(address, status string, width int) line {
	room := width - 1
	head := "  " + address + ": "
	if columns(head)+columns(foreign.Text(status)) > room {
		// The end of the address says more than its beginning.
		spare := max(room-columns(foreign.Text(status))-4, 12)
		if n := columns(address); n > spare {
			head = "  …" + dropColumns(address, n-spare+1) + ": "
		}
	}
	return text(terminal.Truncate(head+foreign.Text(status), room, "…"))
}

// tally says how far the whole has come.
func (p *Progress) tally(now time.Time) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := styled(bold, textf("%d of %d", p.over, p.total).String())
	if p.failed > 0 {
		l = l.then(text(", "), styled(danger, textf("%d failed", p.failed).String()))
	}
	l = l.then(text(" (" + duration(now.Sub(p.begun).Truncate(time.Second)) + ")"))
	var b strings.Builder
	l.render(&b, p.stream.Color)
	return b.String()
}
