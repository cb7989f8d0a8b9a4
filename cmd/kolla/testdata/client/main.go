// Command client is the kolla of scripts: it has a worker run its command line, with its own
// files, directory and environment, and ends as the worker says.
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	code, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "kolla of scripts:", err)
		code = 2
	}
	os.Exit(code)
}

func run() (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	home := filepath.Dir(self)
	if os.Getenv("KOLLA_TEST_PROCESS") != "" {
		return 0, syscall.Exec(filepath.Join(home, "process", "kolla"), os.Args, os.Environ())
	}
	directory, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	worker, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: filepath.Join(home, "workers"), Net: "unix"})
	if err != nil {
		return 0, err
	}
	if _, _, err := worker.WriteMsgUnix([]byte{0}, syscall.UnixRights(0, 1, 2), nil); err != nil {
		return 0, err
	}
	messages := json.NewEncoder(worker)
	if err := messages.Encode(map[string]any{"Args": os.Args, "Environ": os.Environ(), "Directory": directory}); err != nil {
		return 0, err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for range signals {
			_ = messages.Encode("interrupt")
		}
	}()
	code := make([]byte, 1)
	if _, err := worker.Read(code); err != nil {
		return 0, fmt.Errorf("the worker ended: %w", err)
	}
	return int(code[0]), nil
}
