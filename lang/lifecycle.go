package lang

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"kolla.openstack.org/kolla/lang/mark"
)

// Lifecycle says how kolla treats objects, beyond making them what is declared.
type Lifecycle struct {
	PreventDestroy bool        // a plan that would delete or replace one is refused
	IgnoreFields   []FieldRule // not sent for objects that exist
	YieldTo        []string    // field managers that may have any field; `*` at the end stands for any rest
	ForceConflicts bool        // take every field from whoever owns it
	ForceFrom      []FieldRule // take these fields, or those of these managers
	// ReplaceTriggeredBy is what a change of replaces the workloads and jobs of a service,
	// or the objects of a manifest.
	ReplaceTriggeredBy []Target
	// Range is where prevent_destroy is said; else where the block begins.
	Range hcl.Range
}

// FieldRule is one entry of a list of fields. Of ForceFrom one that is the name of
// a field manager, and no path, has no Path.
type FieldRule struct {
	Text  string
	Path  FieldPath
	Range hcl.Range // of the entry, or of the list that it is in
}

// Empty reports whether nothing is said.
func (l Lifecycle) Empty() bool {
	return !l.PreventDestroy && len(l.IgnoreFields) == 0 && len(l.YieldTo) == 0 && !l.ForceConflicts && len(l.ForceFrom) == 0 && len(l.ReplaceTriggeredBy) == 0
}

var formFieldPath = Form{
	`the path of a field as plans show it, such as spec.replicas or spec.template.spec.containers["api"].image`,
	func(s string) bool {
		_, err := splitFieldPath(s)
		return err == nil
	},
}

// plainLifecycleType is for definitions and secrets. Which services there are is for the
// configuration to say, and so is what they are replaced with; new values of a secret
// are wanted only when somebody says so.
var plainLifecycleType = &BlockType{
	Name: "lifecycle", Single: true,
	Doc: "How kolla treats the objects, beyond making them what is declared. What the more special block says counts: a service's workload over the service, the service over the definition.",
	Example: `service "keystone" {
  lifecycle {
    prevent_destroy = true
    ignore_fields   = ["metadata.annotations[\"example.org/*\"]"]
    yield_to        = ["acme-*"]
    force_conflicts = ["helm", "metadata.labels[\"app\"]"]

    precondition {
      condition     = length(role.control.nodes) >= self.replicas
      error_message = "There are fewer control nodes than pods."
    }
  }

  # An autoscaler decides how many.
  workload "api" {
    lifecycle {
      ignore_fields = ["spec.replicas"]
    }
  }
}
`,
	Attributes: []Attribute{
		{Name: "prevent_destroy", Type: TypeBool, Default: false, Doc: "A plan that would delete or replace one of the objects is refused. Old versions of files and jobs that failed are not meant."},
		{Name: "ignore_fields", Type: TypeList, Form: formFieldPath, Doc: `Fields that are set when the object is made and left to others from then on, each with everything below it, declared or added by others, such as ["spec.replicas", "metadata.annotations[\"example.org/*\"]"]. Of the values of a Secret: once somebody else has written them.`},
		{Name: "yield_to", Type: TypeList, Form: formPlain, Doc: "Field managers that may have any field. A field manager gives itself its name, so that this trusts everybody who may write to the object; ignore_fields names fields. * at the end of a name stands for any rest of it."},
		{Name: "force_conflicts", Type: TypeForce, Doc: "Fields to take from whoever owns them, of an object that kolla takes over: true for all, or a list of paths and of names of field managers."},
	},
	Blocks: []*BlockType{preconditionType},
}

// lifecycleType is for services, their workloads and manifests.
var lifecycleType = &BlockType{
	Name: plainLifecycleType.Name, Single: true, Doc: plainLifecycleType.Doc,
	Example: `# Its pods are made anew whenever something of the database changes.
service "keystone" {
  workload "api" {
    lifecycle {
      replace_triggered_by = [service.mariadb]
    }
  }
}
`,
	Attributes: append(slices.Clip(plainLifecycleType.Attributes),
		Attribute{Name: triggersName, Type: TypeReferences, Doc: `What the workloads and jobs of the service, or the objects of the manifest, are deleted and made again with: whenever a plan creates, changes or replaces any object of it. A list of service.NAME, manifest.NAME, secret.NAME or module.NAME, with ["KEY"] or [each.key] of a repeated one, and of addresses of objects in quotes. It is a dependency too. What an apply did not come to, or left out, the next one makes up for.`},
	),
	Blocks: plainLifecycleType.Blocks,
}

// layered is a block, and who evaluates it.
type layered struct {
	block *block // nil: there is none
	eval  *evaluator
}

// lifecycle merges lifecycle blocks, the most special last: each argument is the
// last one that is given.
func lifecycle(layers ...layered) Lifecycle {
	var out Lifecycle
	for _, l := range layers {
		if l.block == nil {
			continue
		}
		b, e := l.block.one("lifecycle", ""), l.eval
		if b == nil {
			continue
		}
		if out.Range == (hcl.Range{}) {
			out.Range = b.header
		}
		if e.given(b, "prevent_destroy") {
			out.PreventDestroy, out.Range = e.bool(b, "prevent_destroy"), b.attributes["prevent_destroy"].SrcRange
		}
		if e.given(b, "ignore_fields") {
			out.IgnoreFields = rules(b, "ignore_fields", e.list(b, "ignore_fields"))
		}
		if e.given(b, "yield_to") {
			out.YieldTo = e.list(b, "yield_to")
		}
		if e.given(b, "force_conflicts") {
			out.ForceConflicts, out.ForceFrom = e.force(b, "force_conflicts")
		}
	}
	return out
}

// force evaluates an attribute of TypeForce.
func (e *evaluator) force(b *block, name string) (all bool, from []FieldRule) {
	v := e.value(b.attributes[name].Expr)
	e.undecided(v, b.attributeRange(name), fmt.Sprintf("%q", name))
	if !v.IsWhollyKnown() || !e.public(v, b.attributeRange(name), `"`+name+`"`) {
		return false, nil
	}
	if flag, err := convert.Convert(v, cty.Bool); err == nil {
		return flag.True(), nil
	}
	list, err := convert.Convert(v, cty.List(cty.String))
	if err != nil {
		e.unsuitable(b, name, "It must be true, or a list of paths and of names of field managers; this is %s.", kindOf(v))
		return false, nil
	}
	var texts []string
	for _, item := range mark.Elements(list) {
		if item.IsNull() || item.AsString() == "" {
			e.unsuitable(b, name, "Each entry must be a path or the name of a field manager.")
			continue
		}
		texts = append(texts, item.AsString())
	}
	return false, rules(b, name, texts)
}

// rules gives each entry of a list its place in the source. A text that could be
// both is the path of a field only if it has several elements: managers have names
// of one word.
func rules(b *block, name string, texts []string) []FieldRule {
	items, diags := hcl.ExprList(b.attributes[name].Expr)
	var out []FieldRule
	for i, text := range texts {
		rule := FieldRule{Text: text, Range: b.attributeRange(name)}
		if !diags.HasErrors() && len(items) == len(texts) {
			rule.Range = items[i].Range()
		}
		if path, err := ParseFieldPath(text); err == nil && (name == "ignore_fields" || len(path) > 1) {
			rule.Path = path
		}
		out = append(out, rule)
	}
	return out
}
