package openstack_test

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// withCryptography returns a Python that has the module cryptography.
func withCryptography(t *testing.T) string {
	t.Helper()
	for _, interpreter := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(interpreter, "-c", "import cryptography").Run() == nil {
			return interpreter
		}
	}
	t.Skip("NOT RUN: there is no python3 with cryptography to run nova/certificates.py with")
	return ""
}

// hypervisor runs certificates.py for a node, and returns the directory with the files.
func hypervisor(t *testing.T, secret, ip, network string) (dir, output string, err error) {
	t.Helper()
	interpreter := withCryptography(t)
	file := filepath.Join(t.TempDir(), "migration.key")
	if err := os.WriteFile(file, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "pki")
	output, err = pythonWith(t, interpreter, "nova/certificates.py", []string{file, dir}, "NODE_IP="+ip, "NETWORK="+network)
	return dir, output, err
}

// pki has the paths of the certificates and keys of one program.
type pki struct{ authority, server, serverKey, client, clientKey string }

func libvirtOf(dir string) pki {
	in := func(name string) string { return filepath.Join(dir, "libvirt", name) }
	return pki{in("cacert.pem"), in("servercert.pem"), in("serverkey.pem"), in("clientcert.pem"), in("clientkey.pem")}
}

func qemuOf(dir string) pki {
	in := func(name string) string { return filepath.Join(dir, "qemu", name) }
	return pki{in("ca-cert.pem"), in("server-cert.pem"), in("server-key.pem"), in("client-cert.pem"), in("client-key.pem")}
}

// tlsOf returns the TLS configuration of one end of a connection: its certificate, and the
// authority that it trusts.
func tlsOf(t *testing.T, authority, certificate, key string) *tls.Config {
	t.Helper()
	text, err := os.ReadFile(authority)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		t.Fatalf("%s has no certificate", authority)
	}
	own, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{own}, RootCAs: pool,
		ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
	}
}

// connect makes a TLS connection from one node to another, by an address. It returns the name in
// the client's certificate, and the errors of both ends.
func connect(t *testing.T, from, to pki, address string) (name string, client, server error) {
	t.Helper()
	dialled := tlsOf(t, from.authority, from.client, from.clientKey)
	dialled.ServerName = address
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	one, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	other, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	accepted := tls.Server(other, tlsOf(t, to.authority, to.server, to.serverKey))
	done := make(chan error)
	go func() { done <- accepted.Handshake() }()
	if client = tls.Client(one, dialled).Handshake(); client != nil {
		_ = one.Close()
	}
	server = <-done
	if peers := accepted.ConnectionState().PeerCertificates; len(peers) > 0 {
		name = peers[0].Subject.String()
	}
	return name, client, server
}

// TestCertificates checks that hypervisors with the same secret accept each other under the address
// that they connect to, that they refuse a hypervisor with another secret, and that libvirt and
// QEMU refuse each other.
func TestCertificates(t *testing.T) {
	dirs := map[string]string{}
	for node, c := range map[string]struct{ secret, ip string }{
		"a": {"secret", "192.0.2.1"}, "b": {"secret", "2001:db8::2"}, "strange": {"another", "192.0.2.3"},
	} {
		dir, output, err := hypervisor(t, c.secret, c.ip, "")
		if err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		address, err := os.ReadFile(filepath.Join(dir, "address"))
		if err != nil || string(address) != c.ip {
			t.Errorf("node %s has the address %q, %v", node, address, err)
		}
		dirs[node] = dir
	}
	programs := map[string]func(string) pki{"libvirt": libvirtOf, "qemu": qemuOf}
	others := map[string]func(string) pki{"libvirt": qemuOf, "qemu": libvirtOf}
	for program, of := range programs {
		a, b, strange, other := of(dirs["a"]), of(dirs["b"]), of(dirs["strange"]), others[program](dirs["b"])
		for name, c := range map[string]struct {
			from, to pki
			address  string
			fails    bool
		}{
			"a to b":               {a, b, "2001:db8::2", false},
			"b to a":               {b, a, "192.0.2.1", false},
			"another address":      {b, a, "192.0.2.2", true},
			"to another authority": {a, strange, "192.0.2.3", true},
			"to another program":   {a, pki{a.authority, other.server, other.serverKey, "", ""}, "2001:db8::2", true},
			"of another program":   {pki{a.authority, "", "", other.client, other.clientKey}, b, "2001:db8::2", true},
			"of another authority": {pki{a.authority, "", "", strange.client, strange.clientKey}, b, "2001:db8::2", true},
		} {
			who, client, server := connect(t, c.from, c.to, c.address)
			if failed := client != nil || server != nil; failed != c.fails {
				t.Errorf("%s, %s: %v, %v", program, name, client, server)
			}
			if !c.fails && who != "CN="+program {
				t.Errorf("%s, %s: the client is %s", program, name, who)
			}
		}
	}
	if a, b, strange := sshIdentity(t, dirs["a"]), sshIdentity(t, dirs["b"]), sshIdentity(t, dirs["strange"]); a != b || a == strange {
		t.Errorf("the nodes have the keys %s, %s and, with another secret, %s", a, b, strange)
	}
	holdUsage(t, libvirtOf(dirs["a"]), qemuOf(dirs["a"]))
	holdPrivate(t, dirs["a"])
}

