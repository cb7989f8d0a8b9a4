package realcloud_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"
)

// identitiesStayApart checks that Keystone never takes one caller for another while many ask at
// once: a restricted application credential, which may not make credentials, the administrator,
// and a member of another project. With two threads in a process, 4 of 100 tries of
// the restricted one got the rights of the administrator.
func identitiesStayApart(t *testing.T, c *cloud) {
	c.value(t, "project", "create", "apart", "-f", "value", "-c", "id")
	member := c.value(t, "user", "create", "innocent", "--password", "innocent", "-f", "value", "-c", "id")
	c.value(t, "role", "add", "--user", "innocent", "--project", "apart", "member")
	admin := c.value(t, "user", "show", "admin", "-f", "value", "-c", "id")
	var credential struct{ ID, Secret string }
	made := c.value(t, "application", "credential", "create", "restricted", "-f", "json")
	if err := json.Unmarshal([]byte(made), &credential); err != nil || credential.Secret == "" {
		t.Fatalf("read the application credential: %v", err)
	}

	tokens := c.keystone() + "/auth/tokens"
	get := func(path string, status int, says string) request {
		return request{Method: http.MethodGet, URL: c.keystone() + path, Status: status, Says: says}
	}
	myself := func(id string) request { return get("/auth/tokens", http.StatusOK, `"id": "`+id+`"`) }
	kinds := []client{
		{"restricted", &login{tokens, fmt.Sprintf(`{"auth": {"identity": {"methods": ["application_credential"], "application_credential": {"id": %q, "secret": %q}}}}`, credential.ID, credential.Secret), admin}, []request{
			{Method: http.MethodPost, URL: c.keystone() + "/users/" + admin + "/application_credentials", Body: `{"application_credential": {"name": "UNIQUE"}}`, Status: http.StatusForbidden},
			myself(admin),
		}},
		{"admin", &login{tokens, password("admin", c.password(t), "admin"), admin}, []request{
			get("/users", http.StatusOK, `"innocent"`), myself(admin),
		}},
		{"member", &login{tokens, password("innocent", "innocent", "apart"), member}, []request{
			get("/users", http.StatusForbidden, ""), myself(member), get("/auth/projects", http.StatusOK, `"apart"`),
		}},
	}
	results := c.clientsRun(t, func() { time.Sleep(40 * time.Second) }, orders{Clients: slices.Concat(kinds, kinds, kinds, kinds[:1])})
	for name, r := range results {
		measured(t, "requests of ten clients at once, as "+name+", and of them answered wrongly", fmt.Sprintf("%d, %d (slowest %s)", r.Requests, r.Failed, r.Slowest))
		if r.Failed > 0 || r.Requests < 20 {
			t.Errorf("%s: of %d requests %d got a wrong answer, such as %v", name, r.Requests, r.Failed, r.Failures)
		}
	}
}

// rolesDecide checks what a reader, a member and a manager may list and create in every API.
func rolesDecide(t *testing.T, c *cloud) {
	c.script(t, "roles.py")
	r := c.outside(t, c.credentials(t), "python3", "roles.py")
	if r.code != 0 || r.out != "" {
		t.Errorf("roles.py: exit code %d\n%s", r.code, r.out)
	}
	measured(t, "requests of a reader, a member and a manager to every API", r.took.Round(time.Second))
}
