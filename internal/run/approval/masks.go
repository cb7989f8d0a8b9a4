package approval

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kolla.openstack.org/kolla/internal/base/redaction"
	"kolla.openstack.org/kolla/planner/plans"
	"kolla.openstack.org/kolla/providers"
)

// Open contains the names and the lines of texts that an object declares and that are not secret.
// Plans never mask them.
type Open map[string]bool

// OpenIn returns the open names and lines of an object, or nil without an object.
func OpenIn(o *providers.Object) Open {
	if o == nil || o.Manifest == nil {
		return nil
	}
	open := Open{}
	redaction.Tree(o.Manifest.Object, func(text string) string {
		for line := range strings.Lines(text) {
			open[strings.TrimSuffix(line, "\n")] = true
		}
		return text
	})
	for key := range o.Data { // the manifest of a Secret does not contain its keys
		open["data"], open[key] = true, true
	}
	return open
}

// Step matches a name in a path of a field or in a set of fields, or a value in JSON: bare, or in
// quotes.
var Step = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[^\s.,:{}\[\]"]+`)

// Has reports whether the object declares the name in a step of a path, or in one of a set of
// fields, such as "f:data" or "k:{\"name\":\"api\"}".
func (o Open) Has(step string) bool {
	name, err := strconv.Unquote(step)
	if err != nil {
		return o[step]
	}
	var element any // of a list, by its key or its value
	if content := strings.TrimPrefix(strings.TrimPrefix(name, "k:"), "v:"); content != name && json.Unmarshal([]byte(content), &element) == nil {
		fields, isKey := element.(map[string]any)
		if !isKey {
			fields = map[string]any{"": element}
		}
		for _, value := range fields {
			if text, ok := value.(string); ok && !o[text] {
				return false
			}
		}
		return true
	}
	return o[strings.TrimPrefix(name, "f:")]
}

// mask replaces plans.Masked. No JSON text contains this byte.
const mask = "\xff"

func masked(text string) string { return strings.ReplaceAll(text, plans.Masked, mask) }

// alikeText reports whether two texts may be equal: a mask stands for any text. Each plan masks the
// secret values that it has read, and the new plan may have read other ones.
func alikeText(a, b string) bool { return a == b || match(masked(a), masked(b)) }

// shows reports whether the file shows a text of the new plan: the file must not mask more than the
// new plan.
func shows(saved, fresh string) bool { return saved == fresh || match(saved, masked(fresh)) }

// match compares two texts. Each mask stands for any text that is not empty.
func match(a, b string) bool {
	if !strings.Contains(a, mask) && !strings.Contains(b, mask) {
		return a == b
	}
	reached := []int{0} // how far into b the text of a may reach
	for i := range len(a) {
		var next []int
		add := func(j int) {
			if len(next) == 0 || next[len(next)-1] < j {
				next = append(next, j)
			}
		}
		for _, j := range reached {
			switch {
			case j == len(b):
			case b[j] == mask[0]:
				add(j)
				add(j + 1)
			case a[i] == b[j]:
				add(j + 1)
			}
		}
		if a[i] == mask[0] {
			next = slices.DeleteFunc(next, func(j int) bool { return j > reached[0] })
			for j := reached[0] + 1; j <= len(b); j++ {
				add(j)
			}
		}
		if reached = next; len(reached) == 0 {
			return false
		}
	}
	return reached[len(reached)-1] == len(b)
}

// alike compares two values of JSON. text compares the strings and the names of fields in them.
func alike(saved, fresh any, text func(saved, fresh string) bool) bool {
	return alikeTokens(asJSON(saved), asJSON(fresh), text)
}

// alikePath compares the paths of two fields, or two sets of fields, name by name. A mask cannot hide
// a name that the object declares.
func alikePath(saved, fresh string, open Open) bool {
	return alikeTokens(masked(saved), masked(fresh), func(a, b string) bool { return a == b || match(a, b) && !open.Has(b) })
}

func alikeTokens(a, b string, alike func(a, b string) bool) bool {
	return a == b || Step.ReplaceAllString(a, "") == Step.ReplaceAllString(b, "") &&
		slices.EqualFunc(Step.FindAllString(a, -1), Step.FindAllString(b, -1), alike)
}
