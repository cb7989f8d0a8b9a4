package backup

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"kolla.openstack.org/kolla/internal/base/crash"
)

// attended runs a command, the arguments from $1, and prints a mark, $0, and the status of the command. It
// ends when its input does.
const attended = `"$@" </dev/null; status=$?; printf %s%03d "$0" $status; cat >/dev/null; exit $status`

// receive runs a command in a container, and writes its output to dst. An output that was cut off is an
// error: a connection may end early without one. So a shell in the container adds a mark at the end. It ends
// only after the mark has arrived: the API server resets a connection whose last output is not read within
// ten seconds after the end of the command, and dst may be slow.
func receive(ctx context.Context, shell Shell, pod types.NamespacedName, container string, command []string, dst io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	waits, arrived := io.Pipe()
	defer func() { _ = waits.Close() }() // never fails
	defer context.AfterFunc(ctx, func() { _ = arrived.Close() })()
	marked := &marked{dst: dst, mark: []byte(rand.Text()), cancel: cancel, arrived: arrived}
	return marked.end(shell.Stream(ctx, pod, container, append([]string{"sh", "-c", attended, string(marked.mark)}, command...), waits, marked))
}

// marked writes everything but the mark and the status at the end. An error of dst ends the command: the
// connection would read all of its output first, and forget the error.
type marked struct {
	mu      sync.Mutex
	dst     io.Writer
	cancel  func()
	mark    []byte
	arrived io.Closer // is closed when the mark has arrived
	held    []byte    // the last bytes, as many as the mark and the status have
	err     error     // of dst
	over    bool
}

// statusSize is the number of digits of the status after the mark.
const statusSize = 3

// Write implements io.Writer.
func (m *marked) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over {
		return 0, errors.New("nobody reads the output any more")
	}
	m.held = append(m.held, p...)
	if n := len(m.held) - len(m.mark) - statusSize; n > 0 {
		if _, err := m.dst.Write(m.held[:n]); err != nil {
			m.err, m.over = err, true
			m.cancel()
			return 0, err
		}
		m.held = append(m.held[:0], m.held[n:]...)
	}
	if m.complete() {
		_ = m.arrived.Close() // of a pipe, which never fails
	}
	return len(p), nil
}

// complete reports whether the mark has arrived, with the status.
func (m *marked) complete() bool {
	return len(m.held) == len(m.mark)+statusSize && bytes.HasPrefix(m.held, m.mark)
}

// end stops the writing, which may go on after a context has ended. err is the error of the connection. end
// returns the error that came first, or an error if the mark is missing.
func (m *marked) end(err error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.over = true
	switch {
	case m.err != nil:
		return m.err
	case err == nil && !m.complete():
		return errors.New("the connection ended before the output was complete")
	}
	return err
}

// send runs a command in a container with src as its input. An error of src ends the command.
func send(ctx context.Context, shell Shell, pod types.NamespacedName, container string, command []string, src io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	input := &input{src: src, cancel: cancel}
	err := shell.Stream(ctx, pod, container, command, input, io.Discard)
	if failed := input.end(); failed != nil {
		return failed
	}
	return err
}

// input passes src on, and keeps its error.
type input struct {
	mu     sync.Mutex
	src    io.Reader
	cancel func()
	err    error
	over   bool
}

// Read implements io.Reader. It reports an error of src as the end, after it has cancelled the command.
func (i *input) Read(p []byte) (int, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.over {
		return 0, io.EOF
	}
	n, err := i.src.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		i.err = err
		i.cancel()
		return 0, io.EOF
	}
	return n, err
}

// end stops the reading, which may go on after the command has ended, and returns the error of src.
func (i *input) end() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.over = true
	return i.err
}

// piped is a file that is sent while it is being written.
type piped struct {
	*io.PipeWriter
	done chan error
}

// pipe returns a file whose content a function reads. After an error, writing fails with that error.
func pipe(send func(io.Reader) error) piped {
	reader, writer := io.Pipe()
	p := piped{writer, make(chan error, 1)}
	go func() {
		err := crash.Catch(func() error { return send(reader) })
		reader.CloseWithError(cmp.Or(err, io.ErrClosedPipe))
		p.done <- err
	}()
	return p
}

// Close implements io.Closer. It waits until the content is sent.
func (p piped) Close() error { return errors.Join(p.PipeWriter.Close(), <-p.done) }
