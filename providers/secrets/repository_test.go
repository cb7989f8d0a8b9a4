package secrets_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kolla.openstack.org/kolla/providers"
	"kolla.openstack.org/kolla/providers/secrets"
)

// repository are the keys of a repository by their names.
type repository map[string][]byte

// resolved returns the keys that Resolve makes of live ones.
func (r repository) resolved(t *testing.T, count int, why string, generate bool) (keys repository, pending []string) {
	t.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "keys"}}}
	u.SetAnnotations(map[string]string{providers.AnnotationRevision: "r1"})
	g := &providers.Generator{Kind: providers.KindFernet, Renew: why}
	o := providers.Object{Manifest: u, Data: map[string]providers.SecretData{}}
	for i := range count {
		o.Data[strconv.Itoa(i)] = providers.SecretData{Generate: g}
	}
	manifest, pending, err := secrets.Resolve(&o, world{"keys": r}.values, generate)
	if err != nil {
		t.Fatal(err)
	}
	_, err = time.Parse(time.RFC3339, manifest.GetAnnotations()[providers.AnnotationRotated])
	if rotated := err == nil; rotated != (generate && why != "") {
		t.Errorf("the annotation with the time of the rotation is %q", manifest.GetAnnotations()[providers.AnnotationRotated])
	}
	return providers.ValuesOf(manifest), pending
}

// rotated returns the keys after a rotation.
func (r repository) rotated(t *testing.T) repository {
	t.Helper()
	out, _ := r.resolved(t, len(r), "requested", true)
	return out
}

// ordered returns the keys as Keystone orders them: the primary one first.
func (r repository) ordered() (out [][]byte) {
	numbers := slices.SortedFunc(maps.Keys(r), func(a, b string) int {
		x, _ := strconv.Atoi(a)
		y, _ := strconv.Atoi(b)
		return y - x
	})
	for _, number := range numbers {
		out = append(out, r[number])
	}
	return out
}

// signed returns the signature of a token, as Fernet makes it with the first half of a key.
func signed(t *testing.T, key []byte) []byte {
	t.Helper()
	raw, err := base64.URLEncoding.DecodeString(string(key))
	if err != nil || len(raw) != 32 {
		t.Fatalf("a key of %d bytes: %v", len(raw), err)
	}
	h := hmac.New(sha256.New, raw[:16])
	h.Write([]byte("token"))
	return h.Sum(nil)
}

// token makes a token with the primary key.
func (r repository) token(t *testing.T) []byte { return signed(t, r.ordered()[0]) }

// reads reports whether a key of the repository reads a token.
func (r repository) reads(t *testing.T, token []byte) bool {
	return slices.ContainsFunc(r.ordered(), func(key []byte) bool { return hmac.Equal(signed(t, key), token) })
}

// TestRotationKeepsTokens checks that pods with the keys before a rotation and pods with the keys
// after it read the tokens of each other, and that a former primary key stays for as many rotations
// as Rotation.Interval assumes.
func TestRotationKeepsTokens(t *testing.T) {
	for _, count := range []int{3, 4, 6} {
		keys, _ := repository(nil).resolved(t, count, "", true)
		generations := []repository{keys}
		for range 5 {
			before, after := keys, keys.rotated(t)
			if !after.reads(t, before.token(t)) || !before.reads(t, after.token(t)) {
				t.Errorf("%d keys: a token of one generation is not read by the other", count)
			}
			if bytes.Equal(before.token(t), after.token(t)) || before.reads(t, signed(t, after["0"])) {
				t.Errorf("%d keys: a rotation leaves the primary key or the staged key", count)
			}
			keys = after
			generations = append(generations, keys)
		}
		last := len(generations) - 1
		// The key was replaced by the rotation after its generation, and stays for count-2 more.
		if old := generations[last-(count-2)]; count-2 <= last && !keys.reads(t, old.token(t)) {
			t.Errorf("%d keys: a key is dropped too early", count)
		}
		if count-1 <= last && keys.reads(t, generations[last-(count-1)].token(t)) {
			t.Errorf("%d keys: the oldest key is not dropped", count)
		}
	}
}

