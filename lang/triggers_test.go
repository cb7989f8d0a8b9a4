package lang_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kolla.openstack.org/kolla/lang"
)

// TestTriggerKeys checks what the keys in replace_triggered_by may be made of.
func TestTriggerKeys(t *testing.T) {
	dir := writtenFiles(t, map[string]string{
		"main.hcl": `
cloud "site" {
  release = "2025.1"
}

locals {
  names = { a = { of = "x" }, b = { of = "y" } }
  other = "y"
}

manifest "thing" {
  for_each = toset(["x", "y"])
  object   = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "thing-${each.key}" } }
}

manifest "numbered" {
  count  = 2
  object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "numbered-${count.index}" } }
}

module "edge" {
  source   = "./edge"
  for_each = toset(["a", "b"])
  key      = "x"
}

manifest "keyed" {
  for_each = local.names
  object   = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "keyed-${each.key}" } }
  lifecycle {
    replace_triggered_by = [
      manifest.thing[each.value.of],
      manifest.thing[local.other],
      manifest.numbered[length(each.key)],
      module.edge[each.key],
      module.edge[each.key].manifest.note[each.value.of],
    ]
  }
}

manifest "counted" {
  count  = 2
  object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "counted-${count.index}" } }
  lifecycle {
    replace_triggered_by = [manifest.numbered[count.index]]
  }
}
`,
		"edge/edge.hcl": `
variable "key" {}

manifest "note" {
  for_each = toset(["x", "y"])
  object   = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "note-${each.key}" } }
}

manifest "inner" {
  object = { apiVersion = "v1", kind = "ConfigMap", metadata = { name = "inner" } }
  lifecycle {
    replace_triggered_by = [manifest.note[var.key]]
  }
}
`,
	})
	config, diags := lang.Load(dir, lang.Options{Catalogue: smallCatalogue()})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	got := map[string]string{}
	for _, m := range config.Manifests {
		if len(m.Lifecycle.ReplaceTriggeredBy) > 0 {
			got[m.Block] = fmt.Sprint(m.Lifecycle.ReplaceTriggeredBy)
		}
	}
	want := map[string]string{
		`manifest.keyed["a"]`:             `[manifest.thing["x"] manifest.thing["y"] manifest.numbered[1] module.edge["a"] module.edge["a"].manifest.note["x"]]`,
		`manifest.keyed["b"]`:             `[manifest.thing["y"] manifest.thing["y"] manifest.numbered[1] module.edge["b"] module.edge["b"].manifest.note["y"]]`,
		`manifest.counted[0]`:             `[manifest.numbered[0]]`,
		`manifest.counted[1]`:             `[manifest.numbered[1]]`,
		`module.edge["a"].manifest.inner`: `[module.edge["a"].manifest.note["x"]]`,
		`module.edge["b"].manifest.inner`: `[module.edge["b"].manifest.note["x"]]`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("triggers (-want +got):\n%s", diff)
	}
}
