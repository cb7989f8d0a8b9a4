package smoke_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/base/redaction"
	"kolla.openstack.org/kolla/internal/dev/openstacktest"
	"kolla.openstack.org/kolla/internal/run/smoke"
	"kolla.openstack.org/kolla/internal/run/tempest"
)

const adminPassword = "password-of-the-administrator"

// cloudOf returns a cloud with all services.
func cloudOf(o *openstacktest.Cloud) *smoke.Cloud {
	secrets := &redaction.Values{}
	secrets.Add(adminPassword)
	c := &smoke.Cloud{
		Name: "prod", Region: "RegionOne", Keystone: o.URL + "/v3", Password: adminPassword, Patience: time.Minute, Hide: secrets.Add,
		Mask:     func(text string) string { return secrets.Text(text) },
		Users:    func(context.Context) []smoke.User { return nil },
		Services: map[string]smoke.Service{"identity": {Name: "keystone", Exposed: true}, smoke.Dashboard: {Name: "horizon", Exposed: true, URL: o.URL + "/login/"}},
	}
	for kind, name := range map[string]string{"image": "glance", "network": "neutron", "compute": "nova", "block-storage": "cinder", "key-manager": "barbican", "orchestration": "heat"} {
		c.Services[kind] = smoke.Service{Name: name, Exposed: true}
	}
	return c
}

// run runs checks, all of them without names.
func run(t *testing.T, c *smoke.Cloud, names ...string) *smoke.Report {
	t.Helper()
	checks, err := smoke.Select(names, nil)
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	report, err := smoke.Run(t.Context(), c, checks, func(smoke.Result) { shown++ })
	if err != nil || shown != len(report.Results) {
		t.Fatalf("%v, %d results of %d were shown", err, shown, len(report.Results))
	}
	return report
}

// outcomes are "NAME OUTCOME", for results that are not ok.
func outcomes(r *smoke.Report) (out []string) {
	for _, result := range r.Results {
		if result.Outcome != smoke.OK {
			out = append(out, result.Check.Name+" "+string(result.Outcome))
		}
	}
	return out
}

func resultOf(t *testing.T, r *smoke.Report, name string) smoke.Result {
	t.Helper()
	at := slices.IndexFunc(r.Results, func(result smoke.Result) bool { return result.Check.Name == name })
	if at < 0 {
		t.Fatalf("there is no result of %s: %v", name, r.Results)
	}
	return r.Results[at]
}

// TestRun runs all checks in a cloud that works. Nothing is left behind, and nothing of others is touched.
func TestRun(t *testing.T) {
	for name, careless := range map[string]bool{"lists of a project": false, "lists of all projects": true} {
		t.Run(name, func(t *testing.T) {
			o := openstacktest.Of(t, adminPassword)
			o.Careless = careless
			runs(t, o)
		})
	}
}

func runs(t *testing.T, o *openstacktest.Cloud) {
	t.Helper()
	report := run(t, cloudOf(o))
	for _, result := range report.Results {
		if result.Outcome != smoke.OK {
			t.Errorf("%s: %s: %s %v", result.Check.Name, result.Outcome, result.Problem, result.Request)
		}
	}
	if len(report.Results) != len(smoke.Checks()) || !report.Clean() || len(report.Causes)+len(report.Left) > 0 {
		t.Errorf("%d results, causes %q, left %q", len(report.Results), report.Causes, report.Left)
	}
	if left := o.Owned(); len(left) > 0 || len(o.Trespass) > 0 {
		t.Errorf("left behind: %q; touched of others: %q", left, o.Trespass)
	}
	for kind, want := range map[string]int{"image/images": 3, "network/networks": 1, "network/subnets": 0, "network/ports": 0, "network/security-groups": 1, "network/security-group-rules": 0} {
		if got := len(o.Lists[kind]); got != want {
			t.Errorf("%d %s are left, want %d: %v", got, kind, want, o.Lists[kind])
		}
	}
}

