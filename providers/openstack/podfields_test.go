package openstack_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
)

const podFieldsCloud = `definition "d" {
  port "raft" {
    number = 6643
  }

  job "j" {
    image   = "d"
    user    = 1000
    command = ["d"]
    env     = { NODE = node.name }
  }

  workload "w" {
    kind  = "StatefulSet"
    image = "d"
    user  = 1000
    ports = ["raft"]

    env = {
      IP     = node.ip
      INDEX  = pod.index
      LISTEN = "tcp:${pod.ip}:${port.raft}"
      HOST   = pod.host
      FIRST  = self.members.w[0]
      JSON   = jsonencode({ name = pod.name })
      GONE   = pod.name
    }

    init "step" {
      command = ["step"]
      env     = { LISTEN = "udp:${pod.ip}:1", OWN = "on ${node.name}" }
    }

    sidecar "side" {
      image = "side"
      env   = { LISTEN = "[${pod.ip}]", KOLLA_POD_IP = "mine" }
    }
  }
}

service "d" {
  replicas = 2

  workload "w" {
    env = { GONE = null, OVER = "over ${node.ip}" }
  }
}
`

// environmentOf returns the environment of a container, in order.
func environmentOf(c v1.Container) string {
	var out []string
	for _, e := range c.Env {
		value := e.Value
		if e.ValueFrom != nil {
			value = "<" + e.ValueFrom.FieldRef.FieldPath + ">"
		}
		out = append(out, e.Name+"="+value)
	}
	return strings.Join(out, " ")
}

// TestPodFields checks how containers get values that only their pods know. A variable must come
// before other variables that refer to it: otherwise Kubernetes does not replace the reference.
func TestPodFields(t *testing.T) {
	objects := render(t, written(t, podFieldsCloud, `namespace = "cloud"`, `defaults {`, `workload {`, `env = { EVERYWHERE = node.name }`, `}`, `}`), facts())
	spec, _, _ := podOf(t, find(t, objects, "StatefulSet/d-w"))
	want := map[string]string{
		"w": "KOLLA_NODE_IP=<status.hostIP> KOLLA_POD_IP=<status.podIP> KOLLA_POD_NAME=<metadata.name> EVERYWHERE=<spec.nodeName> " +
			"FIRST=d-w-0.d-w.cloud HOST=$(KOLLA_POD_NAME).d-w.cloud INDEX=<metadata.labels['apps.kubernetes.io/pod-index']> " +
			`IP=<status.hostIP> JSON={"name":"$(KOLLA_POD_NAME)"} LISTEN=tcp:$(KOLLA_POD_IP):6643 OVER=over $(KOLLA_NODE_IP)`,
		"side": "KOLLA_POD_IP_=<status.podIP> KOLLA_POD_IP=mine LISTEN=[$(KOLLA_POD_IP_)]",
	}
	for _, c := range append(spec.InitContainers, spec.Containers...) {
		got := environmentOf(c)
		if want := want[c.Name]; want != "" && got != want {
			t.Errorf("%s has\n%s\nwant\n%s", c.Name, got, want)
		}
		checkReferences(t, c)
	}
	step := environmentOf(spec.InitContainers[0])
	for _, want := range []string{"LISTEN=udp:$(KOLLA_POD_IP):1", "OWN=on $(KOLLA_NODE_NAME)", "HOST=$(KOLLA_POD_NAME).d-w.cloud"} {
		if !strings.Contains(step, want) {
			t.Errorf("the step has not %s, but %s", want, step)
		}
	}
	job, _, _ := podOf(t, find(t, objects, "Job/d-j"))
	if got := environmentOf(job.Containers[0]); got != "NODE=<spec.nodeName>" {
		t.Errorf("the job has %s", got)
	}
}

// checkReferences checks that every variable comes before the variables that refer to it, and that
// no variable occurs twice.
func checkReferences(t *testing.T, c v1.Container) {
	t.Helper()
	var before []string
	for _, e := range c.Env {
		if slices.Contains(before, e.Name) {
			t.Errorf("%s has %s twice", c.Name, e.Name)
		}
		for rest := e.Value; ; {
			_, after, found := strings.Cut(rest, "$(")
			if !found {
				break
			}
			name, after, _ := strings.Cut(after, ")")
			if !slices.Contains(before, name) {
				t.Errorf("%s: %s refers to %s, which does not stand before it", c.Name, e.Name, name)
			}
			rest = after
		}
		before = append(before, e.Name)
	}
}

// TestReaper checks that dumb-init runs the commands of Kolla's images, unless the pod sees the node's
// processes, and not those of other images.
func TestReaper(t *testing.T) {
	const source = `definition "d" {
  workload "w" {
    kind     = "Deployment"
    image    = "%s"
    host_pid = %t
    reason   = "a test"
    user     = 1000
    command  = ["serve"]
    args     = ["-v"]
    ready { exec = ["true"] }

    init "step" {
      image   = "other"
      command = ["prepare"]
    }
  }
}

service "d" {}
`
	const reaper = "dumb-init --single-child -- "
	for _, c := range []struct {
		image         string
		hostPID       bool
		command, step string
	}{
		{"keystone", false, reaper + "serve", reaper + "prepare"},
		{"keystone", true, "serve", "prepare"},
		{"registry.example.org/keystone:1", false, "serve", reaper + "prepare"},
	} {
		objects := render(t, written(t, fmt.Sprintf(source, c.image, c.hostPID)), facts())
		spec, _, _ := podOf(t, find(t, objects, "Deployment/d-w"))
		main, step := strings.Join(spec.Containers[0].Command, " "), strings.Join(spec.InitContainers[0].Command, " ")
		if main != c.command || step != c.step {
			t.Errorf("%s, host_pid = %t: %q and the step %q, want %q and %q", c.image, c.hostPID, main, step, c.command, c.step)
		}
	}
}

// TestDollars checks that a process gets its command, arguments and environment as written, with
// all dollar signs, except for references to variables.
func TestDollars(t *testing.T) {
	objects := render(t, written(t, `definition "d" {
  workload "w" {
    kind    = "Deployment"
    image   = "d"
    user    = 1000
    command = ["sh", "-c", "echo $$ $${x} $(date) $1"]
    args    = ["$$$", "$(NODE)"]
    env     = { NODE = node.name, PAIR = "a$$b on ${node.name}" }

    init "step" { command = ["echo", "$$"] }
    ready { exec = ["echo", "$$"] }
  }
}

service "d" {}
`), facts())
	spec, _, _ := podOf(t, find(t, objects, "Deployment/d-w"))
	main, step := spec.Containers[0], spec.InitContainers[0]
	got := slices.Concat(main.Command, main.Args, step.Command, main.ReadinessProbe.Exec.Command)
	want := []string{"dumb-init", "--single-child", "--", "sh", "-c", "echo $$$$ ${x} $(date) $1", "$$$$$", "$(NODE)", "dumb-init", "--single-child", "--", "echo", "$$$$", "echo", "$$"} // Kubernetes does not read $$ in probes
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := environmentOf(main); !strings.Contains(got, "PAIR=a$$$$b on $(KOLLA_NODE_NAME)") {
		t.Errorf("environment: %s", got)
	}
}
