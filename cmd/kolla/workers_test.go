package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"kolla.openstack.org/kolla/internal/cli"
)

// Starting the test binary as kolla takes as much processor time as a small plan. Therefore the
// kolla in the PATH of tests is testdata/client. It asks a worker: a process of the test binary
// that runs one command line after another. With KOLLA_TEST_PROCESS=1 in its environment, the
// client becomes a process of kolla instead. With -parallel=1, command lines run in the process of
// the test, where a debugger finds them.

// processVariable is the environment variable that makes the client become a process of kolla.
const processVariable = "KOLLA_TEST_PROCESS"

// workers has the processes that run command lines for clients.
type workers struct {
	program string // path of the test binary, named kolla

	running sync.WaitGroup
	mutex   sync.Mutex
	idle    []*net.UnixConn // connections to workers that have nothing to do
	stopped bool            // workers end when they become idle
}

// startWorkers installs the client in place of the test binary kolla, which is the first one in
// PATH, and runs command lines for it until the returned function is called.
func startWorkers() (stop func(), err error) {
	client, err := exec.LookPath("kolla")
	if err != nil {
		return nil, err
	}
	home := filepath.Dir(client)
	w := &workers{program: filepath.Join(home, "process", "kolla")}
	if err := os.Mkdir(filepath.Dir(w.program), 0o755); err != nil {
		return nil, err
	}
	if err := os.Rename(client, w.program); err != nil {
		return nil, err
	}
	build := exec.Command("go", "build", "-o", client, "./testdata/client")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build testdata/client: %w\n%s", err, out)
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(home, "workers"), Net: "unix"})
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			connection, err := listener.AcceptUnix()
			if err != nil {
				return // closed
			}
			if flag.Lookup("test.parallel").Value.String() == "1" {
				serveInside(connection)
				continue
			}
			go w.dispatch(connection)
		}
	}()
	return func() { listener.Close(); w.stop() }, nil
}

// dispatch lets a worker serve a client.
func (w *workers) dispatch(client *net.UnixConn) {
	worker, err := w.take()
	if err == nil {
		err = passOn(worker, client)
	}
	client.Close()
	if err != nil {
		fmt.Fprintln(os.Stderr, "kolla of scripts:", err)
		return
	}
	if _, err := worker.Read(make([]byte, 1)); err != nil { // it ended with its client
		worker.Close()
		return
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.stopped {
		worker.Close()
		return
	}
	w.idle = append(w.idle, worker)
}

// take returns the connection to a worker that has nothing to do.
func (w *workers) take() (*net.UnixConn, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if n := len(w.idle); n > 0 {
		worker := w.idle[n-1]
		w.idle = w.idle[:n-1]
		return worker, nil
	}
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "worker"), os.NewFile(uintptr(pair[1]), "client")
	defer ours.Close()
	defer theirs.Close()
	process := exec.Command(w.program)
	process.Args[0] = workerName
	process.ExtraFiles = []*os.File{theirs}
	process.Stderr = os.Stderr
	if err := process.Start(); err != nil {
		return nil, err
	}
	w.running.Go(func() { _ = process.Wait() }) // it may have been killed with its client
	return unixConn(ours)
}

// stop ends all workers, and waits for their ends.
func (w *workers) stop() {
	w.mutex.Lock()
	w.stopped = true
	for _, worker := range w.idle {
		worker.Close()
	}
	w.mutex.Unlock()
	w.running.Wait()
}

// workerName is the program name that makes the test binary a worker.
const workerName = "kolla-worker"

// work serves the clients whose connections come through file 3, until file 3 is closed.
func work() {
	control, err := unixConn(os.NewFile(3, "control"))
	if err != nil {
		panic(err)
	}
	for {
		files, err := receive(control, 1)
		if err != nil {
			os.Exit(0)
		}
		client, err := unixConn(files[0])
		if err != nil {
			panic(err)
		}
		serve(client, func() { os.Exit(1) })
		if _, err := control.Write([]byte{0}); err != nil {
			os.Exit(0)
		}
	}
}

// serveInside serves a client in the process of the test.
func serveInside(client *net.UnixConn) {
	directory, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	environ := os.Environ()
	serve(client, func() {})
	enter(directory, environ)
}

// serve runs the command line of a client. If the client ends before the command, serve calls gone.
func serve(client *net.UnixConn, gone func()) {
	defer client.Close()
	files, err := receive(client, 3)
	if err != nil {
		return
	}
	for _, file := range files {
		defer file.Close()
	}
	var request struct {
		Args, Environ []string
		Directory     string
	}
	messages := json.NewDecoder(client)
	if err := messages.Decode(&request); err != nil {
		return
	}
	enter(request.Directory, request.Environ)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var done atomic.Bool
	go func() {
		var message string
		for messages.Decode(&message) == nil {
			if ctx.Err() != nil { // a second signal ends kolla
				break
			}
			cancel()
		}
		if !done.Load() {
			gone()
		}
	}()
	code := cli.Run(ctx, request.Args, files[0], files[1], files[2])
	done.Store(true)
	_, _ = client.Write([]byte{byte(code)}) // the write fails if the client is gone
}

// enter gives this process the directory and the environment of a client.
func enter(directory string, environ []string) {
	os.Clearenv()
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	if err := os.Chdir(directory); err != nil {
		panic(err)
	}
}

// passOn gives a worker the connection to a client.
func passOn(worker, client *net.UnixConn) error {
	file, err := client.File()
	if err != nil {
		return err
	}
	defer file.Close()
	_, _, err = worker.WriteMsgUnix([]byte{0}, syscall.UnixRights(int(file.Fd())), nil)
	return err
}

// receive returns the files that come with the next byte of a connection.
func receive(from *net.UnixConn, count int) ([]*os.File, error) {
	rights := make([]byte, syscall.CmsgSpace(4*count))
	_, n, _, _, err := from.ReadMsgUnix(make([]byte, 1), rights)
	if err != nil {
		return nil, err
	}
	messages, err := syscall.ParseSocketControlMessage(rights[:n])
	if err != nil {
		return nil, err
	}
	if len(messages) != 1 {
		return nil, errors.New("no files came")
	}
	numbers, err := syscall.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, err
	}
	files := make([]*os.File, len(numbers))
	for i, number := range numbers {
		syscall.CloseOnExec(number)
		files[i] = os.NewFile(uintptr(number), fmt.Sprintf("file %d of a client", i))
	}
	return files, nil
}

// unixConn makes a connection of a file, and closes the file.
func unixConn(file *os.File) (*net.UnixConn, error) {
	defer file.Close()
	connection, err := net.FileConn(file)
	if err != nil {
		return nil, err
	}
	return connection.(*net.UnixConn), nil
}
