package tempest_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/internal/run/tempest"
)

// printed is what Tempest prints of five tests, the last one of a class that cannot be cleaned up.
const printed = `{0} setUpClass (tempest.api.object_storage.test_a.ATest) ... SKIPPED: swift is not available
{1} tempest.api.compute.test_b.BTest.test_one [1.205213s] ... ok
{0} tempest.api.compute.test_b.BTest.test_two [0.000145s] ... FAILED

Captured traceback:
~~~~~~~~~~~~~~~~~~~
    Traceback (most recent call last):

      File "/usr/lib/python3/dist-packages/tempest/api/compute/test_b.py", line 5, in test_two
    tempest.lib.exceptions.TimeoutException: Request timed out

{1} tempest.api.network.test_ports.PortsTestJSON.test_create_update_delete_port ... SKIPPED: a|bug
{1} barbican_tempest_plugin.tests.test_d.DTest.test_four [0.2s] ... ok
{1} tearDownClass (barbican_tempest_plugin.tests.test_d.DTest) [0.000000s] ... FAILED

======
Totals
======
Ran: 6 tests in 3.1000 sec.
 - Passed: 2
 - Skipped: 2
 - Expected Fail: 0
 - Unexpected Success: 0
 - Failed: 2
Sum of execute time for each test: 1.4053 sec.
`

var read = []tempest.Result{
	{Name: "setUpClass (tempest.api.object_storage.test_a.ATest)", Status: tempest.Skipped, Reason: "swift is not available"},
	{Name: "tempest.api.compute.test_b.BTest.test_one", Status: tempest.Passed},
	{Name: "tempest.api.compute.test_b.BTest.test_two", Status: tempest.Failed, Trace: []string{
		"Traceback (most recent call last):", `  File "/usr/lib/python3/dist-packages/tempest/api/compute/test_b.py", line 5, in test_two`,
		"tempest.lib.exceptions.TimeoutException: Request timed out",
	}},
	{Name: "tempest.api.network.test_ports.PortsTestJSON.test_create_update_delete_port", Status: tempest.Skipped, Reason: "a|bug"},
	{Name: "barbican_tempest_plugin.tests.test_d.DTest.test_four", Status: tempest.Passed},
	{Name: "tearDownClass (barbican_tempest_plugin.tests.test_d.DTest)", Status: tempest.Failed},
}

func TestRead(t *testing.T) {
	got, err := tempest.Read(printed)
	if diff := cmp.Diff(read, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	interrupted, _, _ := strings.Cut(printed, "======")
	if _, err := tempest.Read(interrupted); err == nil || !strings.Contains(err.Error(), "without totals") {
		t.Errorf("an interrupted run: %v", err)
	}
	if _, err := tempest.Read(strings.Replace(printed, "Passed: 2", "Passed: 3", 1)); err == nil || !strings.Contains(err.Error(), "2 results passed, and its totals say 3") {
		t.Errorf("a result that was not read: %v", err)
	}
}

// TestUnmet checks which required tests count as unmet: those that were skipped, also with their class. Those that were
// left out do not count.
func TestUnmet(t *testing.T) {
	results := []tempest.Result{
		{Name: "tempest.api.network.test_ports.PortsTestJSON.test_create_update_delete_port", Status: tempest.Skipped, Reason: "a bug"},
		{Name: "tempest.api.network.test_ports.PortsTestJSON.test_list_ports", Status: tempest.Failed},
		{Name: "setUpClass (tempest.api.identity.v3.test_tokens.TokensV3Test)", Status: tempest.Skipped, Reason: "no Keystone"},
	}
	without := (tempest.Cloud{Services: []string{"network"}}).Undeclared()
	names := func(results []tempest.Result) (out []string) {
		for _, r := range results {
			out = append(out, r.Name+": "+r.Reason)
		}
		return out
	}
	skipped, absent := tempest.Unmet(results, without)
	if got := names(skipped); len(got) < 2 || !slices.Contains(got, "tempest.api.network.test_ports.PortsTestJSON.test_create_update_delete_port: a bug") || !strings.HasSuffix(got[0], ": no Keystone") {
		t.Errorf("skipped are %q", got)
	}
	for _, name := range absent {
		if strings.Contains(name, "api.volume") || strings.HasSuffix(name, "PortsTestJSON.test_list_ports") {
			t.Errorf("%s counts as absent", name)
		}
	}
	without = append(without, tempest.Omissions(map[string]string{results[0].Name: "a reason"})...)
	if got, _ := tempest.Unmet(results, without); len(got) != len(skipped)-1 {
		t.Errorf("skipped are %q, without a test that is left out", names(got))
	}
}

func TestTable(t *testing.T) {
	const want = `| group | passed | failed | skipped |
| --- | --- | --- | --- |
| servers | 1 | 1 | 0 |
| networks | 0 | 0 | 1 |
| Barbican's plug-in | 1 | 1 | 0 |
| others | 0 | 0 | 1 |
| all | 2 | 2 | 2 |

| skipped | reason |
| --- | --- |
| 1 | a\|bug |
| 1 | swift is not available |
`
	var got strings.Builder
	tempest.Table(&got, read)
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("the table (-want +got):\n%s", diff)
	}
}

