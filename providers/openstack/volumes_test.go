package openstack_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/providers"
)

const volumeCloud = `definition "d" {
  job "prepare" {
    image   = "main"
    user    = 1000
    command = ["prepare"]

    volume "images" {
      claim     = "images"
      path      = "/srv/images"
      read_only = true
    }
  }

  workload "w" {
    kind  = "StatefulSet"
    image = "main"
    user  = 1000

    claim "data" {
      path = "/data"
      size = "1Gi"
    }

    volume "data" {
      host   = "/var/lib/d"
      create = true
    }

    volume "tmp" {
      memory = "64Mi"
      path   = "/tmp"
    }

    volume "sockets" {
      shared = "1Mi"
      path   = "/run/d"
    }

    volume "gone" {
      host = "/gone"
    }

    init "first" {
      command = ["first"]

      volume "modules" {
        host      = "/lib/modules"
        create    = false
        read_only = true
      }
    }

    sidecar "side" {
      image = "side"

      volume "tun" {
        host = "/dev/net/tun"
        type = "device"
      }

      volume "netns" {
        host        = "/run/netns"
        path        = "/netns"
        propagation = "in"
      }
    }
  }
}

service "d" {
  workload "w" {
    volume "gone" {
      enabled = false
    }

    volume "sockets" {
      shared = "2Mi"
    }

    volume "config" {
      host = "/etc/machine-id"
      type = "file"
    }
  }
}
`

// TestVolumes checks the sources of declared volumes, and which containers mount them.
func TestVolumes(t *testing.T) {
	spec, objects := sidecarPod(t, volumeCloud)
	checkVolumes(t, spec, []string{"data"})
	for _, c := range append(spec.InitContainers, spec.Containers...) {
		checkMounts(t, c, map[string]bool{"data": true, "data-2": true, "tmp": true, "sockets": true, "config": true, "modules": true, "tun": true, "netns": true, "writable-tmp": true})
	}
	first, side, main := spec.InitContainers[0], spec.InitContainers[1], spec.Containers[0]
	const shared = "/etc/machine-id=config /run/d=sockets /tmp=tmp /var/lib/d=data-2"
	for c, want := range map[*v1.Container]string{
		&main:  "[/data=data " + shared + "]",
		&first: "[/data=data /etc/machine-id=config /lib/modules=modules /run/d=sockets /tmp=tmp /var/lib/d=data-2]",
		&side:  "[/dev/net/tun=tun /etc/machine-id=config /netns=netns /run/d=sockets /tmp=tmp /var/lib/d=data-2]",
	} {
		if got := fmt.Sprint(mountsOf(*c)); got != want {
			t.Errorf("%s mounts %s, want %s", c.Name, got, want)
		}
	}
	var is []string
	for _, v := range spec.Volumes {
		switch {
		case v.HostPath != nil:
			is = append(is, fmt.Sprintf("%s %s %s", v.Name, v.HostPath.Path, *v.HostPath.Type))
		case v.EmptyDir != nil:
			is = append(is, fmt.Sprintf("%s %s%s", v.Name, v.EmptyDir.Medium, v.EmptyDir.SizeLimit))
		}
	}
	const want = "data-2 /var/lib/d DirectoryOrCreate, tmp Memory64Mi, sockets 2Mi, config /etc/machine-id File, " +
		"modules /lib/modules Directory, tun /dev/net/tun CharDevice, netns /run/netns DirectoryOrCreate"
	if got := strings.Join(is, ", "); got != want {
		t.Errorf("the volumes are %s\nwant %s", got, want)
	}
	for _, m := range side.VolumeMounts {
		if propagated := m.MountPropagation != nil && *m.MountPropagation == v1.MountPropagationHostToContainer; propagated != (m.Name == "netns") {
			t.Errorf("mounts of the node appear in %s: %t", m.Name, propagated)
		}
	}
	if s := spec.SecurityContext.SELinuxOptions; s == nil || *s != (v1.SELinuxOptions{Type: "spc_t", Level: "s0"}) {
		t.Errorf("a pod with files of the node has the SELinux options %+v", s)
	}
	job, _, _ := podOf(t, find(t, objects, "Job/d-prepare"))
	if c := job.Volumes[0].PersistentVolumeClaim; c == nil || c.ClaimName != "images" || !job.Containers[0].VolumeMounts[0].ReadOnly {
		t.Errorf("the job has %+v, mounted as %+v", job.Volumes[0], job.Containers[0].VolumeMounts[0])
	}
}

// TestSELinux checks that exactly the pods with files of the node have the SELinux type spc_t, in the
// clouds with all services of the catalogue.
func TestSELinux(t *testing.T) {
	want := []string{"neutron-ovn-metadata-agent", "nova-compute-fast-compute", "nova-compute-slow-compute", "openvswitch-ovs", "ovn-controller-controller"}
	var got []string
	for _, dir := range []string{"testdata/servers", "testdata/stacks", "testdata/images", "testdata/base"} {
		for _, o := range render(t, inRelease(t, dir, newest), facts()) {
			spec, _, ok := podOf(t, o)
			if !ok {
				continue
			}
			ofNode := slices.ContainsFunc(spec.Volumes, func(v v1.Volume) bool { return v.HostPath != nil })
			if s := spec.SecurityContext.SELinuxOptions; ofNode != (s != nil && s.Type == "spc_t") {
				t.Errorf("%s: %s has files of the node: %t, and the SELinux options %+v", dir, o.Address, ofNode, s)
			}
			if ofNode {
				got = append(got, o.Address.Name)
			}
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("pods with files of the node are %v, want %v", got, want)
	}
}

// TestVolumesOfTheNodeArePowers checks that a path of the node needs the level privileged,
// whichever container mounts it, and that other volumes need no powers.
func TestVolumesOfTheNodeArePowers(t *testing.T) {
	const ofSidecar = `    sidecar "side" {
      image = "side"
      volume "x" {
        %s
        path = "/x"
      }
    }
`
	const ofMain = `    volume "x" {
      %s
      path = "/x"
    }
`
	for _, c := range []struct{ where, what, level string }{
		{ofMain, `host = "/run"`, "privileged"},
		{ofSidecar, `host = "/run"`, "privileged"},
		{ofMain, `memory = "1Mi"`, "restricted"},
		{ofMain, `shared = "1Mi"`, "restricted"},
		{ofMain, `claim = "c"`, "restricted"},
	} {
		source := fmt.Sprintf("definition \"d\" {\n  workload \"w\" {\n    kind = \"DaemonSet\"\n    image = \"d\"\n    user = 1000\n"+c.where+"  }\n}\n\nservice \"d\" {}\n", c.what)
		objects := render(t, written(t, source), facts())
		if level := find(t, objects, "Namespace/"+namespaceOf(objects)).Manifest.GetLabels()["pod-security.kubernetes.io/enforce"]; level != c.level {
			t.Errorf("%s: the namespace is %s, want %s", c.what, level, c.level)
		}
		if bound := restrainedBy(find(t, objects, "DaemonSet/d-w")); bound != (c.level == "privileged") {
			t.Errorf("%s: the workload waits for the policies: %t", c.what, bound)
		}
	}
}

// restrainedBy reports whether an object waits for the policies.
func restrainedBy(o providers.Object) bool {
	return slices.ContainsFunc(o.DependsOn, func(on addrs.Object) bool { return on.Kind == "ValidatingAdmissionPolicyBinding" })
}
