// The tests of this file run tfcmt, tf-summarize and Woodpecker's linter as programs, and do not
// run where these are not installed. Their modules could be imported:
// github.com/suzuki-shunsuke/tfcmt/v4 (MIT) has its parser in pkg/terraform,
// github.com/dineshba/tf-summarize (MIT) has parser, terraformstate and writer, and
// go.woodpecker-ci.org/woodpecker/v3 (Apache-2.0) has pipeline/frontend/yaml/linter. None of them
// is internal, and none needs a replace directive. But some
// module proxies do not serve these three modules, and a requirement in go.mod would break the
// tests there. So the tests run the programs from the PATH.

package consumers

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"
)

// program returns the path of a third-party program. It skips the test if the program is not
// installed.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("NOT RUN: there is no %s", name)
	}
	return path
}

// run returns the standard output and the exit code of a program. The program gets an environment
// of PATH, HOME and the given variables.
func run(t *testing.T, env []string, path string, args ...string) (string, int) {
	t.Helper()
	c := exec.CommandContext(t.Context(), path, args...)
	c.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, env...)
	out, err := c.Output()
	if exit := (&exec.ExitError{}); errors.As(err, &exit) {
		t.Logf("%s: %s", c, exit.Stderr)
		return string(out), exit.ExitCode()
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(out), 0
}

// changes groups the addresses in a plan by the kind of change.
func changes(plan *tfjson.Plan) map[string][]string {
	out := map[string][]string{}
	for _, c := range plan.ResourceChanges {
		actions := c.Change.Actions
		for name, is := range map[string]bool{
			"add": actions.Create(), "update": actions.Update(), "delete": actions.Delete(), "recreate": actions.Replace(),
			"import": c.Change.Importing != nil,
		} {
			if is {
				out[name] = append(out[name], c.Address)
			}
		}
	}
	return sorted(out)
}

// sorted sorts the lists and removes empty ones.
func sorted(lists map[string][]string) map[string][]string {
	for name, list := range lists {
		slices.Sort(list)
		if len(list) == 0 {
			delete(lists, name)
		}
	}
	return lists
}

// TestTfcmt checks that tfcmt finds in the plans of -format=tfcmt all changes that are in the same
// plans as JSON.
func TestTfcmt(t *testing.T) {
	tfcmt := program(t, "tfcmt")
	config := filepath.Join(t.TempDir(), "tfcmt.yaml")
	text := "terraform:\n  use_raw_output: true\n  plan:\n    disable_label: true\n    template: '{{toJson .}}'\n"
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, content := range documents(t) {
		t.Run(name, func(t *testing.T) {
			output := filepath.Join(t.TempDir(), "comment")
			// tfcmt needs a token even if it writes to a file.
			_, code := run(t, []string{"GITHUB_TOKEN=unused"}, tfcmt, "-owner", "o", "-repo", "r", "-pr", "1", "-config", config,
				"-output", output, "plan", "--", "sh", "-c", `cat "$0"; exit 2`, filepath.Join("testdata", "tfcmt", name+".txt"))
			if code != 2 {
				t.Errorf("tfcmt exits with %d, want 2, the code of its command", code)
			}
			var got struct {
				Result, ChangedResult, ChangeOutsideTerraform, Warning                                     string
				HasDestroy, HasError                                                                       bool
				CreatedResources, UpdatedResources, DeletedResources, ReplacedResources, ImportedResources []string
			}
			comment, err := os.ReadFile(output)
			if err == nil {
				err = json.Unmarshal(comment, &got)
			}
			if err != nil {
				t.Fatal(err)
			}
			plan := parse(t, content)
			want := changes(plan)
			delete(want, "import") // tfcmt lists an imported object that changes among the updated ones
			lists := sorted(map[string][]string{
				"add": got.CreatedResources, "update": got.UpdatedResources, "delete": got.DeletedResources, "recreate": got.ReplacedResources,
			})
			if !reflect.DeepEqual(lists, want) || got.ImportedResources != nil {
				t.Errorf("tfcmt lists %v and imports %v, want %v", lists, got.ImportedResources, want)
			}
			outputs := len(outputChanges(plan)) > 0
			verdict := "No changes."
			switch {
			case len(want) > 0:
				verdict = "Plan: "
			case outputs:
				verdict = "Only Outputs will be changed."
			}
			if !strings.HasPrefix(got.Result, verdict) || got.HasDestroy != (len(deleted(plan)) > 0) || got.HasError {
				t.Errorf("tfcmt judges %q, destroy %v, error %v; want %q", got.Result, got.HasDestroy, got.HasError, verdict)
			}
			if (got.ChangedResult == "") != (verdict == "No changes.") || strings.Contains(got.ChangedResult, "\nChanges to Outputs:") != (outputs && len(want) > 0) {
				t.Errorf("changes:\n%s", got.ChangedResult)
			}
			if (got.ChangeOutsideTerraform == "") != (len(plan.ResourceDrift) == 0) {
				t.Errorf("changes outside:\n%s\nwant %d", got.ChangeOutsideTerraform, len(plan.ResourceDrift))
			}
			if !strings.HasPrefix(got.Warning, "Warning: Something of the configuration") || strings.Contains(got.Warning, "Plan: ") {
				t.Errorf("warnings:\n%s", got.Warning)
			}
			if (name == "policies") != strings.Contains(got.ChangedResult, "denied     volumes-stay") {
				t.Errorf("results of policies:\n%s", got.ChangedResult)
			}
		})
	}
}

