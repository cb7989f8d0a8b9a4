package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http/httptest"
	"os"

	"github.com/rogpeppe/go-internal/testscript"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/internal/dev/kubelettest"
	"kolla.openstack.org/kolla/internal/dev/mariadbtest"
	"kolla.openstack.org/kolla/internal/dev/rabbitmqtest"
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
	}, func(statement string) error { return appendLine(statements, statement) })
	ts.Check(err)
	ts.Defer(func() { _ = server.Listener.Close() })
	startKubelet(ts, args[0], "3306", server.Listener.Addr().String())
}

// startRabbitMQ starts a server that answers as RabbitMQ's management API does, and a kubelet that forwards
// port 15672 of the pod POD to it: rabbitmq POD DATABASE REQUESTS. The files and the variable are as for
// mariadb.
func startRabbitMQ(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: rabbitmq POD DATABASE REQUESTS")
	}
	database, requests := ts.MkAbs(args[1]), ts.MkAbs(args[2])
	server := httptest.NewServer(&rabbitmqtest.Server{
		Read: func() (*rabbitmqtest.Database, error) {
			content, err := os.ReadFile(database)
			if err != nil {
				return nil, err
			}
			d := &rabbitmqtest.Database{}
			return d, json.Unmarshal(content, d)
		},
		Note: func(request string) error { return appendLine(requests, request) },
	})
	ts.Defer(server.Close)
	startKubelet(ts, args[0], "15672", server.Listener.Addr().String())
}

// appendLine adds a line to a file.
func appendLine(path, line string) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(file, line)
	return errors.Join(err, file.Close())
}

// startKubelet starts a kubelet that forwards a port of a pod of the script's namespace to an address. The
// variable KUBELET_PORT gets its port.
func startKubelet(ts *testscript.TestScript, name, number, address string) {
	certificate, err := clustertest.KubeletCertificate()
	ts.Check(err)
	namespace := ts.Getenv("NS")
	kubelet := kubelettest.Start(certificate, func(in, pod, port string) string {
		switch {
		case in != namespace || pod != name:
			return ""
		case port == number:
			return address
		}
		return "127.0.0.1:1" // nothing listens
	})
	ts.Defer(kubelet.Close)
	_, port, err := net.SplitHostPort(kubelet.Listener.Addr().String())
	ts.Check(err)
	ts.Setenv("KUBELET_PORT", port)
}