// TestRepositoryKeepsKeys checks the keys without a rotation, and with another number of keys.
func TestRepositoryKeepsKeys(t *testing.T) {
	key := func(b byte) []byte {
		return base64.URLEncoding.AppendEncode(nil, bytes.Repeat([]byte{b}, 32))
	}
	for _, test := range []struct {
		name  string
		live  repository
		count int
		want  string // letters of the keys in their order, "?" for a new one
	}{
		{"as they are", repository{"0": key('s'), "1": key('o'), "2": key('p')}, 3, "p o s"},
		{"more", repository{"0": key('s'), "1": key('o'), "2": key('p')}, 5, "p o ? ? s"},
		{"fewer", repository{"0": key('s'), "1": key('o'), "2": key('p')}, 2, "p s"},
		{"one", repository{"0": key('s'), "1": key('p')}, 1, "p"},
		{"of one", repository{"0": key('p')}, 3, "p ? ?"},
		{"of Keystone's own rotations", repository{"0": key('s'), "7": key('o'), "8": key('p')}, 3, "p o s"},
		{"of a single value", repository{"value": key('p')}, 3, "p ? ?"},
		{"lost staged key", repository{"1": key('o'), "2": key('p')}, 3, "p o ?"},
	} {
		t.Run(test.name, func(t *testing.T) {
			keys, _ := test.live.resolved(t, test.count, "", true)
			var got []string
			for _, k := range keys.ordered() {
				raw, _ := base64.URLEncoding.DecodeString(string(k))
				if len(raw) == 32 && bytes.Count(raw, raw[:1]) == 32 {
					got = append(got, string(raw[:1]))
				} else {
					got = append(got, "?")
				}
			}
			if text := strings.Join(got, " "); text != test.want {
				t.Errorf("got %s, want %s", text, test.want)
			}
		})
	}
}

// TestPlanOfRotation checks that a plan knows all keys but the new one.
func TestPlanOfRotation(t *testing.T) {
	keys, _ := repository(nil).resolved(t, 3, "", true)
	planned, pending := keys.resolved(t, 3, "they are 31 days old", false)
	if !slices.Equal(pending, []string{"0"}) || !bytes.Equal(planned["2"], keys["0"]) || !bytes.Equal(planned["1"], keys["2"]) {
		t.Errorf("pending are %q", pending)
	}
}

// TestRotationDue checks when keys are rotated, and which rotations are refused.
func TestRotationDue(t *testing.T) {
	now := time.Date(2026, 5, 31, 12, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	ago := func(days int) secrets.Age { return secrets.Age{Created: now.Add(-time.Duration(days) * day)} }
	for _, test := range []struct {
		name      string
		rotation  secrets.Rotation
		age       secrets.Age
		want, err string
	}{
		{"never", secrets.Rotation{Count: 3}, ago(900), "", ""},
		{"too young", secrets.Rotation{Count: 3, Days: 30}, ago(29), "", ""},
		{"old", secrets.Rotation{Count: 3, Days: 30}, ago(31), "they are 31 days old", ""},
		{"rotated since", secrets.Rotation{Count: 3, Days: 30}, secrets.Age{Created: now.Add(-900 * day), Rotated: "2026-05-30T00:00:00Z"}, "", ""},
		{"rotated long ago", secrets.Rotation{Count: 3, Days: 30}, secrets.Age{Created: now.Add(-900 * day), Rotated: "2026-04-01T12:00:00Z"}, "they are 60 days old", ""},
		{"requested", secrets.Rotation{Count: 3, Keep: 3 * day, Requested: true}, ago(4), "requested with -rotate", ""},
		{"requested early", secrets.Rotation{Count: 3, Keep: 3 * day, Requested: true}, ago(2), "", "2026-06-01 12:00:00"},
		{"more keys", secrets.Rotation{Count: 4, Keep: 3 * day, Requested: true}, ago(2), "requested with -rotate", ""},
		{"too few keys", secrets.Rotation{Count: 2, Requested: true}, ago(900), "", "at least 3 keys"},
	} {
		t.Run(test.name, func(t *testing.T) {
			why, err := test.rotation.Due(test.age, now)
			if why != test.want || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("got %q, %v", why, err)
			}
		})
	}
}

// TestRotatedRevision checks that a rotation keeps the part of a revision that pods carry.
func TestRotatedRevision(t *testing.T) {
	once := secrets.RotatedRevision("0123456789")
	twice := secrets.RotatedRevision(once)
	if once == twice || secrets.Rotations("0123456789") != 0 || secrets.Rotations(twice) != 2 || secrets.Lasting(twice) != "0123456789" {
		t.Errorf("after one rotation %q, after two %q", once, twice)
	}
}

// TestNewValueOnRequest checks that a password is made again only if that is asked for.
func TestNewValueOnRequest(t *testing.T) {
	for why, changes := range map[string]bool{"": false, secrets.Requested(): true} {
		u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "admin"}}}
		o := providers.Object{Manifest: u, Data: map[string]providers.SecretData{"value": {Generate: &providers.Generator{Kind: "password", Length: 32, Renew: why}}}}
		manifest, _, err := secrets.Resolve(&o, world{"admin": {"value": []byte("old")}}.values, true)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(providers.ValuesOf(manifest)["value"]); (got != "old") != changes {
			t.Errorf("with reason %q the value changes: %t", why, !changes)
		}
		if _, pending, _ := secrets.Resolve(&o, world{"admin": {"value": []byte("old")}}.values, false); (len(pending) > 0) != changes {
			t.Errorf("with reason %q a plan waits for %q", why, pending)
		}
	}
}
