package acceptance_test

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

func memcached(c container) {
	c.configure("/usr/bin/memcached -l 127.0.0.1 -p 11211 -U 0", "memcached", map[string]string{"/etc/memcached/test": "first"})
	r := c.start()
	r.becomes("healthcheck_listen", "memcached", "11211")
	if err := r.exec("", "healthcheck_listen", "memcached", "11212"); err == nil {
		c.Error("healthcheck_listen finds a port that nobody listens on")
	}
	if err := r.exec("", "healthcheck_port", "memcached", "11211"); err == nil {
		c.Error("healthcheck_port finds a connection that nobody has made")
	}

	// Kolla's tools run this check before they restart a container.
	if err := r.exec("root", "kolla_set_configs", "--check"); err != nil {
		c.Error(err)
	}
	c.configure("/usr/bin/memcached -l 127.0.0.1 -p 11211 -U 0", "memcached", map[string]string{"/etc/memcached/test": "second"})
	if err := r.exec("root", "kolla_set_configs", "--check"); err == nil {
		c.Error("kolla_set_configs finds no difference where there is one")
	}
	r.stops(10 * time.Second)
}

// ceph checks that the image has the programs of a Ceph cluster. A test in internal/dev/realcloud
// uses them in a cloud.
func ceph(c container) {
	for _, program := range []string{"ceph", "ceph-authtool", "ceph-mgr", "ceph-mon", "ceph-osd", "rbd"} {
		c.succeeds(program, "--version")
	}
	c.succeeds("ls", "/usr/lib/x86_64-linux-gnu/rados-classes/libcls_rbd.so")
	if id := c.account("ceph")[2]; id != "64045" {
		c.Errorf("the user ceph is %s", id)
	}
}

func mariadb(c container) {
	c.configure("/usr/bin/mariadbd-safe", "mysql", map[string]string{"/etc/mysql/my.cnf": `
[mysqld]
bind_address = 127.0.0.1
socket = /var/lib/mysql/mariadb.sock
[client]
socket = /var/lib/mysql/mariadb.sock
`})
	c.once("KOLLA_BOOTSTRAP=", "DB_ROOT_PASSWORD=secret")
	r := c.start()
	query := func(password string) []string {
		return []string{"mariadb", "--host=127.0.0.1", "--user=root", "--password=" + password, "--execute=SELECT 1"}
	}
	r.becomes(query("secret")...)
	if err := r.exec("", query("wrong")...); err == nil {
		c.Error("a wrong password is taken")
	}
}

func rabbitmq(c container) {
	c.configure("/usr/sbin/rabbitmq-server", "rabbitmq", map[string]string{
		"/etc/rabbitmq/rabbitmq.conf": "listeners.tcp.local = 127.0.0.1:5672\nlog.console = true\n",
	})
	c.once("KOLLA_BOOTSTRAP=", "RABBITMQ_CLUSTER_COOKIE=chocolate")
	if cookie := c.read("var/lib/rabbitmq/.erlang.cookie"); cookie != "chocolate" {
		c.Errorf("the cookie is %q", cookie)
	}
	r := c.start()
	r.becomes("healthcheck_rabbitmq")
	r.becomes("healthcheck_listen", "beam.smp", "5672")
	// Debian's own start script neither passes the signal on nor prints the log.
	r.stops(60 * time.Second)
	if !strings.Contains(r.logged(), "Server startup complete") {
		c.Errorf("the log does not go to the standard output:\n%s", r.logged())
	}
}

func valkey(c container) {
	r := c.direct("valkey", "/var/lib/valkey", nil, "sh", "-euc", "cd /var/lib/valkey\necho port 6400 > conf\nexec "+c.image+" conf")
	r.becomes("sh", "-c", "valkey-cli -p 6400 ping | grep -q PONG")
	r.stops(20 * time.Second)
}

func keystone(c container) {
	c.configure("uwsgi --ini /etc/keystone/keystone-uwsgi.ini", "keystone", map[string]string{
		"/etc/keystone/keystone.conf": "[DEFAULT]\nuse_stderr = true\n[database]\nconnection = sqlite:////var/lib/keystone/db\n",
		"/etc/keystone/keystone-uwsgi.ini": `
[uwsgi]
http-socket = 127.0.0.1:5000
module = keystone.wsgi.api:application
plugins-dir = /usr/lib/uwsgi/plugins
plugins = python3
uid = keystone
master = true
lazy-apps = true
need-app = true
`,
	})
	if entries, err := os.ReadDir(filepath.Join(c.root, "etc/keystone")); err != nil || len(entries) > 0 {
		c.Errorf("/etc/keystone holds %v (%v): what Debian brings would be merged into what is configured", entries, err)
	}
	c.once("KOLLA_BOOTSTRAP=")
	c.once("KOLLA_UPGRADE=")
	c.once("KOLLA_FINISH_UPGRADE=")
	c.succeeds("keystone-manage", "fernet_setup", "--keystone-user", "keystone", "--keystone-group", "keystone")
	c.succeeds("/var/lib/kolla/venv/bin/python3", "-c", "import keystone, sys; assert sys.prefix == '/var/lib/kolla/venv'")
	r := c.start()
	r.config.User = "root" // the image sets no user
	r.becomes("healthcheck_curl", "http://127.0.0.1:5000/v3")
	if err := r.exec("root", "healthcheck_curl", "http://127.0.0.1:5000/nowhere"); err == nil {
		c.Error("healthcheck_curl takes an error for an answer")
	}
}