// sshIdentity returns the fingerprint of a node's key of SSH. It checks that the node accepts this key
// from clients, without any forwarding, and from every server.
func sshIdentity(t *testing.T, dir string) string {
	t.Helper()
	read := func(name string) []byte {
		raw, err := os.ReadFile(filepath.Join(dir, "ssh", name))
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	own, err := ssh.ParsePrivateKey(read("identity"))
	if err != nil {
		t.Fatal(err)
	}
	want := ssh.FingerprintSHA256(own.PublicKey())
	client, _, options, _, err := ssh.ParseAuthorizedKey(read("authorized"))
	if err != nil || ssh.FingerprintSHA256(client) != want || !slices.Equal(options, []string{"restrict"}) {
		t.Errorf("%s accepts the client %v with the options %q, %v", dir, client, options, err)
	}
	_, hosts, server, _, _, err := ssh.ParseKnownHosts(read("known"))
	if err != nil || ssh.FingerprintSHA256(server) != want || !slices.Equal(hosts, []string{"*"}) {
		t.Errorf("%s accepts the server %v at %q, %v", dir, server, hosts, err)
	}
	return want
}

// holdUsage checks the key usage of certificates. libvirt and QEMU refuse a certificate without
// either of the two usages, whatever the type of the key.
func holdUsage(t *testing.T, of ...pki) {
	t.Helper()
	const want = x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment
	for _, p := range of {
		for _, file := range []string{p.server, p.client} {
			own := tlsOf(t, p.authority, file, map[string]string{p.server: p.serverKey, p.client: p.clientKey}[file]).Certificates[0].Leaf
			if own.KeyUsage != want || own.IsCA {
				t.Errorf("%s is for %b, authority: %v", file, own.KeyUsage, own.IsCA)
			}
		}
	}
}

// holdPrivate checks that only the owner can read the files, and that no temporary file is left.
func holdPrivate(t *testing.T, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm() != 0o600 || strings.HasSuffix(path, ".new") {
			t.Errorf("%s has %v", path, info.Mode())
		}
		return nil
	})
	if err != nil || files != 14 {
		t.Errorf("%d files, %v", files, err)
	}
}

// TestMigrationNetwork checks the choice of the address for live migration.
func TestMigrationNetwork(t *testing.T) {
	for network, want := range map[string]string{"127.0.0.0/8": "127.0.0.1", "127.0.0.1/32": "127.0.0.1", "198.51.100.0/24": "", "2001:db8::/32": "", "eth1": ""} {
		dir, output, err := hypervisor(t, "secret", "192.0.2.1", network)
		if network == "eth1" {
			if err == nil || !strings.HasPrefix(output, "migration_network is eth1, and has to be a network") {
				t.Errorf("%q, %v", output, err)
			}
			continue
		}
		if want == "" {
			if err == nil || output != "The node has no address in migration_network "+network+".\n" {
				t.Errorf("%s: %q, %v", network, output, err)
			}
			continue
		}
		address, err := os.ReadFile(filepath.Join(dir, "address"))
		if err != nil || string(address) != want {
			t.Errorf("%s: %q, %v", network, address, err)
		}
		_, client, server := connect(t, libvirtOf(dir), libvirtOf(dir), want)
		if client != nil || server != nil {
			t.Errorf("%s: %v, %v", network, client, server)
		}
	}
}
