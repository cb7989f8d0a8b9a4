package graph_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/graph"
	"kolla.openstack.org/kolla/lang/internal/langtest"
)

// TestEvaluate checks that the graph evaluates each block once, after the blocks in its
// references. For a cycle it reports an error and evaluates all other blocks.
func TestEvaluate(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
		said []string
	}{
		"in order": {
			text: `
role "c" { nodes = role.b }
role "b" { nodes = role.a }
role "a" { nodes = ["n"] }`,
			want: []string{"a", "b", "c"},
		},
		"as written where nothing is said": {
			text: `
role "b" { nodes = [] }
role "a" { nodes = [] }`,
			want: []string{"b", "a"},
		},
		"depends_on": {
			text: `
manifest "a" {
  object     = {}
  depends_on = [manifest.b]
}
manifest "b" { object = {} }`,
			want: []string{"b", "a"},
		},
		"a cycle": {
			text: `
role "a" { nodes = role.b }
role "b" { nodes = role.a }
role "c" { nodes = [] }`,
			want: []string{"c"}, said: []string{"Circular reference"},
		},
		"each instance": {
			text: `
role "a" {
  for_each = { x = 1, y = 2 }
  nodes    = [each.value]
}`,
			want: []string{`a["x"]`, `a["y"]`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			report := diag.New()
			root, _ := langtest.Module(t, report, c.text)
			g := graph.New(*langtest.Env(report), root, ".")
			var got []string
			add := func(kind, argument string) {
				for _, b := range root.Document.All(kind) {
					n := g.AddRepeated(g.Root, b, func(u *graph.Use) cty.Value {
						v := u.Env.Value(u.Block.Attributes[argument].Expr)
						got = append(got, strings.TrimPrefix(u.Address(), kind+"."))
						return v
					})
					n.Needs = append(n.Needs, graph.DependsOn(report, g.Root, b)...)
				}
			}
			add("role", "nodes")
			add("manifest", "object")
			g.Evaluate()
			if !slices.Equal(got, c.want) {
				t.Errorf("evaluated %q, want %q", got, c.want)
			}
			if said := langtest.Summaries(report); !slices.Equal(said, append([]string{}, c.said...)) {
				t.Errorf("diagnostics: %q, want %q", said, c.said)
			}
		})
	}
}

// TestReasons checks that a block needs the instances that its references name.
func TestReasons(t *testing.T) {
	t.Parallel()
	report := diag.New()
	root, _ := langtest.Module(t, report, `
manifest "shop" {
  for_each = toset(["east", "west"])
  object   = {}
}
manifest "one" {
  object     = {}
  depends_on = [manifest.shop["west"]]
}
manifest "all" {
  object     = {}
  depends_on = [manifest.shop]
}`)
	g := graph.New(*langtest.Env(report), root, ".")
	uses := map[string]*graph.Use{}
	for _, b := range root.Document.All("manifest") {
		n := g.AddRepeated(g.Root, b, func(u *graph.Use) cty.Value {
			uses[u.Address()] = u
			return u.Env.Value(u.Block.Attributes["object"].Expr)
		})
		n.Needs = append(n.Needs, graph.DependsOn(report, g.Root, b)...)
	}
	g.Evaluate()
	for of, want := range map[string][]string{
		"manifest.one":          {`manifest.shop["west"]`},
		"manifest.all":          {`manifest.shop["east"]`, `manifest.shop["west"]`},
		`manifest.shop["west"]`: nil,
	} {
		u := uses[of]
		reasons := u.Node.Reasons(u.Frame)
		if got := graph.NeedsOf(reasons); !slices.Equal(got, want) {
			t.Errorf("%s needs %q, want %q", of, got, want)
		}
	}
	if len(report.All()) > 0 {
		t.Error(report.Sorted())
	}
}
