package annotations_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"kolla.openstack.org/kolla/internal/present/annotations"
	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// sample contains errors and warnings of all sorts: on one line, on several lines, in the
// catalogue, outside of the repository, without a place, and with characters that formats escape.
func sample() *annotations.Log {
	l := &annotations.Log{}
	at := func(file string, line, col, endLine, endCol int) *hcl.Range {
		return &hcl.Range{Filename: file, Start: hcl.Pos{Line: line, Column: col}, End: hcl.Pos{Line: endLine, Column: endCol}}
	}
	l.Configuration(hcl.Diagnostics{
		{Severity: hcl.DiagError, Summary: `There is no variable "x"`, Detail: "100% wrong:\r\na, b \u202eevil", Subject: at("sub dir/a,b:c%.hcl", 3, 5, 3, 9)},
		{Severity: hcl.DiagWarning, Summary: "Override without effect", Detail: "It is not used.", Subject: at("cloud.hcl", 7, 1, 9, 2)},
		{Severity: hcl.DiagError, Summary: "Wrong definition", Detail: "Of the program.", Subject: at("<catalogue>/nova.hcl", 1, 1, 1, 2)},
		{Severity: hcl.DiagWarning, Summary: "Elsewhere", Detail: "Not in the repository.", Subject: at("../../../other.hcl", 1, 1, 1, 2)},
	})
	l.Problems([]plans.Problem{
		{Warning: true, Source: "cloud.hcl:41", Summary: "the pods will be refused", Detail: "::error::not a command\n::stop-commands::x"},
		{Warning: true, Source: "cloud.hcl:41", Summary: "the pods will be refused", Detail: "::error::not a command\n::stop-commands::x"},
		{Source: "cloud.hcl:12", Summary: "the pods will be refused", Detail: "Of others."},
	})
	at2 := addrs.Object{Block: "service.a", Kind: "Service", Name: "a"}
	l.Plan(&plans.Plan{
		Actions:  []plans.Action{{Address: at2, Object: &providers.Object{Source: "cloud.hcl:50"}}},
		Warnings: []plans.Notice{{Address: at2, Text: "deprecated"}},
	})
	l.Failure("Cannot reach the cluster", "")
	return l
}

// inRepository changes to a subdirectory of a repository.
func inRepository(t *testing.T) {
	t.Helper()
	root := t.TempDir()
	for _, dir := range []string{".git", "clouds/prod"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(root, "clouds", "prod"))
}

