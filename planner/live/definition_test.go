package live_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"kolla.openstack.org/kolla/internal/dev/clustertest"
	"kolla.openstack.org/kolla/planner"
	"kolla.openstack.org/kolla/planner/dryrun/crd"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// gadgets is a definition that uses every feature of custom resource schemas.
const gadgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.crd.example.org}
spec:
  group: crd.example.org
  names: {kind: Gadget, plural: gadgets}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: false
    schema:
      openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
  - name: v2
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          metadata: {type: object, properties: {name: {type: string, maxLength: 30}}}
          status: {type: object, required: [phase], properties: {phase: {type: string}}}
          spec:
            type: object
            required: [colour]
            properties:
              colour: {type: string, enum: [red, blue]}
              size: {type: integer, default: 7, minimum: 1, maximum: 9}
              small: {type: integer, format: int32}
              odd: {type: integer, format: uint8}
              share: {type: number, format: percent}
              port: {x-kubernetes-int-or-string: true, default: http}
              even: {x-kubernetes-int-or-string: true, multipleOf: 2, pattern: "^[0-9]*[02468]$", anyOf: [{type: integer}, {type: string}]}
              name: {type: string, pattern: "^[a-z]+$", minLength: 2, maxLength: 5}
              when: {type: string, format: date-time}
              mail: {type: string, format: email}
              strange: {type: string, format: nobody-knows}
              nothing: {type: string, nullable: true}
              tuning:
                type: object
                default: {depth: 2}
                properties:
                  depth: {type: integer}
                  width: {type: integer, default: 3}
              tags: {type: array, x-kubernetes-list-type: set, items: {type: string}, maxItems: 3}
              labels: {type: object, additionalProperties: {type: string}, minProperties: 1}
              limits:
                type: object
                additionalProperties: {type: object, properties: {hard: {type: integer, default: 5}}}
              parts:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties:
                    name: {type: string}
                    count: {type: integer, default: 1}
              free:
                type: object
                x-kubernetes-preserve-unknown-fields: true
                properties:
                  strict: {type: object, properties: {a: {type: integer, default: 1}}}
              template:
                type: object
                x-kubernetes-embedded-resource: true
                x-kubernetes-preserve-unknown-fields: true
              either:
                type: object
                properties: {a: {type: integer}, b: {type: integer}}
                oneOf: [{required: [a]}, {required: [b]}]
