package openstack_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/providers/secrets"
)

// keyed is a cloud with the services of the catalogue whose keys rotate. KEYSTONE is replaced.
const keyed = `
cloud "prod" { release = "2025.1" }
service "mariadb" {}
service "memcached" {}
service "rabbitmq" {}
service "keystone" {
  KEYSTONE
}
service "barbican" {}
`

func loadKeyed(t *testing.T, keystone string) *configs.Config {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(strings.Replace(keyed, "KEYSTONE", keystone, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return load(t, dir)
}

// TestTokensOutliveTheirKeys checks that the rotation of the catalogue fits the validity of tokens that
// a service sets, and that an interval which is too short is an error.
func TestTokensOutliveTheirKeys(t *testing.T) {
	for _, test := range []struct{ name, keystone, want string }{
		{"by default", "", ""},
		{"long tokens", `config "keystone.conf" { values = { token = { expiration = 2592000 } } }`, "at least 32 days"},
		{"long tokens and rare rotations", `config "keystone.conf" { values = { token = { expiration = 2592000 } } }
  secret "fernet" { rotate = 32 }`, ""},
		{"long tokens and more keys", `config "keystone.conf" { values = { token = { expiration = 2592000 } } }
  secret "fernet" { count = 4 }`, ""},
		{"no rotations by age", `config "keystone.conf" { values = { token = { expiration = 2592000 } } }
  secret "fernet" { rotate = null }`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, diags := rendered(loadKeyed(t, test.keystone), facts())
			if diags.HasErrors() != (test.want != "") || !strings.Contains(diags.Error(), test.want) {
				t.Errorf("got %v, want %q", diags, test.want)
			}
		})
	}
}

// TestRotationIsPlanned checks which objects a rotation concerns: pods that read keys from files go on,
// pods that have them in their configuration start again, and the jobs that encrypt stored data again run.
func TestRotationIsPlanned(t *testing.T) {
	config := loadKeyed(t, "")
	f := facts()
	f.Now = time.Now()
	f.Values = func(string, string) map[string][]byte { return map[string][]byte{"0": {}} }
	f.Age = func(string, string) secrets.Age { return secrets.Age{Created: f.Now.AddDate(0, 0, -31)} }
	names := func() map[string]string {
		out := map[string]string{}
		for _, o := range render(t, config, f) {
			out[logical(o)] = o.Address.Name
			if o.Address.Kind == "Deployment" {
				bare := o
				bare.Data = nil
				out[logical(o)] = bare.Digest()
			}
		}
		return out
	}
	rotated := func(asked ...string) (jobs []string, restarts []string) {
		f.Rotate = nil
		f.Age = func(string, string) secrets.Age { return secrets.Age{Created: f.Now.AddDate(0, 0, -29)} }
		before := names()
		f.Rotate = func(a addrs.Object) bool { return strings.Contains(strings.Join(asked, " "), a.String()) }
		for address, name := range names() {
			switch was, there := before[address]; {
			case !there && strings.Contains(address, "/Job/"):
				jobs = append(jobs, address)
			case there && was != name && strings.Contains(address, "/Deployment/"):
				restarts = append(restarts, address)
			}
		}
		return jobs, restarts
	}
	tokens := find(t, render(t, config, f), "Secret/keystone-fernet")
	if got := tokens.RenewalReason(); got != "they are 31 days old" || !tokens.Rotates() {
		t.Errorf("after a month, tokens' keys rotate because of %q", got)
	}
	for _, test := range []struct{ secret, jobs, restarts string }{
		{"service.keystone/Secret/keystone-fernet", "", ""},
		{"service.keystone/Secret/keystone-credential", "service.keystone/Job/keystone-credential-migrate", ""},
		{"service.barbican/Secret/barbican-kek", "service.barbican/Job/barbican-rewrap", "service.barbican/Deployment/"},
	} {
		jobs, restarts := rotated(test.secret)
		if strings.Join(jobs, " ") != test.jobs {
			t.Errorf("%s: the jobs %q run", test.secret, jobs)
		}
		if (len(restarts) > 0) != (test.restarts != "") || len(restarts) > 0 && !strings.HasPrefix(restarts[0], test.restarts) {
			t.Errorf("%s: pods of %q start again", test.secret, restarts)
		}
	}
}

// TestRotationWaitsForItsJob checks that keys rotate only after the job of their last rotation has succeeded: a rotation
// on request is an error, and one by age is put off.
func TestRotationWaitsForItsJob(t *testing.T) {
	config := loadKeyed(t, `secret "credential" { rotate = 30 }`)
	for name, test := range map[string]struct {
		revision string // of all keys
		ran      bool
		asked    string // for keys that are young
		renewed  string // the reason to rotate the keys of credentials
		want     string // the diagnostic
	}{
		"first rotation by age":   {"r", false, "", "they are 31 days old", ""},
		"first rotation":          {"r", false, "keystone-credential", "requested with -rotate", ""},
		"after success, by age":   {"r.1", true, "", "they are 31 days old", ""},
		"after success":           {"r.1", true, "keystone-credential", "requested with -rotate", ""},
		"after failure":           {"r.1", false, "keystone-credential", "", "A rotation that is not possible now; -rotate=service.keystone/Secret/keystone-credential: service.keystone/Job/keystone-credential-migrate-"},
		"after failure, by age":   {"r.1", false, "", "", `Keys are not rotated yet; The keys of secret "credential" should be rotated: they are 31 days old.`},
		"keys without a job":      {"r.1", false, "keystone-fernet", "", ""},
		"keys of another service": {"r.1", false, "barbican-kek", "", "A rotation that is not possible now; -rotate=service.barbican/Secret/barbican-kek: service.barbican/Job/barbican-rewrap-"},
	} {
		t.Run(name, func(t *testing.T) {
			f := facts()
			f.Now = time.Now()
			f.Values = func(string, string) map[string][]byte { return map[string][]byte{"0": {}} }
			f.Revision = func(addrs.Object, string, string, map[string]string) string { return test.revision }
			age := 31
			if test.asked != "" {
				age = 29
			}
			f.Age = func(string, string) secrets.Age { return secrets.Age{Created: f.Now.AddDate(0, 0, -age)} }
			f.Rotate = func(a addrs.Object) bool { return a.Name == test.asked }
			var asked []string
			f.Ran = func(job addrs.Object) bool {
				asked = append(asked, job.String())
				return test.ran
			}
			objects, diags := rendered(config, f)
			if test.want == "" && len(diags) > 0 || test.want != "" && !strings.Contains(diags.Error(), test.want) || len(diags) > 1 {
				t.Errorf("got %v, want %q", diags, test.want)
			}
			if diags.HasErrors() {
				return
			}
			credentials := find(t, objects, "Secret/keystone-credential")
			if got := credentials.RenewalReason(); got != test.renewed {
				t.Errorf("the keys rotate because of %q, want %q", got, test.renewed)
			}
			// The job that was looked for is the one of the keys as they are.
			if test.renewed == "" && len(asked) > 0 {
				if now := find(t, objects, "Job/keystone-credential-migrate").Address.String(); now != asked[0] {
					t.Errorf("looked for %s, and the last job is %s", asked[0], now)
				}
			}
		})
	}
}
