package openstack_test

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// powersCloud returns a cloud with one workload. ofMain are settings of the workload and its pod,
// and ofSidecar are settings of its sidecar.
func powersCloud(ofMain, ofSidecar string) string {
	return fmt.Sprintf(`definition "d" {
  job "j" {
    image   = "j"
    user    = 1000
    command = ["j"]
  }

  workload "w" {
    kind  = "DaemonSet"
    image = "main"
    %s

    init "step" {
      command = ["step"]
    }

    sidecar "side" {
      image = "side"
      %s
    }
  }
}

service "d" {}
`, ofMain, ofSidecar)
}

// TestPowers checks that the namespace gets the strictest Pod Security level that allows all pods,
// by the checks of the API server, and that only pods with powers wait for the policies.
func TestPowers(t *testing.T) {
	standards, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	user := "user = 1000\n"
	for _, c := range []struct{ ofMain, ofSidecar, level string }{
		{user, "", "restricted"},
		{user + "writable_root = true", "", "restricted"},
		{user + `seccomp = "localhost/x"`, "", "restricted"},
		{user + `apparmor = "localhost/x"`, "", "restricted"},
		{user + `selinux = "container_kvm_t"`, "", "restricted"},
		{user + `host_pid = false`, "user = 1001\nprivileged = false", "restricted"},
		{"user = 0", "", "baseline"},
		{"user = 0", "user = 1000", "baseline"},
		{user, "user = 0", "baseline"},
		{user, "user = 0\ncapabilities = [\"NET_BIND_SERVICE\"]", "baseline"},
		{"user = 0\ncapabilities = [\"CHOWN\", \"SETUID\"]", "", "baseline"},
		{user + `start = "kolla"`, "", "baseline"},
		{"", "", "baseline"},
		{user, "user = 0\ncapabilities = [\"NET_ADMIN\"]", "privileged"},
		{"user = 0\ncapabilities = [\"SYS_ADMIN\"]", "", "privileged"},
		{user + "privileged = true", "", "privileged"},
		{user, "privileged = true", "privileged"},
		{user + "start = \"kolla\"\nprivileged = true", "", "privileged"},
		{user + "host_network = true", "", "privileged"},
		{user + "host_pid = true", "", "privileged"},
		{user + "host_ipc = true", "", "privileged"},
		{user + `seccomp = "unconfined"`, "", "privileged"},
		{user, `apparmor = "unconfined"`, "privileged"},
		{user, `selinux = "spc_t"`, "privileged"},
	} {
		objects := render(t, written(t, powersCloud(c.ofMain, c.ofSidecar)), facts())
		o := find(t, objects, "DaemonSet/d-w")
		spec, _, _ := podOf(t, o)
		name := strings.ReplaceAll(c.ofMain+" | "+c.ofSidecar, "\n", " ")
		if got := find(t, objects, "Namespace/"+namespaceOf(objects)).Manifest.GetLabels()["pod-security.kubernetes.io/enforce"]; got != c.level {
			t.Errorf("%s: the namespace is %s, want %s", name, got, c.level)
		}
		least := "privileged"
		for _, level := range []api.Level{api.LevelBaseline, api.LevelRestricted} {
			result := policy.AggregateCheckResults(standards.EvaluatePod(api.LevelVersion{Level: level, Version: api.LatestVersion()}, &metav1.ObjectMeta{}, &spec))
			if result.Allowed {
				least = string(level)
			}
		}
		if unknown := c.ofMain == ""; least != c.level && !unknown { // the image may name root
			t.Errorf("%s: the pod needs the level %s, and the namespace is %s", name, least, c.level)
		}
		if restrainedBy(o) != (c.level != "restricted") || restrainedBy(find(t, objects, "Job/d-j")) {
			t.Errorf("%s: the policies come before what has no powers, or not before what has some", name)
		}
	}
}

