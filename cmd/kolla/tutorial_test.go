package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
)

// step is one step of the tutorial: writing a file, or running a command.
type step struct {
	line    int    // in the tutorial
	file    string // file to write; empty: run a command
	text    string // content of the file, or the command
	fails   bool   // the command must fail
	output  string // output in the tutorial
	outside bool   // done before the test: the build
}

var (
	block    = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")
	fileName = regexp.MustCompile("`([a-z/.-]+\\.hcl)`")
	// builds are the commands that build the programs for this test.
	builds = []string{"make build", "make devcluster", "export PATH=$PWD/bin:$PATH"}
)

// stepsOf reads the steps of the tutorial. A block of HCL is the content of the last file named
// before it. In any other block, lines that begin with "$ " are commands, and the other lines are
// their output.
func stepsOf(t *testing.T, text string) []step {
	t.Helper()
	var steps []step
	for _, at := range block.FindAllStringSubmatchIndex(text, -1) {
		kind, content := text[at[2]:at[3]], text[at[4]:at[5]]
		line := 1 + strings.Count(text[:at[0]], "\n")
		if kind == "hcl" {
			names := fileName.FindAllStringSubmatch(text[:at[0]], -1)
			steps = append(steps, step{line: line, file: names[len(names)-1][1], text: content})
			continue
		}
		for row := range strings.Lines(content) {
			line++
			command, ok := strings.CutPrefix(row, "$ ")
			if !ok {
				steps[len(steps)-1].output += row
				continue
			}
			s := step{line: line, text: strings.TrimSuffix(command, "\n")}
			s.text, s.fails = strings.CutSuffix(s.text, "   # fails")
			for _, build := range builds {
				s.outside = s.outside || s.text == build
			}
			steps = append(steps, s)
		}
	}
	return steps
}

// TestTutorial runs the tutorial from the first command to the last, and checks that each command
// prints the output in the tutorial.
func TestTutorial(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/tutorial.md")
	if err != nil {
		t.Fatal(err)
	}
	binary, err := filepath.Abs(os.Getenv(clustertest.BinaryVariable))
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	steps := stepsOf(t, string(text))
	var script strings.Builder
	script.WriteString("set -e\nexec 2>&1 </dev/null\n")
	for i, s := range steps {
		fmt.Fprintf(&script, "echo '=== %d'\n", i)
		switch {
		case s.outside:
		case s.file != "":
			fmt.Fprintf(&script, "cat > %s <<'TUTORIAL'\n%sTUTORIAL\nkolla fmt -check -recursive\n", s.file, s.text)
		case s.fails:
			fmt.Fprintf(&script, "if %s; then echo 'this was to fail'; exit 1; fi\n", s.text)
		default:
			script.WriteString(s.text + "\n")
		}
	}
	command := exec.CommandContext(t.Context(), "bash", "-c", script.String())
	command.Dir = home
	command.Env = append(os.Environ(), "HOME="+home, "PATH="+os.Getenv("PATH")+":"+filepath.Dir(binary))
	var out bytes.Buffer
	command.Stdout = &out
	failed := command.Run()
	if failed != nil { // the cluster may still run
		stop := exec.Command(binary, "down", "-dir", filepath.Join(home, "kolla-tutorial", "cluster"), "-delete")
		t.Logf("%s", first(stop.CombinedOutput()))
	}
	done := printed(out.String(), len(steps))
	for i, s := range steps {
		if i >= len(done) {
			t.Fatalf("tutorial.md:%d: %v, before this: %s\n%s", s.line, failed, s.text, done[len(done)-1])
		}
		rest := done[i]
		for _, piece := range strings.Split(s.output, "...\n") {
			_, after, found := strings.Cut(rest, strings.TrimSuffix(piece, "\n"))
			if !found {
				t.Errorf("tutorial.md:%d: %s does not print:\n%s\nbut, from there on:\n%s", s.line, s.text, piece, rest)
				break
			}
			rest = after
		}
	}
	if failed != nil {
		t.Fatalf("the last command: %v\n%s", failed, done[len(done)-1])
	}
}

// printed returns the output of each step.
func printed(output string, steps int) []string {
	var done []string
	for i := range steps {
		_, after, found := strings.Cut(output, fmt.Sprintf("=== %d\n", i))
		if !found {
			break
		}
		output = after
		own, _, _ := strings.Cut(after, fmt.Sprintf("=== %d\n", i+1))
		done = append(done, own)
	}
	return done
}

func first(output []byte, _ error) []byte { return output }