`

// droppedField has a field that the server accepts but drops.
const droppedField = "{colour: red, free: {strict: {b: 1}}}"

// gadgetSpecs are valid and invalid specs of every sort.
var gadgetSpecs = map[string]string{
	"least":                         "{colour: red}",
	"everything at its default":     "{colour: red, size: 7, port: http, tuning: {depth: 2, width: 3}}",
	"nested defaults":               "{colour: blue, tuning: {}, parts: [{name: a}, {name: b, count: 2}], limits: {cpu: {}, memory: {hard: 6}}}",
	"a required field is missing":   "{size: 3}",
	"not one of the values":         "{colour: green}",
	"two things wrong":              "{colour: green, size: 12}",
	"wrong type":                    "{colour: red, size: many}",
	"wrong type of an object":       "{colour: red, tuning: none}",
	"unknown field":                 "{colour: red, shape: round}",
	"unknown field in a list":       "{colour: red, parts: [{name: a, weight: 3}]}",
	"below the minimum":             "{colour: red, size: 0}",
	"too big for the format":        "{colour: red, small: 4294967296}",
	"a format that nobody knows":    "{colour: red, odd: 300, share: 3.5, strange: anything}",
	"int as int-or-string":          "{colour: red, port: 80, even: 4}",
	"neither int nor string":        "{colour: red, port: true}",
	"int-or-string that is odd":     "{colour: red, even: 3}",
	"string that fits the pattern":  "{colour: red, even: '14', name: abc}",
	"string that does not":          "{colour: red, name: ABC}",
	"too short":                     "{colour: red, name: a}",
	"too long":                      "{colour: red, name: abcdef}",
	"times":                         "{colour: red, when: 2026-11-21T03:00:00Z, mail: a@example.org}",
	"no time":                       "{colour: red, when: yesterday}",
	"no address":                    "{colour: red, mail: nobody}",
	"a set":                         "{colour: red, tags: [a, b]}",
	"a value twice in a set":        "{colour: red, tags: [a, a]}",
	"too many":                      "{colour: red, tags: [a, b, c, d]}",
	"a key twice":                   "{colour: red, parts: [{name: a}, {name: a}]}",
	"a part without its key":        "{colour: red, parts: [{count: 3}]}",
	"too few":                       "{colour: red, labels: {}}",
	"free fields":                   "{colour: red, free: {anything: [1, {goes: here}], strict: {}}}",
	"a strict field among the free": droppedField,
	"embedded":                      "{colour: red, template: {apiVersion: v1, kind: Pod, metadata: {name: p, labels: {a: b}}, spec: {any: thing}}}",
	"embedded without a kind":       "{colour: red, template: {apiVersion: v1}}",
	"embedded with a wrong label":   "{colour: red, template: {apiVersion: v1, kind: Pod, metadata: {labels: {a: 'b c'}}}}",
	"one of them":                   "{colour: red, either: {a: 1}}",
	"both of them":                  "{colour: red, either: {a: 1, b: 2}}",
}

// TestSchemaAgreesWithTheServer checks that the schema of a definition and a server that has the
// definition agree about objects: both accept the same objects, set the same defaults and blame the
// same fields.
func TestSchemaAgreesWithTheServer(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	definition := parse(t, gadgets)
	define(t, b, gadgets)
	schema, err := crd.Read(definition, "v2")
	if err != nil {
		t.Fatal(err)
	}
	for name, spec := range gadgetSpecs {
		t.Run(name, func(t *testing.T) {
			manifest := parse(t, "{apiVersion: crd.example.org/v2, kind: Gadget, metadata: {name: g, namespace: "+b.namespace+"}, status: {}, spec: "+spec+"}")
			answer, refusal := b.client.DryRun(t.Context(), manifest, providers.DryRunOptions{})
			completed := schema.Complete(manifest)
			faults, dropped := schema.Unknown(manifest)
			faults = append(faults, schema.Check(completed)...)
			if (len(dropped) > 0) != (spec == droppedField) {
				t.Errorf("of its fields, %v are dropped", dropped)
			}
			if (refusal == nil) != (len(faults) == 0) {
				t.Fatalf("the server says %v, the schema %v", refusal, faults)
			}
			if refusal == nil {
				if diff := cmp.Diff(answer.Object["spec"], completed.Object["spec"]); diff != "" {
					t.Errorf("completed (-server +schema):\n%s", diff)
				}
				return
			}
			for _, fault := range faults {
				field := fault.Field[strings.LastIndexAny(fault.Field, ".]")+1:]
				if !strings.Contains(refusal.Error(), field) {
					t.Errorf("the server does not speak of %s: %v", fault, refusal)
				}
			}
		})
	}
	t.Run("its name", func(t *testing.T) {
		for _, name := range []string{"Upper", strings.Repeat("a", 31)} {
			manifest := parse(t, "{apiVersion: crd.example.org/v2, kind: Gadget, metadata: {name: "+name+", namespace: "+b.namespace+"}, spec: {colour: red}}")
			_, refusal := b.client.DryRun(t.Context(), manifest, providers.DryRunOptions{})
			if faults := schema.Check(schema.Complete(manifest)); refusal == nil || len(faults) == 0 {
				t.Errorf("of the name %q, the server says %v, the schema %v", name, refusal, faults)
			}
		}
	})
}

// parse parses the YAML of an object.
func parse(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return u
}

// define puts a definition into the cluster until the end of the test, and waits until the
// definition is established.
func define(t *testing.T, b *bench, text string) {
	t.Helper()
	u := parse(t, text)
	t.Cleanup(func() {
		clustertest.Kubectl(t, "delete", "customresourcedefinition", u.GetName(), "--ignore-not-found")
	})
	if _, err := b.client.Writer().Apply(t.Context(), u, providers.ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := b.client.Writer().Wait(t.Context(), providers.RefOf(u), providers.WaitOptions{}); err != nil {
		t.Fatal(err)
	}
	probe := parse(t, `{apiVersion: crd.example.org/v2, kind: Gadget, metadata: {name: probe, namespace: `+b.namespace+`}, spec: {colour: red}}`)
	clustertest.Eventually(t, "the definition is in force", func() bool {
		_, err := b.client.DryRun(t.Context(), probe, providers.DryRunOptions{})
		return err == nil
	})
}

const (
	atGadgets = "manifest.w/CustomResourceDefinition/gadgets.crd.example.org"
	atGadget  = "manifest.w/Gadget/g"
)

// gadget returns the YAML of a Gadget in the definition's second version.
func gadget(b *bench, spec string) string {
	return "{apiVersion: crd.example.org/v2, kind: Gadget, metadata: {name: g, namespace: " + b.namespace + "}, spec: " + spec + "}"
}

// problems makes a plan, and returns it with its problems as a string.
func (b *bench) problems() (*plans.Plan, string) {
	b.t.Helper()
	plan, problems, err := planner.Make(b.t.Context(), b.input())
	if err != nil {
		b.t.Fatal(err)
	}
	var lines []string
	for _, p := range problems {
		lines = append(lines, fmt.Sprintf("warning=%v %s (%s)\n%s", p.Warning, p.Summary, p.Source, p.Detail))
	}
	return plan, strings.Join(lines, "\n")
}

// holds fails the test unless text contains all parts.
func holds(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("there is no %q in:\n%s", part, text)
		}
	}
}

// TestObjectOfAKindThatIsNew checks that the plan validates and completes an object with the
// definition of its kind in the same plan, and that the applied object matches the plan.
func TestObjectOfAKindThatIsNew(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	t.Cleanup(func() {
		clustertest.Kubectl(t, "delete", "customresourcedefinition", "gadgets.crd.example.org", "--ignore-not-found")
	})
	b.declare(atGadgets, gadgets)
	b.declare(atGadget, gadget(b, "{colour: red, limits: {cpu: {}}}"))
	plan := b.plan()
	a := b.action(plan, atGadget)
	want := plans.Evidence{Kind: plans.Schema, Detail: "checked with the schema of CustomResourceDefinition/gadgets.crd.example.org in this plan"}
	if diff := cmp.Diff(want, a.Evidence); diff != "" {
		t.Errorf("evidence (-want +got):\n%s", diff)
	}
	holds(t, lines(a.Changes), "spec.size: <nil> -> 7", "spec.port: <nil> -> http", "spec.tuning.width: <nil> -> 3", "spec.limits.cpu.hard: <nil> -> 5")
	b.apply(plan)
	live := parse(t, clustertest.Kubectl(t, "-n", b.namespace, "get", "gadgets.v2.crd.example.org", "g", "-o", "json"))
	for _, c := range a.Changes {
		if field, ok := strings.CutPrefix(c.Path, "spec."); ok {
			if got, _, _ := unstructured.NestedFieldNoCopy(live.Object, append([]string{"spec"}, strings.Split(field, ".")...)...); !cmp.Equal(got, c.After) {
				t.Errorf("%s is %v, and was to be %v", c.Path, got, c.After)
			}
		}
	}
	b.settled()

	// The cluster has the kind now, so the server checks the object.
	if a := b.action(b.plan(), atGadget); a.Evidence.Kind == plans.Schema {
		t.Errorf("evidence is %+v", a.Evidence)
	}
}

// TestObjectThatANewKindRefuses checks that the plan reports, as an error, all faults that a
// definition in the same plan finds in an object, with the line of the declaration.
func TestObjectThatANewKindRefuses(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	b.declare(atGadgets, gadgets)
	b.declare(atGadget, gadget(b, "{size: 12, shape: round, parts: [{name: a, count: many}]}"))
	_, found := b.problems()
	holds(t, found,
		"warning=false CustomResourceDefinition/gadgets.crd.example.org does not accept Gadget "+b.namespace+"/g (cloud.hcl:7)",
		"spec.colour: Required value",
		"spec.size: Invalid value: 12: spec.size in body should be less than or equal to 9",
		"spec.parts[0].count: Invalid value: ",
		"spec.shape: Forbidden: field not declared in schema")

	b.declare(atGadget, strings.Replace(gadget(b, "{colour: red}"), "/v2", "/v3", 1))
	_, found = b.problems()
	holds(t, found, "warning=false CustomResourceDefinition/gadgets.crd.example.org does not accept Gadget", `apiVersion: Unsupported value: "v3": supported values: "v1", "v2"`)

	// A definition that the server rejects says nothing about objects.
	b.declare(atGadgets, strings.Replace(gadgets, "colour: {type: string, enum: [red, blue]}", "colour: {enum: [red, blue]}", 1))
	b.declare(atGadget, gadget(b, "{colour: red}"))
	plan, got := b.problems()
	holds(t, got, "the cluster does not accept CustomResourceDefinition gadgets.crd.example.org", "must not be empty for specified object fields")
	if a := b.action(plan, atGadget); a.Verb != plans.Create || a.Evidence.Kind != plans.Unverified {
		t.Errorf("decided %s, %+v", a.Verb, a.Evidence)
	} else {
		holds(t, a.Evidence.Detail, "the cluster does not accept CustomResourceDefinition/gadgets.crd.example.org, which defines its kind")
	}

	b.declare(atGadgets, strings.Replace(gadgets, "enum: [red, blue]}", "enum: [red, blue], x-kubernetes-validations: [{rule: 'self != \"blue\"'}]}", 1))
	holds(t, b.action(b.plan(), atGadget).Evidence.Detail, "its rules in CEL are only checked when it is written")
	create(t, "mutatingwebhookconfiguration", fmt.Sprintf(strings.Replace(gate, `[""]`, "[crd.example.org]", 1), "Mutating", b.namespace))
	holds(t, b.action(b.plan(), atGadget).Evidence.Detail, "the webhooks and policies that may change it are not asked before")
	b.declare(atGadget, gadget(b, droppedField))
	_, got = b.problems()
	holds(t, got, "warning=true CustomResourceDefinition/gadgets.crd.example.org does not keep spec.free.strict.b of Gadget")
}

// TestObjectOfAKindThatChanges checks objects whose definition the plan changes. The server knows
// only the present definition, but the new one decides about the object after the apply.
func TestObjectOfAKindThatChanges(t *testing.T) {
	b := newBench(t, clustertest.Namespace(t))
	define(t, b, gadgets)
	b.declare(atGadgets, gadgets)
	b.declare(atGadget, gadget(b, "{colour: red}"))
	in := b.input()
	in.Adopt = everything(in.Objects)
	plan, problems, err := planner.Make(t.Context(), in)
	if err != nil || len(problems) > 0 {
		t.Fatalf("Make: %v, %+v", err, problems)
	}
	b.apply(plan)
	b.settled()
	const after = "the schema that CustomResourceDefinition/gadgets.crd.example.org has after this plan"

	t.Run("to the same effect", func(t *testing.T) {
		b.declare(atGadgets, strings.Replace(gadgets, "maximum: 9", "maximum: 10", 1))
		a := b.action(b.plan(), atGadget)
		if a.Verb != plans.None || a.Evidence.Kind != plans.Schema {
			t.Errorf("decided %s, %+v", a.Verb, a.Evidence)
		}
		holds(t, a.Evidence.Detail, after)
	})
	t.Run("and gives it a default", func(t *testing.T) {
		b.declare(atGadgets, strings.Replace(gadgets, "name: {type: string, pattern", "name: {type: string, default: abc, pattern", 1))
		a := b.action(b.plan(), atGadget)
		holds(t, lines(a.Changes), "spec.name: <nil> -> abc")
		if a.Verb != plans.Update || a.Reasons[0].Kind != plans.ReasonDefinition {
			t.Errorf("decided %s, because of %+v", a.Verb, a.Reasons)
		}
	})
	t.Run("and does not take it any more", func(t *testing.T) {
		b.declare(atGadgets, strings.Replace(gadgets, "enum: [red, blue]", "enum: [green, blue]", 1))
		_, got := b.problems()
		holds(t, got, "warning=false CustomResourceDefinition/gadgets.crd.example.org does not accept Gadget", `spec.colour: Unsupported value: "red": supported values: "green", "blue"`)
	})
	t.Run("and takes what it did not", func(t *testing.T) {
		b.declare(atGadgets, strings.Replace(strings.Replace(gadgets, "enum: [red, blue]", "enum: [red, blue, green]", 1), "size:", "shape: {type: string}\n              size:", 1))
		b.declare(atGadget, gadget(b, "{colour: green, shape: round}"))
		more := strings.Replace(gadget(b, "{colour: green}"), "name: g", "name: another", 1)
		b.declare("manifest.w/Gadget/another", more)
		plan := b.plan()
		a := b.action(plan, atGadget)
		holds(t, lines(a.Changes), "spec.colour: red -> green", "spec.shape: <nil> -> round")
		holds(t, a.Evidence.Detail, after, "the definition that the cluster has now does not accept the object: ", "shape")
		if a.Verb != plans.Update || a.Reasons[0].Kind != plans.ReasonConfig {
			t.Errorf("decided %s, because of %+v", a.Verb, a.Reasons)
		}
		a = b.action(plan, "manifest.w/Gadget/another")
		holds(t, a.Evidence.Detail, after, "the definition that the cluster has now does not accept the object: ", "green")
		if a.Verb != plans.Create {
			t.Errorf("decided %s", a.Verb)
		}
		b.apply(plan)
		b.settled()
	})
	t.Run("and has another version", func(t *testing.T) {
		next := strings.Replace(gadgets, "enum: [red, blue]", "enum: [red, blue, green]", 1)
		next = strings.Replace(next, "size:", "shape: {type: string}\n              size:", 1)
		_, v2, _ := strings.Cut(next, "  - name: v2")
		next += strings.Replace("  - name: v2"+v2, "name: v2\n    served: true\n    storage: true", "name: v3\n    served: true\n    storage: false", 1)
		b.declare(atGadget, strings.Replace(gadget(b, "{colour: blue, shape: round}"), "/v2", "/v3", 1))
		b.declare(atGadgets, next+"  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://127.0.0.1:1/'}}}\n")
		if a := b.action(b.plan(), atGadget); a.Verb != plans.Update || a.Evidence.Kind != plans.Unverified {
			t.Errorf("with a webhook: decided %s, %+v", a.Verb, a.Evidence)
		} else {
			holds(t, a.Evidence.Detail, "a webhook of CustomResourceDefinition/gadgets.crd.example.org has to convert it")
		}
		b.declare(atGadgets, next)
		plan := b.plan()
		a := b.action(plan, atGadget)
		if a.Verb != plans.Update {
			t.Errorf("decided %s because of %+v, %+v", a.Verb, a.Reasons, a.Evidence)
		}
		if diff := cmp.Diff("spec.colour: green -> blue\n", lines(a.Changes)); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
		b.apply(plan)
		b.settled()
	})
}
