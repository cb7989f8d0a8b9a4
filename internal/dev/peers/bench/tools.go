package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// command is one run of a tool.
type command struct {
	dir   string // working directory; empty: this program's directory
	argv  []string
	agent string // prefix of its user agent
	code  int    // exit code that also means success
	env   []string
}

// tool is one way to apply and maintain the objects in the cluster.
type tool struct {
	name string
	// own: the tool creates the namespace itself.
	own bool
	// most is the largest number of objects that the tool is measured with; 0: any number.
	most int
	// compare plans the changes. The floor gets the kinds of requests to send.
	compare func(in inputs, namespace string, how scenario) command
	// apply writes the objects. again: there are no changes.
	apply func(in inputs, namespace string, again bool) command
	// save saves a plan for the creation of the cloud, and saved applies it. Both are nil if
	// the tool cannot do this.
	save, saved func(in inputs) command
}

// scenario is one measurement.
type scenario int

const (
	firstPlan scenario = iota
	firstApply
	savedApply
	unchangedPlan
	changedPlan
	unchangedApply
)

var titles = map[scenario]string{
	firstPlan:      "first plan",
	firstApply:     "apply of a new cloud",
	savedApply:     "apply of a saved plan",
	unchangedPlan:  "unchanged plan",
	changedPlan:    "plan with 1 % changed",
	unchangedApply: "unchanged apply",
}

// programs are where the tools are.
type programs struct {
	kolla, helm, floor, devcluster string
	tofu, tofuConfig               string // OpenTofu, and its configuration with the provider
	before, commit                 string // an earlier kolla, and its commit; may be empty
}

// buildAt builds the kolla of a git revision, and returns the program and the hash of the commit.
func buildAt(ctx context.Context, revision, parent string) (program, commit string, err error) {
	tree := filepath.Join(parent, "revision")
	git := func(args ...string) (string, error) {
		said, err := exec.CommandContext(ctx, "git", args...).CombinedOutput()
		if err != nil {
			return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, said)
		}
		return strings.TrimSpace(string(said)), nil
	}
	if commit, err = git("rev-parse", "--short", "--verify", revision+"^{commit}"); err != nil {
		return "", "", err
	}
	if _, err := git("worktree", "add", "--detach", tree, commit); err != nil {
		return "", "", err
	}
	defer func() {
		_, removed := git("worktree", "remove", "--force", tree)
		err = errors.Join(err, removed)
	}()
	program = filepath.Join(parent, "kolla-"+commit)
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./cmd/kolla")
	build.Dir, build.Env = tree, append(os.Environ(), "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("build kolla %s: %w: %s", commit, err, said)
	}
	return program, commit, nil
}

// configureTofu writes the configuration by which OpenTofu finds its Kubernetes provider, so that it
// downloads nothing.
func (p *programs) configureTofu(parent string) error {
	p.tofuConfig = filepath.Join(parent, "tofu.rc")
	text := fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"hashicorp/kubernetes\" = %q\n  }\n}\n", filepath.Dir(p.tofu))
	if err := os.WriteFile(p.tofuConfig, []byte(text), 0o600); err != nil {
		return fmt.Errorf("write the configuration of OpenTofu: %w", err)
	}
	return nil
}

// kolla returns the tool for a program. Two versions have the same user agent.
func kolla(name, program string) tool {
	run := func(in inputs, args ...string) command {
		return command{dir: in.dir, argv: append([]string{program}, args...), agent: "kolla"}
	}
	return tool{
		name: name, own: true,
		compare: func(in inputs, _ string, _ scenario) command { return run(in, "plan", "-compact") },
		apply:   func(in inputs, _ string, _ bool) command { return run(in, "apply", "-auto-approve", "-compact") },
		save:    func(in inputs) command { return run(in, "plan", "-compact", "-out=saved.plan") },
		saved:   func(in inputs) command { return run(in, "apply", "saved.plan") },
	}
}

// tools lists the floor first, because the report compares the others with it. changes is the number
// of changed objects in the changed plan.
func (p programs) tools(changes string) []tool {
	kubectl := func(code int, args ...string) command {
		return command{argv: append([]string{p.devcluster, "kubectl"}, args...), agent: "kubectl", code: code}
	}
	helm := func(in inputs, namespace string, args ...string) command {
		return command{argv: append([]string{p.helm, "upgrade", "--install", "--namespace", namespace, "benchmark", in.chart()}, args...), agent: "Helm"}
	}
	tofu := func(in inputs, subcommand string, args ...string) command {
		return command{
			dir: in.dir, argv: append([]string{p.tofu, subcommand, "-no-color", "-input=false"}, args...), agent: "terraform-provider-kubernetes",
			env: []string{"TF_CLI_CONFIG_FILE=" + p.tofuConfig},
		}
	}
	floor := func(args ...string) command {
		return command{argv: append([]string{p.floor}, args...), agent: "floor"}
	}
	tools := []tool{
		{
			name: "floor",
			compare: func(in inputs, _ string, how scenario) command {
				switch how {
				case unchangedPlan:
					return floor("-f", in.json(), "list")
				case changedPlan:
					return floor("-f", in.json(), "-first", changes, "list", "dry-run")
				}
				return floor("-f", in.json(), "dry-run")
			},
			apply: func(in inputs, _ string, again bool) command {
				if again {
					return floor("-f", in.json(), "list")
				}
				return floor("-f", in.json(), "apply")
			},
			save:  func(in inputs) command { return floor("-f", in.json(), "dry-run") },
			saved: func(in inputs) command { return floor("-f", in.json(), "apply") },
		},
		kolla("kolla", p.kolla),
		{
			name: "kubectl",
			compare: func(in inputs, _ string, _ scenario) command {
				return kubectl(1, "diff", "--server-side", "-f", in.yaml())
			},
			apply: func(in inputs, _ string, _ bool) command {
				return kubectl(0, "apply", "--server-side", "-f", in.yaml())
			},
		},
		{
			name: "Helm",
			compare: func(in inputs, namespace string, _ scenario) command {
				return helm(in, namespace, "--dry-run=server")
			},
			apply: func(in inputs, namespace string, _ bool) command { return helm(in, namespace) },
		},
		{
			name: "OpenTofu", most: 200,
			compare: func(in inputs, _ string, _ scenario) command { return tofu(in, "plan") },
			apply:   func(in inputs, _ string, _ bool) command { return tofu(in, "apply", "-auto-approve") },
			save:    func(in inputs) command { return tofu(in, "plan", "-out=saved.tfplan") },
			saved:   func(in inputs) command { return tofu(in, "apply", "saved.tfplan") },
		},
	}
	if p.before != "" {
		tools = slices.Insert(tools, 2, kolla("kolla "+p.commit, p.before))
	}
	return tools
}
