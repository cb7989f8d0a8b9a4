package openstack_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
)

// TestPods checks properties that every rendered pod needs to run at all. Simulated nodes do not
// check them.
func TestPods(t *testing.T) {
	restricted := 0
	for _, dir := range []string{"../../examples/all-in-one", "../../examples/multinode", "testdata/wide", "testdata/odd"} {
		objects := render(t, load(t, dir), facts())
		level := find(t, objects, "Namespace/"+namespaceOf(objects)).Manifest.GetLabels()["pod-security.kubernetes.io/enforce"]
		for _, o := range objects {
			spec, claims, ok := podOf(t, o)
			if !ok {
				continue
			}
			t.Run(path.Base(dir)+"/"+o.Address.Name, func(t *testing.T) {
				volumes := checkVolumes(t, spec, claims)
				main := spec.Containers[0]
				for _, c := range append(spec.InitContainers, main) {
					checkMounts(t, c, volumes)
				}
				for _, init := range spec.InitContainers {
					if init.RestartPolicy != nil {
						continue // a sidecar
					}
					for _, m := range main.VolumeMounts {
						if !slices.ContainsFunc(init.VolumeMounts, func(x v1.VolumeMount) bool { return x.Name == m.Name && x.MountPath == m.MountPath }) {
							t.Errorf("init %s does not have %s of the main container", init.Name, m.MountPath)
						}
					}
				}
				if !slices.ContainsFunc(o.DependsOn, func(on addrs.Object) bool { return on.Kind == "ValidatingAdmissionPolicyBinding" }) {
					restricted++
					checkRestricted(t, spec)
				}
				if level != "privileged" && spec.HostNetwork {
					t.Errorf("host network at level %s", level)
				}
			})
		}
	}
	if restricted < 50 {
		t.Errorf("only %d pods need no more than the level restricted", restricted)
	}
}

// TestServices checks that every service has a Service with its own name and its first port, and
// that every exposed port has a node port.
func TestServices(t *testing.T) {
	for _, dir := range []string{"../../examples/multinode", "testdata/wide", "testdata/odd"} {
		config := load(t, dir)
		objects := render(t, config, facts())
		for _, s := range config.Services {
			if len(s.Ports) == 0 {
				continue
			}
			open := map[string]bool{}
			named := false
			for _, o := range objects {
				var service v1.Service
				if o.Address.Kind != "Service" || o.Address.Block != s.Block {
					continue
				}
				convert(t, o.Manifest.Object, &service)
				for _, p := range service.Spec.Ports {
					named = named || service.Name == s.Name && p.Name == s.Ports[0].Name
					open[p.Name] = open[p.Name] || service.Spec.Type == v1.ServiceTypeNodePort
				}
			}
			if !named {
				t.Errorf("%s: service %s does not answer under its name", dir, s.Name)
			}
			for _, p := range s.Ports {
				if want := p.Exposed && s.Exposure != ""; open[p.Name] != want {
					t.Errorf("%s: port %s of %s is open: %t, want %t", dir, p.Name, s.Name, open[p.Name], want)
				}
			}
		}
	}
}

func namespaceOf(objects []providers.Object) string { return objects[0].Address.Name }

// podOf returns the pod of a workload or job, and the names of its claims.
func podOf(t *testing.T, o providers.Object) (spec v1.PodSpec, claims []string, ok bool) {
	t.Helper()
	content, found, _ := unstructured.NestedMap(o.Manifest.Object, "spec", "template", "spec")
	if !found {
		return spec, nil, false
	}
	convert(t, content, &spec)
	templates, _, _ := unstructured.NestedSlice(o.Manifest.Object, "spec", "volumeClaimTemplates")
	for _, template := range templates {
		name, _, _ := unstructured.NestedString(template.(map[string]any), "metadata", "name")
		claims = append(claims, name)
	}
	return spec, claims, true
}

func convert(t *testing.T, content map[string]any, into any) {
	t.Helper()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, into); err != nil {
		t.Fatal(err)
	}
}

func checkVolumes(t *testing.T, spec v1.PodSpec, claims []string) map[string]bool {
	t.Helper()
	volumes := map[string]bool{}
	names := claims
	for _, v := range spec.Volumes {
		names = append(names, v.Name)
	}
	for _, name := range names {
		if volumes[name] {
			t.Errorf("two volumes are called %s", name)
		}
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			t.Errorf("volume %s: %v", name, problems)
		}
		volumes[name] = true
	}
	return volumes
}

func checkMounts(t *testing.T, c v1.Container, volumes map[string]bool) {
	t.Helper()
	paths := map[string]bool{}
	for _, m := range c.VolumeMounts {
		if paths[m.MountPath] {
			t.Errorf("container %s: two mounts at %s", c.Name, m.MountPath)
		}
		paths[m.MountPath] = true
		if !volumes[m.Name] {
			t.Errorf("container %s mounts %s, which is no volume", c.Name, m.Name)
		}
	}
}