// TestPowersAreOfOneContainer checks the powers of each container, and that the other containers of
// the pod do not get them.
func TestPowersAreOfOneContainer(t *testing.T) {
	objects := render(t, written(t, powersCloud(`
    user          = 1000
    host_pid      = true
    host_ipc      = true
    writable_root = true

    init "root" {
      command      = ["root"]
      user         = 0
      capabilities = ["NET_ADMIN"]
    }

    volume "run" {
      host        = "/run"
      propagation = "both"
    }
`, `
      user         = 0
      privileged   = true
      seccomp      = "unconfined"
      apparmor     = "localhost/x"
      selinux      = "spc_t"
`)), facts())
	spec, _, _ := podOf(t, find(t, objects, "DaemonSet/d-w"))
	if !spec.HostPID || !spec.HostIPC || spec.HostNetwork {
		t.Errorf("the pod shares of its node: network %t, processes %t, IPC %t", spec.HostNetwork, spec.HostPID, spec.HostIPC)
	}
	root, step, side, main := spec.InitContainers[0], spec.InitContainers[1], spec.InitContainers[2], spec.Containers[0]
	if s := root.SecurityContext; *s.RunAsUser != 0 || *s.RunAsNonRoot || *s.AllowPrivilegeEscalation || fmt.Sprint(s.Capabilities.Add, s.Capabilities.Drop) != "[NET_ADMIN] [ALL]" {
		t.Errorf("the step of root has %+v", s)
	}
	for _, c := range []v1.Container{step, main} {
		s := c.SecurityContext
		if s.Privileged != nil || *s.AllowPrivilegeEscalation || len(s.Capabilities.Add) > 0 || s.SeccompProfile != nil || s.AppArmorProfile != nil || s.SELinuxOptions != nil {
			t.Errorf("%s has %+v", c.Name, s)
		}
		if *s.ReadOnlyRootFilesystem != (c.Name == "step") {
			t.Errorf("%s can write to its image: %t", c.Name, !*s.ReadOnlyRootFilesystem)
		}
	}
	s := side.SecurityContext
	if !*s.Privileged || !*s.AllowPrivilegeEscalation || *s.RunAsUser != 0 || *s.RunAsNonRoot || s.Capabilities != nil {
		t.Errorf("the sidecar has %+v", s)
	}
	if s.SeccompProfile.Type != v1.SeccompProfileTypeUnconfined || s.AppArmorProfile.Type != v1.AppArmorProfileTypeLocalhost || *s.AppArmorProfile.LocalhostProfile != "x" || s.SELinuxOptions.Type != "spc_t" {
		t.Errorf("the sidecar has the profiles %+v, %+v, %+v", s.SeccompProfile, s.AppArmorProfile, s.SELinuxOptions)
	}
	for _, c := range []v1.Container{step, side, main} {
		want := v1.MountPropagationHostToContainer // Kubernetes allows "both" only in a privileged container
		if c.Name == "side" {
			want = v1.MountPropagationBidirectional
		}
		for _, m := range c.VolumeMounts {
			if m.Name == "run" && *m.MountPropagation != want {
				t.Errorf("%s mounts with %s", c.Name, *m.MountPropagation)
			}
		}
	}
}

// TestRoot checks the users of all containers if the main container runs as root, and that the
// other containers can still read the pod's secrets.
func TestRoot(t *testing.T) {
	objects := render(t, written(t, powersCloud("user = 0", "user = 1001")), facts())
	spec, _, _ := podOf(t, find(t, objects, "DaemonSet/d-w"))
	pod, side := spec.SecurityContext, spec.InitContainers[1].SecurityContext
	if *pod.RunAsUser != 0 || pod.RunAsNonRoot != nil || *pod.FSGroup != 1001 {
		t.Errorf("the pod has %+v", pod)
	}
	if *side.RunAsUser != 1001 || !*side.RunAsNonRoot {
		t.Errorf("the sidecar has %+v", side)
	}
	if c := spec.InitContainers[0].SecurityContext; c.RunAsUser != nil {
		t.Errorf("a step does not run as its workload: %+v", c)
	}
	objects = render(t, written(t, strings.Replace(powersCloud("user = 1000", ""), `service "d" {}`, "service \"d\" {\n  workload \"w\" {\n    user = 0\n  }\n}", 1)), facts())
	spec, _, _ = podOf(t, find(t, objects, "DaemonSet/d-w"))
	if *spec.SecurityContext.RunAsUser != 0 {
		t.Errorf("a service cannot make it root: %+v", spec.SecurityContext)
	}
}