// listed has the tests of the results above, and a fifth test that did not run. The guideline requires both tests
// of PortsTestJSON.
var listed = tempest.Lists(`some message of a library
tempest.api.object_storage.test_a.ATest.test_zero[id-00000000-0000-4000-8000-000000000000]
tempest.api.compute.test_b.BTest.test_one[id-00000000-0000-4000-8000-000000000001,smoke]
tempest.api.compute.test_b.BTest.test_two[id-00000000-0000-4000-8000-000000000002]
tempest.api.network.test_ports.PortsTestJSON.test_create_update_delete_port[id-c72c1c0c-2193-4aca-aaa4-b1442640f51c,smoke]
barbican_tempest_plugin.tests.test_d.DTest.test_four[id-00000000-0000-4000-8000-000000000004]
tempest.api.network.test_ports.PortsTestJSON.test_list_ports[id-cf95b358-3e92-4a29-a148-52445e1ac50e]
`)

func TestJudge(t *testing.T) {
	for name, c := range map[string]struct {
		known map[string]string
		want  []string
	}{
		"nothing is known": {nil, []string{
			"tearDownClass (barbican_tempest_plugin.tests.test_d.DTest) failed",
			"tempest.api.compute.test_b.BTest.test_two failed",
			"tempest.api.network.test_ports.PortsTestJSON.test_create_update_delete_port is required, and was skipped: a|bug",
			"tempest.api.network.test_ports.PortsTestJSON.test_list_ports has no result",
		}},
		"all is known": {map[string]string{
			"tearDownClass (barbican_tempest_plugin.tests.test_d.DTest)": "a reason", "tempest.api.compute.test_b.BTest.test_two": "a reason",
			"tempest.api.network.test_ports.PortsTestJSON.test_list_ports": "a reason", "tempest.api.network.test_ports.PortsTestJSON.test_create_update_delete_port": "a reason",
		}, nil},
		"a known one passes": {map[string]string{
			"tearDownClass (barbican_tempest_plugin.tests.test_d.DTest)": "a reason", "tempest.api.compute.test_b.BTest.test_two": "a reason",
			"tempest.api.network.test_ports.PortsTestJSON.test_list_ports": "a reason", "tempest.api.network.test_ports.PortsTestJSON.test_create_update_delete_port": "a reason",
			"tempest.api.compute.test_b.BTest.test_one": "a reason",
		}, []string{"tempest.api.compute.test_b.BTest.test_one passes now: remove its line from known.txt"}},
	} {
		if diff := cmp.Diff(c.want, listed.Judge(read, c.known)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	inheriting := tempest.Lists("tempest.api.network.test_ports.PortsIpV6TestJSON.test_list_ports[id-cf95b358-3e92-4a29-a148-52445e1ac50e]")
	skipped := []tempest.Result{{Name: "tempest.api.network.test_ports.PortsIpV6TestJSON.test_list_ports", Status: tempest.Skipped}}
	if problems := inheriting.Judge(skipped, nil); problems != nil {
		t.Errorf("the same test of another class is not required: %v", problems)
	}
	class := []tempest.Result{{Name: "setUpClass (tempest.api.network.test_ports.PortsTestJSON)", Status: tempest.Skipped, Reason: "no extension"}}
	want := []string{
		"tempest.api.network.test_ports.PortsTestJSON.test_create_update_delete_port is required, and was skipped: no extension",
		"tempest.api.network.test_ports.PortsTestJSON.test_list_ports is required, and was skipped: no extension",
	}
	if diff := cmp.Diff(want, tempest.List{listed[3], listed[5]}.Judge(class, nil)); diff != "" {
		t.Errorf("a class that is skipped as a whole (-want +got):\n%s", diff)
	}
}

// TestCheck checks that names which Tempest does not have are found. The list has two of the required tests.
func TestCheck(t *testing.T) {
	problems := strings.Join(listed.Check(map[string]string{
		"tempest.api.compute.test_b.BTest.test_two": "a reason", "tearDownClass (tempest.api.compute.test_b.BTest)": "a reason",
		"tempest.api.compute.test_b.BTest.test_gone": "a reason",
	}), "\n")
	if n := strings.Count(problems, "required.txt: Tempest has no test"); n != len(tempest.Required())-2 {
		t.Errorf("%d required tests are missing, want all but two", n)
	}
	renamed := tempest.Lists("tempest.api.network.test_ports.New.test_list_ports[id-cf95b358-3e92-4a29-a148-52445e1ac50e]")
	if got := strings.Join(renamed.Check(nil), "\n"); !strings.Contains(got, "its id belongs to tempest.api.network.test_ports.New.test_list_ports") {
		t.Errorf("a test has another name:\n%s", got)
	}
	if strings.Count(problems, "known.txt") != 1 || !strings.Contains(problems, "known.txt: Tempest has no test tempest.api.compute.test_b.BTest.test_gone; remove the line") {
		t.Errorf("the problems are:\n%s", problems)
	}
}
