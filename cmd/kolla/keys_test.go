package main

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/crypto/ssh"

	"kolla.openstack.org/kolla/lang/configs"
)

// secretValues reads a Secret of the script's namespace.
func secretValues(ts *testscript.TestScript, name string) map[string][]byte {
	ts.Check(ts.Exec("kubectl", "-n", ts.Getenv("NS"), "get", "secret", name, "-o", "jsonpath={.data}"))
	var encoded map[string]string
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &encoded))
	values := map[string][]byte{}
	for key, text := range encoded {
		value, err := base64.StdEncoding.DecodeString(text)
		ts.Check(err)
		values[key] = value
	}
	return values
}

// talksTLS makes a TLS connection between a server with the certificate of a Secret and a client
// that trusts the CA of another Secret: talkstls SECRET CA HOST.
func talksTLS(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: [!] talkstls SECRET CA HOST")
	}
	values := secretValues(ts, args[0])
	pair, err := tls.X509KeyPair(values[configs.KeyCertificate], values[configs.KeyKey])
	ts.Check(err)
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(secretValues(ts, args[1])[configs.KeyCertificate]) {
		ts.Fatalf("Secret %s has no certificate", args[1])
	}
	server, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}})
	ts.Check(err)
	defer server.Close()
	go func() {
		if conn, err := server.Accept(); err == nil {
			_ = conn.(*tls.Conn).Handshake() // the client says what is wrong
			conn.Close()
		}
	}()
	client, err := tls.Dial("tcp", server.Addr().String(), &tls.Config{RootCAs: roots, ServerName: args[2]})
	if err == nil {
		client.Close()
	}
	if neg == (err == nil) {
		ts.Fatalf("a handshake with %s by the certificate of %s: %v", args[2], args[0], err)
	}
}

// signsSSH signs with the private key of a Secret, and verifies the signature with the public key:
// signsssh SECRET TYPE.
func signsSSH(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: signsssh SECRET TYPE")
	}
	values := secretValues(ts, args[0])
	signer, err := ssh.ParsePrivateKey(values[configs.KeyPrivate])
	ts.Check(err)
	if !bytes.HasPrefix(values[configs.KeyPrivate], []byte("-----BEGIN OPENSSH PRIVATE KEY-----\n")) {
		ts.Fatalf("the private key is not in the format of OpenSSH")
	}
	public, _, _, rest, err := ssh.ParseAuthorizedKey(values[configs.KeyPublic])
	ts.Check(err)
	if len(rest) > 0 || public.Type() != args[1] {
		ts.Fatalf("the public key is of type %s, with %d bytes after it", public.Type(), len(rest))
	}
	signature, err := signer.Sign(rand.Reader, []byte("text"))
	ts.Check(err)
	ts.Check(public.Verify([]byte("text"), signature))
}
