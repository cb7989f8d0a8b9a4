package cli

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// TestOptionsOfMessages holds that an option which a problem of a plan names can be
// given wherever that problem is told: it is told by whatever makes a plan.
func TestOptionsOfMessages(t *testing.T) {
	sources, err := filepath.Glob("../../planner/internal/*/*.go")
	if err != nil || len(sources) == 0 {
		t.Fatalf("no sources: %v", err)
	}
	// Within quotes, as the planner writes them: "... plan with -delete-data=%s".
	literal := regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"`)
	option := regexp.MustCompile(`(?:^"|[ (])-([a-z]+(?:-[a-z]+)*)[=, .:]`)
	named := map[string]string{}
	for _, source := range sources {
		if strings.HasSuffix(source, "_test.go") {
			continue
		}
		text, err := os.ReadFile(source)
		if err != nil {
			t.Fatal(err)
		}
		for _, quoted := range literal.FindAllString(string(text), -1) {
			for _, match := range option.FindAllStringSubmatch(quoted, -1) {
				named[match[1]] = source
			}
		}
	}
	for _, want := range []string{"delete-data", "replace", "adopt", "max-deletes"} {
		if named[want] == "" {
			t.Errorf("no message names -%s: the test does not see what it should", want)
		}
	}
	app := newApp(streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard})
	for _, command := range []string{"plan", "apply"} {
		c := app.Command(command)
		for name, source := range named {
			known := slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
			if !known {
				t.Errorf("kolla %s has no option -%s, which a message in %s names", command, name, filepath.Base(source))
			}
		}
	}
}