// checkRestricted checks the requirements of the Pod Security Standard "restricted".
func checkRestricted(t *testing.T, spec v1.PodSpec) {
	t.Helper()
	pod := spec.SecurityContext
	if pod == nil || pod.RunAsNonRoot == nil || !*pod.RunAsNonRoot || pod.SeccompProfile == nil || pod.SeccompProfile.Type != v1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("the pod's security context is %+v", pod)
	}
	for _, c := range append(spec.InitContainers, spec.Containers...) {
		s := c.SecurityContext
		if s == nil || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || s.Capabilities == nil || fmt.Sprint(s.Capabilities.Drop) != "[ALL]" {
			t.Errorf("container %s has the security context %+v", c.Name, s)
		}
	}
	for _, v := range spec.Volumes {
		if v.HostPath != nil {
			t.Errorf("volume %s is a path of the node: %s", v.Name, strings.TrimSpace(v.HostPath.Path))
		}
	}
}

// TestRollout checks the conditions for a rollout without failed requests, even with one replica: a
// new pod is ready before an old one is told to stop, and the old one serves until no node sends
// requests to it.
func TestRollout(t *testing.T) {
	for _, dir := range []string{"../../examples/all-in-one", "../../examples/multinode", "testdata/wide"} {
		config := load(t, dir)
		found := 0
		for _, o := range render(t, config, facts()) {
			if o.Address.Kind != "Deployment" {
				continue
			}
			found++
			var d appsv1.Deployment
			convert(t, o.Manifest.Object, &d)
			rolling := d.Spec.Strategy.RollingUpdate
			if rolling == nil || rolling.MaxUnavailable.String() != "0" || rolling.MaxSurge.String() != "1" {
				t.Errorf("%s: %s rolls by %v", dir, o.Address, rolling)
			}
			pod := d.Spec.Template.Spec
			if pod.Containers[0].ReadinessProbe == nil {
				t.Errorf("%s: nobody knows when %s is ready", dir, o.Address)
			}
			grace := int64(30)
			if pod.TerminationGracePeriodSeconds != nil {
				grace = *pod.TerminationGracePeriodSeconds
			}
			if len(pod.Containers[0].Ports) == 0 {
				continue // nobody connects to it
			}
			if sleep := sleepOf(pod); sleep == 0 || sleep >= grace {
				t.Errorf("%s: pods of %s serve for %d s after they were told to stop, and get %d s in all", dir, o.Address, sleep, grace)
			}
		}
		if found == 0 {
			t.Errorf("%s has no Deployment", dir)
		}
	}
}

// TestDrain checks which setting decides how long a pod continues to serve.
func TestDrain(t *testing.T) {
	cases := map[string]struct {
		kind, definition, override string
		want                       int64
	}{
		"default":              {kind: "Deployment", want: 5},
		"definition":           {kind: "Deployment", definition: "drain = 7", want: 7},
		"service":              {kind: "Deployment", definition: "drain = 7", override: "drain = 9", want: 9},
		"service by none":      {kind: "Deployment", definition: "drain = 7", override: "drain = null", want: 5},
		"off":                  {kind: "Deployment", override: "drain = 0", want: 0},
		"no stand-in":          {kind: "StatefulSet", want: 0},
		"stand-ins of its own": {kind: "StatefulSet", definition: "drain = 3", want: 3},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			source := fmt.Sprintf(`
cloud "c" {
  release = "2025.1"
}

definition "web" {
  port "web" {
    number = 80
  }
  workload "w" {
    kind  = %q
    image = "web"
    ports = ["web"]
    %s
  }
}

service "web" {
  workload "w" {
    %s
  }
}
`, c.kind, c.definition, c.override)
			if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(source), 0o600); err != nil {
				t.Fatal(err)
			}
			spec, _, _ := podOf(t, find(t, render(t, load(t, dir), facts()), c.kind+"/web-w"))
			if got := sleepOf(spec); got != c.want {
				t.Errorf("a pod goes on for %d s, want %d", got, c.want)
			}
		})
	}
}

// sleepOf returns the seconds that a pod's main container sleeps before it is told to stop.
func sleepOf(spec v1.PodSpec) int64 {
	hooks := spec.Containers[0].Lifecycle
	if hooks == nil || hooks.PreStop == nil || hooks.PreStop.Sleep == nil {
		return 0
	}
	return hooks.PreStop.Sleep.Seconds
}

// TestFileModes checks the permissions of config files, and their owner after the image's start
// script has copied them.
func TestFileModes(t *testing.T) {
	dir := t.TempDir()
	const source = `
cloud "c" {
  release = "2025.1"
}

definition "web" {
  config "a.conf" {
    path   = "/etc/a.conf"
    mode   = "0400"
    values = { a = { b = 1 } }
  }
  workload "w" {
    kind   = "Deployment"
    image  = "web"
    start  = "kolla"
    config = ["a.conf"]
  }
}

service "web" {}
`
	if err := os.WriteFile(filepath.Join(dir, "cloud.hcl"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	objects := render(t, load(t, dir), facts())
	spec, _, _ := podOf(t, find(t, objects, "Deployment/web-w"))
	modes := 0
	for _, v := range spec.Volumes {
		if v.ConfigMap != nil && v.ConfigMap.DefaultMode != nil && *v.ConfigMap.DefaultMode == 0o400 {
			modes++
		}
	}
	if modes != 1 {
		t.Errorf("%d volumes have the mode of the file, want 1", modes)
	}
	for _, o := range objects {
		if data, ok := o.Manifest.Object["data"].(map[string]any); ok && data["config.json"] != nil {
			start, _ := data["config.json"].(string)
			if !strings.Contains(start, `"owner": "root"`) || !strings.Contains(start, `"perm": "0400"`) {
				t.Errorf("the start file is %s", start)
			}
			return
		}
	}
	t.Error("there is no start file")
}