// TestSizes checks the choice of the image and the flavor.
func TestSizes(t *testing.T) {
	for name, test := range map[string]struct {
		image, flavor string
		without       []string // names of images and flavors that the cloud lacks
		want          string   // image and flavor
		skipped       string   // a part of the reason
		failed        string
	}{
		"the smallest that fit":  {want: "i-small f-fits"},
		"named":                  {image: "large", flavor: "tiny", want: "i-large f-tiny"},
		"by ID":                  {image: "i-large", want: "i-large f-large"},
		"by an ID with a space":  {image: "i odd", want: "i odd f-large"},
		"no public image":        {without: []string{"large", "small"}, skipped: "no public image of a disk"},
		"no flavor":              {without: []string{"large", "fits"}, skipped: "no public flavor"},
		"a name nobody has":      {image: "lagre", failed: "There is no image lagre"},
		"a flavor nobody has":    {flavor: "tyni", failed: "There is no public flavor tyni"},
		"an image that is large": {image: "large", without: []string{}, want: "i-large f-large"},
	} {
		t.Run(name, func(t *testing.T) {
			o := openstacktest.Of(t, adminPassword)
			o.Lists["image/images"] = append(o.Lists["image/images"], openstacktest.Entry{"id": "i odd", "name": "odd", "status": "active", "disk_format": "raw", "size": 3 << 30})
			for _, kind := range []string{"image/images", "compute/flavors"} {
				o.Lists[kind] = slices.DeleteFunc(o.Lists[kind], func(e openstacktest.Entry) bool { return slices.Contains(test.without, fmt.Sprint(e["name"])) })
			}
			var asked string
			o.Breaks["POST /compute/servers"] = func(w http.ResponseWriter, r *http.Request) {
				body := bytes.Buffer{}
				_, _ = body.ReadFrom(r.Body)
				asked = body.String()
				o.Answer(w, http.StatusForbidden, openstacktest.Entry{"forbidden": openstacktest.Entry{"message": "Quota exceeded for cores"}})
			}
			c := cloudOf(o)
			c.Image, c.Flavor = test.image, test.flavor
			result := resultOf(t, run(t, c, "server"), "server")
			at := max(0, strings.LastIndex(test.want, " f-"))
			image, flavor := test.want[:at], strings.TrimSpace(test.want[at:])
			switch {
			case test.want != "" && (!strings.Contains(asked, `"imageRef":"`+image+`"`) || !strings.Contains(asked, `"flavorRef":"`+flavor+`"`)):
				t.Errorf("the server was asked for with %s, want %s: %+v", asked, test.want, result)
			case test.skipped != "" && (result.Outcome != smoke.Skipped || !strings.Contains(result.Problem, test.skipped)),
				test.failed != "" && (result.Outcome != smoke.Failed || !strings.Contains(result.Problem, test.failed)):
				t.Errorf("%+v", result)
			}
		})
	}
}

// TestFailures breaks a service of the cloud. It compares the failed and the skipped checks and their texts, and
// checks that the project is gone.
func TestFailures(t *testing.T) {
	says := func(status int, body any) func(*openstacktest.Cloud) func(http.ResponseWriter, *http.Request) {
		return func(o *openstacktest.Cloud) func(http.ResponseWriter, *http.Request) {
			return func(w http.ResponseWriter, _ *http.Request) { o.Answer(w, status, body) }
		}
	}
	page := func(*openstacktest.Cloud) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "<html>503 Service Unavailable</html>", http.StatusServiceUnavailable)
		}
	}
	for name, test := range map[string]struct {
		request string
		answer  func(*openstacktest.Cloud) func(http.ResponseWriter, *http.Request)
		want    []string // outcomes
		check   string
		problem string
		asked   string // the request, without the server; empty: none
	}{
		"no pod of Glance": {
			"POST /image/", page,
			[]string{"image failed"},
			"image",
			"No pod of the service answers, or it cannot work: it may not reach Keystone, its database or its queue.", "POST /image/v2/images: HTTP 503",
		},
		"a fault of Neutron": {
			"POST /network/v2.0/networks", says(http.StatusInternalServerError, openstacktest.Entry{"NeutronError": openstacktest.Entry{"message": "An unknown exception occurred."}}),
			[]string{"network failed", "server skipped", "console skipped", "floating-ip skipped", "attachment skipped"},
			"network",
			"The service has an error of its own, which is in its log. It says: An unknown exception occurred.", "POST /network/v2.0/networks: HTTP 500, request req-1",
		},
		"a quota": {
			"POST /block-storage/", says(http.StatusForbidden, openstacktest.Entry{"forbidden": openstacktest.Entry{"message": "VolumeLimitExceeded"}}),
			[]string{"volume failed", "attachment skipped"},
			"volume",
			"The service does not permit it: a rule, or a quota. It says: VolumeLimitExceeded.", "POST /block-storage/volumes: HTTP 403, request req-1",
		},
		"a server in state ERROR": {
			"GET /compute/servers/", says(http.StatusOK, openstacktest.Entry{"server": openstacktest.Entry{"status": "ERROR", "fault": openstacktest.Entry{"message": "No valid host was found."}}}),
			[]string{"server failed", "console skipped", "floating-ip skipped", "attachment skipped"},
			"server",
			"The server is in state ERROR: No valid host was found.", "",
		},
		"a refusal of Glance": {
			"POST /image/", func(o *openstacktest.Cloud) func(http.ResponseWriter, *http.Request) {
				return func(w http.ResponseWriter, _ *http.Request) {
					o.Refuse(w, "image", http.StatusForbidden, "Too many images.")
				}
			},
			[]string{"image failed"},
			"image",
			"It says: Too many images.", "POST /image/v2/images: HTTP 403, request req-1",
		},
		"another image": {
			"GET /image/v2/images/id-3/file", says(http.StatusOK, openstacktest.Entry{}), []string{"image failed"}, "image", "The downloaded image differs from the upload (3 of 1048576 bytes).", "",
		},
		"another secret": {
			"GET /key-manager/v1/secrets/", says(http.StatusOK, openstacktest.Entry{}), []string{"secret failed"}, "secret", "The secret that Barbican returns differs from the stored one.", "",
		},
		"a token that is refused": {
			"POST /orchestration/", says(http.StatusUnauthorized, nil),
			[]string{"stack failed"},
			"stack",
			"The service does not accept a token of Keystone.", "POST /orchestration/v1/id-1/stacks: HTTP 401, request req-1",
		},
		"a stack that fails": {
			"GET /orchestration/v1/id-1/stacks/", says(http.StatusOK, openstacktest.Entry{"stack": openstacktest.Entry{"stack_status": "CREATE_FAILED", "stack_status_reason": "no engine"}}),
			[]string{"stack failed"},
			"stack", "The stack is in state CREATE_FAILED: no engine.", "",
		},
		"a dashboard without its page": {
			"GET /page/", says(http.StatusInternalServerError, nil),
			[]string{"dashboard failed"},
			"dashboard",
			"The service has an error of its own, which is in its log.", "GET /login/: HTTP 500, request req-1",
		},
		"no login": {
			"POST /v3/auth/tokens", page,
			[]string{"token failed", "image skipped", "network skipped", "server skipped", "console skipped", "floating-ip skipped", "volume skipped", "attachment skipped", "secret skipped", "stack skipped"},
			"token", "No pod of the service answers", "POST /v3/auth/tokens: HTTP 503",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := openstacktest.Of(t, adminPassword)
			o.Breaks[test.request] = test.answer(o)
			report := run(t, cloudOf(o))
			if got := outcomes(report); !slices.Equal(got, test.want) || report.Clean() {
				t.Errorf("%q, want %q", got, test.want)
			}
			result := resultOf(t, report, test.check)
			asked := ""
			if result.Request != nil {
				asked = strings.Replace(result.Request.String(), o.URL, "", 1)
			}
			if !strings.Contains(result.Problem, test.problem) || asked != test.asked || !strings.Contains(result.Next, "kolla logs ") {
				t.Errorf("%q, request %q, next %q", result.Problem, asked, result.Next)
			}
			if left := o.Owned(); len(left) > 0 && len(report.Left) == 0 {
				t.Errorf("left behind: %q", left)
			}
		})
	}
}

