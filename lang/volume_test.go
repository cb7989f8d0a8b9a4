package lang_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang"
)

// TestVolumeCreate checks that pods create missing directories of their node by default, and
// missing files only with create = true.
func TestVolumeCreate(t *testing.T) {
	config, diags := load(t, lang.Options{}, `
cloud "c" {
  release = "2026.1"
}

role "r" {
  nodes = ["n1"]
}

definition "d" {
  workload "w" {
    kind  = "DaemonSet"
    image = "registry.example.org/w:1"

    volume "default" { host = "/srv/default" }

    volume "directory" {
      host = "/srv/directory"
      type = "directory"
    }

    volume "there" {
      host   = "/srv/there"
      create = false
    }

    volume "null" {
      host   = "/srv/null"
      create = null
    }

    volume "file" {
      host = "/srv/file"
      type = "file"
    }

    volume "new-file" {
      host   = "/srv/new-file"
      type   = "file"
      create = true
    }

    volume "socket" {
      host = "/srv/socket"
      type = "socket"
    }

    volume "memory" {
      memory = "1Mi"
      path   = "/srv/memory"
    }
  }
}

service "d" {
  role = role.r

  workload "w" {
    volume "overridden" {
      host   = "/srv/overridden"
      create = false
    }
  }
}
`)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	got := map[string]bool{}
	for _, v := range config.Services[0].Workloads[0].Pod.Volumes {
		got[v.Name] = v.Create
	}
	want := map[string]bool{
		"default": true, "directory": true, "there": false, "null": true, "file": false, "new-file": true, "socket": false, "memory": false, "overridden": false,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("made (-want +got):\n%s", diff)
	}
}
