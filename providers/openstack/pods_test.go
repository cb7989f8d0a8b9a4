package openstack_test

import (
	"fmt"
	"path"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"

	"kolla.openstack.org/kolla/providers"
)

// TestPods holds what every rendered pod needs in order to run at all: simulated
// nodes do not tell.
func TestPods(t *testing.T) {
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
					if len(init.VolumeMounts) != len(main.VolumeMounts) {
						t.Errorf("init %s has %d mounts, the main container %d", init.Name, len(init.VolumeMounts), len(main.VolumeMounts))
					}
				}
				if level == "restricted" {
					checkRestricted(t, spec)
				}
				if level != "privileged" && spec.HostNetwork {
					t.Errorf("host network at level %s", level)
				}
			})
		}
	}
}

// TestServices holds that every service answers under its own name, on its first
// port, and that what is exposed has a node port.
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
				if o.Address.Kind != "Service" || o.Address.Block != "service."+s.Name {
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

// podOf is the pod of a workload or job, with the names of its claims.
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

// checkRestricted holds what the Pod Security Standard asks of these pods.
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