// TestMessagesOfServices checks which message of an answer a result has.
func TestMessagesOfServices(t *testing.T) {
	for name, test := range map[string]struct {
		body openstacktest.Entry
		want string
	}{
		"tags and lines":   {openstacktest.Entry{"message": "<h1>Not permitted:</h1>  size < 5.<br /><br />\n\n\n", "title": "Forbidden"}, "Not permitted: size < 5."},
		"several":          {openstacktest.Entry{"zone": openstacktest.Entry{"message": "last"}, "area": openstacktest.Entry{"message": "first"}}, "first."},
		"in a list":        {openstacktest.Entry{"errors": []openstacktest.Entry{{"status": 403}, {"detail": "No room.", "title": "Forbidden"}}}, "No room."},
		"an empty message": {openstacktest.Entry{"message": " <br />", "description": "Something"}, "Something."},
	} {
		t.Run(name, func(t *testing.T) {
			o := openstacktest.Of(t, adminPassword)
			o.Breaks["POST /image/"] = func(w http.ResponseWriter, _ *http.Request) { o.Answer(w, http.StatusForbidden, test.body) }
			want := "The service does not permit it: a rule, or a quota. It says: " + test.want
			if got := resultOf(t, run(t, cloudOf(o), "image"), "image").Problem; got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// TestFloatingIP checks that an answer counts only if it comes from the server: the address is silent without it.
func TestFloatingIP(t *testing.T) {
	o := openstacktest.Of(t, adminPassword)
	const request = "/network/v2.0/floatingips"
	o.Breaks["POST "+request] = func(w http.ResponseWriter, _ *http.Request) {
		o.Answer(w, http.StatusCreated, openstacktest.Entry{"floatingip": openstacktest.Entry{"id": "f", "floating_ip_address": "127.0.0.1"}})
	}
	if result := resultOf(t, run(t, cloudOf(o), "floating-ip"), "floating-ip"); result.Outcome != smoke.Skipped || !strings.Contains(result.Problem, "127.0.0.1 before the server has it") {
		t.Errorf("with a firewall that refuses connections: %+v", result)
	}
	clear(o.Breaks)
	o.Breaks["PUT "+request] = func(w http.ResponseWriter, _ *http.Request) { o.Answer(w, http.StatusConflict, nil) }
	if result := resultOf(t, run(t, cloudOf(o), "floating-ip"), "floating-ip"); result.Outcome != smoke.Failed || result.Request == nil || result.Request.Method != http.MethodPut {
		t.Errorf("the server does not get the address: %+v", result)
	}
}

// TestSilentConsole checks that a console without output may be the fault of the image. The server gets no volume, which
// its guest might keep, unless the check of the console is left out.
func TestSilentConsole(t *testing.T) {
	o := openstacktest.Of(t, adminPassword)
	o.Breaks["POST /compute/servers/"] = func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/action") {
			o.Serve(w, r)
			return
		}
		o.Answer(w, http.StatusOK, openstacktest.Entry{"output": "\n"})
	}
	checks, err := smoke.Select([]string{"attachment"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := cloudOf(o)
	patience := c.Patience
	report, err := smoke.Run(t.Context(), c, checks, func(r smoke.Result) {
		c.Patience = patience
		if r.Check.Name == "server" {
			c.Patience = 100 * time.Millisecond
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if result := resultOf(t, report, "console"); result.Outcome != smoke.Failed || !strings.Contains(result.Problem, ": timed out after 100ms (-timeout). ") || !strings.Contains(result.Problem, "name another one with -image") {
		t.Errorf("%+v", result)
	}
	if result := resultOf(t, report, "attachment"); result.Outcome != smoke.Skipped || result.Problem != "It needs the check console." {
		t.Errorf("%+v", result)
	}
	if checks, err = smoke.Select([]string{"attachment"}, []string{"console"}); err != nil {
		t.Fatal(err)
	}
	if report, err = smoke.Run(t.Context(), c, checks, func(smoke.Result) {}); err != nil || resultOf(t, report, "attachment").Outcome != smoke.OK {
		t.Errorf("without the check of the console: %v, %q", err, outcomes(report))
	}
}

// TestStuckVolumes lets volumes of the run get stuck in states in which Cinder removes none. They are removed, and that
// of another project is as it was.
func TestStuckVolumes(t *testing.T) {
	for _, state := range []string{"reserved", "attaching", "in-use", "detaching", "error_deleting"} {
		t.Run(state, func(t *testing.T) {
			o := openstacktest.Of(t, adminPassword)
			other := openstacktest.Entry{"id": "v-other", "project_id": "p-other", "os-vol-tenant-attr:tenant_id": "p-other", "status": state}
			o.Lists["block-storage/volumes"] = []openstacktest.Entry{other}
			o.Breaks["POST /compute/servers/"] = func(w http.ResponseWriter, r *http.Request) {
				if !strings.HasSuffix(r.URL.Path, "/os-volume_attachments") {
					o.Serve(w, r)
					return
				}
				o.Lists["block-storage/volumes"][1]["status"] = state
				o.Refuse(w, "compute", http.StatusInternalServerError, "a timeout")
			}
			report := run(t, cloudOf(o), "attachment")
			if got := outcomes(report); !slices.Equal(got, []string{"attachment failed"}) || len(report.Left) > 0 {
				t.Errorf("%q, left %q", got, report.Left)
			}
			if left := o.Owned(); !slices.Equal(left, []string{"block-storage/volumes of p-other"}) || other["status"] != state || len(o.Trespass) > 0 {
				t.Errorf("left behind %q, the other volume is %v, touched of others: %q", left, other, o.Trespass)
			}
		})
	}
}

// TestNothingAnswers checks a cloud to which no connection is possible.
func TestNothingAnswers(t *testing.T) {
	o := openstacktest.Of(t, adminPassword)
	c := cloudOf(o)
	o.Close()
	result := resultOf(t, run(t, c, "token"), "token")
	if result.Outcome != smoke.Failed || result.Problem != "It does not answer: connection refused." || result.Request.Method != http.MethodPost {
		t.Errorf("%+v", result)
	}
}

// TestEndpoints checks services that users cannot reach.
func TestEndpoints(t *testing.T) {
	o := openstacktest.Of(t, adminPassword)
	o.Catalogue = slices.DeleteFunc(o.Catalogue, func(kind string) bool { return kind == "image" })
	c := cloudOf(o)
	delete(c.Services, "key-manager")
	c.Services["orchestration"] = smoke.Service{Name: "heat"}
	report := run(t, c, "image", "secret", "stack")
	for name, want := range map[string]string{
		"image":  "Keystone's catalogue has no public endpoint of type image in the region.",
		"secret": "The configuration declares no service of type key-manager.",
		"stack":  `Service "heat" is not reachable from outside: it has no expose.`,
	} {
		if got := resultOf(t, report, name).Problem; got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	delete(c.Services, "block-storage")
	report = run(t, c)
	for name, want := range map[string]bool{"image": false, "secret": true, "stack": true, "volume": true, "attachment": true, "server": false} {
		if got := resultOf(t, report, name).Unasked; got != want {
			t.Errorf("%s: the configuration does not ask for it: %t, want %t", name, got, want)
		}
	}
	if next := resultOf(t, report, "image").Next; next != "kolla discover -keystone" {
		t.Errorf("next is %q", next)
	}
}

// TestCauses checks that a failure names daemons that have not reported to their service, and users with another
// password.
func TestCauses(t *testing.T) {
	o := openstacktest.Of(t, adminPassword)
	o.Lists["compute/os-services"] = []openstacktest.Entry{{"binary": "nova-scheduler", "host": "real-1", "state": "down", "status": "enabled"}, {"binary": "nova-compute", "host": "old", "state": "down", "status": "disabled"}}
	o.Breaks["GET /compute/os-services"] = func(w http.ResponseWriter, _ *http.Request) {
		o.Answer(w, http.StatusOK, openstacktest.Entry{"services": o.Lists["compute/os-services"]})
	}
	o.Lists["network/agents"] = []openstacktest.Entry{
		{"binary": "ovn-controller", "host": "real-2", "agent_type": "OVN Controller agent", "alive": false, "admin_state_up": true},
		{"binary": "ovn-controller", "host": "real-3", "agent_type": "OVN Controller agent", "alive": true, "admin_state_up": true},
	}
	o.Breaks["POST /image/"] = func(w http.ResponseWriter, _ *http.Request) { o.Answer(w, http.StatusServiceUnavailable, nil) }
	c := cloudOf(o)
	c.Users = func(context.Context) []smoke.User {
		return []smoke.User{{Service: "glance", Name: "glance", Domain: "Default", Password: "as-it-was", Job: "service.glance/Job/glance-register-users"}, {Service: "x", Name: "glance", Domain: "Default", Password: "of-glance"}}
	}
	causes := strings.Join(run(t, c, "image").Causes, "\n")
	want := []string{"Nova does not hear from nova-scheduler on real-1.", "Neutron does not hear from ovn-controller on real-2.", "Keystone refuses the password of user glance, which service glance has.", "To set it again: kolla apply -replace=service.glance/Job/glance-register-users"}
	for _, text := range want {
		if !strings.Contains(causes, text) {
			t.Errorf("the causes lack %q:\n%s", text, causes)
		}
	}
	if strings.Count(causes, "\n") != 2 || strings.Contains(causes, "real-3") || strings.Contains(causes, "as-it-was") {
		t.Errorf("the causes are:\n%s", causes)
	}
	if causes := run(t, c, "token").Causes; causes != nil {
		t.Errorf("without a failure there are causes: %q", causes)
	}
}

// TestDescribe describes a cloud to Tempest: its declared services, and what their APIs say.
func TestDescribe(t *testing.T) {
	o := openstacktest.Of(t, adminPassword)
	answers := func(request string, body openstacktest.Entry) {
		o.Breaks["GET "+request] = func(w http.ResponseWriter, _ *http.Request) { o.Answer(w, http.StatusOK, body) }
	}
	answers("/compute/os-hypervisors", openstacktest.Entry{"hypervisors": []openstacktest.Entry{{"state": "up"}, {"state": "down"}, {"state": "up"}}})
	answers("/network/v2.0/extensions", openstacktest.Entry{"extensions": []openstacktest.Entry{{"alias": "router"}}})
	answers("/block-storage/os-services", openstacktest.Entry{"services": []openstacktest.Entry{
		{"binary": "cinder-volume", "host": "a@rbd", "state": "up"},
		{"binary": "cinder-volume", "host": "b@nas"},
		{"binary": "cinder-volume", "host": "b@rbd"},
		{"binary": "cinder-backup", "host": "a", "state": "up"},
	}})
	answers("/block-storage/scheduler-stats/get_pools", openstacktest.Entry{"pools": []openstacktest.Entry{
		{"name": "b@nas#nas", "capabilities": openstacktest.Entry{"storage_protocol": "nfs", "vendor_name": "Acme"}},
		{"name": "a@rbd#rbd", "capabilities": openstacktest.Entry{"storage_protocol": []string{"ceph"}, "vendor_name": "Open Source"}},
		{"name": "0@odd#odd", "capabilities": openstacktest.Entry{}},
	}})
	c := cloudOf(o)
	delete(c.Services, "orchestration")
	got, err := smoke.Describe(t.Context(), c)
	want := tempest.Cloud{
		AuthURL: c.Keystone, Region: "RegionOne", Services: []string{"block-storage", "compute", "identity", "image", "key-manager", "network"},
		Image: "i-small", OtherImage: "i-small", Flavor: "f-fits", LargerFlavor: "f-large", ExternalNetwork: "n-external",
		Hypervisors: 2, Extensions: []string{"router"}, Backends: []string{"nas", "rbd"}, Backups: true, StorageProtocol: "ceph", Vendor: "Open Source",
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	o.Breaks["POST /v3/"] = func(w http.ResponseWriter, _ *http.Request) { o.Answer(w, http.StatusServiceUnavailable, nil) }
	if _, err := smoke.Describe(t.Context(), c); err == nil || !strings.Contains(err.Error(), "HTTP 503") {
		t.Errorf("without Keystone: %v", err)
	}
}

// TestQuotedSecrets lets services quote the passwords and tokens that they get. No result has one.
func TestQuotedSecrets(t *testing.T) {
	o := openstacktest.Of(t, adminPassword)
	var seen []string
	quote := func(w http.ResponseWriter, r *http.Request) {
		body := bytes.Buffer{}
		_, _ = body.ReadFrom(r.Body)
		if token := r.Header.Get("X-Auth-Token"); token != "" {
			seen = append(seen, token)
		}
		o.Answer(w, http.StatusBadRequest, openstacktest.Entry{"error": openstacktest.Entry{"message": "got " + r.Header.Get("X-Auth-Token") + " with " + body.String()}})
	}
	for _, request := range []string{"POST /key-manager/", "POST /image/", "POST /v3/users", "DELETE /v3/projects"} {
		t.Run(request, func(t *testing.T) {
			clear(o.Breaks)
			o.Breaks[request] = quote
			report := run(t, cloudOf(o), "image", "secret")
			var out bytes.Buffer
			if err := report.JSON(&out); err != nil || !strings.Contains(out.String(), redaction.Mask) {
				t.Fatalf("%v, nothing was masked:\n%s", err, &out)
			}
			for _, value := range append(seen, adminPassword, "k0-") {
				if strings.Contains(out.String(), value) {
					t.Errorf("the report has %q:\n%s", value, &out)
				}
			}
		})
	}
}

// TestInterrupted ends a run at each check, and finds nothing left behind.
func TestInterrupted(t *testing.T) {
	for _, check := range smoke.Checks() {
		t.Run(check.Name, func(t *testing.T) {
			o := openstacktest.Of(t, adminPassword)
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			report, err := smoke.Run(ctx, cloudOf(o), smoke.Checks(), func(r smoke.Result) {
				if r.Check.Name == check.Name {
					interrupt()
				}
			})
			if !errors.Is(err, context.Canceled) || len(report.Left) > 0 || report.Clean() {
				t.Errorf("%v, left %q, clean %t", err, report.Left, report.Clean())
			}
			if left := o.Owned(); len(left) > 0 || len(o.Trespass) > 0 {
				t.Errorf("left behind: %q; touched of others: %q", left, o.Trespass)
			}
		})
	}
}

// TestLostAnswers interrupts a run inside a request that makes something, or loses the answer. Nothing is left behind.
func TestLostAnswers(t *testing.T) {
	for _, request := range []string{"POST /v3/projects", "POST /v3/users", "POST /image/", "POST /network/v2.0/networks", "POST /compute/servers"} {
		for _, interrupted := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s interrupted %t", request, interrupted), func(t *testing.T) {
				o := openstacktest.Of(t, adminPassword)
				ctx, interrupt := context.WithCancel(t.Context())
				defer interrupt()
				o.Breaks[request] = func(_ http.ResponseWriter, r *http.Request) {
					o.Serve(httptest.NewRecorder(), r)
					if interrupted {
						interrupt()
						_, _ = io.Copy(io.Discard, r.Body) // only then the server sees that the client goes away
						<-r.Context().Done()
					}
					panic(http.ErrAbortHandler)
				}
				report, err := smoke.Run(ctx, cloudOf(o), smoke.Checks(), func(smoke.Result) {})
				if errors.Is(err, context.Canceled) != interrupted || len(report.Left) > 0 || report.Count(smoke.Failed) > 0 == interrupted {
					t.Errorf("%v, left %q: %q", err, report.Left, outcomes(report))
				}
				if left := o.Owned(); len(left) > 0 {
					t.Errorf("left behind: %q", left)
				}
			})
		}
	}
	t.Run("and Keystone is gone", func(t *testing.T) {
		o := openstacktest.Of(t, adminPassword)
		o.Breaks["POST /v3/projects"] = func(http.ResponseWriter, *http.Request) {
			o.Breaks["GET /v3/projects"] = func(w http.ResponseWriter, _ *http.Request) { o.Answer(w, http.StatusServiceUnavailable, nil) }
			panic(http.ErrAbortHandler)
		}
		if left := run(t, cloudOf(o), "token").Left; len(left) != 1 || !strings.Contains(left[0], "HTTP 503") {
			t.Errorf("left %q", left)
		}
	})
}

// TestRemovedMeanwhile lets somebody else remove the project of a run, as -clean does, before and while the run cleans
// up.
func TestRemovedMeanwhile(t *testing.T) {
	checks, err := smoke.Select([]string{"image"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	clean := func(t *testing.T, o *openstacktest.Cloud, show func(smoke.Result)) {
		t.Helper()
		report, err := smoke.Run(t.Context(), cloudOf(o), checks, show)
		if err != nil || len(report.Left) > 0 || len(o.Owned()) > 0 {
			t.Errorf("%v, left %q: %q", err, report.Left, o.Owned())
		}
	}
	t.Run("before", func(t *testing.T) {
		o := openstacktest.Of(t, adminPassword)
		clean(t, o, func(r smoke.Result) {
			if r.Check.Name != "image" {
				return
			}
			if removed, left, err := smoke.Clean(t.Context(), cloudOf(o)); err != nil || len(removed) != 1 || len(left) > 0 {
				t.Errorf("%v, removed %q, left %q", err, removed, left)
			}
		})
	})
	for _, request := range []string{"PUT /v3/projects/ID/users/u-admin", "DELETE /image/", "DELETE /v3/users/"} {
		t.Run("after "+request, func(t *testing.T) {
			o := openstacktest.Of(t, adminPassword)
			begin, end, _ := strings.Cut(request, "ID")
			o.Breaks[begin] = func(w http.ResponseWriter, r *http.Request) {
				o.Serve(w, r)
				if !strings.Contains(r.URL.Path, end) {
					return
				}
				for kind, list := range o.Lists {
					o.Lists[kind] = slices.DeleteFunc(list, func(e openstacktest.Entry) bool { return strings.HasPrefix(fmt.Sprint(e["name"]), smoke.Prefix) })
				}
			}
			clean(t, o, func(smoke.Result) {})
		})
	}
}

// TestStaysAlive checks that a run says that it goes on before it looks for causes, which may take as long as a check.
func TestStaysAlive(t *testing.T) {
	o := openstacktest.Of(t, adminPassword)
	var requests []string
	o.Breaks[""] = func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r.Method+" "+r.URL.Path)
		if strings.HasPrefix(r.URL.Path, "/image/") {
			o.Answer(w, http.StatusServiceUnavailable, nil)
			return
		}
		o.Serve(w, r)
	}
	run(t, cloudOf(o), "image")
	failed := slices.Index(requests, "POST /image/v2/images")
	if failed < 0 || failed+1 == len(requests) || !strings.HasPrefix(requests[failed+1], "PATCH /v3/projects/") {
		t.Errorf("the requests are\n%s", strings.Join(requests, "\n"))
	}
}

// TestRefusedRemoval lets Neutron refuse a removal once, as while it still uses the thing, and lets another error come
// after a refusal.
func TestRefusedRemoval(t *testing.T) {
	for _, kind := range []string{"floatingips", "routers", "networks", "security-groups"} {
		t.Run(kind, func(t *testing.T) {
			o := openstacktest.Of(t, adminPassword)
			request := "DELETE /network/v2.0/" + kind
			o.Breaks[request] = func(w http.ResponseWriter, _ *http.Request) {
				delete(o.Breaks, request)
				o.Answer(w, http.StatusConflict, openstacktest.Entry{"NeutronError": openstacktest.Entry{"message": "in use"}})
			}
			if report := run(t, cloudOf(o)); len(report.Left) > 0 || len(o.Owned()) > 0 || o.Breaks[request] != nil {
				t.Errorf("left %q: %q", report.Left, o.Owned())
			}
		})
	}
	t.Run("another error", func(t *testing.T) {
		o := openstacktest.Of(t, adminPassword)
		o.Breaks["DELETE /network/v2.0/networks"] = func(w http.ResponseWriter, _ *http.Request) {
			o.Breaks["GET /network/v2.0/networks"] = func(w http.ResponseWriter, _ *http.Request) { o.Answer(w, http.StatusServiceUnavailable, nil) }
			o.Answer(w, http.StatusConflict, nil)
		}
		if left := run(t, cloudOf(o), "network").Left; len(left) != 1 || !strings.Contains(left[0], "HTTP 503") {
			t.Errorf("left %q", left)
		}
	})
}

// TestAbandoned checks that a run removes what killed ones of its cloud left behind, and nothing else, and that Clean
// also removes what a run has that goes on.
func TestAbandoned(t *testing.T) {
	o := openstacktest.Of(t, adminPassword)
	description := func(cloud string, until time.Time) string {
		return "kolla check of cloud " + cloud + ". It is abandoned after " + until.UTC().Format(time.RFC3339)
	}
	before, after := time.Now().Add(-time.Minute), time.Now().Add(time.Hour)
	for name, text := range map[string]string{
		"kolla-check-dead": description("prod", before), "kolla-check-alive": description("prod", after),
		"kolla-check-other": description("other", before), "kolla-check-users": "mine", "production": description("prod", before),
	} {
		o.Lists["identity/projects"] = append(o.Lists["identity/projects"], openstacktest.Entry{"id": "p-" + name, "name": name, "description": text})
		o.Lists["identity/users"] = append(o.Lists["identity/users"], openstacktest.Entry{"id": "u-" + name, "name": name})
		for _, kind := range []string{"compute/servers", "block-storage/volumes", "network/networks", "network/security-groups", "image/images"} {
			e := openstacktest.Entry{"id": kind[:3] + name, "name": name, "project_id": "p-" + name, "status": "available"}
			if kind == "image/images" {
				e = openstacktest.Entry{"id": "image" + name, "name": name, "owner": "p-" + name}
			}
			o.Lists[kind] = append(o.Lists[kind], e)
		}
	}
	o.Page = 2
	o.Breaks["GET /v3/projects"] = func(w http.ResponseWriter, r *http.Request) {
		if query := r.URL.Query(); query.Get("name__startswith") != smoke.Prefix {
			t.Errorf("asked for projects with %v", query)
		}
		o.Serve(w, r)
	}
	has := func(name string) bool {
		return slices.ContainsFunc(o.Owned(), func(text string) bool { return strings.HasSuffix(text, name) })
	}
	report := run(t, cloudOf(o), "token")
	if len(report.Left) > 0 || has("-dead") || !has("-alive") || !has("-other") || !has("-users") || !has("production") {
		t.Errorf("left %q, after a run there are %q", report.Left, o.Owned())
	}
	removed, left, err := smoke.Clean(t.Context(), cloudOf(o))
	if err != nil || len(left) > 0 || !slices.Equal(removed, []string{"kolla-check-alive"}) || has("-alive") || !has("-other") || !has("-users") || !has("production") {
		t.Errorf("%v, removed %q, left %q, there are %q", err, removed, left, o.Owned())
	}
	if len(o.Trespass) > 0 {
		t.Errorf("touched of others: %q", o.Trespass)
	}
	o.Breaks["DELETE /compute/servers"] = func(w http.ResponseWriter, _ *http.Request) { o.Answer(w, http.StatusServiceUnavailable, nil) }
	o.Lists["identity/projects"][1]["description"] = description("prod", before)
	o.Breaks["POST /v3/auth/tokens"] = func(w http.ResponseWriter, _ *http.Request) { o.Answer(w, http.StatusServiceUnavailable, nil) }
	if _, _, err := smoke.Clean(t.Context(), cloudOf(o)); err == nil || !strings.Contains(err.Error(), "HTTP 503") {
		t.Errorf("without Keystone: %v", err)
	}
}

func TestSelect(t *testing.T) {
	for _, test := range []struct {
		only, skip []string
		want       string // names, or a part of the error
	}{
		{[]string{"attachment"}, nil, "token network server console volume attachment"},
		{[]string{"attachment"}, []string{"console"}, "token network server volume attachment"},
		{nil, []string{"floating-ip", "stack"}, "token image network server console volume attachment secret dashboard"},
		{[]string{"console"}, []string{"network"}, "token server console"},
		{[]string{"dashboard"}, nil, "dashboard"},
		{[]string{"sever"}, nil, `No check "sever"`},
		{[]string{"token"}, []string{"token"}, "No check is left"},
	} {
		checks, err := smoke.Select(test.only, test.skip)
		var names []string
		for _, c := range checks {
			names = append(names, c.Name)
		}
		if got := strings.Join(names, " "); err == nil && got != test.want || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("only %q, skip %q: %s, %v", test.only, test.skip, got, err)
		}
	}
}

// TestMetrics checks the metrics of checks with each result, and of a check whose service is not declared.
func TestMetrics(t *testing.T) {
	checks := smoke.Checks()
	report := &smoke.Report{Cloud: "prod", Began: time.Unix(1e9, 0), Left: []string{"Project x"}, Results: []smoke.Result{
		{Check: checks[0], Outcome: smoke.OK, Took: 1500 * time.Millisecond},
		{Check: checks[1], Outcome: smoke.Failed, Took: time.Second},
		{Check: checks[2], Outcome: smoke.Skipped},
		{Check: checks[3], Outcome: smoke.Skipped, Unasked: true},
	}}
	text, err := report.Metrics()
	want := []string{
		`kolla_check_left_behind{cloud="prod"} 1`, `kolla_check_ok{check="image",cloud="prod"} 0`, `kolla_check_ok{check="token",cloud="prod"} 1`,
		`kolla_check_seconds{check="image",cloud="prod"} 1`, `kolla_check_seconds{check="token",cloud="prod"} 1.5`,
		`kolla_check_skipped{check="image",cloud="prod"} 0`, `kolla_check_skipped{check="network",cloud="prod"} 1`, `kolla_check_skipped{check="token",cloud="prod"} 0`,
		`kolla_check_timestamp_seconds{cloud="prod"} 1e+09`,
	}
	var got []string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			got = append(got, strings.TrimSpace(line))
		}
	}
	if err != nil || !slices.Equal(got, want) || !bytes.HasPrefix(text, []byte(smoke.MetricsBegin)) {
		t.Errorf("%v\n%s", err, text)
	}
}
