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

// receive runs a command in a container, and writes its output to dst. An output that was cut off is an
// error: a connection may end early without one. So a shell in the container adds a mark when the
// command has succeeded.
func receive(ctx context.Context, shell Shell, pod types.NamespacedName, container string, command []string, dst io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	marked := &marked{dst: dst, mark: []byte(rand.Text()), cancel: cancel}
	return marked.end(shell.Stream(ctx, pod, container, append([]string{"sh", "-c", `"$@" && printf %s "$0"`, string(marked.mark)}, command...), nil, marked))
}

// marked writes everything but the mark at the end. An error of dst ends the command: the connection would
// read all of its output first, and forget the error.
type marked struct {
	mu     sync.Mutex
	dst    io.Writer
	cancel func()
	mark   []byte
	held   []byte // the last bytes, as many as the mark has
	err    error  // of dst
	over   bool
}

// Write implements io.Writer.
func (m *marked) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.over {
		return 0, errors.New("nobody reads the output any more")
	}
	m.held = append(m.held, p...)
	if n := len(m.held) - len(m.mark); n > 0 {
		if _, err := m.dst.Write(m.held[:n]); err != nil {
			m.err, m.over = err, true
			m.cancel()
			return 0, err
		}
		m.held = append(m.held[:0], m.held[n:]...)
	}
	return len(p), nil
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
	case err == nil && !bytes.Equal(m.held, m.mark):
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
