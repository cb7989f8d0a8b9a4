package openstack_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"kolla.openstack.org/kolla/providers"
)

const sidecarCloud = `definition "d" {
  port "http" {
    number = 80
  }

  port "metrics" {
    number = 9100
  }

  secret "key" {}

  config "main.conf" {
    path   = "/etc/main.conf"
    values = { DEFAULT = { a = 1 } }
  }

  config "side.conf" {
    path   = "/etc/side.conf"
    values = { DEFAULT = { a = secret.key.value } }
  }

  workload "w" {
    kind     = "StatefulSet"
    image    = "main"
    user     = 1000
    start    = "START"
    command  = ["main"]
    env      = { A = "1", B = "1" }
    ports    = ["http"]
    config   = ["main.conf"]
    writable = ["/run/d", "/var/own"]

    init "first" {
      command = ["first"]
    }

    sidecar "side" {
      image    = "side"
      user     = 1001
      command  = ["side"]
      args     = ["-v"]
      env      = { C = secret.key.value }
      ports    = ["metrics"]
      config   = ["main.conf", "side.conf"]
      writable = ["/run/d"]

      resources {
        requests = { memory = "16Mi" }
        limits   = { memory = "32Mi" }
      }

      mount "key" {
        path = "/etc/key"
      }

      startup {
        exec = ["up"]
      }

      ready {
        http = "/"
        port = "metrics"
      }
    }

    init "second" {
      image   = "other"
      user    = 1002
      command = ["second"]
      args    = ["-x"]
      env     = { B = "2" }
      config  = ["side.conf"]
    }
  }
}

service "d" {}
`

func sidecarPod(t *testing.T, source string) (v1.PodSpec, []providers.Object) {
	t.Helper()
	objects := render(t, written(t, source), facts())
	spec, _, ok := podOf(t, find(t, objects, "StatefulSet/d-w"))
	if !ok {
		t.Fatal("there is no pod")
	}
	return spec, objects
}

// mountsOf returns the mounts of a container, as path=volume.
func mountsOf(c v1.Container) []string {
	var out []string
	for _, m := range c.VolumeMounts {
		out = append(out, m.MountPath+"="+m.Name)
	}
	slices.Sort(out)
	return out
}

func TestSidecars(t *testing.T) {
	spec, objects := sidecarPod(t, strings.Replace(sidecarCloud, "START", "direct", 1))
	if len(spec.InitContainers) != 3 || len(spec.Containers) != 1 {
		t.Fatalf("%d init containers and %d others", len(spec.InitContainers), len(spec.Containers))
	}
	first, side, second, main := spec.InitContainers[0], spec.InitContainers[1], spec.InitContainers[2], spec.Containers[0]
	if first.Name != "first" || side.Name != "side" || second.Name != "second" {
		t.Errorf("they start in the order %s, %s, %s", first.Name, side.Name, second.Name)
	}
	if side.RestartPolicy == nil || *side.RestartPolicy != v1.ContainerRestartPolicyAlways || first.RestartPolicy != nil || second.RestartPolicy != nil {
		t.Error("a sidecar, and nothing else, is started again")
	}
	if diff := fmt.Sprint(mountsOf(side)); diff != "[/etc/key=key-keys /etc/main.conf=main-conf /etc/side.conf=side-conf-secret /run/d=writable-run-d /tmp=writable-tmp-2]" {
		t.Errorf("the sidecar mounts %s", diff)
	}
	if got, want := mountsOf(first), mountsOf(main); !slices.Equal(got, want) {
		t.Errorf("a step mounts %v, the main container %v", got, want)
	}
	if got, want := mountsOf(second), append(mountsOf(main), "/etc/side.conf=side-conf-secret"); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("a step with files mounts %v, want %v", got, want)
	}
	checkVolumes(t, spec, nil)
	for _, c := range append(spec.InitContainers, main) {
		checkMounts(t, c, checkedNames(spec))
	}
	if env := fmt.Sprint(second.Env); env != "[{A 1 nil} {B 2 nil}]" {
		t.Errorf("the environment of a step is %s", env)
	}
	if len(side.Env) != 1 || side.Env[0].ValueFrom == nil || !strings.HasPrefix(side.Env[0].ValueFrom.SecretKeyRef.Name, "d-w-side-env-") {
		t.Errorf("the environment of the sidecar is %v", side.Env)
	}
	for c, user := range map[string]*int64{"side": side.SecurityContext.RunAsUser, "second": second.SecurityContext.RunAsUser} {
		if want := map[string]int64{"side": 1001, "second": 1002}[c]; user == nil || *user != want {
			t.Errorf("%s runs as %v", c, user)
		}
	}
	if first.SecurityContext.RunAsUser != nil || *spec.SecurityContext.RunAsUser != 1000 {
		t.Error("a step without a user is not the workload's")
	}
	if !strings.Contains(side.Image, "/side:") || !strings.Contains(second.Image, "/other:") || first.Image != main.Image {
		t.Errorf("images %s, %s, %s", first.Image, side.Image, second.Image)
	}
	if len(main.Ports) != 1 || len(side.Ports) != 1 || side.Ports[0].Name != "metrics" || side.ReadinessProbe == nil || side.StartupProbe == nil {
		t.Errorf("ports %v and %v", main.Ports, side.Ports)
	}
	if got := side.Resources.Limits.Memory().String(); got != "32Mi" {
		t.Errorf("the sidecar may take %s", got)
	}
	var service v1.Service
	convert(t, find(t, objects, "Service/d").Manifest.Object, &service)
	if p := service.Spec.Ports; len(p) != 2 || p[0].TargetPort.String() != "http" || p[1].TargetPort.IntValue() != 9100 {
		t.Errorf("the service has the ports %v", p)
	}
	if level := find(t, objects, "Namespace/"+namespaceOf(objects)).Manifest.GetLabels()["pod-security.kubernetes.io/enforce"]; level != "restricted" {
		t.Errorf("the namespace is %s", level)
	}
	checkRestricted(t, spec)
}

func checkedNames(spec v1.PodSpec) map[string]bool {
	names := map[string]bool{}
	for _, v := range spec.Volumes {
		names[v.Name] = true
	}
	return names
}

// TestSidecarBesideKollaStart checks that a sidecar starts directly, whatever the start mode of the
// main container is, and that it runs as the same user by default.
func TestSidecarBesideKollaStart(t *testing.T) {
	source := strings.Replace(strings.Replace(sidecarCloud, "START", "kolla", 1), "      user     = 1001\n", "", 1)
	spec, _ := sidecarPod(t, source)
	side := spec.InitContainers[1].SecurityContext
	if side.RunAsUser == nil || *side.RunAsUser != 1000 || side.ReadOnlyRootFilesystem == nil || !*side.ReadOnlyRootFilesystem || *side.AllowPrivilegeEscalation {
		t.Errorf("the sidecar's security context is %+v", side)
	}
	if !slices.Contains(mountsOf(spec.InitContainers[1]), "/etc/main.conf=main-conf") {
		t.Errorf("the sidecar mounts %v", mountsOf(spec.InitContainers[1]))
	}
}
