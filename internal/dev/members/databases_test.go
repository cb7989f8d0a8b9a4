package members_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
	batchv1 "k8s.io/api/batch/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"

	"kolla.openstack.org/kolla/lang"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/mariadb"
	"kolla.openstack.org/kolla/providers/openstack"
)

// books is the configuration of a service with a database.
const books = `
service "books" {}

definition "books" {
  database "book_shop" {}
}
`

// bookPassword has what is special in SQL.
const bookPassword = `the books' \ "password"`

// jobOf renders the job that makes the database of books.
func jobOf(t *testing.T) (o providers.Object, script []string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), fmt.Appendf(nil, cloudWith+books, 1), 0o644); err != nil {
		t.Fatal(err)
	}
	config, diags := lang.Load(dir, lang.Options{Catalogue: openstack.Catalogue()})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	objects, diags := openstack.Render(config, openstack.Offline())
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	at := slices.IndexFunc(objects, func(o providers.Object) bool {
		return o.IsJob() && o.Registers != nil && o.Registers.Database != nil
	})
	if at < 0 {
		t.Fatal("no job makes a database")
	}
	var job batchv1.Job
	if err := k8sruntime.DefaultUnstructuredConverter.FromUnstructured(objects[at].Manifest.Object, &job); err != nil {
		t.Fatal(err)
	}
	c := job.Spec.Template.Spec.Containers[0]
	script = []string{"env"}
	for _, e := range c.Env {
		switch {
		case e.Name == "DB_PASSWORD":
			e.Value = bookPassword
		case e.Name == "MYSQL_HOST":
			e.Value = "127.0.0.1" // the job runs beside the server
		}
		script = append(script, e.Name+"="+e.Value)
	}
	return objects[at], slices.Concat(script, c.Command, c.Args)
}

// ports connects to ports of members, in their networks.
type ports struct{ c *cluster }

// Forward implements providers.Forwarder.
func (p ports) Forward(ctx context.Context, to providers.PodPort) (net.Conn, error) {
	for _, m := range p.c.members {
		if fmt.Sprintf("mariadb-server-%d", m.number) == to.Pod {
			return dialIn(ctx, m.netns, to.Port)
		}
	}
	return nil, &providers.NoAnswerError{Namespace: to.Namespace, Pod: to.Pod, Why: "it does not exist"}
}

// dialIn connects to a loopback port in a network namespace.
func dialIn(ctx context.Context, netns string, port int) (net.Conn, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	own, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(own) }()
	other, err := unix.Open("/run/netns/"+netns, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(other) }()
	if err := unix.Setns(other, unix.CLONE_NEWNET); err != nil {
		return nil, err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if back := unix.Setns(own, unix.CLONE_NEWNET); back != nil {
		panic(back) // other tests would run in the wrong network
	}
	return conn, err
}

