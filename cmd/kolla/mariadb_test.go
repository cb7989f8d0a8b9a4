package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/rogpeppe/go-internal/testscript"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/internal/dev/kubelettest"
	"kolla.openstack.org/kolla/internal/dev/mariadbtest"
)

// startMariaDB starts a server that answers as MariaDB does, with what a file contains at the time of a
// statement, and a kubelet that forwards port 3306 of the pod POD to it: mariadb POD DATABASE STATEMENTS.
// It writes logins and statements to the file STATEMENTS. The variable KUBELET_PORT gets the port of the
// kubelet.
func startMariaDB(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: mariadb POD DATABASE STATEMENTS")
	}
	database, statements := ts.MkAbs(args[1]), ts.MkAbs(args[2])
	server, err := mariadbtest.Start(func() (*mariadbtest.Database, error) {
		content, err := os.ReadFile(database)
		if err != nil {
			return nil, err
		}
		d := &mariadbtest.Database{}
		return d, json.Unmarshal(content, d)
	}, func(statement string) error {
		file, err := os.OpenFile(statements, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(file, statement)
		return errors.Join(err, file.Close())
	})
	ts.Check(err)
	ts.Defer(func() { _ = server.Listener.Close() })
	certificate, err := clustertest.KubeletCertificate()
	ts.Check(err)
	namespace := ts.Getenv("NS")
	kubelet := kubelettest.Start(certificate, func(in, pod, port string) string {
		switch {
		case in != namespace || pod != args[0]:
			return ""
		case port == "3306":
			return server.Listener.Addr().String()
		}
		return "127.0.0.1:1" // nothing listens
	})
	ts.Defer(kubelet.Close)
	_, port, err := net.SplitHostPort(kubelet.Listener.Addr().String())
	ts.Check(err)
	ts.Setenv("KUBELET_PORT", port)
}
