package live_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// change changes the declaration of an object, and describes the change.
func (x *thing) change(g *generator) string {
	switch g.IntN(6) {
	case 0:
		x.label(g)
		return "label or annotate the declaration"
	case 1:
		reorder(g, x.wanted)
		return "reorder a list of the declaration"
	case 2:
		respell(g, x.wanted)
		return "spell values of the declaration differently"
	case 3:
		x.wanted = x.declare(g)
		return "declare another one"
	}
	path := takeOver(g, x.wanted, x.declare(g), 5)
	return "declare another " + path
}

// label changes the declared labels and annotations.
func (x *thing) label(g *generator) {
	metadata, _ := x.wanted["metadata"].(map[string]any)
	labels, _ := metadata["labels"].(map[string]any)
	for _, name := range []string{"team", "tier"} {
		delete(labels, name)
		g.with(labels, name, pick(g, "red", "blue", ""))
	}
	delete(metadata, "annotations")
	g.with(metadata, "annotations", g.texts("note", "example.org/ü", "other"))
	if g.maybe() {
		metadata["annotations"] = map[string]any{"note": g.text()}
	}
}

// takeOver sets one field to its value in another object, or removes the field if the other object
// lacks it. It returns the field's path.
func takeOver(g *generator, into, from map[string]any, depth int) string {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(merge(into, from))), func(name string) bool {
		return name == "apiVersion" || name == "kind" || name == "metadata"
	})
	if len(names) == 0 {
		return "nothing"
	}
	name := pick(g, names...)
	mine, isMap := into[name].(map[string]any)
	theirs, areMaps := from[name].(map[string]any)
	if depth > 0 && isMap && areMaps && len(merge(mine, theirs)) > 0 && g.IntN(4) > 0 {
		return name + "." + takeOver(g, mine, theirs, depth-1)
	}
	elements, isList := into[name].([]any)
	others, areLists := from[name].([]any)
	if depth > 0 && isList && areLists && len(elements) > 0 && len(others) > 0 && g.maybe() {
		i, j := g.IntN(len(elements)), g.IntN(len(others))
		mine, isMap := elements[i].(map[string]any)
		theirs, areMaps := others[j].(map[string]any)
		if isMap && areMaps && mine["name"] == theirs["name"] {
			return fmt.Sprintf("%s[%d].%s", name, i, takeOver(g, mine, theirs, depth-1))
		}
		into[name] = slices.Delete(elements, i, i+1)
		return fmt.Sprintf("%s without [%d]", name, i)
	}
	if value, ok := from[name]; ok {
		into[name] = value
	} else {
		delete(into, name)
	}
	return name
}

// reorder shuffles the lists in value.
func reorder(g *generator, value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			reorder(g, v[name])
		}
	case []any:
		if g.maybe() {
			g.Shuffle(len(v), func(i, j int) { v[i], v[j] = v[j], v[i] })
		}
		for _, element := range v {
			reorder(g, element)
		}
	}
}

// spellings are different ways to write one quantity.
var spellings = [][]any{
	{"1", "1000m", "1.0", int64(1), "1e0"},
	{"0.5", "500m", "0.50"},
	{"0.1", "100m", "0.10"},
	{"1Gi", "1024Mi", "1.0Gi", "1073741824"},
	{"1Mi", "1024Ki", "1048576"},
	{"129e6", "129M", "129000000"},
}

// respell writes quantities and whole numbers in another way.
func respell(g *generator, value any) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			v[name] = spellOther(g, name, v[name])
			respell(g, v[name])
		}
	case []any:
		for _, element := range v {
			respell(g, element)
		}
	}
}

// spellOther returns another spelling of the value if the field accepts any spelling.
func spellOther(g *generator, field string, value any) any {
	switch v := value.(type) {
	case int64:
		if g.maybe() && v < 1<<50 {
			return float64(v)
		}
	case float64:
		if v == float64(int64(v)) && v < 1<<50 {
			return int64(v)
		}
	}
	if !slices.Contains([]string{"cpu", "memory", "storage", "sizeLimit", "averageValue"}, field) {
		return value
	}
	for _, same := range spellings {
		if slices.Contains(same, value) {
			return pick(g, same...)
		}
	}
	return value
}

// copied returns a deep copy.
func copied(content map[string]any) map[string]any { return runtime.DeepCopyJSON(content) }

// describe returns a short description of a declaration.
func describe(content map[string]any) string {
	if content == nil {
		return "nothing"
	}
	rest := maps.Clone(content)
	delete(rest, "apiVersion")
	delete(rest, "kind")
	return strings.TrimSpace(inJSON(rest))
}