// written writes the sample in a format and returns the result.
func written(t *testing.T, value string) string {
	t.Helper()
	list, err := annotations.Targets([]string{value})
	if err != nil {
		t.Fatal(err)
	}
	var stdout bytes.Buffer
	if err := list.Write(&stdout, sample(), "v1"); err != nil {
		t.Fatal(err)
	}
	_, file, ok := strings.Cut(value, ":")
	if !ok {
		return stdout.String()
	}
	if stdout.Len() > 0 {
		t.Errorf("standard output has %q", &stdout)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestGitHub checks the commands of GitHub Actions, with its rules of escaping: % and line
// breaks everywhere, and : and , in properties.
func TestGitHub(t *testing.T) {
	inRepository(t)
	want := `::error file=clouds/prod/cloud.hcl,line=12,endLine=12,title=The pods will be refused::Of others.
::warning file=clouds/prod/cloud.hcl,line=41,endLine=41,title=The pods will be refused::::error::not a command%0A::stop-commands::x
::warning file=clouds/prod/cloud.hcl,line=50,endLine=50,title=The API server warns::deprecated
::warning file=clouds/prod/cloud.hcl,line=7,endLine=9,title=Override without effect::It is not used.
::error file=clouds/prod/sub dir/a%2Cb%3Ac%25.hcl,line=3,endLine=3,col=5,endColumn=9,title=There is no variable "x"::100%25 wrong:%0Aa, b \u202eevil
::error title=Wrong definition::Of the program.
::warning title=Elsewhere::Not in the repository.
::error title=Cannot reach the cluster::Cannot reach the cluster
`
	got := written(t, "github")
	want = sortPlaces(want)
	if diff := cmp.Diff(want, sortPlaces(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !strings.HasPrefix(got, "::warning file=clouds/prod/cloud.hcl,line=7,") {
		t.Errorf("not in the order of the lines:\n%s", got)
	}
	for line := range strings.Lines(got) {
		if !strings.HasPrefix(line, "::error ") && !strings.HasPrefix(line, "::warning ") {
			t.Errorf("another command: %q", line)
		}
	}
}

func sortPlaces(text string) string {
	lines := strings.Split(text, "\n")
	// Another test checks the order.
	for i := range lines {
		for j := i; j > 0 && lines[j] < lines[j-1]; j-- {
			lines[j], lines[j-1] = lines[j-1], lines[j]
		}
	}
	return strings.Join(lines, "\n")
}

// gitlabSchema is the schema of a report according to docs.gitlab.com/ci/testing/code_quality.
const gitlabSchema = `{
  "type": "array",
  "items": {
    "type": "object",
    "required": ["description", "check_name", "fingerprint", "severity", "location"],
    "properties": {
      "description": {"type": "string", "minLength": 1},
      "check_name": {"type": "string", "pattern": "^[a-z]+(-[a-z]+)*$"},
      "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
      "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
      "location": {
        "type": "object", "required": ["path", "lines"],
        "properties": {
          "path": {"type": "string", "pattern": "^[^/]"},
          "lines": {"type": "object", "required": ["begin"], "properties": {"begin": {"type": "integer", "minimum": 1}}}
        }
      }
    }
  }
}`

// TestGitLab checks the form of a code quality report, and that fingerprints are unique and
// survive an edit above.
func TestGitLab(t *testing.T) {
	inRepository(t)
	text := written(t, "gitlab:quality.json")
	schema, err := jsonschema.UnmarshalJSON(strings.NewReader(gitlabSchema))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("gitlab.json", schema); err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := compiler.MustCompile("gitlab.json").Validate(value); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	var entries []struct {
		Description, Fingerprint, Severity string
		Location                           struct {
			Path  string
			Lines struct{ Begin, End int }
		}
	}
	if err := json.Unmarshal([]byte(text), &entries); err != nil {
		t.Fatal(err)
	}
	prints := map[string]bool{}
	for _, e := range entries {
		prints[e.Fingerprint] = true
	}
	if len(prints) != len(entries) || len(entries) != 8 {
		t.Errorf("%d entries with %d fingerprints", len(entries), len(prints))
	}
	if e := entries[0]; e.Location.Path != "clouds/prod/cloud.hcl" || e.Location.Lines.Begin != 7 || e.Location.Lines.End != 9 || e.Severity != "minor" {
		t.Errorf("first entry: %+v", e)
	}

	moved := func(line int) string {
		l := &annotations.Log{}
		l.Configuration(hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "S", Subject: &hcl.Range{Filename: "a.hcl", Start: hcl.Pos{Line: line, Column: 1}, End: hcl.Pos{Line: line, Column: 2}}}})
		list, err := annotations.Targets([]string{"gitlab:moved.json"})
		if err != nil {
			t.Fatal(err)
		}
		if err := list.Write(&bytes.Buffer{}, l, ""); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile("moved.json")
		if err != nil || json.Unmarshal(content, &entries) != nil {
			t.Fatal(err)
		}
		return entries[0].Fingerprint
	}
	if moved(3) != moved(30) {
		t.Error("a fingerprint changes with the line")
	}
}

// TestSARIF validates a log with the schema of SARIF 2.1.0.
func TestSARIF(t *testing.T) {
	inRepository(t)
	text := written(t, "sarif:kolla.sarif")
	known := json.NewDecoder(strings.NewReader(text))
	known.DisallowUnknownFields()
	if err := known.Decode(&sarif.Report{}); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	report, err := sarif.FromBytes([]byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	report.Runs[0].NewlineSequences = []string{"\n"} // the library adds an empty list, which the schema does not allow
	if err := report.Validate(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
	run := report.Runs[0]
	if len(run.Results) != 8 || *run.Tool.Driver.Name != "kolla" || *run.Tool.Driver.Version != "v1" {
		t.Fatalf("%d results of %s", len(run.Results), text)
	}
	escaped := false
	for _, r := range run.Results {
		if *run.Tool.Driver.Rules[r.RuleIndex].ID != *r.RuleID {
			t.Errorf("rule %d is not %s", r.RuleIndex, *r.RuleID)
		}
		for _, l := range r.Locations {
			escaped = escaped || *l.PhysicalLocation.ArtifactLocation.URI == "clouds/prod/sub%20dir/a,b:c%25.hcl"
		}
	}
	if !escaped {
		t.Errorf("no path of a file is escaped in a URI:\n%s", text)
	}
}

// TestTargets checks that wrong formats are refused, and that a file with other content is not
// overwritten.
func TestTargets(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("cloud.hcl", []byte("cloud \"x\" {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{
		"gihub":           `Did you mean "github"?`,
		"github:x":        "write -annotations=github",
		"gitlab":          "-annotations=gitlab:FILE",
		"sarif:":          "-annotations=sarif:FILE",
		"sarif:cloud.hcl": "would overwrite it",
		"gitlab:.":        "not a regular file",
	} {
		_, err := annotations.Targets([]string{value})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", value, err, want)
		}
	}
	written(t, "sarif:again.sarif")
	written(t, "sarif:again.sarif")
	written(t, "gitlab:again.json")
	written(t, "gitlab:again.json")
}
