package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"kolla.openstack.org/kolla/internal/dev/keystonetest"
)

// startKeystone starts a server that answers as Keystone does, with what a file contains at the time
// of a request: keystone DATABASE REQUESTS. It writes requests to the file REQUESTS. The variables
// KEYSTONE_ADDRESS and KEYSTONE_PORT get the address of the server.
func startKeystone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: keystone DATABASE REQUESTS")
	}
	database, requests := ts.MkAbs(args[0]), ts.MkAbs(args[1])
	server, err := keystonetest.Start(func() (*keystonetest.Database, error) {
		content, err := os.ReadFile(database)
		if err != nil {
			return nil, err
		}
		d := &keystonetest.Database{}
		return d, json.Unmarshal(content, d)
	}, func(request string) error {
		file, err := os.OpenFile(requests, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(file, request)
		return errors.Join(err, file.Close())
	})
	ts.Check(err)
	ts.Defer(server.Close)
	address, port, _ := strings.Cut(server.Listener.Addr().String(), ":")
	ts.Setenv("KEYSTONE_ADDRESS", address)
	ts.Setenv("KEYSTONE_PORT", port)
}
