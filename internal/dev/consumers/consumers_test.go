package consumers

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"
	"github.com/open-policy-agent/conftest/parser"
	"github.com/open-policy-agent/conftest/policy"
)

// documents returns the plans by name.
func documents(t *testing.T) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob("testdata/*.json")
	if err != nil || len(names) < 5 {
		t.Fatalf("found %d plans, %v", len(names), err)
	}
	out := map[string][]byte{}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(name), ".json")] = content
	}
	return out
}

// parse reads a plan like the services that get plans from run tasks.
func parse(t *testing.T, content []byte) *tfjson.Plan {
	t.Helper()
	plan := &tfjson.Plan{}
	if err := json.Unmarshal(content, plan); err != nil {
		t.Fatal(err)
	}
	return plan
}

// deleted returns the addresses of the objects that a plan deletes or replaces.
func deleted(plan *tfjson.Plan) []string {
	var out []string
	for _, c := range plan.ResourceChanges {
		if slices.Contains(c.Change.Actions, tfjson.ActionDelete) {
			out = append(out, c.Address)
		}
	}
	return out
}

// TestTerraformJSON checks that HashiCorp's own package reads the plans, and that a change has no
// values before a creation and none after a deletion.
func TestTerraformJSON(t *testing.T) {
	var all []*tfjson.ResourceChange
	for name, content := range documents(t) {
		plan := parse(t, content)
		if err := plan.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		all = append(all, plan.ResourceChanges...)
		for _, c := range plan.ResourceChanges {
			if c.Address == "" || c.Type == "" || c.Name == "" || c.Mode != tfjson.ManagedResourceMode || len(c.Change.Actions) == 0 {
				t.Errorf("%s: incomplete: %+v", name, c)
			}
			if c.Change.Actions.Create() && c.Change.Before != nil || c.Change.Actions.Delete() && c.Change.After != nil {
				t.Errorf("%s: %s is %v, with a side too many", name, c.Address, c.Change.Actions)
			}
		}
	}
	for what, is := range map[string]func(tfjson.Actions) bool{
		"create": tfjson.Actions.Create, "update": tfjson.Actions.Update, "delete": tfjson.Actions.Delete, "replace": tfjson.Actions.Replace,
	} {
		if !slices.ContainsFunc(all, func(c *tfjson.ResourceChange) bool { return is(c.Change.Actions) }) {
			t.Errorf("no plan has a %s", what)
		}
	}
}

// TestConftest evaluates the Rego policies of docs/policies.md on the plans with conftest.
func TestConftest(t *testing.T) {
	text, err := os.ReadFile("../../../docs/policies.md")
	if err != nil {
		t.Fatal(err)
	}
	rego := regexp.MustCompile("(?ms)^```rego\n(.*?)^```$").FindSubmatch(text)
	if rego == nil {
		t.Fatal("docs/policies.md has no Rego")
	}
	file := filepath.Join(t.TempDir(), "policy.rego")
	if err := os.WriteFile(file, rego[1], 0o600); err != nil {
		t.Fatal(err)
	}
	capabilities, err := policy.LoadCapabilities("")
	if err != nil {
		t.Fatal(err)
	}
	engine, err := policy.LoadWithData([]string{file}, nil, policy.CompilerOptions{Strict: true, RegoVersion: "v1", Capabilities: capabilities})
	if err != nil {
		t.Fatal(err)
	}
	denials := 0
	for name, content := range documents(t) {
		input, err := parser.ParseConfigurations([]string{filepath.Join("testdata", name+".json")})
		if err != nil {
			t.Fatal(err)
		}
		results, err := engine.Check(t.Context(), input, "main")
		if err != nil || len(results) != 1 {
			t.Fatalf("%s: conftest has the results %v: %v", name, results, err)
		}
		var got, want []string
		for _, failure := range results[0].Failures {
			got = append(got, failure.Message)
		}
		for _, address := range deleted(parse(t, content)) {
			want = append(want, address+" is deleted")
		}
		slices.Sort(got)
		slices.Sort(want)
		denials += len(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: conftest denies %q, want %q", name, got, want)
		}
	}
	if denials == 0 {
		t.Error("no plan deletes an object")
	}
}
