package secrets_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/lang/escape"
	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/secrets"
)

// world has the values of the Secrets of one namespace, by name.
type world map[string]map[string][]byte

func (w world) values(_, name string) map[string][]byte { return w[name] }

// written returns a Secret with one given value, as an apply writes it with the key for checksums.
// An empty key means that the cluster has no key.
func written(t *testing.T, key, value string) *unstructured.Unstructured {
	t.Helper()
	w := world{}
	if key != "" {
		w[secrets.ChecksumSecret("c")] = map[string][]byte{"key": []byte(key)}
	}
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret"}}
	u.SetName("a")
	u.SetNamespace("openstack")
	u.SetLabels(map[string]string{providers.LabelCloud: "c"})
	u.SetAnnotations(map[string]string{providers.AnnotationRevision: "r1"})
	o := providers.Object{Manifest: u, Data: map[string]providers.SecretData{"value": {Parts: []providers.DataPart{{Literal: value}}}}}
	manifest, _, err := secrets.Resolve(&o, w.values, true)
	if err != nil {
		t.Fatal(err)
	}
	return manifest
}

func checksumOf(u *unstructured.Unstructured) string {
	return u.GetAnnotations()[providers.AnnotationChecksum]
}

// TestChecksumNeedsTheKey checks that nobody can guess values from the annotations alone.
func TestChecksumNeedsTheKey(t *testing.T) {
	one, other := checksumOf(written(t, "key one", "letmein")), checksumOf(written(t, "key two", "letmein"))
	if one == other || one == "" {
		t.Errorf("with two keys the checksums are %q and %q", one, other)
	}
	if checksumOf(written(t, "key one", "letmein")) != one {
		t.Error("the same value under the same key has two checksums")
	}
	// The checksum of an earlier version contained this hash, which anybody could compute.
	h := sha256.New()
	for _, field := range []string{"r1", "value", "letmein"} {
		fmt.Fprintf(h, "%d:%s", len(field), field)
	}
	if guess := hex.EncodeToString(h.Sum(nil))[:10]; strings.Contains(one, guess) {
		t.Errorf("the checksum %q can be computed without the key", one)
	}
	if got := checksumOf(written(t, "", "letmein")); got != secrets.PendingChecksum {
		t.Errorf("without a key the checksum is %q", got)
	}
}

// TestRevisionStays checks that a Secret keeps its revision, unless its checksum shows that the
// values were replaced.
func TestRevisionStays(t *testing.T) {
	const key = "key one"
	keyless := func(u *unstructured.Unstructured) {
		annotations := u.GetAnnotations()
		annotations[providers.AnnotationChecksum] = providers.Hash("r1", "value", "letmein") + " value"
		u.SetAnnotations(annotations)
	}
	replace := func(u *unstructured.Unstructured) {
		u.Object["data"] = map[string]any{"value": base64.StdEncoding.EncodeToString([]byte("other"))}
	}
	add := func(u *unstructured.Unstructured) {
		data := maps.Clone(u.Object["data"].(map[string]any))
		data["theirs"] = "eA=="
		u.Object["data"] = data
	}
	cases := []struct {
		name   string
		key    string // in the cluster
		change []func(*unstructured.Unstructured)
		stays  bool
	}{
		{"as written", key, nil, true},
		{"replaced", key, []func(*unstructured.Unstructured){replace}, false},
		{"something beside it", key, []func(*unstructured.Unstructured){add}, true},
		{"of an earlier version", "", []func(*unstructured.Unstructured){keyless}, true},
		{"of an earlier version, with a key", key, []func(*unstructured.Unstructured){keyless}, true},
		{"of an earlier version, replaced", key, []func(*unstructured.Unstructured){keyless, replace}, false},
		{"the key is lost", "", nil, true},
		{"the key is another one", "key two", nil, true},
	}
	for _, c := range cases {
		u := written(t, key, "letmein")
		for _, change := range c.change {
			change(u)
		}
		w := world{}
		if c.key != "" {
			w[secrets.ChecksumSecret("c")] = map[string][]byte{"key": []byte(c.key)}
		}
		if got := secrets.RevisionOf(u, nil, w.values) == "r1"; got != c.stays {
			t.Errorf("%s: the revision stays: %t, want %t", c.name, got, c.stays)
		}
		if got := secrets.Replaced(u, w.values); got == c.stays {
			t.Errorf("%s: replaced: %t", c.name, got)
		}
	}
}

// TestForeignValueAtApply checks that a value that the apply reads is escaped or refused, and
// that the error does not contain it.
func TestForeignValueAtApply(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret"}}
	u.SetName("derived")
	from := func(p escape.Place) providers.Object {
		part := providers.DataPart{From: &providers.SecretKey{Namespace: "openstack", Name: "source", Key: "value"}, Place: p}
		return providers.Object{Manifest: u, Data: map[string]providers.SecretData{"file": {Parts: []providers.DataPart{{Literal: "<"}, part, {Literal: ">"}}}}}
	}
	const given = "s3cr'et\n[x]"
	w := world{"source": {"value": []byte(given)}}
	for place, want := range map[escape.Place]string{"json": `<s3cr'et\n[x]>`, "url": "<s3cr%27et%0A%5Bx%5D>", "sql": "", "ini": "", "quoted": "", "url+ini": "<s3cr%27et%0A%5Bx%5D>"} {
		o := from(place)
		manifest, _, err := secrets.Resolve(&o, w.values, true)
		if want == "" {
			if err == nil || strings.Contains(err.Error(), "s3cr") || !strings.Contains(err.Error(), "Secret openstack/source, key value,") {
				t.Errorf("%s: %v", place, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", place, err)
			continue
		}
		if got := string(providers.ValuesOf(manifest)["file"]); got != want {
			t.Errorf("%s: %q, want %q", place, got, want)
		}
	}
}