// TestDatabases changes what the job of a database has made on a real server. Each time, a plan sees the
// difference, and none after the job ran again.
func TestDatabases(t *testing.T) {
	c := newCluster(t, 1)
	c.shape(t, 1)
	c.start(t, 0)
	server := c.members[0]
	eventually(t, server.ready)
	object, script := jobOf(t)
	wanted := object.Registers
	run := func(t *testing.T) {
		t.Helper()
		if out, err := server.exec(script...); err != nil {
			t.Fatalf("the job: %v\n%s", err, out)
		}
	}
	values := func(_, name string) map[string][]byte {
		switch name {
		case wanted.Database.Server.Password.Name:
			return map[string][]byte{wanted.Database.Server.Password.Key: []byte(password)}
		case wanted.Database.Password.Name:
			return map[string][]byte{wanted.Database.Password.Key: []byte(bookPassword)}
		}
		return nil
	}
	compare := func(t *testing.T) (paths []string) {
		t.Helper()
		r := mariadb.New(ports{c}, values)
		defer r.Close()
		found, err := r.Compare(t.Context(), wanted)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range found {
			paths = append(paths, d.Path)
		}
		return paths
	}
	if found := compare(t); len(found) != 3 {
		t.Errorf("before the job: %v", found)
	}
	run(t)
	if found := compare(t); len(found) > 0 {
		t.Errorf("after the job: %v", found)
	}
	const (
		name       = `databases["book_shop"].name`
		set        = `databases["book_shop"].character_set`
		user       = `users["book_shop"].name`
		locked     = `users["book_shop"].locked`
		secret     = `users["book_shop"].password`
		privileges = `users["book_shop"].privileges["book_shop"]`
	)
	for what, change := range map[string]struct {
		sql  string
		want []string
	}{
		"database deleted":    {"DROP DATABASE book_shop", []string{name}},
		"character set":       {"ALTER DATABASE book_shop CHARACTER SET latin1", []string{set}},
		"user deleted":        {"DROP USER book_shop@'%'", []string{user, privileges}},
		"user locked":         {"ALTER USER book_shop@'%' ACCOUNT LOCK", []string{locked}},
		"password":            {"ALTER USER book_shop@'%' IDENTIFIED BY 'another'", []string{secret}},
		"no password":         {"ALTER USER book_shop@'%' IDENTIFIED BY ''", []string{secret}},
		"ways to log in":      {"ALTER USER book_shop@'%' IDENTIFIED VIA unix_socket OR mysql_native_password USING PASSWORD('another')", nil},
		"one privilege":       {"REVOKE LOCK TABLES ON book_shop.* FROM book_shop@'%'", []string{privileges}},
		"all privileges":      {"REVOKE ALL PRIVILEGES, GRANT OPTION FROM book_shop@'%'", []string{privileges}},
		"for a similar name":  {`REVOKE ALL PRIVILEGES, GRANT OPTION FROM book_shop@'%'; GRANT ALL ON books.* TO book_shop@'%'`, []string{privileges}},
		"by a quoted name":    {"REVOKE ALL PRIVILEGES, GRANT OPTION FROM book_shop@'%'; GRANT ALL ON `book\\_shop`.* TO book_shop@'%'", nil},
		"privileges of more":  {"GRANT ALL ON *.* TO book_shop@'%' WITH GRANT OPTION", nil},
		"with a grant option": {"GRANT ALL ON book_shop.* TO book_shop@'%' WITH GRANT OPTION", nil},
	} {
		t.Run(what, func(t *testing.T) {
			if _, err := server.query(change.sql); err != nil {
				t.Fatal(err)
			}
			if found := compare(t); !slices.Equal(found, change.want) {
				t.Errorf("a plan sees %v, want %v", found, change.want)
			}
			run(t)
			if left := compare(t); len(left) > 0 {
				t.Errorf("after the job: %v", left)
			}
		})
	}
	t.Run("cells", func(t *testing.T) {
		if _, err := server.query(`CREATE TABLE book_shop.cell_mappings (uuid VARCHAR(36), name VARCHAR(255), transport_url TEXT, database_connection TEXT) CHARACTER SET utf8mb3;
INSERT INTO book_shop.cell_mappings VALUES ('1', 'cell1', 'rabbit://a:b@c/d', CONVERT(X'6D7973716C3A2F2FC3A9' USING utf8mb3)), ('2', NULL, NULL, NULL)`); err != nil {
			t.Fatal(err)
		}
		r := mariadb.New(ports{c}, values)
		defer r.Close()
		cells := &providers.CellRegistration{Database: "book_shop", Server: wanted.Database.Server, Cells: []providers.RegisteredCell{
			{Name: "cell1", TransportURL: []providers.DataPart{{Literal: "rabbit://a:b@c/d"}}, DatabaseConnection: []providers.DataPart{{Literal: "mysql://é"}}},
			{Name: "cell2"},
		}}
		cells.Server.Username, cells.Server.Password = wanted.Database.User, wanted.Database.Password
		found, err := r.Compare(t.Context(), &providers.Registration{Cells: cells})
		if err != nil || len(found) != 1 || found[0].Path != `cells["cell2"].name` {
			t.Errorf("%+v, %v", found, err)
		}
	})
}
