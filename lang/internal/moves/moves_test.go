package moves_test

import (
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"kolla.openstack.org/kolla/lang/addrs"
	"kolla.openstack.org/kolla/lang/configs"
	"kolla.openstack.org/kolla/lang/internal/diag"
	"kolla.openstack.org/kolla/lang/internal/graph"
	"kolla.openstack.org/kolla/lang/internal/langtest"
	"kolla.openstack.org/kolla/lang/internal/moves"
)

// TestCollect checks the result of valid moved, removed and import blocks, and the errors of
// invalid ones.
func TestCollect(t *testing.T) {
	t.Parallel()
	const declared = "manifest \"new\" {\n  object = {}\n}\nmanifest \"other\" {\n  object = {}\n}\n"
	for name, c := range map[string]struct {
		text string
		want []string
		said []string
	}{
		"moved":                 {text: "moved {\n  from = manifest.old\n  to = manifest.new\n}", want: []string{"manifest.old to manifest.new"}},
		"a chain":               {text: "moved {\n  from = manifest.oldest\n  to = manifest.old\n}\nmoved {\n  from = manifest.old\n  to = manifest.new\n}", want: []string{"manifest.oldest to manifest.old", "manifest.old to manifest.new"}},
		"to itself":             {text: "moved {\n  from = manifest.new\n  to = manifest.new\n}", said: []string{"Move without effect"}},
		"still there":           {text: "moved {\n  from = manifest.other\n  to = manifest.new\n}", said: []string{"Still declared"}},
		"to nowhere":            {text: "moved {\n  from = manifest.old\n  to = manifest.newer\n}", said: []string{"There is no manifest.newer"}},
		"another type":          {text: "moved {\n  from = secret.old\n  to = manifest.new\n}", said: []string{"Another type of block"}},
		"twice":                 {text: "moved {\n  from = manifest.old\n  to = manifest.new\n}\nmoved {\n  from = manifest.old\n  to = manifest.other\n}", want: []string{"manifest.old to manifest.new"}, said: []string{"Moved twice"}},
		"removed":               {text: "removed {\n  from = manifest.old\n}", want: []string{"manifest.old goes"}},
		"removed, stays":        {text: "removed {\n  from = manifest.old\n  lifecycle { destroy = false }\n}", want: []string{"manifest.old stays"}},
		"removed with its data": {text: "removed {\n  from = manifest.old\n  lifecycle { delete_data = \"all\" }\n}", want: []string{"manifest.old goes with all data"}},
		"stays with its data":   {text: "removed {\n  from = manifest.old\n  lifecycle {\n    destroy = false\n    delete_data = \"generated\"\n  }\n}", want: []string{"manifest.old stays with generated data"}, said: []string{"Nothing is deleted"}},
		"removed, there":        {text: "removed {\n  from = manifest.new\n}", said: []string{"Still declared"}},
		"imported":              {text: "import {\n  to = \"manifest.new/ConfigMap/a\"\n  id = \"a\"\n}", want: []string{"manifest.new/ConfigMap/a is a"}},
		"import of block":       {text: "import {\n  to = manifest.new\n  id = \"a\"\n}", said: []string{"One object expected"}},
	} {
		t.Run(name, func(t *testing.T) {
			report := diag.New()
			root, _ := langtest.Module(t, report, declared+c.text+"\n")
			g := graph.New(*langtest.Env(report), root, ".")
			for _, b := range root.Document.All("manifest") {
				g.AddRepeated(g.Root, b, func(u *graph.Use) cty.Value {
					u.Address()
					return cty.DynamicVal
				})
			}
			g.Evaluate()
			config := &configs.Config{}
			moves.Collect(&moves.Reader{Graph: g, Report: report, Constant: langtest.Env(report)}, config, false)
			got := []string{}
			for _, m := range config.Moves {
				got = append(got, m.From.String()+" to "+m.To.String())
			}
			for _, r := range config.Removals {
				verb := " stays"
				if r.Destroy {
					verb = " goes"
				}
				if r.Data != addrs.NoData {
					verb += " with " + string(r.Data) + " data"
				}
				got = append(got, r.From.String()+verb)
			}
			for _, i := range config.Imports {
				got = append(got, i.To.String()+" is "+i.ID)
			}
			if !slices.Equal(got, append([]string{}, c.want...)) {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if said := langtest.Summaries(report); !slices.Equal(said, append([]string{}, c.said...)) {
				t.Errorf("diagnostics: %q, want %q", said, c.said)
			}
		})
	}
}
