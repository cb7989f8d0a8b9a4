package mariadb_test

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/dev/mariadbtest"
	"kolla.openstack.org/kolla/lang/escape"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/mariadb"
)

const (
	rootPassword = "the administrator's password"
	password     = `it's "nova's" \ password`
)

// pods connects to servers in place of pods.
type pods map[string]string // addresses

func (p pods) Forward(ctx context.Context, to providers.PodPort) (net.Conn, error) {
	address, ok := p[to.Pod]
	if !ok {
		return nil, &providers.NoAnswerError{Namespace: to.Namespace, Pod: to.Pod, Why: "it does not exist"}
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", address)
}

// refusing refuses all connections.
type refusing struct{ err error }

func (r refusing) Forward(context.Context, providers.PodPort) (net.Conn, error) { return nil, r.err }

func values(_, name string) map[string][]byte {
	return map[string]map[string][]byte{
		"mariadb-root":       {"value": []byte(rootPassword)},
		"nova-database-nova": {"password": []byte(password)},
	}[name]
}

func hash(password string) string {
	one := sha1.Sum([]byte(password))
	return fmt.Sprintf("*%X", sha1.Sum(one[:]))
}

// privileges returns a row of mysql.db with all privileges, but those to grant others.
func privileges(user, database string) mariadbtest.Row {
	r := mariadbtest.Row{"Host": "%", "Db": database, "User": user, "Grant_priv": "N"}
	for _, name := range []string{"Select", "Insert", "Update", "Create_tmp_table", "Lock_tables", "Create_view", "Delete_history"} {
		r[name+"_priv"] = "Y"
	}
	return r
}

// made returns a server with what the job of Nova's database makes.
func made() *mariadbtest.Database {
	return &mariadbtest.Database{Password: rootPassword, Tables: map[string][]mariadbtest.Row{
		"information_schema.SCHEMATA": {
			{"SCHEMA_NAME": "mysql", "DEFAULT_CHARACTER_SET_NAME": "utf8mb4"},
			{"SCHEMA_NAME": "nova_api", "DEFAULT_CHARACTER_SET_NAME": "utf8mb3"},
		},
		"mysql.global_priv": {
			{"User": "root", "Priv": map[string]any{"access": -1, "plugin": "mysql_native_password", "authentication_string": hash(rootPassword)}},
			{"User": "nova", "Priv": map[string]any{"access": 0, "plugin": "mysql_native_password", "authentication_string": hash(password)}},
		},
		"mysql.db": {privileges("nova", "nova_api")},
	}}
}

func wanted() *providers.DatabaseRegistration {
	return &providers.DatabaseRegistration{
		Server: providers.PodServer{
			Members:  []providers.PodPort{{Namespace: "openstack", Pod: "mariadb-server-0", Port: 3306}},
			Username: "root", Password: providers.SecretKey{Namespace: "openstack", Name: "mariadb-root", Key: "value"},
		},
		Name: "nova_api", CharacterSet: "utf8mb3", User: "nova", Privileges: []string{providers.AllPrivileges},
		Password: providers.SecretKey{Namespace: "openstack", Name: "nova-database-nova", Key: "password"},
	}
}

func compare(t *testing.T, forwarder providers.Forwarder, w *providers.DatabaseRegistration) ([]providers.Difference, error) {
	t.Helper()
	r := mariadb.New(forwarder, values)
	defer r.Close()
	return r.Compare(t.Context(), &providers.Registration{Database: w})
}

// TestCompare changes a database, its user or the configuration, and checks the differences.
func TestCompare(t *testing.T) {
	type differences = []providers.Difference
	const all = "CREATE TEMPORARY TABLES, CREATE VIEW, DELETE HISTORY, INSERT, LOCK TABLES, SELECT, UPDATE"
	user := func(d *mariadbtest.Database) map[string]any {
		return d.Find("mysql.global_priv", "User", "nova")["Priv"].(map[string]any)
	}
	tests := map[string]struct {
		change func(d *mariadbtest.Database, w *providers.DatabaseRegistration)
		want   differences
	}{
		"the same": {func(*mariadbtest.Database, *providers.DatabaseRegistration) {}, nil},
		"the database deleted": {
			func(d *mariadbtest.Database, _ *providers.DatabaseRegistration) {
				d.Remove("information_schema.SCHEMATA", "SCHEMA_NAME", "nova_api")
			},
			differences{{Path: `databases["nova_api"].name`, Declared: "nova_api"}},
		},
		"another character set": {
			func(d *mariadbtest.Database, _ *providers.DatabaseRegistration) {
				d.Find("information_schema.SCHEMATA", "SCHEMA_NAME", "nova_api")["DEFAULT_CHARACTER_SET_NAME"] = "latin1"
			},
			differences{{Path: `databases["nova_api"].character_set`, Declared: "utf8mb3", Live: "latin1"}},
		},
		"the character set by its former name": {
			func(d *mariadbtest.Database, _ *providers.DatabaseRegistration) {
				d.Find("information_schema.SCHEMATA", "SCHEMA_NAME", "nova_api")["DEFAULT_CHARACTER_SET_NAME"] = "utf8"
			}, nil,
		},
		"any character set": {
			func(d *mariadbtest.Database, w *providers.DatabaseRegistration) {
				d.Find("information_schema.SCHEMATA", "SCHEMA_NAME", "nova_api")["DEFAULT_CHARACTER_SET_NAME"] = "latin1"
				w.CharacterSet = ""
			}, nil,
		},
		"the user deleted": {
			func(d *mariadbtest.Database, _ *providers.DatabaseRegistration) {
				d.Remove("mysql.global_priv", "User", "nova")
				d.Remove("mysql.db", "User", "nova")
			},
			differences{
				{Path: `users["nova"].name`, Declared: "nova"},
				{Path: `users["nova"].privileges["nova_api"]`, Declared: "ALL PRIVILEGES"},
			},
		},
		"the user locked, with another password": {
			func(d *mariadbtest.Database, _ *providers.DatabaseRegistration) {
				user(d)["account_locked"], user(d)["authentication_string"] = true, hash("another")
			},
			differences{
				{Path: `users["nova"].locked`, Declared: false, Live: true},
				{Path: `users["nova"].password`, Secret: true},
			},
		},
		"a hash in small letters": {
			func(d *mariadbtest.Database, _ *providers.DatabaseRegistration) {
				user(d)["authentication_string"] = strings.ToLower(hash(password))
			}, nil,
		},
		"a password with a salt": {
			func(d *mariadbtest.Database, _ *providers.DatabaseRegistration) {
				user(d)["plugin"], user(d)["authentication_string"] = "ed25519", "4LH+dBF+G5W2CKTyId8xR3SyDqZoQjUNUVNxx8aWbG4"
			}, nil,
		},
		"another way to log in": {
			func(d *mariadbtest.Database, _ *providers.DatabaseRegistration) {
				user(d)["authentication_string"] = hash("another")
				user(d)["auth_or"] = []any{map[string]any{}, map[string]any{"plugin": "unix_socket"}}
			}, nil,
		},
		"no password to compare": {
			func(d *mariadbtest.Database, w *providers.DatabaseRegistration) {
				user(d)["authentication_string"], w.Password = hash("another"), providers.SecretKey{}
			}, nil,
		},
		"a privilege taken away": {
			func(d *mariadbtest.Database, _ *providers.DatabaseRegistration) {
				d.Find("mysql.db", "User", "nova")["Lock_tables_priv"] = "N"
			},
			differences{{Path: `users["nova"].privileges["nova_api"]`, Declared: "ALL PRIVILEGES", Live: strings.Replace(all, "LOCK TABLES, ", "", 1)}},
		},
		"privileges by a quoted name": {
			func(d *mariadbtest.Database, _ *providers.DatabaseRegistration) {
				d.Find("mysql.db", "User", "nova")["Db"] = `nova\_api`
			}, nil,
		},
		"privileges for another database": {
			func(d *mariadbtest.Database, _ *providers.DatabaseRegistration) {
				d.Find("mysql.db", "User", "nova")["Db"] = "nova"
			},
			differences{{Path: `users["nova"].privileges["nova_api"]`, Declared: "ALL PRIVILEGES"}},
		},
		"some privileges, and more": {
			func(d *mariadbtest.Database, w *providers.DatabaseRegistration) {
				w.Privileges = []string{"SELECT", "CREATE TEMPORARY TABLES"}
				d.Find("mysql.db", "User", "nova")["Update_priv"] = "N"
			}, nil,
		},
		"one of some privileges missing": {
			func(d *mariadbtest.Database, w *providers.DatabaseRegistration) {
				w.Privileges = []string{"UPDATE", "SELECT"}
				d.Find("mysql.db", "User", "nova")["Update_priv"] = "N"
			},
			differences{{Path: `users["nova"].privileges["nova_api"]`, Declared: "SELECT, UPDATE", Live: strings.TrimSuffix(all, ", UPDATE")}},
		},
		"no user": {
			func(d *mariadbtest.Database, w *providers.DatabaseRegistration) {
				w.User = ""
				d.Remove("mysql.global_priv", "User", "nova")
			}, nil,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d, w := made(), wanted()
			test.change(d, w)
			server := mariadbtest.Of(t, d)
			got, err := compare(t, pods{"mariadb-server-0": server.Listener.Addr().String()}, w)
			if err != nil {
				t.Fatal(err)
			}
			for i := range test.want {
				test.want[i].Server = "MariaDB"
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStatements checks that all registrations share a login and tables, also at the same time, and that
// nothing is written.
func TestStatements(t *testing.T) {
	server := mariadbtest.Of(t, made())
	r := mariadb.New(pods{"mariadb-server-0": server.Listener.Addr().String()}, values)
	if found, err := r.Compare(t.Context(), &providers.Registration{}); found != nil || err != nil || len(server.Statements()) > 0 {
		t.Errorf("without a database: %v, %v", found, err)
	}
	var group sync.WaitGroup
	for range 10 {
		group.Go(func() {
			if _, err := r.Compare(t.Context(), &providers.Registration{Database: wanted()}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	got := map[string]int{}
	for _, statement := range server.Statements() {
		got[statement]++
	}
	want := map[string]int{
		"login root": 1,
		"SELECT SCHEMA_NAME, DEFAULT_CHARACTER_SET_NAME FROM information_schema.SCHEMATA": 1,
		"SELECT User, Priv FROM mysql.global_priv WHERE Host = '%'":                       1,
		"SELECT * FROM mysql.db WHERE Host = '%'":                                         1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("statements (-want +got):\n%s", diff)
	}
	if n := server.Open(); n != 1 {
		t.Errorf("%d connections are open", n)
	}
	r.Close()
	for deadline := time.Now().Add(time.Minute); server.Open() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("a connection stays open")
		}
	}
}

// TestMembers checks that the first member is asked that answers.
func TestMembers(t *testing.T) {
	away, here := made(), made()
	away.Refusal = &mariadbtest.Error{Number: 1047, Message: "WSREP has not yet prepared node for application use"}
	here.Remove("mysql.global_priv", "User", "nova")
	there := pods{}
	for name, d := range map[string]*mariadbtest.Database{"mariadb-server-1": away, "mariadb-server-2": here} {
		there[name] = mariadbtest.Of(t, d).Listener.Addr().String()
	}
	w := wanted()
	w.Server.Members = nil
	for _, name := range []string{"mariadb-server-0", "mariadb-server-1", "mariadb-server-2"} {
		w.Server.Members = append(w.Server.Members, providers.PodPort{Namespace: "openstack", Pod: name, Port: 3307})
	}
	got, err := compare(t, there, w)
	if err != nil || len(got) != 1 || got[0].Path != `users["nova"].name` {
		t.Errorf("got %+v, %v", got, err)
	}
	delete(there, "mariadb-server-2")
	const want = "MariaDB does not answer: mariadb-server-0: it does not exist; mariadb-server-1: Error 1047 (HY000): WSREP has not yet prepared node for application use; mariadb-server-2: it does not exist"
	if _, err := compare(t, there, w); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestUncompared checks the reason where MariaDB cannot be read. No reason contains a password or a hash.
func TestUncompared(t *testing.T) {
	denied := &providers.PermissionError{User: "jane", Verb: "create", Resource: "pods/portforward", Namespace: "openstack"}
	hangsUp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = hangsUp.Close() }()
	go func() {
		for conn, err := hangsUp.Accept(); err == nil; conn, err = hangsUp.Accept() {
			_ = conn.Close()
		}
	}()
	tests := map[string]struct {
		change func(d *mariadbtest.Database, w *providers.DatabaseRegistration)
		to     providers.Forwarder // nil: the server
		why    string
		advice string // a part
	}{
		"password": {
			change: func(d *mariadbtest.Database, _ *providers.DatabaseRegistration) { d.Password = "another" },
			why:    "MariaDB refuses the password of user root in Secret mariadb-root", advice: "restart its pod",
		},
		"no Secret": {
			change: func(_ *mariadbtest.Database, w *providers.DatabaseRegistration) { w.Server.Password.Name = "gone" },
			why:    "Secret gone has no password for MariaDB",
		},
		"forbidden": {
			change: func(d *mariadbtest.Database, _ *providers.DatabaseRegistration) {
				d.Error = &mariadbtest.Error{Number: 1142, Message: "SELECT command denied to user 'root'@'%'"}
			},
			why: "MariaDB answers with error 1142: SELECT command denied to user 'root'@'%'",
		},
		"another version": {
			change: func(d *mariadbtest.Database, _ *providers.DatabaseRegistration) {
				d.Tables["mysql.global_priv"] = []mariadbtest.Row{{"User": "nova", "Priv": hash(password)}}
			},
			why: "MariaDB has another table of users than expected",
		},
		"silence": {
			to:  refusing{&providers.NoAnswerError{Namespace: "openstack", Pod: "mariadb-server-0", Why: "connection refused"}},
			why: "MariaDB does not answer: connection refused",
		},
		"hangs up": {
			to:  pods{"mariadb-server-0": hangsUp.Addr().String()},
			why: "MariaDB does not answer: its answer breaks off",
		},
		"no right": {
			to:  refusing{denied},
			why: `user "jane" is not allowed to create pods/portforward in namespace openstack`, advice: "kolla rbac",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d, w := made(), wanted()
			if test.change != nil {
				test.change(d, w)
			}
			to := test.to
			if to == nil {
				to = pods{"mariadb-server-0": mariadbtest.Of(t, d).Listener.Addr().String()}
			}
			_, err := compare(t, to, w)
			var got *providers.UncomparedError
			if !errors.As(err, &got) {
				t.Fatalf("error %v, want an UncomparedError", err)
			}
			if got.Why != test.why || !strings.Contains(got.Advice, test.advice) {
				t.Errorf("got %+v, want %q, %q", got, test.why, test.advice)
			}
			for _, secret := range []string{rootPassword, password, hash(password)} {
				if strings.Contains(got.Why+got.Advice, secret) {
					t.Errorf("%+v contains a secret", got)
				}
			}
		})
	}
	failure := errors.New("the API server is gone")
	if _, err := compare(t, refusing{failure}, wanted()); !errors.Is(err, failure) {
		t.Errorf("error %v, want that of the API server", err)
	}
}

// cells returns the table of cells after Nova's job.
func cells() *mariadbtest.Database {
	const same = "{scheme}://{username}:{password}@{hostname}:{port}/{path}"
	return &mariadbtest.Database{Password: rootPassword, Tables: map[string][]mariadbtest.Row{"nova_api.cell_mappings": {
		{"uuid": zero, "name": "cell0", "transport_url": "none:///", "database_connection": "mysql+pymysql://nova:it%27s%20%22nova%27s%22%20%5C%20password@db/cell0"},
		{"uuid": "1", "name": "cell1", "transport_url": same, "database_connection": same},
		{"uuid": "9", "name": nil, "transport_url": "rabbit://old", "database_connection": "mysql://old"},
	}}}
}

const zero = "00000000-0000-0000-0000-000000000000"

// TestCells changes the cells that Nova knows, and checks the differences.
func TestCells(t *testing.T) {
	plain := func(text string) []providers.DataPart { return []providers.DataPart{{Literal: text}} }
	const same = "{scheme}://{username}:{password}@{hostname}:{port}/{path}"
	of := func(d *mariadbtest.Database, name string) mariadbtest.Row {
		return d.Find("nova_api.cell_mappings", "name", name)
	}
	hidden := func(path string) providers.Difference {
		return providers.Difference{Server: "Nova", Path: path, Secret: true}
	}
	tests := map[string]struct {
		change func(d *mariadbtest.Database)
		want   []providers.Difference
	}{
		"the same": {func(*mariadbtest.Database) {}, nil},
		"deleted": {
			func(d *mariadbtest.Database) { d.Remove("nova_api.cell_mappings", "name", "cell1") },
			[]providers.Difference{{Server: "Nova", Path: `cells["cell1"].name`, Declared: "cell1"}},
		},
		"cell0 renamed": {
			func(d *mariadbtest.Database) { of(d, "cell0")["name"] = "graveyard" },
			[]providers.Difference{{Server: "Nova", Path: `cells["cell0"].name`, Declared: "cell0", Live: "graveyard"}},
		},
		"another password": {
			func(d *mariadbtest.Database) {
				of(d, "cell0")["database_connection"] = "mysql+pymysql://nova:another@db/cell0"
			},
			[]providers.Difference{hidden(`cells["cell0"].database_connection`)},
		},
		"other URLs": {
			func(d *mariadbtest.Database) {
				of(d, "cell1")["transport_url"], of(d, "cell1")["database_connection"] = "rabbit://other", nil
			},
			[]providers.Difference{hidden(`cells["cell1"].database_connection`), hidden(`cells["cell1"].transport_url`)},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d := cells()
			test.change(d)
			w := &providers.CellRegistration{Server: wanted().Server, Database: "nova_api", Cells: []providers.RegisteredCell{
				{Name: "cell0", UUID: zero, TransportURL: plain("none:///"), DatabaseConnection: []providers.DataPart{
					{Literal: "mysql+pymysql://nova:"}, {From: &wanted().Password, Place: escape.URL}, {Literal: "@db/cell0"},
				}},
				{Name: "cell1", TransportURL: plain(same), DatabaseConnection: plain(same)},
			}}
			r := mariadb.New(pods{"mariadb-server-0": mariadbtest.Of(t, d).Listener.Addr().String()}, values)
			defer r.Close()
			got, err := r.Compare(t.Context(), &providers.Registration{Cells: w})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("differences (-want +got):\n%s", diff)
			}
			w.Cells[0].DatabaseConnection[1].From.Name, w.Cells[1] = "gone", providers.RegisteredCell{Name: "cell1"}
			if got, err = r.Compare(t.Context(), &providers.Registration{Cells: w}); err != nil {
				t.Fatal(err)
			}
			for _, d := range got {
				if d.Secret {
					t.Errorf("%s is compared with nothing", d.Path)
				}
			}
		})
	}
}
