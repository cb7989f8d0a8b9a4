package openstack_test

import (
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/providers/openstack"
)

// TestOpenSearchStart checks that a member makes a cluster only where no other member answers, and that the
// configuration is copied to where OpenSearch may write.
func TestOpenSearchStart(t *testing.T) {
	for name, c := range map[string]struct{ members, answers, want string }{
		"one":         {"s-0.svc", "none", "opensearch -Ecluster.initial_cluster_manager_nodes=s-0\n"},
		"new cluster": {"s-0.svc s-1.svc s-2.svc", "none", "opensearch -Ecluster.initial_cluster_manager_nodes=s-0,s-1,s-2\n"},
		"itself":      {"s-0.svc s-1.svc s-2.svc", "s-0.svc", "opensearch -Ecluster.initial_cluster_manager_nodes=s-0,s-1,s-2\n"},
		"joins":       {"s-0.svc s-1.svc s-2.svc", "s-2.svc", "opensearch\n"},
	} {
		t.Run(name, func(t *testing.T) {
			conf := filepath.Join(t.TempDir(), "conf")
			for key, value := range map[string]string{"MEMBERS": c.members, "PORT": "9200", "KOLLA_POD": "s-0", "OPENSEARCH_PATH_CONF": conf} {
				t.Setenv(key, value)
			}
			for range 2 { // the second time after a restart of the container
				got, err := runScript(t, "opensearch/start.sh", map[string]string{
					"curl": `case "$*" in *"http://` + c.answers + `:9200/") ;; *) exit 7 ;; esac`,
					"cp":   `test "$*" = "-RL /etc/opensearch/. ` + conf + `" && test -d ` + conf,
				}, "sh", "echo", "opensearch")
				if diff := cmp.Diff(c.want, got); err != nil || diff != "" {
					t.Errorf("%v, (-want +got):\n%s", err, diff)
				}
			}
		})
	}
}

// TestOpenSearchRetention checks that the script writes the policy and the template, gives the policy to indices
// without one, and a changed one to those that have it.
func TestOpenSearchRetention(t *testing.T) {
	source, err := fs.ReadFile(openstack.Catalogue(), "opensearch/retention.py")
	if err != nil {
		t.Fatal(err)
	}
	var asked []string
	store := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, r.Method+" "+r.URL.String())
		switch {
		case r.Method == http.MethodGet:
			fmt.Fprint(w, `{"_seq_no": 5, "_primary_term": 2, "policy": {}}`)
		case strings.Contains(r.URL.Path, "/policies/"):
			if !strings.Contains(string(body), `"min_index_age": "7d"`) {
				t.Errorf("the policy is %s", body)
			}
			fmt.Fprint(w, `{}`)
		case strings.Contains(r.URL.Path, "/change_policy/"):
			fmt.Fprint(w, `{"updated_indices": 2, "failures": true, "failed_indices": [{"index_name": "c-new", "reason": "This index is not being managed"}]}`)
		case strings.Contains(r.URL.Path, "/add/"):
			if string(body) != `{"policy_id": "kolla-retention"}` {
				t.Errorf("added is %s", body)
			}
			http.Error(w, `{}`, http.StatusNotFound) // no index yet
		default:
			fmt.Fprint(w, `{}`)
		}
	}))
	defer store.Close()
	python := exec.Command("python3", "-c", string(source))
	python.Env = append(os.Environ(), "URL="+store.URL, "DAYS=7", "COPIES=1", "INDICES=c-*,audit-*", "no_proxy=*")
	out, err := python.CombinedOutput()
	if want := "change_policy: c-new: This index is not being managed\n"; err != nil || string(out) != want {
		t.Errorf("%v, the script prints %q, want %q", err, out, want)
	}
	want := []string{
		"GET /_plugins/_ism/policies/kolla-retention",
		"PUT /_plugins/_ism/policies/kolla-retention?if_seq_no=5&if_primary_term=2",
		"PUT /_index_template/kolla-logs",
		"POST /_plugins/_ism/change_policy/c-*,audit-*",
		"POST /_plugins/_ism/add/c-*,audit-*",
	}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
}
