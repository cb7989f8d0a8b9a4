package podlogs

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Entry is an error in a log, with the lines that belong to it, such as a traceback.
type Entry struct {
	Container Container
	Time      time.Time // of the first line
	Lines     []string  // at least one
}

// ReadErrors reads the logs of containers, and returns the errors in them by time. Its error is that of [Read].
func ReadErrors(ctx context.Context, reader Reader, containers []Container, o Options) ([]Entry, error) {
	found := make([]errorsOf, len(containers))
	err := readAll(ctx, reader, containers, o, func(i int, l Line) { found[i].add(l) })
	var all []Entry
	for _, f := range found {
		all = append(all, f.entries...)
	}
	slices.SortStableFunc(all, func(a, b Entry) int { return a.Time.Compare(b.Time) })
	return all, err
}

// errorHead matches the beginning of a line that reports an error, up to its message: of oslo.log, which begins each
// line of a traceback with the head of the error, of MariaDB, RabbitMQ and Apache, of Open vSwitch and OVN, of
// libvirt, and of oslo.log in JSON.
var errorHead = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`\d{4}-\d\d-\d\d[ T][\d:.,]+Z? (?:\d+ )?(?:ERROR|CRITICAL) \S+ `,
	`(?i:\d{4}-\d\d-\d\d[ T]+[\d:.,+-]+Z? (?:\d+ )?\[(?:error|critical|emergency|alert)\] ?)`,
	`(?i:\[[^\]]*\] \[[a-z_]*:?(?:error|crit|alert|emerg)\] ?)`,
	`[^ |]+\|\d+\|[^|]*\|(?:ERR|EMER)\|`,
	`\d{4}-\d\d-\d\d [\d:.+]+: \d+: error : `,
	`\{"message": .*"levelname": "(?:ERROR|CRITICAL)"`,
}, "|") + `)`)

// ownHead matches the beginning of lines that are no part of the message before.
var ownHead = regexp.MustCompile(`^(?:\[|\{"message": |\d{4}-\d\d-\d\d[ T|])`)

// tracebackHead begins a traceback of Python that no logger wrote.
const tracebackHead = "Traceback (most recent call last):"

// errorsOf collects the errors in the log of one container.
type errorsOf struct {
	entries []Entry
	open    bool   // the next line may belong to the last entry
	head    string // of the last entry; empty: a traceback without one
}

func (e *errorsOf) add(l Line) {
	head := errorHead.FindString(l.Text)
	switch {
	case e.open && head != "" && head == e.head:
		last := &e.entries[len(e.entries)-1]
		last.Lines = append(last.Lines, l.Text[len(head):])
	case head != "" || l.Text == tracebackHead && !e.open:
		e.entries = append(e.entries, Entry{l.Container, l.Time, []string{l.Text}})
		e.open, e.head = true, head
	case ownHead.MatchString(l.Text):
		e.open = false
	case e.open:
		last := &e.entries[len(e.entries)-1]
		last.Lines = append(last.Lines, l.Text)
	}
}
