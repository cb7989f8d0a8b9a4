package fabric

import (
	"fmt"
	"runtime"

	"github.com/vishvananda/netns"
)

// namespace is a network namespace. It exists until this process, and all others that hold it,
// end.
type namespace struct {
	handle netns.NsHandle
}

// newNamespace makes an empty one, without entering it.
func newNamespace() (namespace, error) {
	var n namespace
	err := onOwnThread(func() error {
		handle, err := netns.New()
		if err != nil {
			return fmt.Errorf("make network namespace: %w", err)
		}
		n.handle = handle
		return nil
	})
	return n, err
}

// do runs work in the namespace. Sockets that it opens stay there, whichever
// thread uses them afterwards.
func (n namespace) do(work func() error) error {
	return onOwnThread(func() error {
		if err := netns.Set(n.handle); err != nil {
			return fmt.Errorf("enter network namespace: %w", err)
		}
		return work()
	})
}

// onOwnThread runs work on a thread that ends afterwards, together with the changes that work
// made to it.
func onOwnThread(work func() error) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		done <- work()
	}()
	return <-done
}
