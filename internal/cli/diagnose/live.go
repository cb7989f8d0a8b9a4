package diagnose

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"kolla.openstack.org/kolla/internal/cli/command"
	"kolla.openstack.org/kolla/internal/present/view/screen"
)

// lookPause is the pause between two looks of -watch.
const lookPause = 2 * time.Second

// live shows looks at a cluster: once, or with -watch until the context ends.
type live[L any] struct {
	look  func(context.Context) (*L, error)
	json  func(look *L, out io.Writer, indent string) error
	table func(out io.Writer, look *L) error
	// changes prints a line for each difference, after the time. before may be nil.
	changes func(out io.Writer, before, now *L, at string)
}

// show shows a look, or looks until the context ends, and returns the last one.
func (v live[L]) show(w *command.Workspace) (*L, error) {
	if w.Flags.Bool("watch") {
		return v.watch(w)
	}
	now, err := v.look(w.Flags.Context)
	if err != nil {
		return nil, err
	}
	if w.Flags.Bool("json") {
		return now, v.json(now, w.Streams.Out, "  ")
	}
	return now, v.table(w.Streams.Out, now)
}

// watch shows looks until the context ends, and returns the last one.
func (v live[L]) watch(w *command.Workspace) (*L, error) {
	ctx := w.Flags.Context
	var last *L
	for {
		now, err := v.look(ctx)
		if err != nil && (ctx.Err() == nil || last == nil) {
			return nil, err
		}
		if err == nil {
			if err := v.showChange(w, last, now); err != nil {
				return nil, err
			}
			last = now
		}
		select {
		case <-ctx.Done():
			return last, nil
		case <-time.After(lookPause):
		}
	}
}

// showChange shows a look of a watch. before is the last look; nil: there was none.
func (v live[L]) showChange(w *command.Workspace, before, now *L) error {
	out := w.Streams.Out
	if w.Flags.Bool("json") {
		var old, line bytes.Buffer
		if err := v.json(now, &line, ""); err != nil {
			return err
		}
		if before != nil {
			if err := v.json(before, &old, ""); err != nil {
				return err
			}
		}
		if bytes.Equal(old.Bytes(), line.Bytes()) {
			return nil
		}
		_, err := out.Write(line.Bytes())
		return err
	}
	at := time.Now().Format(time.TimeOnly)
	terminal := screen.NewStream(out, true)
	if !terminal.Terminal {
		v.changes(out, before, now, at)
		return nil
	}
	var page bytes.Buffer
	fmt.Fprintf(&page, "%s  kolla %s -watch, until Ctrl-C\n\n", at, w.Flags.Command.Name)
	if err := v.table(&page, now); err != nil {
		return err
	}
	return terminal.Redraw(page.String())
}