// outputChanges groups the names of changed outputs by the kind of change.
func outputChanges(plan *tfjson.Plan) map[string][]string {
	out := map[string][]string{}
	for name, c := range plan.OutputChanges {
		for word, is := range map[string]bool{"add": c.Actions.Create(), "update": c.Actions.Update(), "delete": c.Actions.Delete()} {
			if is {
				out[word] = append(out[word], name)
			}
		}
	}
	return sorted(out)
}

// TestTfSummarize checks that the tables of tf-summarize contain all changed objects and outputs,
// in the right rows.
func TestTfSummarize(t *testing.T) {
	summarize := program(t, "tf-summarize")
	for name, content := range documents(t) {
		t.Run(name, func(t *testing.T) {
			text, code := run(t, nil, summarize, "-md", filepath.Join("testdata", name+".json"))
			if code != 0 {
				t.Fatalf("tf-summarize exits with %d", code)
			}
			tables := map[string]map[string][]string{"RESOURCE": {}, "OUTPUT": {}}
			var table map[string][]string
			var change, value string
			for l := range strings.Lines(text) {
				cells := strings.Split(l, "|")
				if len(cells) != 4 || strings.HasPrefix(cells[1], "-") {
					continue
				}
				word, _, _ := strings.Cut(strings.TrimSpace(cells[1]), " ")
				cell := strings.Trim(cells[2], " `")
				if word == "CHANGE" {
					table = tables[cell]
					continue
				}
				if word != "" { // an empty cell repeats the one above; so does an empty value
					change = word
				}
				if cell != "" {
					value = cell
				}
				table[change] = append(table[change], value)
			}
			plan := parse(t, content)
			want := map[string]map[string][]string{"RESOURCE": changes(plan), "OUTPUT": outputChanges(plan)}
			if !reflect.DeepEqual(tables, want) {
				t.Errorf("tf-summarize shows\n%v, want\n%v", tables, want)
			}
		})
	}
}

// TestWoodpecker checks examples/ci/woodpecker with Woodpecker's linter.
func TestWoodpecker(t *testing.T) {
	woodpecker := program(t, "woodpecker-cli")
	names, err := filepath.Glob("../../../examples/ci/woodpecker/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatalf("found %d workflows, %v", len(names), err)
	}
	for _, name := range names {
		if out, code := run(t, nil, woodpecker, "--disable-update-check", "lint", "--strict", name); code != 0 {
			t.Errorf("%s: %s", name, out)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		misspelt := filepath.Join(t.TempDir(), "misspelt.yaml")
		if err := os.WriteFile(misspelt, bytes.Replace(text, []byte("commands:"), []byte("comands:"), 1), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, code := run(t, nil, woodpecker, "--disable-update-check", "lint", "--strict", misspelt); code == 0 {
			t.Errorf("%s: the linter accepts a misspelt key", name)
		}
	}
}
