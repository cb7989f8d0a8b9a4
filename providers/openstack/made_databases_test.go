package openstack_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
)

// madeBy returns the database that a job of the catalogue tells create.sh to make, without the server;
// nil: it does not run create.sh.
func madeBy(o providers.Object) *providers.DatabaseRegistration {
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
			d.Password = providers.SecretKey{Namespace: "openstack", Name: name, Key: key}
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
	for cloud, members := range map[string][]providers.PodPort{
		"testdata/registered": {member("0", 3306)},
		"testdata/galera":     {member("0", 3307), member("1", 3307), member("2", 3307), member("0", 3306)},
	} {
		found := 0
		for _, o := range render(t, load(t, cloud), facts()) {
			if !o.IsJob() {
				continue
			}
			want := madeBy(o)
			if want != nil {
				found++
				want.Server = providers.DatabaseServer{
					Members: members, Username: "root", Password: providers.SecretKey{Namespace: "openstack", Name: "mariadb-root", Key: "value"},
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
