package openstack_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/escape"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/openstack"
)

// threeMembers is a cluster of MariaDB, and a service with a database on it.
const threeMembers = `
role "control" { nodes = ["n1", "n2", "ctl-1"] }

service "mariadb" {
  role     = role.control
  replicas = 3
}

service "books" {
  role = role.control
}

definition "books" {
  database "book_shop" {}
}
`

// madeBy returns the database that a job of the catalogue tells create.sh to make, without the server;
// nil: it does not run create.sh.
func madeBy(o providers.Object, all []providers.Object) *providers.DatabaseRegistration {
	containers, _, _ := unstructured.NestedSlice(o.Manifest.Object, "spec", "template", "spec", "containers")
	variables, _ := containers[0].(map[string]any)["env"].([]any)
	d := &providers.DatabaseRegistration{CharacterSet: "utf8mb3", Privileges: []string{"ALL PRIVILEGES"}}
	for _, v := range variables {
		v := v.(map[string]any)
		switch v["name"] {
		case "DB_NAME":
			d.Name = v["value"].(string)
		case "DB_USER":
			d.User = v["value"].(string)
		case "DB_PASSWORD":
			name, _, _ := unstructured.NestedString(v, "valueFrom", "secretKeyRef", "name")
			key, _, _ := unstructured.NestedString(v, "valueFrom", "secretKeyRef", "key")
			for _, secret := range all {
				if secret.Address.Kind == "Secret" && secret.Address.Name == name {
					d.Password = *secret.Data[key].Parts[0].From
				}
			}
		}
	}
	if d.Name == "" {
		return nil
	}
	return d
}

// TestMadeDatabases checks that plans compare exactly the databases that the jobs of the catalogue make,
// in the pods of one server and of a cluster, with the password of root.
func TestMadeDatabases(t *testing.T) {
	member := func(number string, port int) providers.PodPort {
		return providers.PodPort{Namespace: "openstack", Pod: "mariadb-server-" + number, Port: port}
	}
	for cloud, test := range map[string]struct {
		config  *configs.Config
		members []providers.PodPort
	}{
		"one server": {load(t, "testdata/registered"), []providers.PodPort{member("0", 3306)}},
		"a cluster":  {written(t, threeMembers), []providers.PodPort{member("0", 3307), member("1", 3307), member("2", 3307), member("0", 3306)}},
	} {
		found := 0
		objects := render(t, test.config, facts())
		for _, o := range objects {
			if !o.IsJob() {
				continue
			}
			want := madeBy(o, objects)
			if want != nil {
				found++
				want.Server = providers.PodServer{
					Members: test.members, Username: "root", Password: providers.SecretKey{Namespace: "openstack", Name: "mariadb-root", Key: "value"},
				}
			}
			var got *providers.DatabaseRegistration
			if o.Registers != nil {
				got = o.Registers.Database
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: %s (-made +compared):\n%s", cloud, o.Address, diff)
			}
		}
		if found == 0 {
			t.Errorf("%s has no databases", cloud)
		}
	}

	elsewhere := load(t, "testdata/registered")
	for i := range elsewhere.Services {
		for j := range elsewhere.Services[i].Databases {
			for k := range elsewhere.Services[i].Databases[j].Jobs {
				addresses := elsewhere.Services[i].Databases[j].Jobs[k].MakesDatabase.Server.Addresses
				for l, address := range addresses {
					addresses[l] = strings.Replace(address, ".openstack:", ".another:", 1)
				}
			}
		}
	}
	for _, o := range render(t, elsewhere, facts()) {
		if o.Registers != nil && o.Registers.Database != nil {
			t.Errorf("%s is compared with a MariaDB in another namespace", o.Address)
		}
	}
}

// TestMappedCells checks that plans compare exactly the cells that db-sync.sh makes known, and read them as
// the user of Nova's API.
func TestMappedCells(t *testing.T) {
	from := func(secret string) *providers.SecretKey {
		return &providers.SecretKey{Namespace: "openstack", Name: secret, Key: "password"}
	}
	literal := func(text string) providers.DataPart { return providers.DataPart{Literal: text} }
	url := func(scheme, user, secret, host string) []providers.DataPart {
		return []providers.DataPart{literal(scheme + "://" + user + ":"), {From: from(secret), Place: escape.URL}, literal("@" + host)}
	}
	const same = "{scheme}://{username}:{password}@{hostname}:{port}/{path}"
	want := []providers.RegisteredCell{
		{
			Name: "cell0", UUID: "00000000-0000-0000-0000-000000000000", TransportURL: []providers.DataPart{literal("none:///")},
			DatabaseConnection: url("mysql+pymysql", "nova_cell0", "nova-db-nova-cell0", "mariadb.openstack:3306/nova_cell0"),
		},
		{Name: "cell1", TransportURL: []providers.DataPart{literal(same)}, DatabaseConnection: []providers.DataPart{literal(same)}},
		{
			Name:               "nova-cell2",
			TransportURL:       url("rabbit", "nova_cell2", "nova-cell2-queue-nova", "rabbitmq-cell2.openstack:5672/nova_cell2"),
			DatabaseConnection: url("mysql+pymysql", "nova_cell2", "nova-cell2-db-nova", "mariadb-cell2.openstack:3306/nova_cell2"),
		},
	}
	found := 0
	for _, o := range render(t, inRelease(t, "testdata/servers", "2025.1"), facts()) {
		if o.Registers == nil || o.Registers.Cells == nil {
			continue
		}
		found++
		got := o.Registers.Cells
		if o.Family.Name != "nova-db-sync" || got.Database != "nova_api" || got.Server.Username != "nova_api" || got.Server.Password != *from("nova-db-nova-api") {
			t.Errorf("%s reads %s as %+v", o.Address, got.Database, got.Server)
		}
		if diff := cmp.Diff(want, got.Cells); diff != "" {
			t.Errorf("(-want +compared):\n%s", diff)
		}
	}
	if found != 1 {
		t.Errorf("%d jobs make cells known", found)
	}
	script, err := fs.ReadFile(openstack.Catalogue(), "nova/db-sync.sh")
	if err != nil || !strings.Contains(string(script), "\nsame='"+same+"'\n") {
		t.Errorf("db-sync.sh has another template: %v", err)
	}
}
