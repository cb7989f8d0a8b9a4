package openstack_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRetire checks which hypervisors the job of nova-compute marks as its own, and which of the
// hypervisors that have left the role it removes.
func TestRetire(t *testing.T) {
	const (
		own   = "CUSTOM_KOLLA_SERVICE_NOVA_COMPUTE_FAST"
		other = "CUSTOM_KOLLA_SERVICE_NOVA_COMPUTE_SLOW"
	)
	interpreter, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("NOT RUN: there is no python3 to run nova/retire.py with")
	}
	hypervisor := func(more entry) []entry {
		one := entry{"id": "uuid", "host": "cmp-1", "traits": []string{"HW_CPU_X86_AVX", own}}
		for key, value := range more {
			one[key] = value
		}
		return []entry{one}
	}
	for name, c := range map[string]struct {
		nodes        string
		hypervisors  []entry
		writes, want string
		fails        bool
	}{
		"new":              {"cmp-1 cmp-2", hypervisor(entry{"traits": []string{"HW_CPU_X86_AVX"}}), "cmp-1 has HW_CPU_X86_AVX " + own + "\n", "", false},
		"known":            {"cmp-1", hypervisor(entry{}), "", "", false},
		"Nova changes it":  {"cmp-1", hypervisor(entry{"traits": []string{}, "conflicts": 2}), "cmp-1 has " + own + "\n", "", false},
		"and does not end": {"cmp-1", hypervisor(entry{"traits": []string{}, "conflicts": 9}), "", "409", true},
		"from another":     {"cmp-1", hypervisor(entry{"traits": []string{other, "CUSTOM_KOLLA"}}), "cmp-1 has CUSTOM_KOLLA " + own + "\n", "", false},
		"another's":        {"", hypervisor(entry{"traits": []string{other}}), "", "", false},
		"nobody's":         {"", hypervisor(entry{"traits": []string{}}), "", "", false},
		"in two cells":     {"cmp-1", append(hypervisor(entry{}), hypervisor(entry{})...), "", "", false},
		"gone":             {"", hypervisor(entry{}), "agent dead deleted\nservice uuid deleted\n", "cmp-1 has been taken out.\n", false},
		"ends meanwhile":   {"cmp-2", hypervisor(entry{"up_until": 60}), "agent dead deleted\nservice uuid deleted\n", "cmp-1 has been taken out.\n", false},
		"to another":       {"", hypervisor(entry{"up_until": 9999, "taken_over": 30, "servers": []string{"db"}}), "", "", false},
		"back meanwhile":   {"", hypervisor(entry{"up_again": 60}), "", "nova-compute on cmp-1 runs again.\n", true},
		"taken meanwhile":  {"", hypervisor(entry{"taken_over": 60}), "", "", false},
		"allocated":        {"", hypervisor(entry{"allocated": true}), "agent dead deleted\nservice uuid deleted\n", "Placement keeps cmp-1", true},
		"migrations": {
			"", append(hypervisor(entry{"migrations": true}), entry{"id": "second", "host": "cmp-2", "traits": []string{own}}),
			"agent dead deleted\nservice second deleted\n", "cmp-1: 409: migrations in progress\n", true,
		},
		"does not end": {"", hypervisor(entry{"up_until": 9999}), "", "nova-compute on cmp-1 still runs.\n", true},
		"servers": {"", hypervisor(entry{"servers": []string{"web", "db"}}), "", "cmp-1 is no node of nova-compute-fast any more, and has servers: db, web. " +
			"Give it back to the role and move them, or evacuate or delete them, and apply again.\n", true},
		"two": {
			"", append(hypervisor(entry{"servers": []string{"db"}}), entry{"id": "second", "host": "cmp-2", "traits": []string{own}}),
			"service second deleted\n", "cmp-2 has been taken out.\n", true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(name string, content []byte) string {
				path := filepath.Join(dir, name)
				if err := os.WriteFile(path, content, 0o600); err != nil {
					t.Fatal(err)
				}
				return path
			}
			auth := entry{"auth_url": "http://keystone:5000/v3", "username": "nova", "password": "50%", "project_name": "service", "user_domain_name": "Default", "project_domain_name": "Default"}
			cloud, err := json.Marshal(entry{"auth": auth, "hypervisors": c.hypervisors, "agents": []entry{
				{"id": "dead", "host": "cmp-1", "alive_until": 70}, {"id": "alive", "host": "cmp-1", "alive_until": 9999}, {"id": "elsewhere", "host": "ctl-1"},
			}})
			if err != nil {
				t.Fatal(err)
			}
			public := write("nova.conf", []byte("[service_user]\nauth_type = password\nauth_url = http://keystone:5000/v3\nusername = nova\nproject_name = service\n"+
				"user_domain_name = Default\nproject_domain_name = Default\nregion_name = RegionOne\n"))
			secret := write("secrets.conf", []byte("[service_user]\npassword = 50%\n"))
			writes := write("writes", nil)
			output, err := pythonWith(t, interpreter, "nova/retire.py", []string{public, secret},
				"KOLLA_NODES="+c.nodes, "SERVICE=nova-compute-fast", "CLOUD="+write("cloud.json", cloud), "WRITES="+writes)
			if (err != nil) != c.fails || !strings.Contains(output, c.want) || c.want == "" && output != "" {
				t.Errorf("%v, %q, want %q", err, output, c.want)
			}
			got, err := os.ReadFile(writes)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.writes, string(got)); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRetireBackends checks which services the job of Cinder deletes.
func TestRetireBackends(t *testing.T) {
	host := func(name string, up int) entry { return entry{"host": name, "up_until": up} }
	kept := []entry{host("cinder-volume-0@rbd", 9999), host("cinder-scheduler-1", 0), host("cinder-volume-00@old", 0), host("lvm-1@lvm", 0)}
	many := make([]entry, 0, 7)
	for _, id := range strings.Fields("g f e d c b a") {
		many = append(many, entry{"id": id, "host": "cinder-volume-0@old#pool"})
	}
	for name, c := range map[string]struct {
		services, volumes, backups []entry
		want                       string
		fails                      bool
	}{
		"none":     {},
		"backend":  {services: []entry{host("cinder-volume-0@old", 0)}, volumes: []entry{{"id": "a", "host": "cinder-volume-0@older"}}, want: "cinder-volume-0@old deleted\ncinder-volume-0@old has been taken out.\n"},
		"just now": {services: []entry{host("cinder-volume-0@old", 60)}, want: "cinder-volume-0@old deleted\ncinder-volume-0@old has been taken out.\n"},
		"backups":  {services: []entry{host("cinder-backup-0", 0)}, want: "cinder-backup-0 deleted\ncinder-backup-0 has been taken out.\n"},
		"runs":     {services: []entry{host("cinder-volume-0@more", 9999)}, want: "cinder-volume-0@more is not declared, and still runs.\n"},
		"volumes":  {services: []entry{host("cinder-volume-0@old", 0)}, volumes: many, want: "cinder-volume-0@old is not declared any more, and has volumes: a, b, c, d, e and 2 more. Declare it again", fails: true},
		"one of two": {
			services: []entry{host("cinder-backup-0", 0), host("cinder-volume-0@old", 0)}, backups: []entry{{"id": "saved", "host": "cinder-backup-0"}},
			want: "cinder-volume-0@old deleted\ncinder-volume-0@old has been taken out.\ncinder-backup-0 is not declared any more, and has backups: saved. Declare it again", fails: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			cinder, err := json.Marshal(entry{"services": append(c.services, kept...), "volumes": c.volumes, "backups": c.backups})
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "cinder.json")
			if err := os.WriteFile(path, cinder, 0o600); err != nil {
				t.Fatal(err)
			}
			output, err := python(t, "cinder/retire.py", "CINDER="+path, "PODS=cinder-volume-0 cinder-backup-0", "WANTED=cinder-volume-0@rbd")
			if (err != nil) != c.fails || !strings.HasPrefix(output, c.want) || !c.fails && output != c.want {
				t.Errorf("%v, %q, want %q", err, output, c.want)
			}
		})
	}
}
