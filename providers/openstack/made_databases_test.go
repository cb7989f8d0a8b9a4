package openstack_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers"
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
				want.Server = providers.DatabaseServer{
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
