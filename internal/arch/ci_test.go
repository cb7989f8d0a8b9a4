package arch_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestCI holds that CI runs what people run, targets of make, and nothing that somebody
// else may change: actions by their commit, images by their version. All of them have the
// same Go.
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
				runs = append(runs, step.Run)
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
	for _, want := range []string{"make check", "make test-race", "make release", "make release-check"} {
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
