package cli

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"

	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/schema"
)

// TestExamples checks that the examples of the language's schema are valid, in canonical
// form, and show every block and every argument.
func TestExamples(t *testing.T) {
	shown := map[string]bool{}
	for _, b := range described() {
		if b.Example == "" {
			continue
		}
		file, diags := hclwrite.ParseConfig([]byte(b.Example), b.path, hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		noteShown(shown, &schema.BlockType{Blocks: schema.Blocks()}, file.Body())
		t.Run(b.path, func(t *testing.T) { checkSnippet(t, "hcl", b.Example) })
	}
	for _, b := range described() {
		if !shown[keyOfBlock(b.BlockType)] {
			t.Errorf("no example shows the block %s", b.path)
		}
		for _, a := range b.Attributes {
			if !shown[keyOfArgument(a)] {
				t.Errorf("no example shows the argument %q of %s", a.Name, b.path)
			}
		}
	}
}

// describedBlock is a type of block with its path.
type describedBlock struct {
	*schema.BlockType
	path string // "service workload"
}

// described returns all types of blocks, in the order of the reference. A type that is allowed in
// several blocks is returned once, with its first path.
func described() []describedBlock {
	var out []describedBlock
	seen := map[*schema.BlockType]bool{}
	var walk func(path string, blocks []*schema.BlockType)
	walk = func(path string, blocks []*schema.BlockType) {
		for _, b := range blocks {
			if !seen[b] {
				seen[b] = true
				here := strings.TrimSpace(path + " " + b.Name)
				out = append(out, describedBlock{b, here})
				walk(here, b.Blocks)
			}
		}
	}
	walk("", slices.Concat(schema.Blocks(), []*schema.BlockType{schema.DynamicType}))
	return out
}

// Several types of blocks may have the same argument, such as for_each.
func keyOfArgument(a schema.Attribute) string { return fmt.Sprintf("%s: %s %s", a.Name, a.Type, a.Doc) }

func keyOfBlock(b *schema.BlockType) string { return fmt.Sprintf("%s %q: %s", b.Name, b.Label, b.Doc) }

// noteShown adds the blocks and arguments of a body to shown.
func noteShown(shown map[string]bool, typ *schema.BlockType, body *hclwrite.Body) {
	for _, a := range typ.Attributes {
		if body.GetAttribute(a.Name) != nil {
			shown[keyOfArgument(a)] = true
		}
	}
	for _, b := range body.Blocks() {
		if b.Type() == schema.DynamicType.Name {
			shown[keyOfBlock(schema.DynamicType)] = true
			noteShown(shown, schema.DynamicType, b.Body())
		}
		i := slices.IndexFunc(typ.Blocks, func(t *schema.BlockType) bool { return t.Name == b.Type() })
		if i >= 0 {
			shown[keyOfBlock(typ.Blocks[i])] = true
			noteShown(shown, typ.Blocks[i], b.Body())
		}
	}
}

// TestReadings checks that expressions can read exactly the attributes that the schema lists.
func TestReadings(t *testing.T) {
	const config = `definition "probe" {
  port "http" {
    number = 1
  }

  workload "probe" {
    kind  = "Deployment"
    image = "example.org/probe:1"
    ports = ["http"]
  }

  database "probe" {}

  queue "probe" {}

  user "probe" {}

  endpoint "probe" {
    port = "http"
  }

  secret "probe" {}

  secret "pair" {
    kind = "ssh"
  }

  secret "repository" {
    kind = "fernet"
  }

  secret "ca" {
    kind = "x509-ca"
  }

  secret "leaf" {
    kind      = "x509"
    ca        = secret.ca
    dns_names = ["probe.example.org"]
  }

  output "database" {
    value = keys(database.probe)
  }

  output "queue" {
    value = keys(queue.probe)
  }

  output "user" {
    value = keys(user.probe)
  }

  output "endpoint" {
    value = keys(endpoint.probe)
  }

  output "secret" {
    value = setunion(keys(secret.probe), keys(secret.pair), keys(secret.repository), keys(secret.ca), keys(secret.leaf))
  }
}

output "cloud" {
  value = keys(cloud)
}

output "role" {
  value = keys(role.control)
}

output "exposure" {
  value = keys(exposure.public)
}

output "service" {
  value = setsubtract(keys(service.probe), ["database", "queue", "user", "endpoint", "secret"])
}

output "database" {
  value = service.probe.database
}

output "queue" {
  value = service.probe.queue
}

output "user" {
  value = service.probe.user
}

output "endpoint" {
  value = service.probe.endpoint
}

output "secret" {
  value = service.probe.secret
}
`
	got := map[string][]string{}
	for _, o := range checkSnippet(t, "hcl", config).Outputs {
		for it := o.Value.ElementIterator(); it.Next(); {
			_, name := it.Element()
			got[o.Name] = append(got[o.Name], name.AsString())
		}
	}
	facts := reflect.TypeFor[configs.PlanFacts]()
	for i := range facts.NumField() {
		got["policy"] = append(got["policy"], facts.Field(i).Tag.Get("cty"))
	}
	slices.Sort(got["policy"])
	for _, b := range described() {
		if len(b.Reads) == 0 {
			continue
		}
		var want []string
		for _, r := range b.Reads {
			want = append(want, r.Name)
		}
		slices.Sort(want)
		if !slices.Equal(got[b.Name], want) {
			t.Errorf("%s: the schema says %q, and there is %q", b.path, want, got[b.Name])
		}
	}
}
