package arch_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/dev/npmtest"
)

// TestCI checks that CI runs the same make targets as developers. It also checks that actions are
// pinned to commits and images to versions, so that others cannot change them, and that all jobs
// use the same Go.
func TestCI(t *testing.T) {
	text := func(name string) string {
		content, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	targets := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^([a-z-]+):`).FindAllStringSubmatch(text("Makefile"), -1) {
		targets["make "+match[1]] = true
	}

	var github struct {
		Jobs map[string]struct {
			Steps []struct {
				Run, Uses string
				With      map[string]any
			}
		}
	}
	if err := yaml.Unmarshal([]byte(text(".github/workflows/ci.yml")), &github); err != nil {
		t.Fatal(err)
	}
	var runs, versions []string
	pinned := regexp.MustCompile(`^[a-z-]+/[a-z-]+@[0-9a-f]{40}$`)
	for name, job := range github.Jobs {
		for _, step := range job.Steps {
			if step.Uses != "" && !pinned.MatchString(step.Uses) {
				t.Errorf("job %s uses %s, which is not a commit", name, step.Uses)
			}
			if step.Run != "" {
				runs = append(runs, strings.TrimPrefix(step.Run, "sudo --preserve-env=GOTOOLCHAIN,PATH "))
			}
			if version, ok := step.With["go-version"].(string); ok {
				versions = append(versions, version)
			}
		}
	}

	var gitlab map[string]any
	if err := yaml.Unmarshal([]byte(text(".gitlab-ci.yml")), &gitlab); err != nil {
		t.Fatal(err)
	}
	for _, job := range gitlab {
		fields, _ := job.(map[string]any)
		lines, _ := fields["script"].([]any)
		for _, line := range lines {
			run, _ := line.(string)
			runs = append(runs, run)
		}
	}
	for _, run := range runs {
		if !targets[run] {
			t.Errorf("CI runs %q, which is no target of make", run)
		}
	}
	for _, want := range []string{"make check", "make test-smoke", "make test-all", "make release", "make release-check"} {
		if n := len(slices.DeleteFunc(slices.Clone(runs), func(run string) bool { return run != want })); n != 2 {
			t.Errorf("%q is run %d times, want once on each CI", want, n)
		}
	}

	images := regexp.MustCompile(`golang:([^"\s]+)-bookworm`)
	for _, name := range []string{".gitlab-ci.yml", ".devcontainer/devcontainer.json"} {
		match := images.FindStringSubmatch(text(name))
		if match == nil || strings.Count(match[1], ".") != 2 {
			t.Errorf("%s names no version of Go", name)
			continue
		}
		versions = append(versions, match[1])
	}
	if slices.Sort(versions); len(slices.Compact(versions)) != 1 {
		t.Errorf("there are several versions of Go: %v", versions)
	}
}

// workflow contains the parts of a workflow of GitHub Actions or Gitea Actions that the tests
// check.
type workflow struct {
	On          any
	Permissions *map[string]string
	Jobs        map[string]struct {
		If          string
		Permissions map[string]string
		Steps       []struct {
			Run, Uses string
			With      map[string]any
			Env       map[string]string
		}
	}
}

// exampleFiles returns the files in examples/ci that match a pattern.
func exampleFiles(t *testing.T, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(root, "examples", "ci", pattern))
	if err != nil || len(names) == 0 {
		t.Fatalf("no files %s in examples/ci: %v", pattern, err)
	}
	for i, name := range names {
		names[i] = strings.TrimPrefix(name, root+"/")
	}
	return names
}

// TestExampleWorkflows checks the workflows of examples/ci for GitHub and Gitea: actionlint
// accepts them, actions are pinned to a commit, no job of a fork has secrets, no code of a
// fork runs with the rights of the repository, and permissions are the least.
func TestExampleWorkflows(t *testing.T) {
	files := slices.Concat(exampleFiles(t, "github/*.yml"), exampleFiles(t, "gitea/*.yml"))
	lint := exec.Command("go", append([]string{"tool", "-modfile=internal/dev/tools/actionlint/go.mod", "actionlint", "-shellcheck=", "-pyflakes="}, files...)...)
	lint.Dir = root
	if out, err := lint.CombinedOutput(); err != nil {
		t.Errorf("actionlint: %v\n%s", err, out)
	}
	pinned := regexp.MustCompile(`^[a-z-]+/[a-z-]+@[0-9a-f]{40}$`)
	for _, name := range files {
		var w workflow
		text := read(t, name)
		if err := yaml.Unmarshal([]byte(text), &w); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		github := strings.Contains(name, "/github/")
		if strings.Contains(text, "pull_request_target") || strings.Contains(text, "workflow_run") {
			t.Errorf("%s has an event that gives secrets to code of forks", name)
		}
		if github && (w.Permissions == nil || len(*w.Permissions) > 0) {
			t.Errorf("%s gives permissions to all jobs", name)
		}
		for job, j := range w.Jobs {
			var used []string
			for _, step := range j.Steps {
				if step.Uses != "" && !pinned.MatchString(step.Uses) {
					t.Errorf("%s: job %s uses %s, which is not a commit", name, job, step.Uses)
				}
				if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != false {
					t.Errorf("%s: job %s leaves a token in the checkout", name, job)
				}
				if strings.Contains(step.Run, "${{") {
					t.Errorf("%s: job %s has an expression in a script: %s", name, job, step.Run)
				}
				used = slices.AppendSeq(used, maps.Values(step.Env))
			}
			secrets := slices.ContainsFunc(used, func(v string) bool { return strings.Contains(v, "secrets.") })
			if job == "fork" && (secrets || len(j.Permissions) > 1) {
				t.Errorf("%s: the job of forks has secrets, or permissions %v", name, j.Permissions)
			}
			ours := strings.Contains(j.If, "head.repo.full_name == github.repository") || strings.Contains(j.If, "== 'push'") || !strings.Contains(text, "pull_request:")
			if secrets && !ours {
				t.Errorf("%s: job %s has secrets, and also runs for forks: %s", name, job, j.If)
			}
			want := map[string]map[string]string{
				"plan": {"contents": "read", "pull-requests": "write"}, "fork": {"contents": "read"}, "apply": {"contents": "read", "actions": "read"},
			}[job]
			if github && !maps.Equal(j.Permissions, want) {
				t.Errorf("%s: job %s has the permissions %v, want %v", name, job, j.Permissions, want)
			}
		}
	}
}

// gitlabLocal is a program that runs pipelines of GitLab. It contains GitLab's JSON schema.
// Later versions contain no file with the schema.
var gitlabLocal = npmtest.Package{
	Name: "gitlab-ci-local", Version: "4.65.1",
	Checksum: "sha512-5OzoIsnF7hZuss0qL0GjGnfLUTtvDhgmfxC5x6mSgSic7X+rKEqfajmf9rZI2mTdf09goqJpIKlPcdaK0KSfdQ==",
}

// TestGitLabSchema checks pipelines with GitLab's JSON schema.
func TestGitLabSchema(t *testing.T) {
	_, object, _ := strings.Cut(string(gitlabLocal.File(t, "src/schema/schema.js")), "export const schema = ")
	object, _, _ = strings.Cut(object, ";\n//#")
	var definition any // YAML permits the commas before the ends of objects
	err := yaml.Unmarshal([]byte(object), &definition)
	compiler := jsonschema.NewCompiler()
	if err == nil {
		err = compiler.AddResource("schema.json", definition)
	}
	if err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	validate := func(text string) error {
		var document any
		if err := yaml.Unmarshal([]byte(text), &document); err != nil {
			return err
		}
		return schema.Validate(document)
	}
	for _, name := range append(exampleFiles(t, "gitlab/*.yml"), ".gitlab-ci.yml") {
		text := read(t, name)
		if err := validate(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if validate(strings.Replace(text, "\n  timeout:", "\n  time_out:", 1)) == nil {
			t.Errorf("%s: the schema accepts a misspelt key", name)
		}
	}
}

// gitlabJob contains the parts of a job in .gitlab-ci.yml that the tests check.
type gitlabJob struct {
	Stage         string            `json:"stage"`
	Timeout       string            `json:"timeout"`
	Rules         []gitlabRule      `json:"rules"`
	Environment   map[string]string `json:"environment"`
	Variables     map[string]string `json:"variables"`
	Script        []string          `json:"script"`
	ResourceGroup string            `json:"resource_group"`
	Interruptible *bool             `json:"interruptible"`
}

type gitlabRule struct {
	If string `json:"if"`
}

// TestExampleGitLab checks examples/ci/gitlab: jobs are in stages, and no job of a fork gets
// the token.
func TestExampleGitLab(t *testing.T) {
	var head struct {
		Stages    []string          `json:"stages"`
		Variables map[string]string `json:"variables"`
		Default   struct {
			Image string `json:"image"`
		} `json:"default"`
		Plan, Fork, Apply gitlabJob
	}
	if err := yaml.Unmarshal([]byte(read(t, exampleFiles(t, "gitlab/*.yml")[0])), &head); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`^docker\.io/library/alpine:\d+\.\d+\.\d+$`).MatchString(head.Default.Image) {
		t.Errorf("the image %s is not a version", head.Default.Image)
	}
	for name, job := range map[string]gitlabJob{"plan": head.Plan, "fork": head.Fork, "apply": head.Apply} {
		if !slices.Contains(head.Stages, job.Stage) || len(job.Script) == 0 || len(job.Rules) == 0 || job.Timeout == "" {
			t.Errorf("job %s has no stage, script, rules or timeout: %+v", name, job)
		}
		for _, key := range []string{"FORGE", "FORGE_PULL", "FORGE_TOKEN"} {
			if name == "fork" && job.Variables[key]+head.Variables[key] != "" {
				t.Errorf("job %s has %s", name, key)
			}
		}
		if name != "fork" && job.Environment["name"] == "" {
			t.Errorf("job %s has no environment, to which its kubeconfig is limited", name)
		}
	}
	const same = "$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_MERGE_REQUEST_PROJECT_ID"
	if plan, fork := head.Plan.Rules[0].If, head.Fork.Rules[0].If; !strings.Contains(plan, same) || fork != strings.Replace(plan, "_ID == $CI_MERGE", "_ID != $CI_MERGE", 1) {
		t.Errorf("plan runs if %s, and fork if %s", plan, fork)
	}
	if head.Apply.ResourceGroup == "" || head.Apply.Interruptible == nil || *head.Apply.Interruptible {
		t.Error("two applies can run at once, or an apply can be interrupted")
	}
}

// TestExampleWoodpecker checks examples/ci/woodpecker: all keys are Woodpecker's, every workflow
// names its events, and only plan and apply get secrets.
func TestExampleWoodpecker(t *testing.T) {
	for _, name := range exampleFiles(t, "woodpecker/*.yaml") {
		var w struct {
			When []struct {
				Event, Branch string
			} `json:"when"`
			Steps []struct {
				Name        string         `json:"name"`
				Image       string         `json:"image"`
				Environment map[string]any `json:"environment"`
				Commands    []string       `json:"commands"`
			} `json:"steps"`
		}
		text := read(t, name)
		if err := yaml.UnmarshalStrict([]byte(text), &w); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		apply, fork := strings.Contains(name, "apply"), strings.Contains(name, "fork")
		if len(w.When) == 0 || len(w.Steps) != 1 || fork == strings.Contains(text, "from_secret") || apply != (w.When[0].Event == "push" && w.When[0].Branch == "main") {
			t.Errorf("%s: %+v", name, w)
		}
	}
}

// TestExampleScripts checks that the workflows of examples/ci only run scripts that are there,
// and that shellcheck accepts these, where it is installed.
func TestExampleScripts(t *testing.T) {
	run := regexp.MustCompile(`\bci/([a-z]+\.sh)`)
	var used []string
	for _, pattern := range []string{"github/*.yml", "gitea/*.yml", "gitlab/*.yml", "woodpecker/*.yaml"} {
		var here []string
		for _, name := range exampleFiles(t, pattern) {
			for _, match := range run.FindAllStringSubmatch(read(t, name), -1) {
				here = append(here, match[1])
			}
		}
		slices.Sort(here)
		if here = slices.Compact(here); !slices.Equal(here, []string{"apply.sh", "fork.sh", "install.sh", "plan.sh"}) {
			t.Errorf("%s run %v", pattern, here)
		}
		used = append(used, here...)
	}
	scripts := exampleFiles(t, "*.sh")
	for _, name := range used {
		if !slices.Contains(scripts, "examples/ci/"+name) {
			t.Errorf("there is no examples/ci/%s", name)
		}
	}
	tool, err := exec.LookPath("shellcheck")
	if err != nil {
		t.Skip("NOT RUN: there is no shellcheck")
	}
	check := exec.Command(tool, append([]string{"-x"}, scripts...)...)
	check.Dir = root
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("shellcheck: %v\n%s", err, out)
	}
}
