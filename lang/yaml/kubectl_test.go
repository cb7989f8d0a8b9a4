package yaml_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	kubeyaml "k8s.io/apimachinery/pkg/util/yaml"

	"kolla.openstack.org/kolla/lang/yaml"
)

// kubectl reads a text as kubectl does.
func kubectl(source []byte) (out []map[string]any, err error) {
	decoder := kubeyaml.NewYAMLOrJSONDecoder(bytes.NewReader(source), 4096)
	for {
		var raw runtime.RawExtension
		if err := decoder.Decode(&raw); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return nil, err
		}
		if text := bytes.TrimSpace(raw.Raw); len(text) == 0 || string(text) == "null" {
			continue
		}
		var object map[string]any
		if err := json.Unmarshal(raw.Raw, &object); err != nil {
			return nil, err
		}
		out = append(out, object)
	}
}

// read reads a text as a manifest is read.
func read(source []byte) (out []map[string]any, err error) {
	documents, wrong := yaml.Documents(source)
	for _, doc := range documents {
		object, err := doc.Decode()
		if err != nil {
			wrong = append(wrong, err)
		}
		if object != nil {
			out = append(out, object)
		}
	}
	for _, err := range wrong {
		if at := err.Range; at.Start.Byte > at.End.Byte || at.End.Byte > len(source) {
			return nil, fmt.Errorf("%s is outside of the text", at)
		}
	}
	if len(wrong) > 0 {
		return nil, wrong[0]
	}
	return out, nil
}

// sameAsKubectl compares our documents with kubectl's. It accepts an error on either side: kubectl
// ignores some mistakes that we report, and cannot read all of YAML.
func sameAsKubectl(t *testing.T, source []byte) (got []map[string]any, ok bool) {
	t.Helper()
	got, err := read(source)
	if err != nil {
		return nil, false
	}
	if want, err := kubectl(source); err == nil {
		asJSON := cmp.Transformer("json", func(objects []map[string]any) string {
			text, _ := json.Marshal(objects)
			return string(text)
		})
		if diff := cmp.Diff(want, got, asJSON); diff != "" {
			t.Errorf("%q (-kubectl +kolla):\n%s", source, diff)
		}
	}
	return got, true
}

// pieces are the parts of random texts. NAME is another name each time.
var (
	pieces = []string{
		"NAME: 1", "NAME: 1", "NAME: 1", "{NAME: 1}", `{"NAME":1}`, "NAME: |BREAK  ---", "NAME: 'a b'", "NAME: &a {x: 1}",
		"---", "---", "---", "--- ", "---\t", "---\t# c", "---#c", "--- # c", "--- {NAME: 1}", "...", "...\t# c",
		"\ufeff", "\ufeff---", "\ufeff# c", "\ufeffNAME: 1", "%YAML 1.1", "null", "~", "# c", "", "  ",
	}
	breaks = []string{"\n", "\n", "\n", "\n", "\n", "\n", "\r\n", "\r\n", "\r", "\u0085", "\u2028", "\u2029"}
)

// TestNothingIsLost reads random texts. Each name in a text is in an object, or there is an error.
func TestNothingIsLost(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	pick := func(from []string) string { return from[random.IntN(len(from))] }
	good := 0
	for range 15_000 {
		var b strings.Builder
		var names []string
		for range 1 + random.IntN(8) {
			piece, name := pick(pieces), fmt.Sprintf("n%d", len(names))
			if strings.Contains(piece, "NAME") {
				names = append(names, name)
			}
			b.WriteString(strings.NewReplacer("NAME", name, "BREAK", pick(breaks)).Replace(piece))
			if random.IntN(12) > 0 {
				b.WriteString(pick(breaks))
			}
		}
		source := []byte(b.String())
		got, ok := sameAsKubectl(t, source)
		if !ok {
			continue
		}
		good++
		text, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if lost := slices.IndexFunc(names, func(name string) bool { return !strings.Contains(string(text), name) }); lost >= 0 && !commented(b.String(), names[lost]) {
			t.Errorf("%q: %s is lost: %s", source, names[lost], text)
		}
	}
	if good < 2_000 {
		t.Errorf("%d texts were read, which is too few", good)
	}
}

// commented reports whether a name is in a comment: no line break was before it.
func commented(text, name string) bool {
	before, _, _ := strings.Cut(text, name)
	return strings.LastIndexByte(before, '#') > strings.LastIndexAny(before, "\r\n\u0085\u2028\u2029")
}

// FuzzDocuments compares any text with kubectl.
func FuzzDocuments(f *testing.F) {
	for _, piece := range pieces {
		f.Add([]byte("a: 1\n" + piece + "\nb: 2\n"))
	}
	f.Fuzz(func(t *testing.T, source []byte) { sameAsKubectl(t, source) })
}

// TestManyDocuments checks that a text has a limited number of documents, however they are separated.
func TestManyDocuments(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	for _, part := range []string{"{}", "--- a\n"} {
		if got, wrong := yaml.Documents([]byte(strings.Repeat(part, 50_000))); len(got) < 49_999 || len(wrong) > 0 {
			t.Errorf("%q: %d documents, %v", part, len(got), wrong)
		}
		_, wrong := yaml.Documents([]byte(strings.Repeat(part, 50_002)))
		if len(wrong) != 1 || !strings.Contains(wrong[0].Error(), "more than 50000 documents") {
			t.Errorf("%q: got %v", part, wrong)
		}
	}
}
